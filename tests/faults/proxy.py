"""A TCP proxy in front of a server, which cuts a connection at the moment a test chooses."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

BEFORE, DURING, AFTER = "before", "during", "after"
CUTS = (BEFORE, DURING, AFTER)
"""Where a connection is cut: the request never reaches the server; it does, and the server's reply
is dropped; the reply is passed on, and then the connection is gone."""

COMMIT = b".metadata.json"
"""In PostgreSQL's protocol, what only the statement has that swaps a table's metadata (it commits
by itself): two metadata locations among its parameters."""


@dataclass
class Proxy:
    """Passes bytes between clients and a server on 127.0.0.1.

    Attributes:
        target: the server's port.
        port: the proxy's own port.
        fired: how many connections were cut as armed.
        down: whether the server cannot be reached: new connections are closed at once.
    """

    target: int
    port: int = 0
    fired: int = 0
    down: bool = False
    _armed: tuple[str, bytes, bool] | None = None
    _open: set[socket.socket] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Proxy:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self.cut_all()

    def arm(self, cut: str, pattern: bytes = COMMIT, *, stay_down: bool = False) -> None:
        """Cut the next connection on which a request with a pattern comes by.

        Args:
            cut: one of :data:`CUTS`.
            pattern: bytes of the request.
            stay_down: whether the server cannot be reached any more from then on.
        """
        self._armed = (cut, pattern, stay_down)

    def disarm(self) -> None:
        """Pass everything again."""
        self._armed, self.down = None, False

    def cut_all(self) -> None:
        """Cut all connections."""
        with self._lock:
            for end in self._open:
                _close(end)
            self._open.clear()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.down:
                _close(client)
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                _close(client)
                continue
            with self._lock:
                self._open |= {client, server}
            link = _Link(client, server)
            for pump in (self._requests, self._replies):
                threading.Thread(target=pump, args=(link,), daemon=True).start()

    def _requests(self, link: _Link) -> None:
        for data in _received(link.client):
            cut = self._take(data)
            if cut == BEFORE:
                break
            link.cut = link.cut or cut
            try:
                link.server.sendall(data)
            except OSError:
                break
        if not link.cut:
            link.close()

    def _replies(self, link: _Link) -> None:
        for data in _received(link.server):
            with suppress(OSError):
                if link.cut != DURING:
                    link.client.sendall(data)
            if link.cut:  # the server has answered: what it did is done
                break
        link.close()

    def _take(self, data: bytes) -> str:
        with self._lock:
            if self._armed is None or self._armed[1] not in data:
                return ""
            cut, _, stay_down = self._armed
            self._armed, self.down = None, stay_down
            self.fired += 1
            return cut


@dataclass
class _Link:
    client: socket.socket
    server: socket.socket
    cut: str = ""

    def close(self) -> None:
        _close(self.client)
        _close(self.server)


def _received(end: socket.socket) -> Iterator[bytes]:
    while True:
        try:
            data = end.recv(65536)
        except OSError:
            return
        if not data:
            return
        yield data


def _close(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    with suppress(OSError):
        end.close()
