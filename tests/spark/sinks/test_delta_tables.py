"""Sinks into Delta tables, and of views in Delta's format: the same promise as in Iceberg."""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from headwater.config.settings import Config
from headwater.connectors.lake_tables.sink import TableOutlet
from headwater.lake.catalog import Lake
from headwater.lake.delta.log import newest_version, read_snapshot
from headwater.lake.java import session_with
from headwater.lake.spec import TableSpec
from tests.spark.sinks.world import (
    STOCK,
    World,
    check_that_a_forgotten_delivery_is_found,
    check_that_an_upserted_table_is_the_view,
    row,
)

IN_DELTA = STOCK.replace("'per article' AS", "'per article' WITH (format = 'delta') AS")
COLUMNS = "sku STRING, places BIGINT, amount DECIMAL(38, 2)"


class Delta(World):
    """The table lies in a folder of somebody else."""

    def __init__(self, spark: SparkSession, lake: Lake, config: Config, folder: Path) -> None:
        super().__init__(spark, lake, config, folder)
        self.place = folder / "somebody's" / "out"
        self.options = {"connector": "delta", "path": "somebody''s/out"}
        self.owner = session_with(spark, {}, without="none of them")
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS spark_catalog.{lake.namespace}_owner")
        self.name = f"spark_catalog.{lake.namespace}_owner.out"

    def rows(self) -> DataFrame:
        return self.spark.read.format("delta").load(str(self.place))

    def own(self, columns: str = "") -> None:
        """Make the table, or know it, as its owner does."""
        where = str(self.place).replace("'", "\\'")
        self.owner.sql(f"DROP TABLE IF EXISTS {self.name}")
        self.owner.sql(f"CREATE TABLE {self.name} {columns} USING delta LOCATION '{where}'")

    def insert(self, what: str) -> None:
        self.own()
        self.owner.sql(f"INSERT INTO {self.name} {what}")

    def epochs(self) -> list[int]:
        newest = newest_version(self.place)
        assert newest is not None
        found = (read_snapshot(self.place, version) for version in range(newest + 1))
        said = (each.summary.get("headwater.epoch") for each in found if each)
        return [int(epoch) for epoch in said if epoch is not None]


@pytest.fixture
def world(spark: SparkSession, lake: Lake, spark_config: Config, tmp_path: Path) -> Delta:
    return Delta(spark, lake, spark_config, tmp_path)


@pytest.mark.parametrize("definitions", [STOCK, IN_DELTA], ids=["iceberg", "delta"])
def test_an_upserted_table_is_the_view(world: Delta, definitions: str) -> None:
    check_that_an_upserted_table_is_the_view(world, definitions)
    world.own()
    described = {
        each.col_name: each for each in world.owner.sql(f"DESCRIBE {world.name}").collect()
    }
    assert described["sku"].comment == "the article"


@pytest.mark.parametrize("format_", ["UPSERT", "PLAIN"])
def test_a_delivery_that_the_project_forgot_is_found_in_the_table(
    world: Delta, format_: str
) -> None:
    check_that_a_forgotten_delivery_is_found(world, format_)


def test_what_others_do_meanwhile_stays(world: Delta, monkeypatch: pytest.MonkeyPatch) -> None:
    world.own(f"({COLUMNS})")
    world.owner.sql(f"INSERT INTO {world.name} VALUES ('a', 0, 9), ('p', 0, 0)")
    world.define(STOCK, "totals", "UPSERT")
    world.change(row("a", "x", 1))
    world.deliver()  # a row of theirs with a key of ours is ours
    assert world.held() == [("a", 1, Decimal("1.00")), ("p", 0, Decimal("0.00"))]
    whole, others = TableOutlet._write, iter("qr")

    def overtaken(self: TableOutlet, changed: DataFrame, into: str) -> None:
        if name := next(others, ""):
            world.owner.sql(f"INSERT INTO {world.name} VALUES ('{name}', 0, 0)")
        whole(self, changed, into)

    monkeypatch.setattr(TableOutlet, "_write", overtaken)
    world.change(row("a", "x", 2), row("b", "x", 1))
    world.owner.sql(f"OPTIMIZE {world.name}")
    assert world.deliver() == 1
    assert world.held("places > 0") == world.view()
    assert [each[0] for each in world.held("places = 0")] == ["p", "q"]
    assert world.epochs() == [0, 1]


def test_a_table_that_is_not_the_one_it_was_is_refused(world: Delta) -> None:
    world.define(STOCK, "totals", "UPSERT")
    world.change(row("a", "x", 1))
    world.deliver()
    world.change(row("a", "x", 2))
    world.own()
    world.owner.sql(f"RESTORE TABLE {world.name} TO VERSION AS OF 0")
    assert world.refused().condition == "TABLE_ROLLED_BACK"
    shutil.rmtree(world.place)
    missing = world.refused()
    assert (missing.condition, type(missing).__name__) == ("TABLE_NOT_FOUND", "ServiceError")
    world.own(f"({COLUMNS})")
    assert world.refused().condition == "TABLE_RECREATED"
    assert world.held() == []


def test_what_cannot_be_delivered_into_is_refused(world: Delta) -> None:
    world.define(STOCK, "totals", "UPSERT")
    world.change(row("a", "x", 1))
    world.own("(sku STRING, places INT, amount DECIMAL(38, 2))")
    refused = world.refused()
    assert refused.condition == "SCHEMA_CHANGED"
    assert 'column "places" of table "somebody\'s/out" is INT, in "totals" BIGINT' in str(refused)
    shutil.rmtree(world.place)
    world.place.mkdir()
    (world.place / "notes.txt").write_text("mine")
    assert world.refused().condition == "TARGET_NOT_EMPTY"
    shutil.rmtree(world.place.parent)
    world.place.parent.write_text("no folder")
    unusable = world.refused()
    assert (unusable.condition, type(unusable).__name__) == ("TABLE_NOT_WRITABLE", "ServiceError")
    assert 'the folder of sink "out" cannot be used' in str(unusable)


def test_tables_of_headwater_are_left_alone(world: Delta) -> None:
    home = world.config.warehouse / world.lake.namespace
    world.define(IN_DELTA, "totals", "UPSERT", path=str(home / "totals"))
    world.change(row("a", "x", 1))
    assert world.refused().condition == "OWN_TABLE"
    theirs = Lake(world.spark, f"{world.lake.namespace}_theirs")
    theirs.ensure_delta(TableSpec("totals", (("sku", "STRING", True),)))
    other = world.config.warehouse / theirs.namespace / "totals"
    world.define(IN_DELTA, "totals", "UPSERT", path=str(other))
    assert "belongs to a Headwater project" in str(world.refused())


def test_a_view_that_was_made_anew_is_noticed_by_its_age(world: Delta) -> None:
    world.define(IN_DELTA, "totals", "UPSERT")
    world.change(row("a", "x", 1))
    world.deliver()
    view = world.lake.folder("totals")
    assert view is not None
    shutil.rmtree(view)
    world.spark.sql(f"DROP TABLE {world.lake.delta_identifier('totals')}")
    world.define(IN_DELTA, "totals", "UPSERT")
    world.change(row("b", "x", 1))  # the version that the other one had
    assert world.refused().condition == "VIEW_REBUILT"
