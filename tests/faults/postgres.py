"""A PostgreSQL server of our own, for as long as a test needs it."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MISSING = "" if shutil.which("initdb") and shutil.which("pg_ctl") else "no initdb, pg_ctl on PATH"
"""Why no server can be started; empty if one can."""

PASSWORD = "canary-5f1c'% /@:x"
"""Password of the superuser; with everything in it that an address could trip over."""


@dataclass
class Server:
    """A running server.

    Attributes:
        port: where it listens, on 127.0.0.1 only.
        folder: its files.
        user: the superuser of the database.
    """

    port: int
    folder: Path
    user: str = "lake"

    def uri(self, port: int | None = None, variable: str = "PG_CANARY") -> str:
        """The address as it stands in headwater.toml."""
        return (
            f"postgresql://{self.user}:${{env:{variable}}}@127.0.0.1:{port or self.port}/postgres"
        )

    def start(self) -> None:
        """Start it, if it was stopped."""
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
            " -c fsync=off -c shared_buffers=32MB -c max_connections=60"
        )
        log = str(self.folder / "log")
        self._pg("pg_ctl", "-D", self._data, "-w", "-t", "120", "-l", log, "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it; with mode "immediate" as a crash does."""
        self._pg("pg_ctl", "-D", self._data, "-w", "-m", mode, "stop")

    def make(self) -> None:
        """Create its files; it asks for the password."""
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        options = ("-U", self.user, "-E", "UTF8", "--no-sync", "--auth=scram-sha-256")
        self._pg("initdb", "-D", self._data, *options, f"--pwfile={secret}")

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def _pg(self, *command: str) -> None:
        as_user: dict[str, int] = {}
        if os.geteuid() == 0:  # the server refuses root
            nobody = pwd.getpwnam("nobody")
            as_user = {"user": nobody.pw_uid, "group": nobody.pw_gid}
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        # a started server inherits the streams: it must not hold our pipes open
        subprocess.run(
            command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd=self.folder, timeout=300, **as_user,
        )  # fmt: skip


@contextmanager
def postgres() -> Iterator[Server]:
    """Start a server, and stop it in the end; its password stands in ``PG_CANARY``."""
    folder = Path(tempfile.mkdtemp(prefix="headwater-postgres-", dir="/tmp"))
    server = Server(free_port(), folder)
    os.environ["PG_CANARY"] = PASSWORD
    try:
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
