"""Partitions of a topic hold the watermark back until they have had no rows for IDLE TIMEOUT."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.analyze.definitions import Watermark
from headwater.config.settings import Config
from headwater.connectors import lanes as lanes_module
from headwater.connectors.contract import HasIdleLanes, Limits
from headwater.connectors.kafka import source as kafka_module
from headwater.connectors.kafka.source import Kafka
from headwater.connectors.lanes import LaneClock
from headwater.lake.protocol.marker import Marker
from headwater.lake.watermark import reached_with
from tests.spark.running import planned
from tests.unit.intake.test_kafka_looks import FakeCluster

MS = 1_000
DEFINITION = """CREATE TABLE t (
  ts TIMESTAMP, WATERMARK FOR ts AS ts IDLE TIMEOUT INTERVAL '10' SECOND
) WITH (connector = 'kafka', topic = 't', bootstrap_servers = 'localhost:9092')
FORMAT PLAIN ENCODE JSON;"""


class Topic:
    """A table over a topic of three partitions; every range is committed at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.source = planned(DEFINITION)[0].sources["t"]
        self.config = Config(folder, "p", "p", folder, folder)
        self.cluster, self.now, self.position = FakeCluster(), 0.0, None
        self.cluster.ends = [0, 0, 0]
        monkeypatch.setattr(kafka_module.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(lanes_module.time, "monotonic", lambda: self.now)
        self.open()
        self.look()

    def open(self) -> None:
        self.kafka = Kafka(self.source, self.config)
        self.kafka._cluster = self.cluster  # type: ignore[assignment]

    def look(self) -> tuple[str, ...]:
        """Return the lanes that hold the watermark back."""
        found = self.kafka.next_range(self.position, Limits())
        if found is None:
            return self.kafka.holding(self.position)
        self.position = found.position
        return found.waiting

    def later(self, seconds: float, *lanes: int) -> tuple[str, ...]:
        self.now += seconds
        for lane in lanes:
            self.cluster.ends[lane] += 1
        return self.look()


@pytest.fixture
def topic(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Topic:
    return Topic(monkeypatch, tmp_path)


def test_a_partition_without_records_for_the_timeout_holds_nothing_back(topic: Topic) -> None:
    assert isinstance(topic.kafka, HasIdleLanes)
    assert topic.later(0) == ("t/0", "t/1", "t/2")  # all are new
    assert topic.later(6, 0, 1) == ("t/0", "t/1", "t/2")
    assert topic.later(6, 0) == ("t/0", "t/1")
    assert topic.later(6, 0) == ("t/0",)
    assert topic.later(9) == ("t/0",)
    assert topic.later(2) == ()
    assert topic.later(0, 2) == ("t/2",)


def test_a_restart_knows_which_partitions_were_idle_and_how_long_ago_that_was(topic: Topic) -> None:
    topic.later(0, 0, 1, 2)
    topic.open()
    topic.kafka.resume(topic.position, ("t/0", "t/1"), age=4)
    assert topic.later(0) == ("t/0", "t/1")
    assert topic.later(7) == ()
    topic.open()
    topic.kafka.resume(topic.position, ("t/0",), age=3600)
    assert topic.later(0) == ()


def test_without_a_timeout_only_what_waits_holds_the_watermark_back() -> None:
    clock = LaneClock(None)
    clock.saw(["a"])
    assert clock.awake(["a"]) == set()


def late_though_never_idle(seed: int, *, hold: bool = True) -> int:
    """Read partitions in epochs; how many rows were late of partitions that were never idle."""
    rnd = random.Random(seed)
    delay, late = rnd.choice([0, 3]) * MS, 0
    rule = Watermark("ts", timedelta(microseconds=delay), idle_timeout=timedelta(seconds=10))
    names = [f"t/{number}" for number in range(rnd.randrange(2, 5))]
    clocks = {name: rnd.randrange(50) * MS for name in names}
    marker, found, now = Marker("t", 1, 0, {}, {}), dict[str, int](), 0.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lanes_module.time, "monotonic", lambda: now)
        lane_clock = LaneClock(rule.idle_timeout)
        never_idle = awake = lane_clock.awake(names)
        for _ in range(40):
            now += rnd.choice([0.5, 3.0, 3.0, 9.0, 12.0])
            come = reached_with(marker, rule, found)
            found = {}
            for name in names:
                if rnd.random() < 0.6:
                    clocks[name] += rnd.randrange(9) * MS
                    rows = [clocks[name] - rnd.randrange(delay // MS + 1) * MS for _ in range(3)]
                    found[name] = max(rows)
                    if come.watermark is not None and name in never_idle:
                        late += sum(row < come.watermark for row in rows)
            lane_clock.saw(found)
            awake = lane_clock.awake(names)
            never_idle &= awake
            holding = tuple(sorted(awake)) if hold else ()
            number = marker.epoch + 1
            marker = Marker(
                "t", 1, number, {}, {}, come.watermark, waiting=holding, reached=come.lanes
            )
    return late


@settings(max_examples=600)
@given(st.integers(0, 2**32))
def test_no_row_of_a_partition_is_late_as_long_as_it_was_never_idle(seed):
    assert late_though_never_idle(seed) == 0


def test_without_the_timeout_partitions_that_lie_apart_would_make_each_others_rows_late():
    assert sum(late_though_never_idle(seed, hold=False) > 0 for seed in range(100)) > 50
