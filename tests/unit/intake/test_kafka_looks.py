"""How often an idle table over Kafka asks, and that it looks at everything before it reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from headwater.analyze.definitions import Source
from headwater.config.settings import Config
from headwater.connectors.contract import Limits, Range
from headwater.connectors.kafka import source as module
from headwater.connectors.kafka.cluster import Partition, Topic
from headwater.connectors.kafka.source import Kafka
from headwater.errors import HeadwaterError, ServiceError
from tests.spark.running import planned

DEFINITION = """CREATE TABLE t (id BIGINT)
WITH (connector = 'kafka', topic = 't', bootstrap_servers = 'localhost:9092')
FORMAT PLAIN ENCODE JSON;"""


class FakeCluster:
    """A topic of some partitions; notes what it is asked."""

    def __init__(self) -> None:
        self.id, self.begin, self.ends = "a", 0, [0]
        self.asked: list[str] = []
        self.down = False

    def topics(self, names: Iterable[str], pattern: str | None) -> dict[str, Topic]:
        self.asked.append("topics")
        return {"t": Topic(self.id, len(self.ends))}

    def earliest(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        self.asked.append("earliest")
        return dict.fromkeys(partitions, self.begin)

    def latest(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        self.asked.append("latest")
        if self.down:
            raise ServiceError("KAFKA_UNAVAILABLE", "it does not answer")
        return {each: self.ends[each[1]] for each in partitions}


class Reading:
    """A connector whose every range is committed at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        source: Source = planned(DEFINITION)[0].sources["t"]
        config = Config(folder, "p", "p", folder, folder)
        self.kafka, self.cluster, self.now = Kafka(source, config), FakeCluster(), 0.0
        self.kafka._cluster = self.cluster  # type: ignore[assignment]
        self.position: str | None = None
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)

    def look(self) -> tuple[Range | None, list[str]]:
        self.cluster.asked.clear()
        found = self.kafka.next_range(self.position, Limits())
        self.position = found.position if found else self.position
        return found, [*self.cluster.asked]

    def catch_up(self) -> None:
        while self.look()[0]:
            pass


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Reading:
    reading = Reading(monkeypatch, tmp_path)
    reading.catch_up()
    return reading


def test_while_nothing_comes_only_the_ends_are_asked_for(reading: Reading) -> None:
    assert [reading.look() for _ in range(9)] == [(None, ["latest"])] * 9
    reading.now += module.LOOK_EVERY + 0.1
    assert reading.look() == (None, ["topics", "earliest", "latest"])


def test_before_records_are_read_everything_is_looked_at(reading: Reading) -> None:
    reading.cluster.ends = [5]
    found, asked = reading.look()
    assert found is not None
    assert found.body == [("t", 0, 0, 5)]
    assert asked == ["latest", "topics", "earliest", "latest"]


@pytest.mark.parametrize(
    ("change", "condition"),
    [({"id": "b", "ends": [9]}, "TOPIC_RECREATED"), ({"begin": 3, "ends": [9]}, "DATA_LOSS")],
)
def test_nothing_is_read_of_what_became_another(
    reading: Reading, change: dict[str, Any], condition: str
) -> None:
    vars(reading.cluster).update(change)
    with pytest.raises(HeadwaterError) as caught:
        reading.look()
    assert caught.value.condition == condition


def test_a_topic_made_again_as_long_as_before_is_noticed_soon(reading: Reading) -> None:
    reading.cluster.id = "b"
    assert reading.look()[0] is None
    reading.now += module.LOOK_EVERY + 0.1
    with pytest.raises(HeadwaterError) as caught:
        reading.look()
    assert caught.value.condition == "TOPIC_RECREATED"


def test_new_partitions_are_found_soon(reading: Reading) -> None:
    reading.cluster.ends = [0, 4]
    assert reading.look()[0] is None
    reading.now += module.LOOK_EVERY + 0.1
    reading.catch_up()
    assert reading.kafka.waiting(reading.position) == {"t/0": 0, "t/1": 0}


def test_a_failure_is_for_a_whole_look_to_explain(reading: Reading) -> None:
    reading.cluster.down = True
    with pytest.raises(ServiceError):
        reading.look()
    assert reading.cluster.asked == ["latest", "topics", "earliest", "latest"]


def test_what_waits_is_known_from_the_last_look(reading: Reading) -> None:
    reading.cluster.ends = [5]
    before = reading.position
    reading.look()
    reading.cluster.asked.clear()
    assert reading.kafka.waiting(before) == {"t/0": 5}
    assert reading.kafka.waiting(reading.position) == {"t/0": 0}
    assert reading.cluster.asked == []
