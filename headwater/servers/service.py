"""What all servers have in common: a folder, ports, a process, a start that is known to be ready.

In: a folder. Out: a running server, or one error that says what to do; afterwards no process.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from headwater.errors import ServiceError
from headwater.servers.ports import claim_ports, read_ports
from headwater.servers.process import Process, ServerRecord, read_record

HOST = "127.0.0.1"
"""Servers listen here only."""

READY_WITHIN = 60.0  # seconds; the slowest takes 15 on a busy machine
STOPPED_WITHIN = 30.0  # seconds after which a server that was asked to stop is killed

_POLL = 0.1  # seconds between two questions whether a server is ready
_ROOM = 200_000_000  # bytes that must be free: all servers take 40 MB empty, segments are 64 MB
_LAST_LINES = 12  # of the log, in an error


class LocalServer(ABC):
    """A server as a process of its own. As a context manager it runs within the block.

    Args:
        folder: of the stack; the server's own is below it and has its name.
        lasting: whether the server outlives this program. If not, and this program is killed,
            :func:`headwater.servers.leftover.sweep` knows that nobody needs the server any more.

    Attributes:
        folder: data, log, ports and record of the process.
        ports: by the names of its configuration; empty before the first start.
    """

    name: ClassVar[str]
    """What it is called, also in compose.yaml."""

    port_names: ClassVar[Sequence[str]]
    """The names that its configuration has for its ports."""

    files: ClassVar[Sequence[str]]
    """Its configuration files, below :attr:`configuration`."""

    configuration: ClassVar[Path] = Path(__file__).with_name("files")
    """The folder of the configuration files, which ``docker/compose.yaml`` mounts too."""

    ready_within: ClassVar[float] = READY_WITHIN
    """Seconds in which it has to answer after its start."""

    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM

    def __init__(self, folder: Path, *, lasting: bool = False) -> None:
        self.folder = folder.absolute() / self.name
        self._lasting = lasting
        self.ports = read_ports(self._ports)

    @property
    def process(self) -> Process | None:
        """Its process; None if it does not run."""
        record = read_record(self._record)
        return record.server if record and record.server.alive else None

    @property
    def has_died(self) -> bool:
        """Whether it was started, and ended without being stopped."""
        return read_record(self._record) is not None and self.process is None

    @property
    def log(self) -> Path:
        """What it has printed."""
        return self.folder / "log"

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises:
            ServiceError: ``SERVICE_RUNNING`` if it runs already, ``SERVICE_FOLDER`` if its folder
                cannot be used or its disk is full, ``SERVICE_ENDED`` if it stopped by itself,
                ``SERVICE_NOT_READY`` if it did not answer in time; and what
                :func:`~headwater.servers.ports.claim_ports` and
                :func:`~headwater.jars.fetch.fetch` raise.
        """
        record = read_record(self._record)
        if record and record.owner and not record.owner.alive:
            self.kill()  # who started it was killed, and nobody else stops it
        if running := self.process:
            raise ServiceError(
                "SERVICE_RUNNING",
                f"{self.name} of {self.folder} runs already, as process {running.pid}",
                hint=f"use it, or stop it: kill {running.pid}",
            )
        try:
            self._make_folder()
            self.ports = claim_ports(self._ports, self.port_names, self.name)
            self.prepare()
            process = self._spawn()
        except OSError as error:
            reason = error.strerror or str(error)
            message = f"cannot use {self.folder} for {self.name}: {reason}"
            hint = f"free space there, or make it writable: {self.folder}"
            raise ServiceError("SERVICE_FOLDER", message, hint=hint) from error
        try:
            self._await(process)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Ask it to stop, and kill it if it does not; nothing if it does not run."""
        if process := self.process:
            process.send(self.stop_signal)
            if not process.wait(STOPPED_WITHIN):
                self.kill()
        self._record.unlink(missing_ok=True)

    def kill(self) -> None:
        """Kill it by SIGKILL, as a crash does, and wait until all of it is gone."""
        if process := self.process:
            # Children of a killed server end by themselves, and a new one waits for that.
            doomed = [process, *process.children()]
            process.send(signal.SIGKILL)
            for one in doomed:
                if not one.wait(STOPPED_WITHIN):
                    one.send(signal.SIGKILL)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    @abstractmethod
    def address(self) -> str:
        """Where it is, as its clients say it."""

    @abstractmethod
    def command(self) -> Sequence[str | Path]:
        """Return the command line; it is run in the server's folder."""

    @abstractmethod
    def answers(self) -> bool:
        """Return whether the server does what it is for; errors of the network mean no."""

    def environment(self) -> dict[str, str]:
        """Return the variables that the configuration files refer to."""
        return {"LISTEN": HOST} | {name: str(port) for name, port in self.ports.items()}

    def file(self, name: str) -> Path:
        """Return where a configuration file is."""
        return self.configuration / name

    def prepare(self) -> None:  # noqa: B027 — most need nothing
        """Make what the first start needs; it is called before every start."""

    def account(self) -> tuple[int, int] | tuple[None, None]:
        """Return user and group to run as; None for our own."""
        return None, None

    def run(self, command: Sequence[str | Path], *, shown: bool = False) -> None:
        """Run a program of the server to its end, as the server itself is run.

        Args:
            command: its command line.
            shown: whether a person sees what it prints; by default the log has it. What it says of
                errors is always in the log.

        Raises:
            ServiceError: ``SERVICE_ENDED`` if it fails.
        """
        user, group = self.account()
        with self.log.open("ab") as log:
            done = subprocess.run(
                command, cwd=self.folder, env=os.environ | self.environment(),
                stdin=subprocess.DEVNULL, stdout=None if shown else log, stderr=log,
                user=user, group=group,
            )  # fmt: skip
        if done.returncode:
            raise self._failed("SERVICE_ENDED", f"{Path(command[0]).name} failed")

    @property
    def _ports(self) -> Path:
        return self.folder / "ports.json"

    @property
    def _record(self) -> Path:
        return self.folder / "process.json"

    def _make_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self.folder).free
        if free < _ROOM:
            raise OSError(f"{free / 1e6:.0f} MB are free, {_ROOM / 1e6:.0f} MB are needed")

    def _spawn(self) -> Process:
        user, group = self.account()
        with self.log.open("ab") as log:
            # A session of its own: Ctrl-C at the terminal is for us, who then stop it in order.
            child = subprocess.Popen(
                self.command(), cwd=self.folder, env=os.environ | self.environment(),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                user=user, group=group,
            )  # fmt: skip
        process = Process.of(child.pid)
        owner = None if self._lasting else Process.of(os.getpid())
        ServerRecord(process, owner).write(self._record)
        return process

    def _await(self, process: Process) -> None:
        deadline = time.monotonic() + self.ready_within
        while time.monotonic() < deadline:
            if not process.alive:
                process.wait(0)
                raise self._failed("SERVICE_ENDED", f"{self.name} ended while it started")
            with suppress(OSError):
                if self.answers():
                    return
            time.sleep(_POLL)
        message = f"{self.name} did not answer within {self.ready_within:.0f} s"
        raise self._failed("SERVICE_NOT_READY", message)

    def _failed(self, condition: str, message: str) -> ServiceError:
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        tail = "".join(f"\n  | {line}" for line in lines[-_LAST_LINES:])
        return ServiceError(condition, f"{message}; its log ends so:{tail}", hint=f"see {self.log}")


def java_options(heap: int) -> list[str]:
    """Return what every JVM of the stack is started with: little memory, and one collector.

    Args:
        heap: the largest heap in MB.
    """
    return ["-Xms64m", f"-Xmx{heap}m", "-XX:+UseSerialGC"]
