"""Redis, with the program that is installed on the machine.

In: ``redis/redis.conf``. Out: a server that keeps what it has acknowledged.
"""

from __future__ import annotations

import shutil
import socket
from collections.abc import Sequence
from pathlib import Path

from headwater.errors import ServiceError
from jobs.demos.servers.service import CONFIGURATION, HOST, Service

_PROGRAM = "redis-server"


class Redis(Service):
    """A server; its data are in the folder that it runs in."""

    name = "redis"
    files = ("redis/redis.conf",)
    port_names = ("REDIS_PORT",)

    @property
    def address(self) -> str:
        """Its first database, on 127.0.0.1 only."""
        return f"redis://{HOST}:{self.ports['REDIS_PORT']}/0"

    def command(self) -> Sequence[str | Path]:
        """Return the command line of the server."""
        program = shutil.which(_PROGRAM)
        if program is None:
            hint = "install Redis 7 or newer (for example apt-get install redis-server)"
            raise ServiceError("REDIS_MISSING", f"there is no {_PROGRAM} on PATH", hint=hint)
        return [program, CONFIGURATION / self.files[0], "--port", str(self.ports["REDIS_PORT"])]

    def answers(self) -> bool:
        """Return whether the server has read its data."""
        with socket.create_connection((HOST, self.ports["REDIS_PORT"]), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")


def is_installed() -> bool:
    """Return whether the program of a server is on this machine."""
    return shutil.which(_PROGRAM) is not None
