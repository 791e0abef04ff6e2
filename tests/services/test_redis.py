"""Tables over streams of a real Redis: each entry once, in whatever order things fail."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

from docker.local.redis import Redis
from headwater.config import Config
from headwater.errors import HeadwaterError
from headwater.intake.connectors.base import Limits
from headwater.intake.connectors.redis_server import client
from headwater.intake.land import Landing
from headwater.lake.catalog import Lake
from tests.spark.running import planned

pytestmark = pytest.mark.services


class Queue:
    """A stream of the server with a name of its own."""

    def __init__(self, server: Redis) -> None:
        self.name, self.server = f"q{uuid.uuid4().hex[:8]}", server
        self.client = client({"url": server.address})

    def write(self, *values: object, entry: str = "*") -> list[str]:
        """Write entries; text as it is, anything else as JSON. Return their ids."""
        at_once = self.client.pipeline(transaction=False)
        for value in values:
            given = value if isinstance(value, str | bytes) else json.dumps(value)
            at_once.xadd(self.name, {"value": given}, id=entry)
        return [each.decode() for each in at_once.execute()]

    def ints(self, count: int, start: int = 0) -> list[str]:
        return self.write(*({"id": n} for n in range(start, start + count)))

    def group(self) -> dict[str, Any]:
        (found,) = self.client.xinfo_groups(self.name)
        return dict(found)

    def definition(self, columns: str = "id BIGINT", rest: str = "", **more: str) -> str:
        options = {"stream": self.name, "url": self.server.address, **more}
        listed = ", ".join(f"{name} = '{value}'" for name, value in options.items())
        return (
            f"CREATE TABLE t ({columns}) WITH (connector = 'redis', {listed})"
            f" FORMAT PLAIN ENCODE JSON {rest};\n"
        )


@pytest.fixture
def queue(redis: Redis) -> Queue:
    return Queue(redis)


@pytest.fixture
def landing(spark: SparkSession, lake: Lake, proxied: Config) -> Callable[..., Landing]:
    def make(definition: str, *, once: bool = False) -> Landing:
        catalog, _ = planned(definition)
        return Landing(spark, lake, catalog.sources["t"], proxied, once=once)

    return make


def drain(land: Landing, limits: Limits = Limits()) -> int:  # noqa: B008 - frozen
    """Land all there is; return how many rows."""
    done = 0
    while result := land.step(limits):
        done += result.rows_in
    return done


def ids(lake: Lake) -> list[int]:
    return sorted(row.id for row in lake.table("t").read().collect())


def test_each_entry_lands_once_through_restarts_and_a_killed_server(
    queue: Queue, landing: Callable[..., Landing], lake: Lake
) -> None:
    definition = queue.definition()
    written = queue.ints(100)
    land = landing(definition)
    assert land.step() is not None  # where it begins
    first = land.step(Limits(rows=30))
    assert first is not None
    assert (first.units, land.backlog(), land.waiting()) == (30, 70, {queue.name: 70})
    queue.server.kill()
    with pytest.raises(HeadwaterError) as caught:
        land.step()
    assert caught.value.condition == "REDIS_UNAVAILABLE"
    queue.server.start()
    written += queue.ints(10, 100)
    assert drain(landing(definition), Limits(rows=25)) == 80
    assert drain(landing(definition)) == 0
    assert ids(lake) == list(range(110))
    places = {(row._path, row._row) for row in lake.table("t").read().collect()}
    assert places == {(f"{queue.name}/{entry}", 0) for entry in written}
