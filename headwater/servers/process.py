"""A server's process, known again after the program that started it has ended.

In: a process of this machine. Out: a record in a file, and who of the recorded is still alive.
"""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from headwater.lake.catalogs.lease_record import process_started

_POLL = 0.05  # seconds between two looks at a process that shall end


@dataclass(frozen=True, slots=True)
class Process:
    """A process, told from a later one that was given the same number.

    Attributes:
        pid: its number.
        started: when it started, as the system says.
    """

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> Process:
        """Return the process that has a number now."""
        return cls(pid, process_started(pid) or "")

    @property
    def alive(self) -> bool:
        """Whether this very process still runs."""
        return process_started(self.pid) == self.started

    def children(self) -> list[Process]:
        """Return the processes that it has started itself and that are alive."""
        try:
            listing = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        except OSError:  # it has ended, or the system has no such file
            return []
        return [Process.of(int(pid)) for pid in listing.split()]

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, if it is alive."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    @property
    def ended(self) -> bool:
        """Whether nothing of it is left, so that its files and ports are free.

        A killed process counts as dead when its first thread is; the others still hold its ports.
        """
        started = process_started(self.pid)
        if started is not None:
            return started != self.started
        try:
            return len(os.listdir(f"/proc/{self.pid}/task")) <= 1
        except OSError:
            return True

    def wait(self, timeout: float) -> bool:
        """Wait for its end; return whether it came within so many seconds."""
        deadline = time.monotonic() + timeout
        while not self.ended and time.monotonic() < deadline:
            time.sleep(_POLL)
        ended = self.ended
        with suppress(ChildProcessError):  # somebody else's child: they take note of its end
            os.waitpid(self.pid, os.WNOHANG)
        return ended


@dataclass(frozen=True, slots=True)
class ServerRecord:
    """What a folder says of the server that was last started in it.

    Attributes:
        server: its process.
        owner: whoever stops it; None if it shall outlive the program that started it.
    """

    server: Process
    owner: Process | None

    def write(self, path: Path) -> None:
        """Write it to a file, in one step."""
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps(asdict(self)), encoding="utf-8")
        os.replace(draft, path)


def read_record(path: Path) -> ServerRecord | None:
    """Return the record in a file; None if there is none."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    owner = fields["owner"]
    return ServerRecord(Process(**fields["server"]), Process(**owner) if owner else None)
