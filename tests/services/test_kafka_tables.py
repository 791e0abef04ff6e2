"""Tables over a real Kafka: each record once, in whatever order things fail."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from pyspark.sql import SparkSession

from headwater.config.settings import Config
from headwater.connectors.contract import Limits
from headwater.connectors.kafka import source as kafka
from headwater.errors import HeadwaterError
from headwater.intake.idle_epoch import commit_idle_epoch
from headwater.intake.land import Landing
from headwater.intake.replay import replay
from headwater.lake.catalog import Lake
from headwater.lake.java import java_class
from headwater.lake.protocol.unknown_field_counts import fields_in
from headwater.lake.watermark import watermark_after
from headwater.runtime.backoff import BackOff
from headwater.runtime.board import Board
from headwater.runtime.events import silent
from headwater.runtime.workers.landing import LandingWorker
from jobs.demos.servers.kafka import Kafka
from tests.services.topics import client
from tests.spark.crash import Crash, before_publishing
from tests.spark.running import Running, planned
from tests.support.waiting import wait_for

pytestmark = pytest.mark.services
Record = tuple[str | None, str | None]
"""Key and value."""


class Topic:
    """A topic of the broker with a name of its own."""

    def __init__(self, broker: Kafka, partitions: int = 2, name: str = "") -> None:
        self.name, self.broker = name or f"t{uuid.uuid4().hex[:8]}", broker
        self.admin = AdminClient(client(broker))
        self.create(partitions)

    def create(self, partitions: int = 2) -> None:
        topic = NewTopic(self.name, partitions, 1)
        self.admin.create_topics([topic])[self.name].result()

    def delete(self) -> None:
        self.admin.delete_topics([self.name])[self.name].result()
        wait_for(
            lambda: self.name not in self.admin.list_topics(timeout=10).topics,
            f"{self.name} to be deleted",
        )

    def producer(self, **settings: str) -> Producer:
        every = client(self.broker) | {"acks": "all"}
        return Producer(every | {name.replace("_", "."): v for name, v in settings.items()})

    def write(self, *records: Record, partition: int = 0, headers: object = None) -> None:
        producer = self.producer()
        for key, value in records:
            producer.produce(self.name, value, key, partition, headers=headers)
        assert producer.flush(60) == 0

    def definition(self, columns: str, rest: str = "FORMAT PLAIN ENCODE JSON", **more: str) -> str:
        options = {"topic": self.name, "bootstrap_servers": self.broker.address, **more}
        listed = ", ".join(f"{name} = '{value}'" for name, value in options.items())
        return f"CREATE TABLE t ({columns}) WITH (connector = 'kafka', {listed}) {rest};\n"


@pytest.fixture
def topic(broker: Kafka) -> Topic:
    return Topic(broker)


@pytest.fixture
def landing(spark: SparkSession, lake: Lake, proxied: Config) -> Callable[..., Landing]:
    def make(definition: str, name: str = "t", *, once: bool = False) -> Landing:
        catalog, _ = planned(definition)
        return Landing(spark, lake, catalog.sources[name], proxied, once=once)

    return make


def ints(count: int, start: int = 0) -> list[Record]:
    return [(None, json.dumps({"id": n})) for n in range(start, start + count)]


def drain(land: Landing, limits: Limits = Limits()) -> int:  # noqa: B008 - frozen
    """Land all there is; return how many rows."""
    done = 0
    while result := land.step(limits):
        done += result.rows_in
    return done


def micros(at: datetime) -> int:
    return int(at.timestamp()) * 1_000_000


def ids(lake: Lake) -> list[int]:
    return sorted(row.id for row in lake.table("t").read().collect())


@pytest.fixture
def crash(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return before_publishing(monkeypatch)


def test_partitions_at_different_times_lose_no_row_of_a_backlog(
    topic: Topic, landing: Callable[..., Landing], lake: Lake
) -> None:
    definition = topic.definition(
        "id BIGINT, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE"
    )
    noon = datetime(2024, 1, 2, 12, tzinfo=UTC)
    for partition, start in enumerate([noon, noon - timedelta(days=1)]):
        times = [start + timedelta(minutes=20 * n) for n in range(12)]
        records = [(None, json.dumps({"id": partition, "ts": at.isoformat()})) for at in times]
        topic.write(*records, partition=partition)
    late = "_watermark IS NOT NULL AND ts < _watermark"
    seen = 0
    while result := landing(definition).step(Limits(rows=6)):  # a new process for each epoch
        seen += result.rows_in
        stamp = landing(definition).marker.watermark  # type: ignore[union-attr]
        assert stamp is None or stamp < micros(noon)
    assert seen == 24
    assert lake.table("t").read().where(late).count() == 0
    last = landing(definition)
    assert last.marker is not None
    assert last.marker.waiting == ()
    reached = micros(noon + timedelta(minutes=220 - 1))
    assert watermark_after(last.table, last.source) == reached
    # windows could close while the backlog was read: the lane that is behind has moved
    assert last.marker.watermark is not None
    # a quiet partition stops nothing
    topic.write((None, json.dumps({"id": 0, "ts": (noon + timedelta(hours=9)).isoformat()})))
    drain(last)
    assert watermark_after(last.table, last.source) == micros(noon + timedelta(hours=9, minutes=-1))


def test_a_partition_holds_the_watermark_back_until_it_is_idle(
    topic: Topic, landing: Callable[..., Landing], lake: Lake
) -> None:
    definition = topic.definition(
        "id BIGINT, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts IDLE TIMEOUT"
        " INTERVAL '20' SECOND"  # long enough for a machine that does other things, too
    )
    noon = datetime(2024, 1, 2, 12, tzinfo=UTC)

    def write(partition: int, minutes: int) -> None:
        at = (noon + timedelta(minutes=minutes)).isoformat()
        topic.write((None, json.dumps({"id": partition, "ts": at})), partition=partition)

    def reached(land: Landing) -> int | None:
        return watermark_after(land.table, land.source)

    write(0, 0)
    write(1, 60)
    land = landing(definition)
    drain(land)
    assert reached(land) == micros(noon)
    write(1, 70)
    drain(land)
    assert reached(land) == micros(noon)  # the other one may go on at any moment
    write(0, 5)
    drain(land)
    assert reached(land) == micros(noon + timedelta(minutes=5))
    assert not commit_idle_epoch(land)
    written = time.time()
    wait_for(lambda: time.time() > written + 20.1, "the idle timeout")
    land = landing(definition)  # another process knows how long ago that was
    assert land.step() is None
    assert commit_idle_epoch(land)
    assert reached(land) == micros(noon + timedelta(minutes=70))
    write(0, 20)
    write(1, 80)
    drain(land)
    assert reached(land) == micros(noon + timedelta(minutes=70))
    late = lake.table("t").read().where("ts < _watermark").collect()
    assert [row.ts.replace(tzinfo=UTC) for row in late] == [noon + timedelta(minutes=20)]


def test_each_record_lands_once_through_restarts_and_a_killed_broker(
    topic: Topic, landing: Callable[..., Landing], lake: Lake
) -> None:
    definition = topic.definition("id BIGINT")
    topic.write(*ints(60))
    topic.write(*ints(40, 60), partition=1)
    land = landing(definition)
    assert land.step() is not None  # where it begins
    first = land.step(Limits(rows=30))
    assert first is not None
    assert (first.units, land.backlog()) == (30, 70)
    topic.broker.kill()
    with pytest.raises(HeadwaterError) as caught:
        land.step()
    assert caught.value.condition == "KAFKA_UNAVAILABLE"
    topic.broker.start()
    topic.write(*ints(10, 100))
    assert drain(landing(definition), Limits(rows=25)) == 80
    assert drain(landing(definition)) == 0
    assert ids(lake) == list(range(110))
    places = {(row._path, row._row) for row in lake.table("t").read().collect()}
    assert places == {(f"{topic.name}/0", n) for n in range(70)} | {
        (f"{topic.name}/1", n) for n in range(40)
    }


def test_what_a_record_says_of_itself(
    topic: Topic, landing: Callable[..., Landing], lake: Lake
) -> None:
    columns = (
        "id BIGINT, key VARBINARY METADATA FROM 'key', p INTEGER METADATA FROM 'partition',"
        " o BIGINT METADATA FROM 'offset', name VARCHAR METADATA FROM 'topic',"
        " at TIMESTAMP WITH TIME ZONE METADATA FROM 'timestamp',"
        " h ARRAY(ROW(key VARCHAR, value VARBINARY)) METADATA FROM 'headers'"
    )
    topic.write(("k", '{"id": 1}'), partition=1, headers=[("a", b"x"), ("a", None)])
    assert drain(landing(topic.definition(columns))) == 1
    (row,) = lake.table("t").read().collect()
    assert (row.id, bytes(row.key), row.p, row.o, row.name) == (1, b"k", 1, 0, topic.name)
    assert [(h.key, h.value and bytes(h.value)) for h in row.h] == [("a", b"x"), ("a", None)]
    assert row.at is not None


@pytest.mark.parametrize(
    ("columns", "rest", "good"),
    [
        ("id BIGINT, s VARCHAR", "FORMAT PLAIN ENCODE CSV", [(1, "x")]),
        ("body VARBINARY", "FORMAT PLAIN ENCODE RAW", [(b"1,x",), (b"\xff",), (b"",), (None,)]),
        ("body VARCHAR", "FORMAT PLAIN ENCODE RAW", [("1,x",), ("",), (None,)]),
    ],
    ids=["csv", "bytes", "text"],
)
def test_other_encodings(
    topic: Topic, landing: Callable[..., Landing], lake: Lake, columns: str, rest: str, good: object
) -> None:
    for value in ("1,x", b"\xff", "", None):
        topic.write((None, value))  # type: ignore[arg-type]
    assert drain(landing(topic.definition(columns, rest))) == 4
    names = [part.split()[0] for part in columns.split(", ")]
    rows = lake.table("t").read().orderBy("_row").select(*names).collect()
    held = [tuple(bytes(v) if isinstance(v, bytearray) else v for v in row) for row in rows]
    assert held == good


def test_nothing_is_lost_that_is_no_row(
    topic: Topic, landing: Callable[..., Landing], lake: Lake
) -> None:
    topic.write((None, '{"id": 1}'), (None, ""), (None, None), (None, "no"), (None, '{"id": "x"}'))
    assert drain(landing(topic.definition("id BIGINT"))) == 5
    assert ids(lake) == [1]
    bad = lake.table("t__quarantine").read().orderBy("_row").collect()
    assert [(row._row, row.reason.split(":")[0]) for row in bad] == [
        (1, "not valid JSON"),
        (2, "not one JSON object"),
        (3, "not valid JSON"),
        (4, 'column "id"'),
    ]


def test_an_epoch_that_was_begun_reads_what_it_was_to_read(
    topic: Topic, landing: Callable[..., Landing], lake: Lake, crash: Callable[[], None]
) -> None:
    definition = topic.definition("id BIGINT")
    topic.write(*ints(3), (None, "bad"))
    land = landing(definition)
    land.step()
    crash()
    with pytest.raises(Crash):
        land.step()
    topic.write(*ints(3, 3), (None, "worse"))
    again = landing(definition)
    done = again.step()
    assert done is not None
    assert (done.rows_out, done.quarantined) == (3, 1)
    assert drain(again) == 4
    assert ids(lake) == list(range(6))
    assert lake.table("t__quarantine").read().count() == 2


def test_quarantined_records_are_decoded_again_with_their_keys(
    topic: Topic, landing: Callable[..., Landing], lake: Lake
) -> None:
    columns = "id BIGINT, s VARCHAR {}, key VARBINARY METADATA FROM 'key'"
    topic.write(("a", '{"id": 7}'), ("b", '{"id": "no"}'), (None, '{"id": 1, "s": "x"}'))
    assert drain(landing(topic.definition(columns.format("NOT NULL")))) == 3
    result = replay(landing(topic.definition(columns.format(""))))
    assert (result.waiting, result.landed, result.refused) == (2, 1, 1)
    held = lake.table("t").read().where("id = 7").collect()
    assert [(row.s, bytes(row.key), row._row) for row in held] == [(None, b"a", 0)]


def test_quarantined_records_that_are_gone_stay_in_the_quarantine(
    topic: Topic, landing: Callable[..., Landing], lake: Lake
) -> None:
    columns = "id BIGINT, s VARCHAR {}, key VARBINARY METADATA FROM 'key'"
    topic.write(("a", '{"id": 1}'), ("b", '{"id": 2}'), ("c", '{"id": 3}'))
    topic.write(("d", '{"id": 4}'), partition=1)
    assert drain(landing(topic.definition(columns.format("NOT NULL")))) == 4
    gone = [TopicPartition(topic.name, 0, 2), TopicPartition(topic.name, 1, 1)]
    for done in topic.admin.delete_records(gone).values():
        done.result()
    definition = topic.definition(columns.format(""))
    result = replay(landing(definition))
    assert (result.waiting, result.landed, result.untouched) == (4, 1, 3)
    assert [(row.id, bytes(row.key)) for row in lake.table("t").read().collect()] == [(3, b"c")]
    topic.delete()
    topic.create()
    topic.write(("x", '{"id": 9}'), ("y", '{"id": 9}'))  # other records at the same offsets
    result = replay(landing(definition))
    assert (result.waiting, result.landed, result.untouched) == (3, 0, 3)


def test_a_keyed_table_follows_keys_and_tombstones(
    topic: Topic, landing: Callable[..., Landing], spark: SparkSession, lake: Lake
) -> None:
    rest = "FORMAT UPSERT ENCODE JSON"
    definition = topic.definition("id BIGINT, s VARCHAR NOT NULL, PRIMARY KEY (id)", rest)
    land = landing(definition, "t__changes")
    topic.write(("1", '{"s": "a"}'), ('{"id": 2}', '{"s": "b"}'), ("1", '{"s": "c"}'))
    topic.write(("3", '{"s": "d"}'), ("3", None), ("x", '{"s": "e"}'), (None, '{"s": "f"}'))
    assert drain(land) == 7
    running = Running(spark, lake, definition)
    assert not running.tick()
    assert sorted(running.held("t")) == [(1, "c"), (2, "b")]
    topic.write(("2", None), ("3", '{"s": "g"}'))
    drain(land)
    assert not running.tick()
    assert sorted(running.held("t")) == [(1, "c"), (3, "g")]
    bad = lake.table("t__quarantine").read().orderBy("_row").collect()
    assert [row._row for row in bad] == [5, 6]


@pytest.mark.parametrize("keyed", [False, True])
def test_fields_that_were_counted_are_expected_by_the_next_process(
    topic: Topic,
    landing: Callable[..., Landing],
    lake: Lake,
    monkeypatch: pytest.MonkeyPatch,
    *,
    keyed: bool,
) -> None:
    definition, name = topic.definition("id BIGINT, a BIGINT"), "t"
    if keyed:  # the key stands in the value too
        rest, name = "FORMAT UPSERT ENCODE JSON", "t__changes"
        definition = topic.definition("id BIGINT, a BIGINT, PRIMARY KEY (id)", rest)
    topic.write(('{"id": 1}', '{"id": 1, "a": 1, "extra": 1}'))
    assert drain(landing(definition, name)) == 1
    listing = "CAST(raise_error('the fields of a record are listed') AS STRING)"
    monkeypatch.setattr("headwater.formats.json.unknown_in_json", lambda *_: listing)
    topic.write(('{"id": 2}', '{"id": 2, "a": 1, "extra": null}'))
    topic.write(('{"id": 3}', '{"id": 3, "a": 1, "extra": "x"}'))
    assert drain(landing(definition, name)) == 2
    quarantine = lake.table("t__quarantine").marker()
    assert quarantine is not None
    assert fields_in(quarantine.counts) == {"extra": 2}


def test_events_of_debezium_and_their_tombstones(
    topic: Topic, landing: Callable[..., Landing], spark: SparkSession, lake: Lake
) -> None:
    definition = topic.definition(
        "id BIGINT, s VARCHAR, PRIMARY KEY (id)", "FORMAT DEBEZIUM ENCODE JSON"
    )
    events: Sequence[Record] = [
        ('{"id":1}', '{"op": "c", "before": null, "after": {"id": 1, "s": "a"}}'),
        ('{"id":2}', '{"op": "c", "before": null, "after": {"id": 2, "s": "b"}}'),
        ('{"id":1}', '{"op": "d", "before": {"id": 1}, "after": null}'),
        ('{"id":1}', None),
    ]
    topic.write(*events)
    drain(landing(definition, "t__changes"))
    running = Running(spark, lake, definition)
    assert not running.tick()
    assert running.held("t") == [(2, "b")]
    assert not lake.exists("t__quarantine") or not lake.table("t__quarantine").read().count()


def test_where_the_first_reading_begins(
    topic: Topic, landing: Callable[..., Landing], lake: Lake
) -> None:
    topic.write(*ints(3))
    middle = time.time() + 1
    wait_for(lambda: time.time() > middle + 0.5, "a later second")
    topic.write(*ints(2, 3))
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(middle))
    rest = "FORMAT PLAIN ENCODE JSON START FROM "
    starts = {
        "EARLIEST": [0, 1, 2, 3, 4, 5],
        "LATEST": [5],
        f"TIMESTAMP '{stamp}'": [3, 4, 5],
        f'OFFSETS \'{{"{topic.name}": {{"0": 4}}}}\'': [4, 5],
    }
    landings = {}
    for number, start in enumerate(starts):
        text = topic.definition("id BIGINT", rest + start).replace("TABLE t ", f"TABLE t{number} ")
        landings[number] = (text, landing(text, f"t{number}"))
        landings[number][1].step()  # where it begins is kept, whatever happens before it reads
    topic.write(*ints(1, 5))
    for number, expected in enumerate(starts.values()):
        drain(landing(landings[number][0], f"t{number}"))
        held = lake.table(f"t{number}").read().collect()
        assert sorted(row.id for row in held) == expected


def test_only_what_transactions_committed_is_read(
    topic: Topic, landing: Callable[..., Landing], lake: Lake
) -> None:
    producer = topic.producer(transactional_id=topic.name)
    producer.init_transactions()
    for number, ends in enumerate((True, False, True)):
        producer.begin_transaction()
        producer.produce(topic.name, json.dumps({"id": number}), partition=0)
        producer.flush()
        producer.commit_transaction() if ends else producer.abort_transaction()
    producer.begin_transaction()
    producer.produce(topic.name, '{"id": 3}', partition=0)
    producer.flush()
    land = landing(topic.definition("id BIGINT"))
    drain(land)
    assert ids(lake) == [0, 2]
    producer.commit_transaction()
    # the broker lets it be read some time after it has answered
    wait_for(lambda: drain(land), "what was committed")
    assert ids(lake) == [0, 2, 3]


def test_records_that_are_gone_are_a_gap(
    topic: Topic, landing: Callable[..., Landing], lake: Lake
) -> None:
    definition = topic.definition("id BIGINT")
    topic.write(*ints(5))
    land = landing(definition)
    land.step()
    gone = TopicPartition(topic.name, 0, 3)
    topic.admin.delete_records([gone])[gone].result()
    with pytest.raises(HeadwaterError) as caught:
        land.step()
    assert caught.value.condition == "DATA_LOSS"
    assert "records 0 to 2 of partition 0" in caught.value.message
    skipping = landing(topic.definition("id BIGINT", on_data_loss="skip"))
    skipping.step()
    assert skipping.marker is not None
    assert skipping.marker.counts["lost"] == 3
    assert ids(lake) == [3, 4]


def test_a_topic_of_the_same_name_is_another(topic: Topic, landing: Callable[..., Landing]) -> None:
    definition = topic.definition("id BIGINT")
    topic.write(*ints(2))
    land = landing(definition)
    drain(land)
    topic.delete()
    with pytest.raises(HeadwaterError) as caught:
        land.step()
    assert caught.value.condition == "TOPIC_MISSING"
    topic.create()
    topic.write(*ints(9))
    with pytest.raises(HeadwaterError) as caught:
        land.step()
    assert caught.value.condition == "TOPIC_RECREATED"


def test_new_partitions_are_read_but_not_into_a_keyed_table(
    topic: Topic,
    landing: Callable[..., Landing],
    lake: Lake,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kafka, "LOOK_EVERY", 0)
    land = landing(topic.definition("id BIGINT", topic="", topic_pattern=f"{topic.name}.*"))
    keyed = topic.definition("id BIGINT, PRIMARY KEY (id)", "FORMAT UPSERT ENCODE JSON")
    changes = landing(keyed.replace("TABLE t ", "TABLE k "), "k__changes")
    topic.write(("1", '{"id": 1}'))
    drain(land)
    drain(changes)
    topic.admin.create_partitions([NewPartitions(topic.name, 3)])[topic.name].result()
    topic.write(("2", '{"id": 2}'), partition=2)
    assert drain(land) == 1
    assert ids(lake) == [1, 2]
    with pytest.raises(HeadwaterError) as caught:
        changes.step()
    assert caught.value.condition == "PARTITIONS_ADDED"


def test_a_truncate_needs_a_topic_of_one_partition(
    broker: Kafka, landing: Callable[..., Landing], lake: Lake
) -> None:
    topic, words = Topic(broker, partitions=1), "FORMAT DEBEZIUM ENCODE JSON (truncate = 'apply')"
    definition = topic.definition("id BIGINT, PRIMARY KEY (id)", words)
    land = landing(definition, "t__changes")
    topic.write(('{"id": 1}', '{"op": "c", "before": null, "after": {"id": 1}}'))
    topic.write((None, '{"op": "t", "before": null, "after": null}'))
    drain(land)
    kinds = lake.table("t__changes").read().orderBy("_row").select("id", "_change_type").collect()
    assert [tuple(row) for row in kinds] == [(1, "UPSERT"), (None, "TRUNCATE")]
    topic.admin.create_partitions([NewPartitions(topic.name, 2)])[topic.name].result()
    with pytest.raises(HeadwaterError) as caught:
        landing(definition, "t__changes").step()
    assert caught.value.condition == "NO_ORDER"


def test_an_input_that_ends_ends_where_it_was_first_looked_at(
    topic: Topic, landing: Callable[..., Landing], lake: Lake
) -> None:
    topic.write(*ints(4))
    land = landing(topic.definition("id BIGINT"), once=True)
    land.step()
    land.step(Limits(rows=2))
    topic.write(*ints(4, 4))
    drain(land)
    assert ids(lake) == [0, 1, 2, 3]


def test_a_worker_that_fails_leaves_no_client_behind(
    topic: Topic, landing: Callable[..., Landing], spark: SparkSession, tmp_path: Path
) -> None:
    definition = topic.definition("id BIGINT")
    topic.write(*ints(1))
    drain(landing(definition))
    gone = TopicPartition(topic.name, 0, 2)
    topic.write(*ints(2))
    topic.admin.delete_records([gone])[gone].result()
    board, before = Board(tmp_path, silent), clients(spark)
    for _ in range(5):
        worker = LandingWorker(
            "t", board, BackOff(0, 0, 1), 0, landing=landing(definition), once=True
        )
        worker.start()
        worker.join()
    assert board.failures()["t"].condition == "DATA_LOSS"
    assert clients(spark) == before


def clients(spark: SparkSession) -> int:
    """How many clients that ask for offsets there are in the JVM."""
    threads = java_class(spark, "java.lang.Thread").getAllStackTraces().keySet()
    return sum(thread.getName().startswith("kafka-admin-client-thread") for thread in threads)


def test_a_host_that_nobody_knows_is_named(topic: Topic, landing: Callable[..., Landing]) -> None:
    land = landing(topic.definition("id BIGINT", bootstrap_servers="no.such.host.invalid:9092"))
    with pytest.raises(HeadwaterError) as caught:
        land.step()
    assert caught.value.condition == "KAFKA_UNAVAILABLE"
    assert "bootstrap_servers = 'no.such.host.invalid:9092'" in caught.value.hint
