"""A transaction of the database lands in one epoch, however its changes arrive."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from random import Random

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

from headwater.config.settings import Config
from headwater.errors import ServiceError
from headwater.intake.land import Landing
from headwater.lake.catalog import Lake
from jobs.demos.servers.connect import Connect
from jobs.demos.servers.kafka import Kafka
from jobs.demos.servers.registry import Registry
from tests.faults.postgres import postgres
from tests.services.test_avro import register
from tests.services.test_capture import comes_to_equal
from tests.services.topics import client
from tests.spark.running import Running, planned
from tests.support.avro import Json, fields, message

pytestmark = pytest.mark.services

TABLE = """CREATE TABLE items (id BIGINT, n BIGINT, PRIMARY KEY (id)) WITH (connector = 'kafka',
topic = '{prefix}.public.items', transaction_topic = '{prefix}.transaction',
bootstrap_servers = '{servers}', max_rows_per_epoch = '{most}') FORMAT DEBEZIUM ENCODE {encode};"""
_OPTIONAL = ["null", {**fields(id="long", n="long"), "name": "Value"}]
_BLOCK = {**fields(id="string", total_order="long", data_collection_order="long"), "name": "block"}
EVENT = fields(before=_OPTIONAL, after=["null", "Value"], op="string", transaction=["null", _BLOCK])
_COUNT = {**fields(data_collection="string", event_count="long"), "name": "collection"}
_COUNTS = ["null", {"type": "array", "items": _COUNT}]
END = fields(status="string", id="string", event_count=["null", "long"], data_collections=_COUNTS)


class Database:
    """What Debezium writes of a table ``items``, by hand."""

    def __init__(self, broker: Kafka, registry: Registry | None) -> None:
        self._numbers = {}
        if registry:
            self._numbers = {
                name: register(registry, f"transactions-{name}", schema)
                for name, schema in (("event", EVENT), ("end", END))
            }
        self.prefix, self._broker = f"d{uuid.uuid4().hex[:8]}", broker
        self._admin = AdminClient(client(broker))
        self.create("public.items")

    def create(self, name: str) -> None:
        topic = NewTopic(f"{self.prefix}.{name}", 1, 1)
        self._admin.create_topics([topic])[topic.topic].result()

    def change(self, tx: int | None, *numbers: int, tombstone: bool = False) -> None:
        """Changes of one transaction; of a snapshot without."""
        for number in numbers:
            told = {"id": f"{tx}:{1000 + number}", "data_collection_order": number}
            told["total_order"] = 99
            event = {
                "before": None,
                "op": "r" if tx is None else "c",
                "after": {"id": number, "n": tx or 0},
                "transaction": None if tx is None else told,
            }
            self._write("public.items", self._encoded("event", EVENT, event))
        if tombstone:
            self._write("public.items", None)

    def end(self, tx: int, count: int) -> None:
        """The END of a transaction that has changed another table too."""
        counts = {"public.other_items": 99, "public.items": count}
        told = [{"data_collection": name, "event_count": n} for name, n in counts.items()]
        for status, listed in (("BEGIN", None), ("END", told)):
            event = {"status": status, "id": f"{tx}:77", "data_collections": listed}
            event["event_count"] = None if listed is None else 99
            self._write("transaction", self._encoded("end", END, event))

    def _encoded(self, name: str, schema: Json, event: Json) -> bytes:
        if not self._numbers:
            return json.dumps(event).encode()
        return message(self._numbers[name], schema, event)

    def _write(self, name: str, value: bytes | None) -> None:
        producer = Producer(client(self._broker) | {"acks": "all"})
        producer.produce(f"{self.prefix}.{name}", value, "{}")
        assert producer.flush(60) == 0


@pytest.fixture(params=["JSON", "AVRO"])
def encode(request: pytest.FixtureRequest) -> str:
    """How Debezium writes its events."""
    return str(request.param)


@pytest.fixture
def schemas(encode: str, request: pytest.FixtureRequest) -> Registry | None:
    return request.getfixturevalue("registry") if encode == "AVRO" else None


@pytest.fixture
def database(broker: Kafka, schemas: Registry | None) -> Database:
    return Database(broker, schemas)


@pytest.fixture
def landing(
    spark: SparkSession,
    lake: Lake,
    proxied: Config,
    broker: Kafka,
    schemas: Registry | None,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Landing]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("headwater.connectors.kafka.source.WHOLE_EVERY", 0.0)

    def make(prefix: str, most: int = 500_000) -> Landing:
        encode = f"AVRO (registry = '{schemas.address}')" if schemas else "JSON"
        given = {"prefix": prefix, "servers": broker.address, "most": most, "encode": encode}
        definition = TABLE.format(**given)
        return Landing(spark, lake, planned(definition)[0].sources["items__changes"], proxied)

    return make


def landed(land: Landing) -> list[int]:
    """Land what there is; return how many rows each epoch has."""
    found = []
    while result := land.step():
        found.append(result.rows_in)
    return [rows for rows in found if rows]


def test_a_transaction_lands_when_all_of_it_is_there(
    database: Database, landing: Callable[..., Landing]
) -> None:
    land = landing(database.prefix)
    database.change(None, 1, 2)  # a snapshot has no transactions
    assert landed(land) == [2]
    database.change(740, 1, 2, tombstone=True)
    with pytest.raises(ServiceError, match="transaction topic"):
        land.step()
    database.create("transaction")
    assert landed(land) == []
    database.end(740, 3)
    assert landed(land) == []  # it tells of a change that is not there yet
    database.change(740, 3)
    database.change(741, 1)
    assert landed(land) == [3]
    database.change(742, 1)
    assert landed(land) == [1]  # another one has begun, so this one has ended
    land = landing(database.prefix)
    assert landed(land) == []
    database.end(742, 1)
    database.change(743, 1, 2)
    assert landed(land) == [1]
    database.end(743, 2)
    assert landed(land) == [2]


def test_epochs_end_with_transactions_and_a_longer_one_is_read_at_once(
    database: Database, landing: Callable[..., Landing]
) -> None:
    database.create("transaction")
    for tx, count in ((1, 2), (2, 3), (3, 6), (4, 1)):
        database.change(tx, *range(1, count + 1))
        database.end(tx, count)
    database.change(5, *range(1, 6))
    land = landing(database.prefix, most=4)
    assert landed(land) == [2, 3, 6, 1]
    database.change(5, 6, 7)
    database.change(5, 1, 2)  # sent again by a connector that was killed
    database.end(5, 7)
    assert landed(land) == []
    database.change(5, 3, 4, 5, 6, 7)
    assert sum(landed(land)) == 14
    assert landed(land) == []
    for tx in (6, 7):
        database.change(tx, 1, 2, 3)
        database.end(tx, 3)
    assert landed(land) == [3, 3]  # no rest between two epochs while more waits


@pytest.mark.parametrize("encode", ["JSON"], indirect=True)
def test_every_commit_of_a_table_holds_whole_transactions_of_postgresql(
    broker: Kafka,
    connect: Connect,
    spark: SparkSession,
    lake: Lake,
    landing: Callable[..., Landing],
) -> None:
    rnd, keys = Random(3), 40
    given = {"prefix": "whole", "servers": broker.address, "most": 30, "encode": "JSON"}
    definition = TABLE.format(**given)

    def there() -> list[str]:
        with server.connect() as run:
            return sorted(map(str, run.execute("SELECT id, n FROM items").fetchall()))

    def here() -> list[str]:
        return sorted(str(tuple(row)) for row in running.read("items").collect())

    with postgres() as server:
        with server.connect() as run:
            run.execute("CREATE TABLE items (id bigint PRIMARY KEY, n bigint)")
        connect.capture(server, "whole", table_include_list="public.items", max_batch_size="7")
        with server.connect() as run:
            run.execute(f"INSERT INTO items SELECT i, 0 FROM generate_series(1, {keys}) AS i")
        connect.connectors.await_offsets("whole")
        land = landing("whole", most=30)
        land.step()
        running = Running(spark, lake, definition)
        for number in range(1, 9):
            with server.connect() as run, run.transaction():
                run.execute(f"UPDATE items SET n = {number}")
                run.execute("DELETE FROM items WHERE id = %s", (rnd.randint(1, keys),))
                missing = f"SELECT i, {number} FROM generate_series(1, {keys}) AS i"
                run.execute(f"INSERT INTO items {missing} ON CONFLICT DO NOTHING")
            land.step()
            assert not running.tick()
        comes_to_equal(there, here, lambda: land, running)
    table = lake.table("items")
    commits = [s.id for s in table.ancestors(table.snapshot_id()) if s.marker]
    held = [
        table.read(commit).selectExpr("max(n)", "count(*)", "count(DISTINCT n)").first()
        for commit in commits
    ]
    # the rows of the snapshot are of no transaction
    assert {tuple(row[1:]) for row in held if row and row[0]} == {(keys, 1)}
    assert len({row[0] for row in held if row}) > 2
