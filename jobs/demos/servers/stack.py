"""All servers together, for a person: started, looked at and stopped by one command.

In: a folder, or services of one. Out: servers that outlive the program, a line about each.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from headwater.errors import HeadwaterError, ServiceError
from headwater.servers.service import LocalServer
from jobs.demos.servers.connect import Connect
from jobs.demos.servers.kafka import Kafka
from jobs.demos.servers.postgres import Postgres
from jobs.demos.servers.registry import Registry
from jobs.demos.servers.store import Store


class Stack:
    """The servers of one folder.

    Args:
        folder: of data, logs and records; made when a server is started.
        services: the servers, in the order of their start; by default those of tests and users,
            each on its own.
    """

    def __init__(self, folder: Path, services: Sequence[LocalServer] | None = None) -> None:
        self.folder = folder
        chosen = servers(folder) if services is None else services
        self._services = {service.name: service for service in chosen}

    def choose(self, names: Sequence[str]) -> list[LocalServer]:
        """Return the servers of some names, with what they need, in the order of their start.

        Args:
            names: of servers; none means all.

        Raises:
            HeadwaterError: ``UNKNOWN_SERVICE`` if there is no such server.
        """
        for name in names:
            if name not in self._services:
                hint = f"there are {', '.join(self._services)}"
                raise HeadwaterError("UNKNOWN_SERVICE", f"no server named {name}", hint=hint)
        wanted = set(names or self._services)
        if "connect" in wanted:
            wanted.add("kafka")
        return [service for name, service in self._services.items() if name in wanted]

    def up(self, names: Sequence[str] = ()) -> Iterator[str]:
        """Start servers that do not run; give a line about each before, and when it answers.

        Args:
            names: of servers; none means all.

        Raises:
            ServiceError: as :meth:`LocalServer.start` does; what was started before goes on
                running.
        """
        with self._alone():
            for service in self.choose(names):
                if not service.process:
                    yield f"{service.name:<9} starts (its log is {service.log})"
                    service.start()
                self.ready(service)
                yield self.describe(service)

    def ready(self, service: LocalServer) -> None:
        """Do what is to be done once a server answers, whether it has just been started or not.

        Args:
            service: the server.
        """

    def down(self, names: Sequence[str] = ()) -> Iterator[str]:
        """Stop servers, those that need others first; say which ran, and where their data stay.

        Args:
            names: of servers; none means all.
        """
        chosen = [one for one in self.choose(names) if not names or one.name in names]
        with self._alone():
            for service in reversed(chosen):
                if process := service.process:
                    service.stop()
                    yield f"{service.name:<9} stopped, process {process.pid}"
        yield f"their data stay in {self.folder}; to remove them: rm -r {self.folder}"

    def keep(self, pause: float = 5.0) -> Iterator[str]:
        """Start again what died by itself, for ever; give a line about each.

        Args:
            pause: seconds between two looks.
        """
        while True:
            time.sleep(pause)
            for service in self.choose(()):
                if service.has_died:
                    with suppress(ServiceError):  # the next look tries again
                        service.start()
                        yield f"{service.name:<9} had died, and runs again"

    def describe(self, service: LocalServer) -> str:
        """Return a line about a server: whether it runs, its process and its address."""
        process = service.process
        if process is None:
            return f"{service.name:<9} stopped"
        return f"{service.name:<9} runs, process {process.pid:<8} {service.address}"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep a second `up` or `down` of the same folder away."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                message = f"another program starts or stops the servers of {self.folder}"
                raise ServiceError("SERVICE_BUSY", message, hint="wait until it is done") from None
            yield


def servers(folder: Path) -> list[LocalServer]:
    """Return the servers around a lake that know nothing of each other, but Connect its broker.

    Args:
        folder: of the stack.
    """
    kafka = Kafka(folder, lasting=True)
    return [
        Postgres(folder, lasting=True),
        kafka,
        Connect(folder, kafka, lasting=True),
        Registry(folder, lasting=True),
        Store(folder, lasting=True),
    ]
