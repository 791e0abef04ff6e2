"""Views straight from a SOURCE over a real Kafka: each record once, up to recorded offsets."""

from __future__ import annotations

import gc
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
)
from pyspark.sql import SparkSession

from headwater.config.settings import Config
from headwater.connectors.kafka import stream as kafka_stream
from headwater.engine import view_commit as module
from headwater.lake.catalog import Lake
from headwater.lake.java import java_class
from headwater.lake.protocol.marker import Marker
from headwater.project import load_project
from headwater.runtime.events import Event, RecordsWaiting, RunState, StateChanged
from headwater.runtime.supervisor import Supervisor
from jobs.demos.servers.kafka import Kafka
from tests.services.test_kafka_tables import Topic, clients
from tests.support.waiting import wait_for

pytestmark = pytest.mark.services

SOURCE = """CREATE SOURCE clicks (
  n BIGINT NOT NULL, at TIMESTAMP WITH TIME ZONE, part INTEGER METADATA FROM 'partition',
  place BIGINT METADATA FROM 'offset', told ARRAY(ROW(key VARCHAR, value VARBINARY)) METADATA FROM
  'headers', WATERMARK FOR at AS at - INTERVAL '1' MINUTE
) WITH (connector = 'kafka', {which}, bootstrap_servers = '{servers}'{options})
{start} FORMAT PLAIN ENCODE {encode};
"""
PLACES = "CREATE STREAMING VIEW places AS SELECT n, part, place FROM clicks;"
PER_HOUR = """CREATE STREAMING VIEW per_hour AS
SELECT window_start, count(*) AS n FROM TUMBLE(clicks, at, INTERVAL '1' HOUR)
GROUP BY window_start EMIT ON WINDOW CLOSE;"""


class Project:
    """A project that reads one topic straight."""

    def __init__(
        self, spark: SparkSession, lake: Lake, config: Config, folder: Path, topic: Topic
    ) -> None:
        self._spark, self.lake, self._config, self._folder = spark, lake, config, folder
        self.topic = topic
        self.which, self.encode = f"topic = '{topic.name}'", "JSON"
        self.failed: dict[str, str] = {}
        self.waiting: list[Mapping[str, int]] = []
        (folder / "headwater.toml").write_text('name = "t"\n')

    def run(self, *views: str, start: str = "", **options: str) -> int:
        """Run it until the input ends; returns the exit code."""
        more = "".join(f", {name} = '{value}'" for name, value in options.items())
        given = {"which": self.which, "servers": self.topic.broker.address, "options": more}
        sql = SOURCE.format(**given, start=start, encode=self.encode) + "\n".join(views)
        (self._folder / "views.sql").write_text(sql)
        found = load_project(self._folder)
        config = replace(
            self._config,
            directory=self._folder,
            namespace=self.lake.namespace,
            state=self.state,
        )
        self.failed.clear()

        def tell(event: Event) -> None:
            if isinstance(event, RecordsWaiting):
                self.waiting.append(event.records)
            elif isinstance(event, StateChanged) and event.state is RunState.FAILED:
                assert event.error is not None
                self.failed[event.name] = event.error.condition

        project = replace(found, config=config)
        code = Supervisor(project, spark=self._spark, progress=tell).run(
            once=True, end_of_input=True
        )
        gc.collect()  # its sessions have connections to the catalog, of which there are not many
        java_class(self._spark, "java.lang.System").gc()
        return code

    @property
    def state(self) -> Path:
        return self._folder / "state"

    def rows(self, view: str) -> list[tuple[Any, ...]]:
        table = self.lake.table(view)
        names = [name for name in table.read().columns if not name.startswith("_")]
        return sorted(tuple(row) for row in table.read().select(*names).collect())

    def numbers(self, view: str = "places") -> list[int]:
        return [row[0] for row in self.rows(view)]

    def commits(self) -> list[tuple[dict[str, int], list[int]]]:
        """How far each commit of ``places`` has read each partition, and its rows."""
        table = self.lake.table("places")
        return [
            (offsets(s.marker), sorted(row.n for row in table.read(s.id).collect()))
            for s in table.ancestors(table.snapshot_id())
            if s.marker
        ]


@pytest.fixture
def project(
    spark: SparkSession, lake: Lake, proxied: Config, broker: Kafka, tmp_path: Path
) -> Project:
    return Project(spark, lake, proxied, tmp_path, Topic(broker))


def offsets(marker: Marker) -> dict[str, int]:
    held: dict[str, int]
    ((topic, held),) = json.loads(marker.cut_to["clicks"]).items()
    assert held.pop("id"), topic
    return held


def click(n: int) -> tuple[str, str]:
    return f"k{n}", json.dumps({"n": n, "at": f"2024-01-01T{n % 24:02}:30:00Z"})


def test_a_topic_feeds_views_and_its_bad_records_are_kept(project: Project) -> None:
    bad = [("k", "not json"), ("k", None), ("k", '{"n": null}')]
    project.topic.write(*map(click, range(3)), *bad, partition=0)
    project.topic.write(*map(click, range(3, 6)), partition=1, headers=[("a", b"b")])
    for _ in range(2):  # the second run finds nothing to do
        assert project.run(PLACES, PER_HOUR) == 0
        expected = [(n, n // 3, n % 3) for n in range(6)]
        assert project.rows("places") == expected
        assert [n for _, n in project.rows("per_hour")] == [1] * 6
        kept = project.lake.table("clicks__quarantine").read().collect()
        assert sorted(row["_row"] for row in kept) == [3, 4, 5]
        assert {row["_path"] for row in kept} == {f"{project.topic.name}/0"}


def test_every_commit_holds_the_records_up_to_its_offsets(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: dict[str, list[int]] = {"0": [], "1": []}
    rnd = Random(7)
    crashes = []

    def crashing(whole: Callable[..., Any]) -> Callable[..., Any]:
        def either(*given: Any, **more: Any) -> Any:
            if rnd.random() < 0.15:
                crashes.append(whole.__name__)
                raise RuntimeError("the end of the process")
            return whole(*given, **more)

        return either

    for name in ("committed", "commit"):  # after the commit and before it
        monkeypatch.setattr(module, name, crashing(getattr(module, name)))
    for start in range(0, 60, 20):
        for n in range(start, start + 20):
            partition = rnd.randrange(2)
            written[str(partition)].append(n)
            project.topic.write(click(n), partition=partition)
        assert project.run(PLACES, max_rows_per_epoch="6") == 0
    partitions = {f"{project.topic.name}/{number}" for number in written}
    told = [each for each in project.waiting if each]  # nothing right after a start
    assert all(set(each) == partitions for each in told)
    assert max(sum(each.values()) for each in told) >= 6
    commits = project.commits()
    assert len(commits) >= 10
    assert {*crashes} == {"committed", "commit"}
    for upto, held in commits:
        assert held == sorted(n for part, n_of in written.items() for n in n_of[: upto[part]])
    assert commits[0][1] == list(range(60))


def run_after_losing_the_state(project: Project, view: str) -> int:
    """Keep three records, lose the state folder, and run on with two more; the exit code."""
    project.topic.write(*map(click, range(3)))
    assert project.run(view) == 0
    shutil.rmtree(project.state)
    project.topic.write(*map(click, range(3, 5)))
    return project.run(view)


def test_a_view_without_state_goes_on_from_its_marker(project: Project) -> None:
    assert run_after_losing_the_state(project, PLACES) == 0
    assert project.numbers() == [0, 1, 2, 3, 4]


def test_windows_are_refused_without_their_checkpoint(project: Project) -> None:
    assert run_after_losing_the_state(project, PER_HOUR) == 3
    assert project.failed == {"per_hour": "CHECKPOINT_LOST"}
    assert [n for _, n in project.rows("per_hour")] == [1] * 3


def test_only_what_transactions_committed_is_read(project: Project) -> None:
    producer = project.topic.producer(transactional_id=project.topic.name)
    producer.init_transactions()
    for n, ends in enumerate((True, False, True)):
        write_open(producer, project.topic, n)
        producer.commit_transaction() if ends else producer.abort_transaction()
    write_open(producer, project.topic, 3)
    assert project.run(PLACES) == 0
    assert project.numbers() == [0, 2]
    producer.commit_transaction()

    def read() -> bool:
        assert project.run(PLACES) == 0
        return project.numbers() == [0, 2, 3]

    # the broker lets it be read some time after it has answered
    wait_for(read, "what was committed")


def write_open(producer: Producer, topic: Topic, n: int) -> None:
    producer.begin_transaction()
    producer.produce(topic.name, click(n)[1], partition=0)
    producer.flush()


def test_a_topic_made_again_is_refused(project: Project, spark: SparkSession) -> None:
    project.topic.write(*map(click, range(3)))
    assert project.run(PLACES) == 0
    project.topic.delete()
    project.topic.create()
    project.topic.write(*map(click, range(10, 15)))
    before = clients(spark)
    assert project.run(PLACES) == 3
    assert clients(spark) == before
    assert project.failed == {"places": "TOPIC_RECREATED"}
    assert project.numbers() == [0, 1, 2]


def test_a_topic_made_again_while_it_is_read_publishes_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.topic.write(*map(click, range(3)))
    whole, again = kafka_stream.SameTopics.check, iter([True])

    def check(same: kafka_stream.SameTopics) -> None:
        if next(again, False):  # the rows of the batch are written, and not yet to be seen
            project.topic.delete()
            project.topic.create()
        whole(same)

    monkeypatch.setattr(kafka_stream.SameTopics, "check", check)
    project.run(PLACES)
    assert project.numbers() == []


def test_records_that_are_gone_before_they_were_read_stop_the_view(project: Project) -> None:
    project.topic.write(*map(click, range(3)))
    assert project.run(PLACES) == 0
    project.topic.write(*map(click, range(3, 6)))
    delete_before(project.topic, 5)
    assert project.run(PLACES) == 3
    assert project.failed == {"places": "DATA_LOSS"}
    assert project.numbers() == [0, 1, 2]


def delete_before(topic: Topic, offset: int) -> None:
    gone = TopicPartition(topic.name, 0, offset)
    topic.admin.delete_records([gone])[gone].result()


@pytest.mark.parametrize("start", ["START FROM LATEST", "START FROM TIMESTAMP '2038-01-01 00:00'"])
def test_all_views_of_a_source_begin_where_it_was_first_read(project: Project, start: str) -> None:
    project.topic.write(*map(click, range(3)))
    assert project.run(PLACES, start=start) == 0
    project.topic.write(*map(click, range(3, 6)), ("k", "not json"))
    more = PLACES.replace("VIEW places", "VIEW others")
    assert project.run(PLACES, more, start=start) == 0
    assert project.numbers("places") == project.numbers("others") == [3, 4, 5]
    kept = project.lake.table("clicks__quarantine").read()
    assert [row["_row"] for row in kept.collect()] == [6]
    delete_before(project.topic, 4)
    third = PLACES.replace("VIEW places", "VIEW third")
    assert project.run(PLACES, more, third, start=start) == 0
    assert project.numbers("third") == [4, 5]


def test_a_source_begins_at_offsets_and_reads_new_partitions(project: Project) -> None:
    project.topic.write(*map(click, range(3)))
    project.topic.write(*map(click, range(3, 6)), partition=1)
    start = f"""START FROM OFFSETS '{{"{project.topic.name}": {{"0": 2}}}}'"""
    assert project.run(PLACES, start=start) == 0
    assert project.numbers() == [2, 3, 4, 5]
    project.topic.admin.create_partitions([NewPartitions(project.topic.name, 3)])[
        project.topic.name
    ].result()
    project.topic.write(*map(click, range(6, 8)), partition=2)
    assert project.run(PLACES, start=start) == 0
    assert project.numbers() == [2, 3, 4, 5, 6, 7]


def test_a_pattern_reads_the_topics_that_fit_and_those_that_come_later(project: Project) -> None:
    first = project.topic
    project.which = f"topic_pattern = '{first.name}(-[a-z]+)?'"
    Topic(first.broker, name=f"{first.name}-b2").write(click(99))
    Topic(first.broker, name=f"x{first.name}").write(click(99))
    first.write(*map(click, range(3)))
    assert project.run(PLACES) == 0
    Topic(first.broker, name=f"{first.name}-later").write(click(3), ("k", "not json"))
    first.write(click(4))
    assert project.run(PLACES, PLACES.replace("VIEW places", "VIEW others")) == 0
    assert project.numbers("places") == project.numbers("others") == [0, 1, 2, 3, 4]
    written = {first.name: [0, 1, 2, 4], f"{first.name}-later": [3]}
    table = project.lake.table("places")
    for commit in (s for s in table.ancestors(table.snapshot_id()) if s.marker):
        cut = json.loads(commit.marker.cut_to["clicks"])
        upto = [n for topic, held in cut.items() for n in written[topic][: held["0"]]]
        assert sorted(row.n for row in table.read(commit.id).collect()) == sorted(upto)
    kept = project.lake.table("clicks__quarantine").read()
    assert [row["_path"] for row in kept.collect()] == [f"{first.name}-later/0"]
    compact(Topic(first.broker, name=f"{first.name}-compact"))
    assert project.run(PLACES) == 3
    assert project.failed == {"places": "TOPIC_COMPACTED"}


def test_a_pattern_that_begins_with_nothing_begins_there_for_all_views(project: Project) -> None:
    project.which = f"topic_pattern = '{project.topic.name}-.*'"
    assert project.run(PLACES, start="START FROM LATEST") == 0
    Topic(project.topic.broker, name=f"{project.topic.name}-b").write(click(0))
    more = PLACES.replace("VIEW places", "VIEW others")
    assert project.run(PLACES, more, start="START FROM LATEST") == 0
    assert project.numbers("places") == project.numbers("others") == [0]


def compact(topic: Topic) -> None:
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic.name)
    resource.add_incremental_config(
        ConfigEntry("cleanup.policy", "compact", incremental_operation=AlterConfigOpType.APPEND)
    )
    topic.admin.incremental_alter_configs([resource])[resource].result()


def test_a_compacted_topic_is_refused(project: Project) -> None:
    project.topic.write(*map(click, range(3)))
    compact(project.topic)
    assert project.run(PLACES) == 3
    assert project.failed == {"places": "TOPIC_COMPACTED"}


def test_a_topic_that_is_not_there_is_named(project: Project) -> None:
    project.topic.delete()
    assert project.run(PLACES) == 3
    assert project.failed == {"places": "TOPIC_MISSING"}
