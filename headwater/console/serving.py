"""The console's server: a socket on loopback, and uvicorn behind it.

In: a project's folder and a port. Out: pages, until asked to stop or until nobody has looked for a
while. The compiler takes a second or more to load; a browser that comes earlier is told to wait.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater.console.guard import LocalGuard

if TYPE_CHECKING:
    from headwater.console.app import Console

_STARTING = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Headwater</title>
<meta name="color-scheme" content="light dark"><p>The console reads the project …</p></html>
"""
LIBRARIES = ("duckdb", "pyarrow", "pyiceberg.table")
"""What pages with rows need; it is loaded once the first page can be shown."""
IDLE = 600.0
"""Seconds without a request after which the console of a run ends, until somebody looks again."""


@contextmanager
def served(
    root: Path, listening: socket.socket, parent: int | None = None
) -> Iterator[threading.Event]:
    """Serve the console until the block ends.

    Args:
        root: the folder of the project.
        listening: the socket.
        parent: the process that this one belongs to: the console ends with that one, and when
            nobody has looked for :data:`IDLE` seconds.

    Yields:
        What is set when the console has ended by itself.
    """
    answering = _Answering(root)
    ended = threading.Event()

    async def look_around() -> None:
        idle = time.monotonic() - answering.asked > IDLE and not answering.busy
        if parent is not None and (idle or os.getppid() != parent):
            server.should_exit = True

    config = uvicorn.Config(
        answering,
        log_level="warning",
        lifespan="off",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        callback_notify=look_around,
        timeout_notify=1,
    )
    server = uvicorn.Server(config)

    def run() -> None:
        try:
            server.run(sockets=[listening])
        finally:
            ended.set()

    thread = threading.Thread(target=run, name="console", daemon=True)
    thread.start()
    threading.Thread(target=answering.prepare, name="preparing", daemon=True).start()
    try:
        yield ended
    finally:
        server.should_exit = True
        thread.join()


class _Answering:
    """The console once it is loaded; until then a page that comes again. Knows who asked last."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._console: Console | None = None
        self._app: ASGIApp | None = None
        self._loaded = threading.Event()
        self.asked = time.monotonic()

    @property
    def busy(self) -> bool:
        """Whether a check runs."""
        return self._console is not None and self._console.checks.busy

    def prepare(self) -> None:
        """Load the console, and what its pages need."""
        try:
            from headwater.console.app import Console

            self._console = Console(self._root)
            self._console.prepare()
            self._app = self._console.app()
        finally:
            self._loaded.set()  # without an application, requests fail instead of waiting
        for library in LIBRARIES:
            import_module(library)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked = time.monotonic()
        if not self._loaded.is_set():
            if Headers(scope=scope).get("sec-fetch-mode") == "navigate":
                await LocalGuard(_starting)(scope, receive, send)
                return
            await run_in_threadpool(self._loaded.wait)
        assert self._app is not None
        await self._app(scope, receive, send)


async def _starting(scope: Scope, receive: Receive, send: Send) -> None:
    """Ask a browser to come again."""
    headers = {"refresh": "1"}
    await HTMLResponse(_STARTING, status_code=503, headers=headers)(scope, receive, send)
