"""Sinks to a real Kafka: whoever folds the topic by key has the view, whatever fails."""

from __future__ import annotations

import itertools
import json
import os
import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import requests
from confluent_kafka import Consumer, Message, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from pyspark.sql import DataFrame, SparkSession

from headwater.config.settings import Config, Maintenance
from headwater.connectors.kafka.sink import KafkaTopic
from headwater.connectors.sink_contract import DeliveryEpoch
from headwater.engine.delivery import Delivery
from headwater.errors import HeadwaterError, ServiceError
from headwater.formats.avro.registry import Registry as Schemas
from headwater.intake.land import Landing
from headwater.lake.catalog import Lake
from headwater.lake.iceberg.retention import SnapshotHistory, expirable
from headwater.lake.reserved_names import BEGUN, SINK
from headwater.project import Project, load_project
from headwater.runtime.events import Event, StateChanged
from headwater.runtime.maintenance_job import Maintainer, Tables
from headwater.runtime.session import session_for_thread
from headwater.runtime.supervisor import Supervisor
from headwater.serve.status import status
from headwater.servers.web import ask
from jobs.demos.servers.kafka import Kafka
from jobs.demos.servers.registry import Registry
from tests.services.topics import client, read
from tests.spark import running as running_module
from tests.spark.crash import Crash
from tests.spark.running import Running, planned
from tests.support.avro import fields

pytestmark = pytest.mark.services

STOCK = """CREATE TABLE stock (
  sku VARCHAR, place VARCHAR, amount DECIMAL(10, 2), PRIMARY KEY (sku, place)
) WITH (connector = 'files', path = '{folder}') FORMAT UPSERT ENCODE JSON (delete_field = 'op');
CREATE STREAMING VIEW totals AS
SELECT sku, count(*) AS places, sum(amount) AS amount FROM stock GROUP BY sku;
"""
WHOLE = "CREATE STREAMING VIEW whole AS SELECT count(*) AS places, sum(amount) AS n FROM stock;"
KINDS = {
    "ok": "BOOLEAN",
    "small": "INTEGER",
    "large": "BIGINT",
    "brief": "REAL",
    "wide": "DOUBLE",
    "exact": "DECIMAL(38, 10)",
    "round": "DECIMAL(18, 0)",
    "day": "DATE",
    "clock": "TIMESTAMP",
    "moment": "TIMESTAMP WITH TIME ZONE",
    "said": "VARCHAR",
    "raw": "VARBINARY",
    "many": "ARRAY(DOUBLE)",
    "named": "MAP(VARCHAR, DECIMAL(10, 2))",
    "both": "ROW(a BIGINT, b ROW(c TIMESTAMP))",
}
STORED = {
    "small": pa.int32(),
    "brief": pa.float32(),
    "exact": pa.decimal128(38, 10),
    "round": pa.decimal128(18, 0),
    "clock": pa.timestamp("us"),
    "moment": pa.timestamp("us", "UTC"),
    "many": pa.list_(pa.float64()),
    "named": pa.map_(pa.string(), pa.decimal128(10, 2)),
    "both": pa.struct({"a": pa.int64(), "b": pa.struct({"c": pa.timestamp("us")})}),
}
NAN, INF = float("nan"), float("inf")
CLOCK = datetime.fromisoformat("1999-12-31 23:59:59.999999")
VALUES: Mapping[str, list[object]] = {
    "ok": [True, False, None],
    "small": [-(2**31), 0, None],
    "large": [2**63 - 1, -1, None],
    "brief": [0.1, NAN, -INF, None],
    "wide": [5e-324, 1.7976931348623157e308, NAN, INF, -INF, -0.0, None],
    "exact": [Decimal("1E-10"), Decimal("-9999999999999999999999999999.9999999999"), None],
    "round": [Decimal("999999999999999999"), Decimal(0), None],
    "day": [date(1900, 1, 1), date(2199, 12, 31), None],
    "clock": [CLOCK, CLOCK + timedelta(microseconds=1), None],
    "moment": [datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC), None],
    "said": ["", '"\\\n\u2028\x00ü😀', "null", None],
    "raw": [b"", b"\x00\xff", None],
    "many": [[], [0.5, None, NAN, -INF], None],
    "named": [{}, {"a.b": Decimal("0.10"), "": None}, None],
    "both": [{"a": 1, "b": {"c": CLOCK}}, {"a": None, "b": None}, None],
}


class Topic:
    """A topic of the broker with a name of its own."""

    def __init__(self, broker: Kafka) -> None:
        self.name, self.broker = f"s{uuid.uuid4().hex[:8]}", broker
        self.admin = AdminClient(client(broker))
        self.create()

    def create(self, partitions: int = 3) -> None:
        new = NewTopic(self.name, partitions, 1)
        self.admin.create_topics([new])[self.name].result()

    def records(self) -> list[Message]:
        """All records, those of one key in their order."""
        ends = self._ends()
        total = sum(ends.values())
        found = read(self.broker, self.name, lambda held: len(held) >= total) if total else []
        return sorted(found, key=lambda one: one.offset() or 0)

    def _ends(self) -> dict[int, int]:
        consumer = Consumer(client(self.broker) | {"group.id": "ends"})
        numbers = consumer.list_topics(self.name, timeout=30).topics[self.name].partitions
        places = {number: TopicPartition(self.name, number) for number in numbers}
        found = {
            number: consumer.get_watermark_offsets(place, timeout=30)[1]
            for number, place in places.items()
        }
        consumer.close()
        return found

    def options(self, **more: str) -> str:
        options = {"topic": self.name, "bootstrap_servers": self.broker.address, **more}
        listed = ", ".join(f"{name} = '{value}'" for name, value in options.items())
        return f"WITH (connector = 'kafka', {listed})"

    def sink(self, view: str, format_: str, encode: str = "JSON", **more: str) -> str:
        encoding = f"FORMAT {format_} ENCODE {encode}"
        return f"CREATE SINK out FROM {view} {self.options(**more)} {encoding};\n"


def epoch(message: Message) -> int:
    return int(dict(message.headers() or ())["headwater.epoch"])  # type: ignore[arg-type]


def folded(messages: list[Message]) -> dict[str, object]:
    """What a compacted topic holds: of each key the newest value, if it has one."""
    held: dict[str, object] = {}
    for each in messages:
        key = (each.key() or b"").decode()
        held.pop(key, None)
        if value := each.value():
            held[key] = json.loads(value, parse_float=str)
    return held


def row(sku: str, place: str, amount: float, op: str = "c") -> dict[str, object]:
    return {"sku": sku, "place": place, "amount": amount, "op": op}


class World:
    """A project whose landings, views and sink take their steps when the test says so."""

    def __init__(self, spark: SparkSession, lake: Lake, config: Config, folder: Path) -> None:
        self.spark, self.lake, self.config, self.folder = spark, lake, config, folder
        self.files = 0

    def define(self, sink: str, definitions: str = STOCK) -> None:
        self.text = definitions.replace("{folder}", str(self.folder)) + sink
        self.catalog, self.plans = planned(self.text)
        sources = self.catalog.sources.values()
        self.landings = [Landing(self.spark, self.lake, each, self.config) for each in sources]
        self.running = Running(self.spark, self.lake, self.text)

    def change(self, *rows: Mapping[str, object]) -> None:
        """Let rows come, and bring the views up to them."""
        self.files += 1
        lines = "".join(json.dumps(each) + "\n" for each in rows)
        (self.folder / f"{self.files:04}.json").write_text(lines)
        self.tick()

    def tick(self) -> None:
        for landing in self.landings:
            while landing.step():
                pass
        assert not self.running.tick()

    def delivery(self) -> Delivery:
        return Delivery(self.lake, self.catalog.sinks["out"], self.config.directory)

    def totals(self) -> dict[str, object]:
        """What the topic of the view ``totals`` must hold."""
        return {
            json.dumps({"sku": sku}, separators=(",", ":")): {
                "sku": sku,
                "places": places,
                "amount": str(amount),
            }
            for sku, places, amount in self.running.held("totals")
        }


@pytest.fixture(scope="module")
def clones(spark: SparkSession) -> list[SparkSession]:
    """Sessions for views; each has connections to the catalog, of which there are few."""
    return [session_for_thread(spark) for _ in range(4)]


@pytest.fixture(autouse=True)
def few_sessions(clones: list[SparkSession], monkeypatch: pytest.MonkeyPatch) -> None:
    """Views of every test run in the same sessions."""
    given = itertools.cycle(clones)
    monkeypatch.setattr(running_module, "session_for_thread", lambda spark: next(given))


@pytest.fixture(autouse=True)
def on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def world(spark: SparkSession, lake: Lake, proxied: Config, tmp_path: Path) -> World:
    return World(spark, lake, proxied, tmp_path)


@pytest.fixture
def topic(broker: Kafka) -> Topic:
    return Topic(broker)


def test_an_upsert_topic_folded_by_key_is_the_view(world: World, topic: Topic) -> None:
    world.define(topic.sink("totals", "UPSERT"))
    world.change(row("a", "x", 1.5), row("a", "y", 2), row("b", "x", 3))
    delivery = world.delivery()
    assert delivery.step() is not None
    assert delivery.step() is None
    assert folded(topic.records()) == world.totals()
    world.change(row("a", "x", 9), row("b", "x", 3, "d"), row("c", "z", 0.01))
    assert delivery.step() is not None
    records = topic.records()
    assert folded(records) == world.totals()
    # an update is one record, and what is gone a tombstone
    assert Counter((one.key(), one.value() is None) for one in records if epoch(one) == 1) == {
        (b'{"sku":"a"}', False): 1,
        (b'{"sku":"b"}', True): 1,
        (b'{"sku":"c"}', False): 1,
    }
    assert {dict(one.headers())["headwater.view"] for one in records} == {b"totals"}  # type: ignore[arg-type]


def test_commits_that_wait_are_delivered_as_their_net_change(world: World, topic: Topic) -> None:
    world.define(topic.sink("totals", "UPSERT"))
    world.change(row("a", "x", 1), row("b", "x", 1))
    world.delivery().step()
    world.change(row("a", "x", 2), row("c", "x", 1))
    world.change(row("a", "x", 3), row("c", "x", 1, "d"), row("b", "x", 7))
    world.change(row("b", "x", 1))
    assert world.delivery().step() is not None
    assert world.delivery().step() is None
    assert [one.key() for one in topic.records() if epoch(one) == 1] == [b'{"sku":"a"}']
    assert folded(topic.records()) == world.totals()


def test_a_view_of_one_row_has_one_key(world: World, topic: Topic) -> None:
    world.define(WHOLE + topic.sink("whole", "UPSERT"))
    world.change(row("a", "x", 1))
    world.delivery().step()
    world.change(row("a", "y", 1.25))
    world.delivery().step()
    assert folded(topic.records()) == {"{}": {"places": 2, "n": "2.25"}}


def test_debezium_events_make_a_keyed_table_that_equals_the_view(
    world: World, topic: Topic, spark: SparkSession, lake: Lake
) -> None:
    world.define(topic.sink("totals", "DEBEZIUM"))
    world.change(row("a", "x", 1.5), row("b", "x", 3))
    world.delivery().step()
    world.change(row("a", "x", 9), row("b", "x", 3, "d"), row("c", "z", 0.01))
    world.delivery().step()
    events = [one for one in topic.records() if epoch(one) == 1]
    said = {}
    for one in events:
        if value := one.value():
            event = json.loads(value)
            said[(one.key() or b"").decode()] = (event["op"], event["before"], event["after"])
            assert event["source"].items() >= {"table": "totals", "epoch": 1}.items()
    assert said == {
        '{"sku":"a"}': (
            "u",
            {"sku": "a", "places": 1, "amount": "1.50"},
            {"sku": "a", "places": 1, "amount": "9.00"},
        ),
        '{"sku":"b"}': ("d", {"sku": "b", "places": 1, "amount": "3.00"}, None),
        '{"sku":"c"}': ("c", None, {"sku": "c", "places": 1, "amount": "0.01"}),
    }
    assert [one.value() is None for one in events if one.key() == b'{"sku":"b"}'] == [False, True]
    again = f"""CREATE TABLE again (sku VARCHAR, places BIGINT, amount DECIMAL(38, 2),
      PRIMARY KEY (sku)) {topic.options()} FORMAT DEBEZIUM ENCODE JSON (decimals = 'string');"""
    landed(world, again, "again__changes")
    running = Running(spark, lake, again)
    assert not running.tick()
    assert sorted(running.held("again")) == sorted(world.running.held("totals"))


def landed(world: World, definition: str, name: str) -> DataFrame:
    """Land a table from Kafka; no row may be bad."""
    catalog, _ = planned(definition)
    landing = Landing(world.spark, world.lake, catalog.sources[name], world.config)
    while landing.step():
        pass
    bad = name.removesuffix("__changes") + "__quarantine"
    assert not world.lake.exists(bad) or not world.lake.table(bad).read().collect()
    return world.lake.table(name).read()


@pytest.mark.parametrize(
    ("format_", "encoding"),
    [
        ("PLAIN", "non_finite = 'accept'"),
        ("UPSERT", "non_finite = 'accept'"),
        ("DEBEZIUM", "non_finite = 'accept', decimals = 'string', times = 'isostring'"),
    ],
)
def test_every_type_comes_back_as_it_was(
    world: World, topic: Topic, format_: str, encoding: str
) -> None:
    nested = ("named", "both") if format_ == "DEBEZIUM" else ()  # decimals and times inside
    comes_back(world, topic, format_, nested, "JSON", f"JSON ({encoding})")


@pytest.mark.parametrize("format_", ["PLAIN", "UPSERT", "DEBEZIUM"])
def test_every_type_comes_back_from_avro(
    world: World, topic: Topic, registry: Registry, format_: str
) -> None:
    comes_back(world, topic, format_, (), in_avro(registry), in_avro(registry))


def in_avro(registry: Registry) -> str:
    return f"AVRO (registry = '{registry.address}')"


def comes_back(
    world: World, topic: Topic, format_: str, nested: tuple[str, ...], wrote: str, reads: str
) -> None:
    """Deliver values of all types and land them again."""
    kinds = {name: kind for name, kind in KINDS.items() if name not in nested}
    columns = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
    stored = f"CREATE TABLE log (id BIGINT, {columns}) WITH (connector = 'files',"
    stored += " path = '{folder}') FORMAT PLAIN ENCODE PARQUET;\n"
    keyed = stored.replace("log (id BIGINT", "log (id BIGINT PRIMARY KEY")
    keyed = keyed.replace("FORMAT PLAIN", "FORMAT UPSERT")
    world.define(topic.sink("log", format_, wrote), stored if format_ == "PLAIN" else keyed)
    most = max(map(len, VALUES.values()))
    table = {"id": pa.array(range(most), pa.int64())}
    for name in kinds:
        filled = [*VALUES[name], *[None] * (most - len(VALUES[name]))]
        table[name] = pa.array(filled, STORED.get(name))
    pq.write_table(pa.table(table), world.folder / "0001.parquet")
    world.tick()
    world.delivery().step()
    rest = f"{topic.options()} FORMAT {format_} ENCODE {reads};"
    sized = columns.replace("clock TIMESTAMP", "clock TIMESTAMP(6)")
    again = f"CREATE TABLE again (id BIGINT, {columns}) {rest}"
    if format_ != "PLAIN":
        shown = sized if format_ == "DEBEZIUM" else columns
        again = f"CREATE TABLE again (id BIGINT, {shown}, PRIMARY KEY (id)) {rest}"
    name = "again" if format_ == "PLAIN" else "again__changes"
    here, there = landed(world, again, name), world.lake.table("log").read()
    assert shown_rows(here, kinds) == shown_rows(there, kinds)
    assert here.count() == most


def shown_rows(frame: DataFrame, kinds: Mapping[str, str]) -> list[str]:
    """Rows in the order of their ids; entries of a map have none."""
    maps = {name: f"array_sort(map_entries({name}))" for name in kinds if "MAP" in kinds[name]}
    columns = (f"{maps.get(name, name)} AS {name}" for name in ("id", *kinds))
    return list(map(repr, frame.selectExpr(*columns).orderBy("id").toArrow().to_pylist()))


def test_keys_and_values_in_avro_make_a_keyed_table_that_equals_the_view(
    world: World, topic: Topic, registry: Registry, spark: SparkSession, lake: Lake
) -> None:
    world.define(topic.sink("totals", "UPSERT", in_avro(registry)))
    world.change(row("a", "x", 1.5), row("b", "x", 3))
    world.delivery().step()
    world.change(row("a", "x", 9), row("b", "x", 3, "d"), row("c", "z", 0.01))
    registry.kill()
    with pytest.raises(ServiceError, match="does not answer"):
        world.delivery().step()
    registry.start()
    world.delivery().step()
    tombstones = [one for one in topic.records() if one.value() is None]
    assert [(epoch(one), (one.key() or b"")[5:]) for one in tombstones] == [(1, b"\x02\x02b")]
    again = f"""CREATE TABLE again (sku VARCHAR, places BIGINT, amount DECIMAL(38, 2),
      PRIMARY KEY (sku)) {topic.options()} FORMAT UPSERT ENCODE {in_avro(registry)};"""
    landed(world, again, "again__changes")
    running = Running(spark, lake, again)
    assert not running.tick()
    assert sorted(running.held("again")) == sorted(world.running.held("totals"))


def test_keys_whose_schema_has_another_number_are_refused(
    world: World, topic: Topic, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.define(topic.sink("totals", "UPSERT", in_avro(registry)))
    world.change(row("a", "x", 1))
    world.delivery().step()
    world.change(row("a", "x", 2))
    asked = Schemas.number
    with monkeypatch.context() as patch:  # a registry that was set up anew
        patch.setattr(Schemas, "number", lambda *given: asked(*given) + 1)
        assert refused(world) == "SCHEMA_RENUMBERED"
    assert world.delivery().step() is not None


def test_a_schema_that_does_not_go_with_the_one_before_is_refused(
    world: World, topic: Topic, registry: Registry
) -> None:
    subject = f"{registry.address}/subjects/{topic.name}-value/versions"
    ask(subject, {"schema": json.dumps(fields(sku="long"))})
    level = f"{registry.address}/config/{topic.name}-value"
    answer = requests.put(level, json={"compatibility": "FULL"}, timeout=20)
    assert answer.ok
    world.define(topic.sink("totals", "UPSERT", in_avro(registry)))
    world.change(row("a", "x", 1))
    assert refused(world) == "SCHEMA_REFUSED"
    assert not topic.records()


def test_a_crash_repeats_records_with_their_epoch_and_loses_none(
    world: World, topic: Topic, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.define(topic.sink("totals", "UPSERT"))
    world.change(row("a", "x", 1), row("b", "x", 1))
    world.delivery().step()
    world.change(row("a", "x", 2), row("b", "x", 1, "d"))
    whole = KafkaTopic.deliver

    def crash(self: KafkaTopic, changed: DataFrame, epoch: DeliveryEpoch) -> None:
        whole(self, changed, epoch)
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(KafkaTopic, "deliver", crash)
        with pytest.raises(Crash):
            world.delivery().step()
    world.change(row("a", "x", 3), row("c", "x", 1))  # the view goes on
    delivery = world.delivery()
    assert delivery.step() is not None  # what was begun, and no more
    assert delivery.step() is not None
    assert delivery.step() is None
    records = topic.records()
    assert folded(records) == world.totals()
    said: dict[tuple[object, int], list[object]] = defaultdict(list)
    for one in records:
        said[one.key(), epoch(one)].append(one.value())
    twice = {key for key, values in said.items() if len(values) > 1}
    assert twice == {(b'{"sku":"a"}', 1), (b'{"sku":"b"}', 1)}
    assert all(len(set(values)) == 1 for values in said.values())


def test_a_broker_that_is_killed_costs_nothing_but_time(
    world: World, topic: Topic, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.define(topic.sink("totals", "UPSERT"))
    world.change(row("a", "x", 1), row("b", "x", 1))
    delivery = world.delivery()
    delivery.step()
    topic.broker.kill()
    world.change(row("a", "x", 2))
    with pytest.raises(HeadwaterError) as caught:
        delivery.step()
    assert caught.value.condition == "KAFKA_UNAVAILABLE"
    topic.broker.start()
    whole = KafkaTopic.deliver

    def killed(self: KafkaTopic, changed: DataFrame, epoch: DeliveryEpoch) -> None:
        topic.broker.kill()
        whole(self, changed, epoch)

    with monkeypatch.context() as patch:
        patch.setattr(KafkaTopic, "deliver", killed)
        with pytest.raises(HeadwaterError) as caught:
            world.delivery().step()
    assert caught.value.condition == "KAFKA_UNAVAILABLE"
    world.change(row("b", "x", 1, "d"))
    topic.broker.start()
    delivery = world.delivery()
    while delivery.step():
        pass
    assert folded(topic.records()) == world.totals()


def test_another_topic_or_definition_is_refused(world: World, topic: Topic) -> None:
    world.define(topic.sink("totals", "UPSERT"))
    world.change(row("a", "x", 1))
    world.delivery().step()
    world.define(topic.sink("totals", "DEBEZIUM"))
    assert refused(world) == "DEFINITION_CHANGED"
    world.define(topic.sink("totals", "UPSERT"))
    world.change(row("a", "x", 2))
    topic.admin.create_partitions([NewPartitions(topic.name, 5)])[topic.name].result()
    assert refused(world) == "PARTITIONS_ADDED"
    topic.admin.delete_topics([topic.name])[topic.name].result()
    assert refused(world) == "TOPIC_MISSING"
    topic.create()
    assert refused(world) == "TOPIC_RECREATED"


def test_a_view_that_was_rebuilt_is_refused(world: World, topic: Topic) -> None:
    world.define(topic.sink("totals", "UPSERT"))
    world.change(row("a", "x", 1))
    world.delivery().step()
    world.spark.sql(f"DROP TABLE {world.lake.identifier('totals')}")
    world.define(topic.sink("totals", "UPSERT"))
    world.tick()
    assert refused(world) == "VIEW_REBUILT"


def test_a_record_that_the_broker_does_not_take_is_named(world: World, topic: Topic) -> None:
    world.define(topic.sink("totals", "UPSERT"))
    world.change(row(os.urandom(2_000_000).hex(), "x", 1))
    with pytest.raises(HeadwaterError) as caught:
        world.delivery().step()
    assert caught.value.condition == "KAFKA_REFUSED"
    assert "RecordTooLargeException" in caught.value.message


def refused(world: World) -> str:
    with pytest.raises(HeadwaterError) as caught:
        world.delivery().step()
    return caught.value.condition


def test_snapshots_that_wait_for_a_sink_are_kept(world: World, topic: Topic) -> None:
    world.define(topic.sink("totals", "UPSERT"))
    world.change(row("a", "x", 1))
    delivery = world.delivery()
    delivery.step()
    for amount in range(2, 6):
        world.change(row("a", "x", amount))
    tables = Tables(Project(world.folder, world.config, world.catalog, ()), world.plans)
    needed = tables.needed(world.lake, "totals")
    assert needed == {delivery.delivered}
    history = SnapshotHistory(world.lake.table("totals").metadata())
    old, settings = datetime.now(UTC) + timedelta(days=1), Maintenance(keep_snapshots=2)
    assert delivery.delivered in expirable(history, (), settings, old)
    assert delivery.delivered not in expirable(history, needed, settings, old)
    results = dict(Maintainer(tables, world.spark, world.lake.namespace).maintain("out"))
    assert list(results) == ["out" + SINK, "out" + BEGUN]
    assert not [each for each in results.values() if isinstance(each, HeadwaterError)]


def test_a_run_delivers_and_status_says_how_far(
    world: World, topic: Topic, spark: SparkSession
) -> None:
    (world.folder / "in").mkdir()
    text = STOCK.replace("{folder}", "in") + topic.sink("totals", "UPSERT")
    (world.folder / "headwater.toml").write_text('name = "t"\n')
    (world.folder / "views.sql").write_text(text)
    found = load_project(world.folder)
    config = replace(
        found.config,
        namespace=world.lake.namespace,
        warehouse=world.config.warehouse,
        catalog=world.config.catalog,
        catalog_uri=world.config.catalog_uri,
    )
    project = replace(found, config=config)
    (world.folder / "in" / "1.json").write_text(json.dumps(row("a", "x", 1)) + "\n")
    told: list[Event] = []
    assert (
        Supervisor(project, spark=spark, progress=told.append).run(once=True, end_of_input=True)
        == 0
    ), [each.error for each in told if isinstance(each, StateChanged) and each.error]
    assert folded(topic.records()).keys() == {'{"sku":"a"}'}
    (shown,) = (each for each in status(project) if each.kind == "sink")
    assert (shown.name, shown.lag, shown.rows) == ("out", 0, None)
    assert shown.cut and shown.cut[0].startswith("stock__changes@")
    (world.folder / "in" / "2.json").write_text(json.dumps(row("b", "x", 2)) + "\n")
    without = replace(project, catalog=replace(project.catalog, sinks={}))
    assert Supervisor(without, spark=spark).run(once=True, end_of_input=True) == 0
    assert [each.lag for each in status(project) if each.kind == "sink"] == [1]
