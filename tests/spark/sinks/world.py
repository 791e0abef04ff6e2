"""A project whose view is delivered, into a table of somebody else for one."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from headwater.analyze.definitions import Sink
from headwater.config.settings import Config
from headwater.connectors.lake_tables.sink import TableOutlet
from headwater.connectors.sink_contract import DeliveryEpoch, SinkConnector
from headwater.engine.delivery import Delivery
from headwater.errors import HeadwaterError
from headwater.intake.land import Landing
from headwater.lake.catalog import Lake
from tests.spark.crash import Crash
from tests.spark.running import Running, planned

STOCK = """CREATE TABLE stock (
  sku VARCHAR COMMENT 'the article', place VARCHAR, amount DECIMAL(10, 2), PRIMARY KEY (sku, place)
) WITH (connector = 'files', path = '{folder}/in') FORMAT UPSERT ENCODE JSON (delete_field = 'op');
CREATE STREAMING VIEW totals COMMENT 'per article' AS
SELECT sku, count(*) AS places, sum(amount) AS amount FROM stock GROUP BY sku;
"""
LOG = """CREATE TABLE log (id BIGINT, said VARCHAR)
WITH (connector = 'files', path = '{folder}/in') FORMAT PLAIN ENCODE JSON;
"""


def row(sku: str, place: str, amount: float, op: str = "c") -> dict[str, object]:
    return {"sku": sku, "place": place, "amount": amount, "op": op}


class Delivering:
    """A project, and what delivers its sink.

    Attributes:
        options: those of the sink.
    """

    options: dict[str, str]
    outlet: type[SinkConnector] = TableOutlet

    def __init__(self, spark: SparkSession, lake: Lake, config: Config, folder: Path) -> None:
        self.spark, self.lake, self.config, self.folder = spark, lake, config, folder
        self.files = 0
        (folder / "in").mkdir()

    def define(self, definitions: str, view: str, format_: str, **more: str) -> None:
        options = {**self.options, **more}
        listed = ", ".join(f"{name} = '{value}'" for name, value in options.items())
        way = f" FORMAT {format_}" if format_ else ""
        sink = f"CREATE SINK out FROM {view} WITH ({listed}){way};"
        self.text = definitions.replace("{folder}", str(self.folder)) + sink
        self.catalog, self.plans = planned(self.text)
        sources = self.catalog.sources.values()
        self.landings = [Landing(self.spark, self.lake, each, self.config) for each in sources]
        self.running = Running(self.spark, self.lake, self.text)

    def change(self, *rows: Mapping[str, object]) -> None:
        """Let rows come, and bring the views up to them."""
        self.files += 1
        lines = "".join(json.dumps(each) + "\n" for each in rows)
        (self.folder / "in" / f"{self.files:04}.json").write_text(lines)
        for landing in self.landings:
            while landing.step():
                pass
        assert not self.running.tick()

    @property
    def sink(self) -> Sink:
        return self.catalog.sinks["out"]

    def delivery(self) -> Delivery:
        return Delivery(self.lake, self.sink, self.folder)

    def deliver(self) -> int:
        """Deliver what waits with a new process, so to say; return the number of deliveries."""
        delivery = self.delivery()
        return sum(1 for _ in iter(delivery.step, None))

    def view(self, name: str = "totals") -> list[tuple[object, ...]]:
        fields = [each.name for each in self.sink.fields]
        rows = self.lake.readable(name).read().select(*fields).collect()
        return sorted((tuple(each) for each in rows), key=repr)

    def refused(self) -> HeadwaterError:
        with pytest.raises(HeadwaterError) as caught:
            self.deliver()
        return caught.value

    @contextmanager
    def killed(self) -> Iterator[None]:
        """End the next delivery after the target has its rows, before the project knows of it."""
        whole = self.outlet.deliver

        def deliver(outlet: SinkConnector, changed: DataFrame, epoch: DeliveryEpoch) -> None:
            whole(outlet, changed, epoch)
            raise Crash

        with pytest.MonkeyPatch.context() as patch, pytest.raises(Crash):
            patch.setattr(self.outlet, "deliver", deliver)
            yield


class World(Delivering, ABC):
    """A project, and a table of somebody else."""

    @abstractmethod
    def rows(self) -> DataFrame:
        """The table, as its owner sees it."""

    @abstractmethod
    def insert(self, what: str) -> None:
        """Add a row as the owner does: columns and VALUES."""

    @abstractmethod
    def epochs(self) -> list[int]:
        """The epochs in the history of the table, oldest first."""

    def held(self, where: str = "true") -> list[tuple[object, ...]]:
        """The rows of the table."""
        rows = self.rows().where(where).collect()
        return sorted((tuple(each) for each in rows), key=repr)


def check_that_an_upserted_table_is_the_view(world: World, definitions: str) -> None:
    """Updates, deletes and inserts; several commits in one delivery; nothing twice."""
    world.define(definitions, "totals", "UPSERT")
    world.change(row("a", "x", 1.5), row("a", "y", 2), row("b", "x", 3))
    assert world.deliver() == 1
    assert world.held() == world.view()
    world.change(row("a", "x", 9), row("b", "x", 3, "d"), row("c", "z", 0.01))
    world.change(row("c", "z", 0.02))
    assert world.deliver() == 1
    assert world.held() == world.view() == [("a", 2, Decimal("11.00")), ("c", 1, Decimal("0.02"))]
    assert world.deliver() == 0
    assert world.epochs() == [0, 1]


def check_that_a_forgotten_delivery_is_found(world: World, format_: str) -> None:
    """Kills between table and project, at the first delivery and a later one; others write too."""
    name = "totals" if format_ == "UPSERT" else "log"
    world.define(STOCK if format_ == "UPSERT" else LOG, name, format_)
    one, two = (
        ([row("a", "x", 1), row("b", "x", 1)], [row("a", "x", 2), row("b", "x", 1, "d")])
        if format_ == "UPSERT"
        else ([{"id": 1, "said": "x"}, {"id": 1, "said": "x"}], [{"id": 2, "said": "x"}])
    )
    world.change(*one)
    with world.killed():
        world.deliver()
    assert world.deliver() == 1
    assert world.held() == world.view(name)
    world.change(*two)
    with world.killed():
        world.deliver()
    before = world.held()
    world.insert("(sku) VALUES ('9')" if name == "totals" else "(id) VALUES (9)")
    world.change(row("c", "x", 5) if name == "totals" else {"id": 3, "said": "y"})
    assert world.deliver() == 2
    assert len(before) < len(world.held())
    mine = "sku <> '9'" if name == "totals" else "id <> 9"
    assert world.held(mine) == world.view(name)
    assert world.epochs() == [0, 1, 2]
