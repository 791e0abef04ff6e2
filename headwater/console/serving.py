"""The console's server: a socket on loopback, and uvicorn behind it.

In: a project's folder and a port. Out: pages, until asked to stop or until nobody has looked for a
while.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater.console.app import Console

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
    console = Console(root)
    watched = _Watched(console.app())
    ended = threading.Event()

    async def look_around() -> None:
        idle = time.monotonic() - watched.asked > IDLE and not console.checks.busy
        if parent is not None and (idle or os.getppid() != parent):
            server.should_exit = True

    config = uvicorn.Config(
        watched,
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
    threading.Thread(target=console.prepare, name="preparing", daemon=True).start()
    try:
        yield ended
    finally:
        server.should_exit = True
        thread.join()


class _Watched:
    """Knows when somebody asked last."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.asked = time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked = time.monotonic()
        await self._app(scope, receive, send)
