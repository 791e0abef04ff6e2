"""Kafka Connect with Debezium's connector for PostgreSQL.

In: ``connect/worker.properties``, a broker. Out: a worker; the changes of a database as topics.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from headwater.errors import ServiceError
from headwater.servers.web import ask
from jobs.demos.servers.kafka import LOG, Kafka, kafka_java
from jobs.demos.servers.packages import packages, unpacked_package
from jobs.demos.servers.postgres import Postgres
from jobs.demos.servers.service import CONFIGURATION, HOST, READY_WITHIN, Service

_POLL = 0.2  # seconds between two looks at a connector that starts


class Connectors:
    """The connectors of a worker, through its REST interface, wherever it runs.

    Args:
        address: where the interface is.
        log: where the worker writes what went wrong, for errors.
    """

    def __init__(self, address: str, log: str) -> None:
        self._address, self._log = address, log

    def register(self, name: str, config: Mapping[str, str]) -> None:
        """Create or change a connector, and wait until it and its tasks run.

        Args:
            name: of the connector.
            config: its configuration.

        Raises:
            ServiceError: ``CONNECTOR_FAILED`` if it is refused, fails, or does not run in time.
        """
        deadline = time.monotonic() + READY_WITHIN
        url, reason = f"{self._address}/connectors/{name}", "it did not run in time"
        accepted = False
        while time.monotonic() < deadline:
            try:
                if not accepted:
                    ask(f"{url}/config", dict(config), "PUT")
                    accepted = True
                states = _states(self.status(name))
            except HTTPError as error:
                # 404 and 409: the worker is taking it in, or has just joined its group
                reason = error.read().decode(errors="replace")
                if error.code == 400:
                    break
            else:
                if all(state == "RUNNING" for state, _ in states) and len(states) > 1:
                    return
                if failed := [trace for state, trace in states if state == "FAILED"]:
                    reason = failed[0]
                    break
            time.sleep(_POLL)
        message = f"connector {name}: {reason}"
        raise ServiceError("CONNECTOR_FAILED", message, hint=f"see {self._log}")

    def await_offsets(self, name: str) -> None:
        """Wait until a connector has stored how far it is.

        Killed before, Debezium takes its snapshot again: what was deleted meanwhile is in no event,
        and tables keep it that do not say ``snapshot = 'replace'``.

        Args:
            name: of the connector.

        Raises:
            ServiceError: ``SERVICE_NOT_READY`` if it stores nothing in time.
        """
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline:
            if ask(f"{self._address}/connectors/{name}/offsets")["offsets"]:
                return
            time.sleep(_POLL)
        message = f"connector {name} has stored no offsets within {READY_WITHIN:.0f} s"
        raise ServiceError("SERVICE_NOT_READY", message, hint=f"see {self._log}")

    def status(self, name: str) -> Any:  # noqa: ANN401 — JSON
        """Return what the worker says of a connector and its tasks."""
        return ask(f"{self._address}/connectors/{name}/status")


class Connect(Service):
    """A worker of Kafka Connect.

    Args:
        folder: of the stack.
        broker: where topics, and the connectors themselves, are kept.
        lasting: whether the server outlives this program.
    """

    name = "connect"
    files = ("connect/worker.properties", LOG)
    port_names = ("CONNECT_PORT",)

    def __init__(self, folder: Path, broker: Kafka, *, lasting: bool = False) -> None:
        super().__init__(folder, lasting=lasting)
        self._broker = broker

    @property
    def address(self) -> str:
        """Where its REST interface is."""
        return f"http://{HOST}:{self.ports['CONNECT_PORT']}"

    @property
    def connectors(self) -> Connectors:
        """Its connectors."""
        return Connectors(self.address, str(self.log))

    def capture(self, database: Postgres, name: str, **options: str) -> None:
        """Write the changes of a PostgreSQL database to topics, beginning with what is there.

        Calling it again changes the options of the connector; it goes on where it was.

        Args:
            database: the server.
            name: of the connector, its slot and its publication; its topics begin with it.
            options: of Debezium's connector, with ``_`` for ``.``, in addition to or instead of
                ours; for example ``table_include_list``.

        Raises:
            ServiceError: ``CONNECTOR_FAILED`` if it is refused, fails, or does not run in time.
        """
        given = {key.replace("_", "."): value for key, value in options.items()}
        self.connectors.register(name, postgres_connector(database, name) | given)

    def environment(self) -> dict[str, str]:
        """Return the names that the configuration asks for."""
        ports = {"BROKER_PORT": str(self._broker.ports["BROKER_PORT"])}
        return super().environment() | ports | {"BROKER_HOST": HOST, "CONNECT_HOST": HOST}

    def prepare(self) -> None:
        """Lay Debezium's connector where the configuration looks for it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        link = self.folder / "plugins"
        link.unlink(missing_ok=True)
        link.symlink_to(unpacked_package("debezium"), target_is_directory=True)

    def command(self) -> Sequence[str | Path]:
        """Return the command line of the worker."""
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        return [*kafka_java(packages("connect"), 256), main, CONFIGURATION / self.files[0]]

    def answers(self) -> bool:
        """Return whether the worker has joined its group and read its connectors."""
        return isinstance(ask(f"{self.address}/connectors"), list)


def postgres_connector(database: Postgres, name: str) -> dict[str, str]:
    """Return the configuration of a connector that captures all tables of schema ``public``.

    Args:
        database: the server.
        name: prefix of the topics, name of the slot and of the publication.
    """
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "tasks.max": "1",
        "database.hostname": HOST,
        "database.port": str(database.port),
        "database.user": database.user,
        "database.password": database.password,
        "database.dbname": "postgres",
        "schema.include.list": "public",
        "topic.prefix": name,
        "plugin.name": "pgoutput",
        "slot.name": name,
        "publication.name": name,
        "publication.autocreate.mode": "filtered",
        "snapshot.mode": "initial",
        "skipped.operations": "none",
        "provide.transaction.metadata": "true",
        "decimal.handling.mode": "string",
        "topic.creation.enable": "true",
        "topic.creation.default.replication.factor": "1",
        "topic.creation.default.partitions": "1",
        "heartbeat.interval.ms": "10000",
        "poll.interval.ms": "100",
        "retriable.restart.connector.wait.ms": "1000",
    }


def _states(status: Any) -> list[tuple[str, str]]:  # noqa: ANN401 — JSON
    """The state of a connector and of each of its tasks, with the reason if it failed."""
    parts = [status["connector"], *status["tasks"]]
    return [(part["state"], part.get("trace", "it failed").split("\n")[0]) for part in parts]
