"""The whole stack with the shop in it: from PostgreSQL to dashboards, under a small load.

In: a folder. Out: processes that outlive the program, and where everything is, ready to be pasted.
``docker/compose.yaml`` starts the same as containers; some of them run :data:`IN_CONTAINERS`.
Headwater and Trino share a catalog in PostgreSQL.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from headwater.plan.planner import plan_project
from headwater.project import Project, load_project
from headwater.serve.superset import push
from headwater.serve.superset.project import ProjectBundle, project_bundle
from headwater.serve.trino.access import state_columns
from headwater.serve.trino.catalog import PASSWORD
from headwater.serve.trino.catalog import catalogs as trino_catalogs
from headwater.servers.service import LocalServer
from headwater.servers.superset import SupersetServer
from headwater.servers.trino import TrinoServer
from jobs.demos import catalogs
from jobs.demos.cdc.load import Load, Server, transactions
from jobs.demos.cdc.pipeline import EXAMPLE, ROOT, Headwater, capture_shop, copy_example, found_shop
from jobs.demos.servers.connect import Connect, Connectors
from jobs.demos.servers.kafka import Kafka
from jobs.demos.servers.postgres import Postgres, connection_to, require_programs
from jobs.demos.servers.service import HOST, Service
from jobs.demos.servers.stack import Stack

CATALOG = "lake"
"""The database of the catalog, beside that of the shop, and what Trino calls the catalog."""

RATE = 10.0  # transactions a second: enough to see numbers change, and a laptop does not notice
_NEWEST = "SELECT (SELECT max(id) FROM orders), (SELECT max(id) FROM customers)"

_PASSWORD = "POSTGRES_PASSWORD"


@dataclass(frozen=True, slots=True)
class Database:
    """A PostgreSQL that runs somewhere: what containers are told of it.

    Attributes:
        host: its host.
        port: its port.
        user: who connects.
        password: the user's password.
    """

    host: str
    port: int
    user: str
    password: str

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Database:
        """Return the one that the environment names.

        Args:
            environ: ``POSTGRES_HOST``, ``POSTGRES_PORT``, ``POSTGRES_USER``, ``POSTGRES_PASSWORD``.
        """
        return cls(
            environ["POSTGRES_HOST"],
            int(environ["POSTGRES_PORT"]),
            environ["POSTGRES_USER"],
            environ[_PASSWORD],
        )

    def variables(self) -> dict[str, str]:
        """Return what :meth:`of` reads."""
        return {
            "POSTGRES_HOST": self.host,
            "POSTGRES_PORT": str(self.port),
            "POSTGRES_USER": self.user,
            _PASSWORD: self.password,
        }

    def connect(self) -> psycopg.Connection[Any]:
        """Return a connection, in UTC; each statement is a transaction."""
        return connection_to(self.host, self.port, self.user, self.password)


class Customers(Service):
    """The load of :mod:`jobs.demos.cdc.load` as a process.

    Args:
        folder: of the stack.
        postgres: the shop's database.
        lasting: whether it outlives this program.
    """

    name = "load"
    files = ()
    port_names = ()

    def __init__(self, folder: Path, postgres: Postgres, *, lasting: bool = False) -> None:
        super().__init__(folder, lasting=lasting)
        self._postgres = postgres

    @property
    def address(self) -> str:
        """What it does."""
        return f"{RATE:g} transactions a second"

    def environment(self) -> dict[str, str]:
        """Return where the shop's database is."""
        return {"PYTHONPATH": str(ROOT), **_database(self._postgres).variables()}

    def command(self) -> Sequence[str | Path]:
        """Return the command line, which is that of the container too."""
        return [sys.executable, "-m", "jobs.demos.stack", "load"]

    def answers(self) -> bool:
        """Return whether it runs."""
        return self.process is not None


class Keeper(Service):
    """Starts the other servers of a folder again when they die.

    Args:
        folder: of the stack.
        lasting: whether it outlives this program.
    """

    name = "keeper"
    files = ()
    port_names = ()

    def __init__(self, folder: Path, *, lasting: bool = False) -> None:
        super().__init__(folder, lasting=lasting)
        self._stack = folder.absolute()

    @property
    def address(self) -> str:
        """What it does."""
        return f"starts again what dies; it writes what it did to {self.log}"

    def environment(self) -> dict[str, str]:
        """Return what its Python needs."""
        return {"PYTHONPATH": str(ROOT)}

    def command(self) -> Sequence[str | Path]:
        """Return the command line."""
        return [sys.executable, "-m", "jobs.demos.stack", "keep", "--folder", self._stack]

    def answers(self) -> bool:
        """Return whether it runs."""
        return self.process is not None


class LakeTrino(TrinoServer):
    """Trino over the shop's lake, whose address is known when it is started.

    Args:
        folder: of the stack.
        project: the project's folder.
        password: of the catalog's database.
        lasting: whether the server outlives this program.
    """

    def __init__(
        self, folder: Path, project: Path, password: str, *, lasting: bool = False
    ) -> None:
        super().__init__(folder, {}, variables={PASSWORD: password}, lasting=lasting)
        self._project = project

    def prepare(self) -> None:
        """Write the catalogs of the project, and hide the state of its views."""
        project = load_project(self._project)
        self._catalogs = trino_catalogs(project.config)
        self._hidden = state_columns(plan_project(project.catalog).values())
        super().prepare()


class ShopStack(Stack):
    """The shop's servers.

    Args:
        folder: of data, logs and records, and of the project.
    """

    def __init__(self, folder: Path) -> None:
        self.project = folder.absolute() / "project"
        self.postgres = Postgres(folder, lasting=True)
        self.kafka = Kafka(folder, lasting=True)
        self.connect = Connect(folder, self.kafka, lasting=True)
        password = self.postgres.password
        self.headwater = Headwater(
            folder, self.project, variables={PASSWORD: password}, lasting=True
        )
        self.trino = LakeTrino(folder, self.project, password, lasting=True)
        self.superset = SupersetServer(folder, lasting=True)
        load = Customers(folder, self.postgres, lasting=True)
        writers = [self.postgres, self.kafka, self.connect, self.headwater, load]
        keeper = Keeper(folder, lasting=True)
        super().__init__(folder, [*writers, self.trino, self.superset, keeper])

    def up(self, names: Sequence[str] = ()) -> Iterator[str]:
        """Start what does not run; give a line about each, and then where everything is.

        Args:
            names: nothing else makes sense than all, which is the default.

        Raises:
            ServiceError: as :meth:`jobs.demos.servers.service.Service.start` does.
        """
        require_programs()
        os.environ[PASSWORD] = self.postgres.password  # the project's settings refer to it
        yield from super().up(names)
        yield from self.addresses()

    def ready(self, service: LocalServer) -> None:
        """Open the shop in a database, capture it by a worker, draw it in a Superset that runs."""
        if service is self.postgres:
            open_shop(self.postgres)
        elif service is self.connect:
            capture_shop(self.connect.connectors, self.postgres)
            self._write_project()
        elif service is self.trino:
            self._write_project()
        elif service is self.superset:
            client = push.Superset(service.address, self.superset.username, self.superset.password)
            client.push(_bundle(load_project(self.project), self.trino.address))

    def keep(self, pause: float = 5.0) -> Iterator[str]:
        """Start again what died, as :meth:`Stack.keep` does; the keeper does not watch itself."""
        os.environ[PASSWORD] = self.postgres.password
        yield from super().keep(pause)

    def status(self) -> Iterator[str]:
        """Yield a line about each server, and where everything is if all run."""
        services = self.choose(())
        yield from map(self.describe, services)
        if all(service.process for service in services):
            yield from self.addresses()

    def addresses(self) -> Iterator[str]:
        """Yield where everything is, as people paste it."""
        kafka, metrics = self.kafka.address, self.headwater.metrics
        trino, superset = self.trino.address, self.superset.address
        secret = self.superset.home / "admin_password"
        yield ""
        yield from dashboard_lines(superset, trino, f"the password is in {secret}")
        yield from address_lines(_database(self.postgres), kafka, trino, metrics)
        run = f"{Path(sys.executable).with_name('headwater')} --project {self.project}"
        yield f"Headwater          {PASSWORD}={self.postgres.password} {run} status --watch"

    def _write_project(self) -> None:
        known = self.trino.ports
        trino = f'\n[trino]\nurl = "{self.trino.address}"\n' if known else ""
        copy_example(self.project, self.kafka.address, catalog_of(self.postgres) + trino)


def address_lines(database: Database, kafka: str, trino: str, metrics: str) -> Iterator[str]:
    """Yield where everything is, as people paste it.

    Args:
        database: the shop's, and the catalog's.
        kafka: host and port.
        trino: URL of Trino.
        metrics: URL of the metrics.
    """
    host, _, port = trino.removeprefix("http://").partition(":")
    shop = f'host="{host}", port={port}, user="me", catalog="{CATALOG}", schema="shop"'
    where = f"{database.user}@{database.host}:{database.port}/postgres"
    yield f"Trino, DB-API      trino.dbapi.connect({shop})"
    yield f"Trino, SQLAlchemy  trino://me@{host}:{port}/{CATALOG}/shop"
    yield f"Kafka              {kafka}"
    yield f"PostgreSQL         postgresql://{where}, password {database.password}"
    yield f"metrics            {metrics}"


def dashboard_lines(superset: str, trino: str, secret: str) -> Iterator[str]:
    """Yield where the dashboards are, and how to log in.

    Args:
        superset: URL of Superset.
        trino: URL of Trino.
        secret: where the password is.
    """
    for page in _bundle(load_project(EXAMPLE), trino).dashboards:
        yield f"{page.title:<18} {superset}/superset/dashboard/{page.slug}/"
    yield f"{'':<18} user {SupersetServer.username}; {secret}"


def _bundle(project: Project, trino: str) -> ProjectBundle:
    return project_bundle(project, plan_project(project.catalog), trino)


def open_shop(server: Server) -> None:
    """Make the shop's tables, and the catalog's database with its namespace, unless they exist.

    Args:
        server: PostgreSQL.
    """
    with server.connect() as connection:
        found_shop(connection)
        query = "SELECT 1 FROM pg_database WHERE datname = %s"
        if connection.execute(query, [CATALOG]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {CATALOG}".encode())
    account = server.host, server.port, server.user, server.password
    with connection_to(*account, database=CATALOG) as connection:
        connection.execute(catalogs.sql("shop"))


def catalog_of(server: Server) -> str:
    """Return what the project's headwater.toml says of a catalog in a server.

    Args:
        server: PostgreSQL.
    """
    return "\n" + catalogs.settings("postgres", {"postgres:5432": f"{server.host}:{server.port}"})


def prepare(environ: Mapping[str, str]) -> Iterator[str]:
    """Do in a container what :class:`ShopStack` does between its servers; again does no harm.

    Args:
        environ: that of :meth:`Database.of`, ``BROKER``, ``CONNECT_URL``, ``PROJECT``.

    Raises:
        ServiceError: as :func:`jobs.demos.cdc.pipeline.capture_shop` does.
    """
    database = Database.of(environ)
    open_shop(database)
    capture_shop(Connectors(environ["CONNECT_URL"], "the log of connect"), database)
    copy_example(Path(environ["PROJECT"]), environ["BROKER"], catalog_of(database))
    yield "the shop is open, and Debezium has written its tables to Kafka"


def load(environ: Mapping[str, str]) -> Iterator[str]:
    """Be the shop's customers until a signal comes.

    Args:
        environ: that of :meth:`Database.of`.

    Raises:
        psycopg.Error: a transaction has failed.
    """
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    database = Database.of(environ)
    with database.connect() as connection:  # somebody may have ordered before
        newest = connection.execute(_NEWEST.encode()).fetchone()
    assert newest is not None, "an aggregate has a row"
    running = Load(database, RATE, transactions(newest[0], *newest))
    running.start()
    yield f"{RATE:g} transactions a second"
    while running.alive and not stopping.wait(1.0):
        pass
    running.stop()


def addresses(environ: Mapping[str, str]) -> Iterator[str]:
    """Say in a container where everything is, seen from the machine that it runs on.

    Args:
        environ: that of :meth:`Database.of`, ``BROKER``, ``TRINO_URL``, ``METRICS_URL``,
            ``SUPERSET_URL``.
    """
    database = Database.of(environ)
    trino, secret = environ["TRINO_URL"], "superset said the password in its log"
    yield from dashboard_lines(environ["SUPERSET_URL"], trino, secret)
    yield from address_lines(database, environ["BROKER"], trino, environ["METRICS_URL"])


IN_CONTAINERS = {"prepare": prepare, "load": load, "addresses": addresses}
"""What containers of ``docker/compose.yaml`` run, by the name on the command line."""


def _database(postgres: Postgres) -> Database:
    return Database(HOST, postgres.port, postgres.user, postgres.password)
