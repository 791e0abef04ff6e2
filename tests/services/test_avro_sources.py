"""Views straight from a SOURCE in Avro: each record by its own schema, judged once and for all."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headwater.config.settings import Config
from headwater.engine.streaming.query import StreamingView
from headwater.lake.catalog import Lake
from jobs.demos.servers.kafka import Kafka
from jobs.demos.servers.registry import Registry
from tests.services.test_avro import register
from tests.services.test_kafka_sources import PER_HOUR, PLACES, Project
from tests.services.test_kafka_tables import Topic
from tests.support.avro import Json, fields, message

pytestmark = pytest.mark.services

AT = {"type": "long", "logicalType": "timestamp-micros"}
FIRST = fields(n="long", at=AT)
SECOND = fields(more=["null", "string"], n=["null", "long"], at=AT)
DAY = 1_704_067_200_000_000  # 2024-01-01, microseconds
SUMS = "CREATE STREAMING VIEW sums AS SELECT n * 10 AS n FROM clicks;"


@pytest.fixture
def project(
    spark: SparkSession,
    lake: Lake,
    proxied: Config,
    broker: Kafka,
    registry: Registry,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Project:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    project = Project(spark, lake, proxied, tmp_path, Topic(broker))
    project.encode = f"AVRO (registry = '{registry.address}')"
    return project


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The views whose queries were started, in order."""
    whole, names = StreamingView.start, list[str]()

    def start(view: StreamingView) -> None:
        names.append(view.plan.view.name)
        whole(view)

    monkeypatch.setattr(StreamingView, "start", start)
    return names


def record(number: int, schema: Json, n: int | None, **more: Any) -> tuple[str, bytes]:
    row = {"n": n, "at": DAY + (n or 0) % 24 * 3_600_000_000, "more": None, **more}
    return "k", message(number, schema, row)


def bad(project: Project) -> list[tuple[int, str]]:
    rows = project.lake.table("clicks__quarantine").read().orderBy("_row").collect()
    return [(row._row, row.reason) for row in rows]


def test_records_of_schemas_old_and_new_arrive_once_and_bad_ones_are_kept(
    project: Project, registry: Registry, starts: list[str]
) -> None:
    one = register(registry, project.topic.name, FIRST)
    strange = [("k", message(one + 100 + each, FIRST, {"n": 0, "at": DAY})) for each in range(30)]
    first = [record(one, FIRST, n) for n in range(3)]
    project.topic.write(*first, *strange, ("k", b"{}"), ("k", None), partition=0)
    assert project.run(PLACES) == 0
    assert project.numbers() == [0, 1, 2]
    assert starts == ["places"] * 2  # all that is new in a batch is asked for at once
    assert bad(project) == [
        *((3 + n, f"schema {one + 100 + n} is not in the registry") for n in range(30)),
        (33, "its value is not Avro with the number of a schema: it begins with 7B7D"),
        (34, "a record without a value"),
    ]
    two = register(registry, project.topic.name, SECOND)
    project.topic.write(
        record(two, SECOND, 3, more="x"), record(two, SECOND, None), record(one, FIRST, 4)
    )
    assert project.run(PLACES, SUMS) == 0
    assert project.numbers() == [0, 1, 2, 3, 4]
    assert [n for (n,) in project.rows("sums")] == [0, 10, 20, 30, 40]
    assert bad(project)[32:] == [(36, 'column "n": NULL in NOT NULL column')]


def test_what_the_registry_said_holds_for_all_and_for_good(
    project: Project, registry: Registry
) -> None:
    name = project.topic.name
    one = register(registry, name, {**FIRST, "name": name})
    project.topic.write(record(one, FIRST, 0), record(one + 1, SECOND, 1), partition=0)
    assert project.run(PLACES) == 0
    assert register(registry, name, {**SECOND, "name": name}) == one + 1
    project.topic.write(record(one + 1, SECOND, 2), record(one, FIRST, 3), partition=0)
    assert project.run(PLACES, SUMS) == 0  # a view made later decides alike
    assert (project.numbers(), project.rows("sums")) == ([0, 3], [(0,), (30,)])
    reason = f"schema {one + 1} is not in the registry"
    assert bad(project) == [(1, reason), (2, reason)]


def test_the_registry_is_needed_for_new_schemas_only(project: Project, registry: Registry) -> None:
    one = register(registry, project.topic.name, FIRST)
    two = register(registry, project.topic.name, SECOND)
    project.topic.write(record(one, FIRST, 0))
    assert project.run(PLACES) == 0
    registry.kill()
    try:
        project.topic.write(record(one, FIRST, 1))
        assert project.run(PLACES) == 0
        assert project.numbers() == [0, 1]
        project.topic.write(record(two, SECOND, 2))
        assert project.run(PLACES) == 3
        assert project.numbers() == [0, 1]
    finally:
        registry.start()
    assert project.run(PLACES) == 0
    assert project.numbers() == [0, 1, 2]


def test_what_is_known_of_schemas_may_be_lost(
    project: Project, registry: Registry, starts: list[str]
) -> None:
    one = register(registry, project.topic.name, FIRST)
    project.topic.write(*(record(one, FIRST, n) for n in range(5)))
    assert project.run(PER_HOUR) == 0
    shutil.rmtree(project.state / "avro")
    project.topic.write(*(record(one, FIRST, n) for n in range(5, 8)))
    assert project.run(PER_HOUR) == 0
    assert [n for _, n in project.rows("per_hour")] == [1] * 8
    assert starts == ["per_hour"] * 4
    (kept,) = (project.state / "avro").iterdir()
    assert [*json.loads(kept.read_text())] == [str(one)]
