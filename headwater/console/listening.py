"""The console of a run: a socket on loopback, and a process that answers while somebody looks.

In: a project's folder and a port. Out: an address. The run itself only waits at the socket, in a
thread that sleeps. The first request starts ``headwater console`` as a process of its own, which
inherits the socket, so that a page or a query takes neither memory nor time of the run's process.
It ends when nobody has looked for a while, and the next request starts another one.
"""

from __future__ import annotations

import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from headwater.errors import ServiceError

HOST = "127.0.0.1"
FIRST_PORT, PORTS = 8642, 20
"""Where the console is looked for, if no port is chosen: two projects have neighbouring ports.
Where all of these are taken, it is any port."""
_LOOK_EVERY, _PAUSE = 1.0, 5.0


def listen(port: int | None) -> socket.socket:
    """Listen on loopback.

    Args:
        port: the port; a free one by default.

    Raises:
        ServiceError: ``CONSOLE_PORT``: it is taken.
    """
    tried = (*range(FIRST_PORT, FIRST_PORT + PORTS), 0) if port is None else (port,)
    reason = ""
    for each in tried:
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, each))
            listening.listen()
        except OSError as error:
            listening.close()
            reason = error.strerror or str(error)
        else:
            return listening
    raise ServiceError(
        "CONSOLE_PORT",
        f"cannot serve the console on port {port}: {reason.lower()}",
        hint="choose another port: console.port in headwater.toml; or use --no-console",
    )


def address_of(listening: socket.socket) -> str:
    """Return where a browser finds the console."""
    return f"http://{HOST}:{listening.getsockname()[1]}"


@contextmanager
def console_on_demand(root: Path, port: int | None) -> Iterator[str]:
    """Have a console answered until the block ends, by a process that starts when it is asked.

    Args:
        root: the folder of the project.
        port: the port; the first free one by default.

    Yields:
        Its address.

    Raises:
        ServiceError: ``CONSOLE_PORT``.
    """
    with listen(port) as listening:
        waking, done = socket.socketpair()
        thread = threading.Thread(
            target=_answer, args=(root, listening, waking), name="console", daemon=True
        )
        thread.start()
        try:
            yield address_of(listening)
        finally:
            done.close()
            thread.join()
            waking.close()


def _answer(root: Path, listening: socket.socket, waking: socket.socket) -> None:
    """Start a process for each request that finds none."""
    while waking not in select.select([listening, waking], [], [])[0]:
        number = str(listening.fileno())
        command = [sys.executable, "-m", "headwater", "--project", str(root), "console"]
        with subprocess.Popen(
            [*command, "--socket", number],
            pass_fds=[listening.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        ) as process:
            while process.poll() is None and not _ended(waking, _LOOK_EVERY):
                pass
            with suppress(OSError):
                process.terminate()
        if process.returncode > 0 and _ended(waking, _PAUSE):
            return


def _ended(waking: socket.socket, seconds: float) -> bool:
    return bool(select.select([waking], [], [], seconds)[0])
