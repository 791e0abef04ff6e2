"""Tables over records whose schemas are in a real registry."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from headwater.config.settings import Config
from headwater.errors import ServiceError, TerminalError
from headwater.intake.land import Landing
from headwater.intake.replay import replay
from headwater.lake.catalog import Lake
from headwater.servers.web import ask
from jobs.demos.servers.kafka import Kafka
from jobs.demos.servers.registry import Registry
from tests.services.test_kafka_tables import Topic, drain
from tests.spark.crash import Crash, before_publishing
from tests.spark.running import Running, planned
from tests.support.avro import Json, fields, message

pytestmark = pytest.mark.services

MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
AT = {"type": "long", "logicalType": "timestamp-micros"}
FIRST = fields(id="long", amount=MONEY)
SECOND = fields(id="long", note=["null", "string"], amount=MONEY, at=["null", AT])
COLUMNS = "id BIGINT, amount DECIMAL(10, 2), at TIMESTAMP"


@pytest.fixture(autouse=True)
def on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def topic(broker: Kafka) -> Topic:
    return Topic(broker)


def register(registry: Registry, subject: str, schema: Json, **more: Json) -> int:
    """Return the number that the registry gives a schema."""
    body = {"schema": json.dumps(schema), **more}
    return int(ask(f"{registry.address}/subjects/{subject}/versions", body)["id"])


def definition(topic: Topic, registry: Registry, columns: str, format_: str = "PLAIN") -> str:
    encoding = f"FORMAT {format_} ENCODE AVRO (registry = '{registry.address}')"
    return topic.definition(columns, encoding)


def first(number: int, key: int) -> tuple[None, bytes]:
    return None, message(number, FIRST, {"id": key, "amount": Decimal("1.50")})


def second(number: int, key: int) -> tuple[None, bytes]:
    row = {"id": key, "amount": Decimal("-2.25"), "note": "x", "at": 1}
    return None, message(number, SECOND, row)


Land = Callable[[str], Landing]


@pytest.fixture
def land(spark: SparkSession, lake: Lake, proxied: Config) -> Land:
    def make(definition: str, name: str = "t") -> Landing:
        catalog, _ = planned(definition)
        return Landing(spark, lake, catalog.sources[name], proxied)

    return make


def crash_after_the_quarantine(landing: Landing, monkeypatch: pytest.MonkeyPatch) -> None:
    landing.step()  # where it begins
    before_publishing(monkeypatch)()
    with pytest.raises(Crash):
        landing.step()


def ids(lake: Lake) -> list[int]:
    return sorted(row.id for row in lake.table("t").read().collect())


def test_records_of_several_schemas_land_and_those_of_an_unknown_one_wait(
    topic: Topic, registry: Registry, lake: Lake, land: Land
) -> None:
    one = register(registry, topic.name, FIRST)
    two = register(registry, topic.name, SECOND)
    topic.write(first(one, 1), second(two, 2), first(two + 1, 3), (None, "{}"), (None, None))
    landing = land(definition(topic, registry, COLUMNS))
    assert drain(landing) == 5
    rows = lake.table("t").read().orderBy("id").select("amount", "at").collect()
    assert [row.amount for row in rows] == [Decimal("1.50"), Decimal("-2.25")]
    assert [row.at and row.at.microsecond for row in rows] == [None, 1]
    bad = lake.table("t__quarantine").read().orderBy("_row").collect()
    assert [(row._row, row.reason) for row in bad] == [
        (2, f"schema {two + 1} is not in the registry"),
        (3, "its value is not Avro with the number of a schema: it begins with 7B7D"),
        (4, "a record without a value"),
    ]
    third = register(registry, topic.name, fields(id="long", amount=MONEY, more="int"))
    assert third == two + 1
    done = replay(landing)
    assert (done.landed, done.refused) == (0, 3)  # its bytes are those of another schema
    cut = f"its value is not one of schema {third}, or is cut off or too long"
    assert cut in [row.reason for row in lake.table("t__quarantine").read().collect()]


def test_what_waits_lands_once_its_schema_is_there(
    topic: Topic, registry: Registry, lake: Lake, land: Land
) -> None:
    one = register(registry, topic.name, {**SECOND, "name": "Of"})
    topic.write(second(one, 1), first(one + 1, 2), first(one + 1, 3))
    landing = land(definition(topic, registry, COLUMNS))
    drain(landing)
    assert ids(lake) == [1]
    assert register(registry, topic.name, {**FIRST, "name": topic.name}) == one + 1
    assert replay(landing).landed == 2
    assert ids(lake) == [1, 2, 3]
    assert lake.table("t__quarantine").read().isEmpty()


def test_a_schema_that_refers_to_others_is_put_together(
    topic: Topic, registry: Registry, lake: Lake, land: Land
) -> None:
    money = {"type": "fixed", "name": f"{topic.name}.Money", "size": 4, "logicalType": "decimal",
             "precision": 9, "scale": 2}  # fmt: skip
    register(registry, f"{topic.name}-money", money)
    held = {"name": money["name"], "subject": f"{topic.name}-money", "version": 1}
    order = fields(id="long", amount=money["name"])
    number = register(registry, topic.name, order, references=[held])
    written = fields(id="long", amount=money)
    topic.write((None, message(number, written, {"id": 1, "amount": Decimal("-0.01")})))
    drain(land(definition(topic, registry, COLUMNS)))
    (row,) = lake.table("t").read().collect()
    assert row.amount == Decimal("-0.01")


def test_nothing_is_decided_while_the_registry_is_away(
    topic: Topic, registry: Registry, lake: Lake, land: Land, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = register(registry, topic.name, FIRST)
    topic.write(first(one, 1), (None, "bad"))
    sql = definition(topic, registry, COLUMNS)
    crash_after_the_quarantine(land(sql), monkeypatch)
    registry.kill()
    topic.write(first(one, 2))
    again = land(sql)
    for _ in range(2):
        with pytest.raises(ServiceError, match="does not answer") as caught:
            again.step()
        assert caught.value.condition == "REGISTRY_UNAVAILABLE"
        assert not isinstance(caught.value, TerminalError)
    registry.start()
    assert drain(again) == 3  # the epoch that was begun, then the rest
    assert ids(lake) == [1, 2]
    assert lake.table("t__quarantine").read().count() == 1


def test_an_epoch_that_was_begun_is_not_judged_otherwise(
    topic: Topic, registry: Registry, lake: Lake, land: Land, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = register(registry, topic.name, {**SECOND, "name": topic.name})
    topic.write(second(one, 1), first(one + 1, 2))
    sql = definition(topic, registry, COLUMNS)
    crash_after_the_quarantine(land(sql), monkeypatch)
    assert register(registry, topic.name, {**FIRST, "name": f"{topic.name}2"}) == one + 1
    with pytest.raises(ServiceError, match="began with 1 bad rows, but now has 0") as caught:
        land(sql).step()
    assert caught.value.condition == "EPOCH_NOT_STABLE"
    assert (ids(lake), lake.table("t__quarantine").read().count()) == ([], 1)


def test_a_keyed_table_follows_keys_in_avro(
    topic: Topic, registry: Registry, spark: SparkSession, lake: Lake, proxied: Config
) -> None:
    key, value = fields(id="long"), fields(note=["null", "string"])
    of_key = register(registry, f"{topic.name}-key", {**key, "name": "Key"})
    of_value = register(registry, f"{topic.name}-value", {**value, "name": "Value"})

    def record(number: int, note: str | None, *, gone: bool = False) -> tuple[bytes, bytes | None]:
        held = None if gone else message(of_value, value, {"note": note})
        return message(of_key, key, {"id": number}), held

    topic.write(record(1, "a"), record(2, "b"), record(1, "c"))
    columns = "id BIGINT, note VARCHAR, PRIMARY KEY (id)"
    sql = definition(topic, registry, columns, "UPSERT")
    catalog, _ = planned(sql)
    landing = Landing(spark, lake, catalog.sources["t__changes"], proxied)
    drain(landing)
    running = Running(spark, lake, sql)
    assert not running.tick()
    topic.write(record(2, "", gone=True), record(3, None), ("x", "y"))  # type: ignore[arg-type]
    drain(landing)
    assert not running.tick()
    rows = running.read("t").orderBy("id").select("id", "note").collect()
    assert [tuple(row) for row in rows] == [(1, "c"), (3, None)]
    (bad,) = lake.table("t__quarantine").read().collect()
    assert bad.reason.startswith("its key is not Avro")
