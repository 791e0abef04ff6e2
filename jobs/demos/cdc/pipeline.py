"""The processes between the shop and the screen: started, killed, started again.

In: a folder. Out: PostgreSQL, Kafka, Connect with Debezium and ``headwater run``, each a process of
its own that anybody may kill: whatever has ended is started again until the pipeline is stopped.
"""

from __future__ import annotations

import json
import shutil
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg

from headwater.config.settings import load_config
from headwater.errors import HeadwaterError
from headwater.project import Project, load_project
from headwater.serve.status import RUN_FILE, read_run_file
from jobs.demos.cdc.load import SCHEMA, Server
from jobs.demos.servers.connect import Connect, Connectors
from jobs.demos.servers.kafka import Kafka
from jobs.demos.servers.postgres import Postgres, require_programs
from jobs.demos.servers.service import HOST, Service

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "sql" / "shop"
CONNECTOR = EXAMPLE / "connector.json"
SERVERS = ("postgres", "kafka", "connect", "headwater")
"""What can be killed."""

_BROKER = "localhost:9092"  # as the example says it
_LOOK = 0.3  # seconds between two looks whether all processes run
_STARTS = 3  # a killed server's children may need a moment until they are gone

Say = Callable[[str], None]


class Headwater(Service):
    """``headwater run`` over a project, a process like the servers.

    Args:
        folder: of the stack.
        project: the project's folder.
        variables: of its environment, which the project's settings refer to.
        lasting: whether it outlives this program.
    """

    name = "headwater"
    files = ()
    port_names = ("METRICS_PORT",)
    ready_within = 180.0  # Spark starts for 20 s, beside all the others longer

    def __init__(
        self,
        folder: Path,
        project: Path,
        *,
        variables: Mapping[str, str] | None = None,
        lasting: bool = False,
    ) -> None:
        super().__init__(folder, lasting=lasting)
        self._project, self._variables = project, variables or {}

    @property
    def address(self) -> str:
        """The project that it keeps."""
        return str(self._project)

    @property
    def metrics(self) -> str:
        """Where its metrics are."""
        return f"http://{HOST}:{self.ports['METRICS_PORT']}/metrics"

    def environment(self) -> dict[str, str]:
        """Return what makes it the Headwater of this folder, wherever it runs."""
        port = str(self.ports["METRICS_PORT"])
        return {"PYTHONPATH": str(ROOT), "HEADWATER_METRICS_PORT": port, **self._variables}

    def command(self) -> Sequence[str | Path]:
        """Return the command line, as a user would type it."""
        return [sys.executable, "-m", "headwater", "--project", self._project, "run"]

    def answers(self) -> bool:
        """Return whether it owns the project and has begun."""
        said = read_run_file(load_project(self._project).config.state / RUN_FILE)
        return self.process is not None and said.get("pid") == self.process.pid


class Pipeline:
    """All of it, in one folder.

    Args:
        folder: of data, logs and records.
        say: told what happens, a line each time; from several threads.
        lasting: whether the processes outlive this program.

    Attributes:
        postgres: the shop's database.
        project: the copy of the example that Headwater runs; once :meth:`start` has returned.
        failure: why a process could not be started again, if so.
    """

    project: Project

    def __init__(self, folder: Path, say: Say, *, lasting: bool = False) -> None:
        self._directory = folder / "project"
        self._say = say
        self.postgres = Postgres(folder, lasting=lasting)
        self._kafka = Kafka(folder, lasting=lasting)
        self._connect = Connect(folder, self._kafka, lasting=lasting)
        headwater = Headwater(folder, self._directory, lasting=lasting)
        self._services = {
            each.name: each for each in (self.postgres, self._kafka, self._connect, headwater)
        }
        self.failure: HeadwaterError | None = None
        self._stopping = threading.Event()
        self._busy = {name: threading.Lock() for name in SERVERS}
        self._watcher = threading.Thread(target=self._watch, name="watcher", daemon=True)

    def start(self) -> None:
        """Start everything, with the shop's first rows on their way, and begin to watch over it.

        Raises:
            ServiceError: a server cannot be started, or PostgreSQL is not installed.
        """
        require_programs()
        self._up(self.postgres)
        with self.postgres.connect() as connection:
            found_shop(connection)
        self._up(self._kafka)
        self._up(self._connect)
        capture_shop(self._connect.connectors, self.postgres)
        self._say("Debezium has written the tables as they are to Kafka")
        copy_example(self._directory, self._kafka.address)
        self._up(self._services["headwater"])
        self.project = load_project(self._directory)
        self._watcher.start()

    def kill(self, name: str) -> None:
        """Kill a process by SIGKILL; it is started again as any that has ended.

        Args:
            name: one of :data:`SERVERS`.
        """
        with self._busy[name]:
            if process := self._services[name].process:
                self._say(f"killing {name}, process {process.pid}, by SIGKILL")
            self._services[name].kill()

    def watch_no_more(self) -> None:
        """Start nothing again from now on; returns when nothing is being started."""
        self._stopping.set()
        if self._watcher.ident is not None:
            self._watcher.join()

    def stop(self) -> None:
        """Stop everything, what reads first."""
        self.watch_no_more()
        for service in reversed(self._services.values()):
            if service.process:
                self._say(f"stopping {service.name}")
                service.stop()

    @property
    def processes(self) -> list[int]:
        """The numbers of the processes that run, in the order in which they should end."""
        found = [service.process for service in reversed(self._services.values())]
        return [process.pid for process in found if process]

    def _up(self, service: Service) -> None:
        begun = time.monotonic()
        self._say(f"starting {service.name}")
        service.start()
        pid = service.process.pid if service.process else None
        took = time.monotonic() - begun
        self._say(f"{service.name} runs after {took:.0f} s, process {pid}: {service.address}")

    def _watch(self) -> None:
        while not self._stopping.wait(_LOOK):
            for service in self._services.values():
                with self._busy[service.name]:
                    if service.process is None and not self._stopping.is_set():
                        self._again(service)

    def _again(self, service: Service) -> None:
        self._say(f"{service.name} has ended")
        for start in range(_STARTS):
            try:
                self._up(service)
            except HeadwaterError as error:
                if start == _STARTS - 1:
                    self.failure = error
                    self._stopping.set()
                self._stopping.wait(1)
            else:
                return


def found_shop(connection: psycopg.Connection[Any]) -> None:
    """Make the shop's tables with their first rows, unless they are there.

    Args:
        connection: to its database.
    """
    if connection.execute("SELECT to_regclass('public.orders')").fetchone() == (None,):
        with connection.transaction():
            connection.execute(SCHEMA.read_bytes())


def capture_shop(connectors: Connectors, database: Server) -> None:
    """Have Debezium write the shop's tables to Kafka, and wait until it knows how far it is.

    Killed before that, it would take its first snapshot again.

    Args:
        connectors: of a worker that runs.
        database: the shop's server, where the worker finds it.

    Raises:
        ServiceError: as :class:`Connectors` does.
    """
    connectors.register("shop", connector(database))
    connectors.await_offsets("shop")


def connector(database: Server) -> dict[str, str]:
    """Return the example's configuration of Debezium for a server.

    Args:
        database: the server.
    """
    config: dict[str, str] = json.loads(CONNECTOR.read_text(encoding="utf-8"))
    return config | {
        "database.hostname": database.host,
        "database.port": str(database.port),
        "database.user": database.user,
        "database.password": database.password,
    }


def copy_example(target: Path, broker: str, settings: str = "") -> None:
    """Copy the example's definitions, with the broker's address in place of the usual one.

    Args:
        target: the copy's folder; it may be there already.
        broker: host and port.
        settings: what its headwater.toml says beside the example's.
    """
    target.mkdir(parents=True, exist_ok=True)
    charts = load_config(EXAMPLE).superset.charts
    shutil.copytree(EXAMPLE / charts, target / "dashboards", dirs_exist_ok=True)
    text = (EXAMPLE / "headwater.toml").read_text(encoding="utf-8").replace(charts, "dashboards")
    (target / "headwater.toml").write_text(text + settings, encoding="utf-8")
    for file in EXAMPLE.glob("*.sql"):
        text = file.read_text(encoding="utf-8").replace(_BROKER, broker)
        (target / file.name).write_text(text, encoding="utf-8")
