"""Ports for servers that run as processes.

In: names. Out: a free port for each, kept in a file so that a server comes back where it was.
"""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Collection, Sequence
from pathlib import Path

from headwater.errors import ServiceError

# Below the ports that systems hand out to clients (32768 on Linux): a client that tries a
# stopped server again and again would be given its port one day, and be connected to itself.
_RANGE = range(15000, 32000)


def read_ports(path: Path) -> dict[str, int]:
    """Return the ports that a file holds; none if it is not there."""
    if not path.exists():
        return {}
    known: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))
    return known


def claim_ports(path: Path, names: Sequence[str], service: str) -> dict[str, int]:
    """Return a port for each name: those of the file, or free ones, which it then holds.

    Args:
        path: the file; made if it is not there.
        names: what the ports are for.
        service: the server, for the error.

    Raises:
        ServiceError: ``PORT_TAKEN`` if something else listens on a port of the file.
    """
    known = read_ports(path)
    if taken := [port for port in known.values() if not is_free(port)]:
        raise ServiceError(
            "PORT_TAKEN",
            f"port {taken[0]} of {service} is taken by another program",
            hint=f"stop that program, or remove {path} and the server gets another port",
        )
    for name in names:
        known.setdefault(name, free_port(without=known.values()))
    path.write_text(json.dumps(known), encoding="utf-8")
    return known


def free_port(without: Collection[int] = ()) -> int:
    """Return a port of this machine that nobody listens on, other than some."""
    while True:
        port = random.choice(_RANGE)
        if port not in without and is_free(port):
            return port


def is_free(port: int) -> bool:
    """Return whether a server could listen on a port of 127.0.0.1."""
    with socket.socket() as probe:
        # As servers do: connections that have just ended do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
