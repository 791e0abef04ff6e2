"""Debezium in Kafka Connect: changes of a real PostgreSQL arrive, through kills of either."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from confluent_kafka import Message

from headwater.errors import ServiceError
from jobs.demos.servers.connect import Connect
from jobs.demos.servers.kafka import Kafka
from jobs.demos.servers.postgres import Postgres
from tests.faults.postgres import postgres
from tests.services.topics import read

pytestmark = pytest.mark.services


def table(messages: list[Message]) -> dict[int, str]:
    """The table that the changes make: the newest row of each key."""
    rows: dict[int, str] = {}
    for value in (json.loads(one.value()) for one in messages if one.value()):
        if value["op"] == "d":
            rows.pop(value["before"]["id"], None)  # a change may come twice
        else:
            rows[value["after"]["id"]] = value["after"]["amount"]
    return rows


@pytest.fixture
def server() -> Iterator[Postgres]:
    """A server that nothing else reads from: it is killed."""
    with postgres() as running:
        yield running


def test_changes_arrive_through_kills(broker: Kafka, server: Postgres, connect: Connect) -> None:
    def arrives(rows: dict[int, str]) -> None:
        read(broker, "shop.public.orders", lambda messages: table(messages) == rows)

    with server.connect() as run:
        run.execute("CREATE TABLE orders (id int PRIMARY KEY, amount numeric(10, 2))")
        run.execute("INSERT INTO orders VALUES (1, 10.50), (2, 1)")
    connect.capture(server, "shop", table_include_list="public.orders")
    arrives({1: "10.50", 2: "1.00"})
    connect.connectors.await_offsets("shop")

    connect.kill()
    with server.connect() as run:
        run.execute("UPDATE orders SET amount = 12 WHERE id = 1")
    connect.start()  # the connector is there again by itself
    arrives({1: "12.00", 2: "1.00"})

    server.kill()
    server.start()  # and tries until the database is there again
    with server.connect() as run:
        run.execute("INSERT INTO orders VALUES (3, 3)")
        run.execute("DELETE FROM orders WHERE id = 2")
    arrives({1: "12.00", 3: "3.00"})

    broker.kill()
    with server.connect() as run:
        run.execute("UPDATE orders SET amount = 0 WHERE id = 3")
    broker.start()
    arrives({1: "12.00", 3: "0.00"})


def test_a_connector_that_cannot_run_says_why(connect: Connect) -> None:
    with pytest.raises(ServiceError) as caught:
        connect.connectors.register(
            "wrong", {"connector.class": "no.such.Connector", "topic.prefix": "x"}
        )
    assert caught.value.condition == "CONNECTOR_FAILED"
    assert "no.such.Connector" in caught.value.message
