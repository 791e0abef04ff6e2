"""A web server that takes messages, and fails in every way that a test asks for."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = int | str | tuple[int, dict[str, str]]
"""A status; a status with headers; or ``close`` (no answer), ``half`` (a broken status line),
``short`` (accepted, but the body breaks off), ``hang`` (no answer until the client gives up)."""


@dataclass
class Arrived:
    """A request as it arrived.

    Attributes:
        path: its path.
        headers: its headers, names in lower case.
        body: its body.
        accepted: whether the sender could see that it was accepted.
    """

    path: str
    headers: dict[str, str]
    body: bytes
    accepted: bool

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Receiver(ThreadingHTTPServer):
    """A server; each request takes the next of its behaviours, then it accepts."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.plan: list[Behaviour] = []
        self.arrived: list[Arrived] = []
        self.connections = 0
        self.url = f"http://127.0.0.1:{self.server_port}/hooks"

    def then(self, *behaviours: Behaviour) -> None:
        self.plan += behaviours

    def rows(self) -> list[Any]:
        """The bodies that arrived, a repeated message once."""
        return list({each.id: each.json for each in self.arrived}.values())

    def get_request(self) -> tuple[socket.socket, Any]:
        self.connections += 1
        return super().get_request()

    def handle_error(self, *_: object) -> None:
        """A sender that hangs up first is no error of a test."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Receiver

    def do_POST(self) -> None:  # noqa: N802 - the name is Python's
        body = self.rfile.read(int(self.headers["Content-Length"]))
        plan = self.server.plan
        behaviour = plan.pop(0) if plan else 200
        headers = {name.lower(): value for name, value in self.headers.items()}
        status, more = behaviour if isinstance(behaviour, tuple) else (behaviour, {})
        ok = status == "short" or (isinstance(status, int) and 200 <= status < 300)
        self.server.arrived.append(Arrived(self.path, headers, body, ok))
        if isinstance(status, int):
            self._answer(status, more)
            return
        self.close_connection = True
        if status == "hang":
            self.rfile.read(1)
        elif status == "half":
            self.wfile.write(b"HTTP/1.1 2")
        elif status == "short":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok")
        self.wfile.flush()

    def _answer(self, status: int, headers: dict[str, str]) -> None:
        said = (b"" if status == 204 else b"fine") if status < 300 else b"no:\n  not today"
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def receiving(behaviours: Iterable[Behaviour] = ()) -> Iterator[Receiver]:
    """Run a server while the block lasts."""
    server = Receiver()
    server.then(*behaviours)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
