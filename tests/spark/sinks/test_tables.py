"""Sinks into tables of another catalog: equal to the view, each epoch once, whoever else writes."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from headwater.config.settings import Config
from headwater.connectors.lake_tables.iceberg import IcebergTable
from headwater.engine.delivery import Delivery
from headwater.errors import HeadwaterError
from headwater.intake.land import Landing
from headwater.lake.catalog import Lake
from headwater.lake.catalogs.foreign import other_catalog
from headwater.lake.iceberg import merge
from headwater.lake.java import session_with
from tests.spark.running import planned
from tests.spark.sinks.world import (
    LOG,
    STOCK,
    World,
    check_that_a_forgotten_delivery_is_found,
    check_that_an_upserted_table_is_the_view,
    row,
)


class Iceberg(World):
    """The table lies in an embedded catalog of somebody else."""

    def __init__(self, spark: SparkSession, lake: Lake, config: Config, folder: Path) -> None:
        super().__init__(spark, lake, config, folder)
        (folder / "other").mkdir()
        self.options = {
            "connector": "iceberg",
            "table": "shop.out",
            "catalog_type": "embedded",
            "warehouse_path": str(folder / "other"),
        }
        other = other_catalog(self.options, folder)
        assert other is not None
        settings = {
            **other.spark_settings(),
            "spark.sql.catalog.lake.jdbc.init-catalog-tables": "true",
        }
        self.owner = session_with(spark, settings, "spark.sql.catalog.")
        self.owner.sql("CREATE NAMESPACE lake.shop")

    def rows(self) -> DataFrame:
        return self.owner.table("lake.shop.out")

    def insert(self, what: str) -> None:
        self.owner.sql(f"INSERT INTO lake.shop.out {what}")

    def epochs(self) -> list[int]:
        found = self.owner.sql(
            "SELECT s.summary['headwater.epoch'] AS epoch FROM lake.shop.out.history h"
            " JOIN lake.shop.out.snapshots s ON s.snapshot_id = h.snapshot_id"
            " WHERE h.is_current_ancestor ORDER BY h.made_current_at"
        ).collect()
        return [int(each.epoch) for each in found if each.epoch is not None]


@pytest.fixture(params=["small", "large"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are changed as small ones are, or as large ones are."""
    if request.param == "large":
        monkeypatch.setattr(merge, "SPLIT_ABOVE", 0)


@pytest.fixture
def world(spark: SparkSession, lake: Lake, spark_config: Config, tmp_path: Path) -> Iceberg:
    return Iceberg(spark, lake, spark_config, tmp_path)


@pytest.mark.usefixtures("size")
def test_an_upserted_table_is_the_view(world: Iceberg) -> None:
    check_that_an_upserted_table_is_the_view(world, STOCK)
    rows = world.owner.sql("DESCRIBE EXTENDED lake.shop.out").collect()
    described = {each.col_name: each for each in rows}
    assert described["sku"].comment == "the article"
    assert described["Comment"].data_type == "per article"
    assert described["Location"].data_type.endswith(f"{world.folder}/other/shop/out")


def test_rows_that_are_only_added_are_appended(world: Iceberg) -> None:
    world.define(LOG, "log", "PLAIN")
    world.change({"id": 1, "said": "x"}, {"id": 1, "said": "x"})
    assert world.deliver() == 1
    world.change({"id": 2, "said": None})
    assert world.deliver() == 1
    assert world.held() == [(1, "x"), (1, "x"), (2, None)]
    names = [
        each.operation
        for each in world.owner.sql("SELECT * FROM lake.shop.out.snapshots").collect()
    ]
    assert set(names) == {"append"}


@pytest.mark.parametrize("format_", ["UPSERT", "PLAIN"])
def test_a_delivery_that_the_project_forgot_is_found_in_the_table(
    world: Iceberg, format_: str
) -> None:
    check_that_a_forgotten_delivery_is_found(world, format_)


def test_what_others_commit_meanwhile_stays(
    world: Iceberg, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.define(STOCK, "totals", "UPSERT")
    world.change(row("a", "x", 1))
    world.deliver()
    whole, others = IcebergTable._write, iter("pqr")

    def overtaken(self: IcebergTable, changed: DataFrame, into: str) -> None:
        whole(self, changed, into)
        if name := next(others, ""):
            world.owner.sql(f"INSERT INTO lake.shop.out VALUES ('{name}', 0, 0)")

    monkeypatch.setattr(IcebergTable, "_write", overtaken)
    world.change(row("a", "x", 2), row("b", "x", 1))
    assert world.deliver() == 1
    assert world.held("places > 0") == world.view()
    assert [each[0] for each in world.held("places = 0")] == ["p", "q", "r"]
    assert world.epochs() == [0, 1]


def test_an_owner_may_expire_compact_and_sort(world: Iceberg) -> None:
    world.define(STOCK, "totals", "UPSERT")
    world.change(row("a", "x", 1))
    world.deliver()
    world.change(row("a", "x", 2), row("b", "x", 1))
    with world.killed():
        world.deliver()
    for name in "pq":
        world.owner.sql(f"INSERT INTO lake.shop.out VALUES ('{name}', 0, 0)")
    world.owner.sql(
        "CALL lake.system.rewrite_data_files('shop.out', options => map('rewrite-all', 'true'))"
    )
    world.owner.sql(
        "CALL lake.system.expire_snapshots(table => 'shop.out',"
        " older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)"
    )
    assert len(world.owner.sql("SELECT * FROM lake.shop.out.snapshots").collect()) == 2
    assert world.deliver() == 1
    world.change(row("a", "x", 3))
    assert world.deliver() == 1
    assert world.held("places > 0") == world.view()


def test_a_table_that_is_not_the_one_it_was_is_refused(world: Iceberg) -> None:
    world.define(STOCK, "totals", "UPSERT")
    world.change(row("a", "x", 1))
    world.deliver()
    began = world.owner.sql(
        "SELECT min_by(snapshot_id, committed_at) AS id FROM lake.shop.out.snapshots"
    )
    first = began.collect()[0].id
    world.change(row("a", "x", 2))
    world.owner.sql(f"CALL lake.system.rollback_to_snapshot('shop.out', {first})")
    assert world.refused().condition == "TABLE_ROLLED_BACK"
    world.owner.sql("DROP TABLE lake.shop.out")
    missing = world.refused()
    assert (missing.condition, type(missing).__name__) == ("TABLE_NOT_FOUND", "ServiceError")
    world.owner.sql(
        "CREATE TABLE lake.shop.out (sku STRING, places BIGINT, amount DECIMAL(38, 2))"
        " USING iceberg"
    )
    assert world.refused().condition == "TABLE_RECREATED"
    assert world.held() == []


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("sku STRING, places BIGINT", 'table "shop.out" has no column "amount" (DECIMAL(38,2))'),
        (
            "sku STRING, places INT, amount DECIMAL(38, 2)",
            'column "places" of table "shop.out" is INT, in "totals" BIGINT',
        ),
        (
            "sku STRING NOT NULL, places BIGINT, amount DECIMAL(38, 2)",
            'column "sku" of table "shop.out" is STRING NOT NULL, in "totals" STRING',
        ),
        (
            "sku STRING, more INT, places BIGINT, amount DECIMAL(38, 2)",
            'column "more" of table "shop.out" is not in "totals"',
        ),
    ],
)
def test_a_table_with_other_columns_is_refused(world: Iceberg, columns: str, said: str) -> None:
    world.owner.sql(f"CREATE TABLE lake.shop.out ({columns}) USING iceberg")
    world.define(STOCK, "totals", "UPSERT")
    world.change(row("a", "x", 1))
    refused = world.refused()
    assert (refused.condition, refused.message) == ("SCHEMA_CHANGED", f'sink "out": {said}')


def test_a_table_of_the_owner_may_order_and_partition_its_columns(world: Iceberg) -> None:
    world.owner.sql(
        "CREATE TABLE lake.shop.out (amount DECIMAL(38, 2), sku STRING, places BIGINT)"
        " USING iceberg PARTITIONED BY (bucket(4, sku)) TBLPROPERTIES ('format-version' = '1')"
    )
    world.define(STOCK, "totals", "UPSERT")
    world.change(*(row(f"s{n}", "x", n) for n in range(20)))
    world.deliver()
    world.change(*(row(f"s{n}", "x", n, "d") for n in range(0, 20, 2)), row("s1", "y", 1))
    world.deliver()
    assert sorted((b, c, a) for a, b, c in world.held()) == world.view()


@pytest.mark.usefixtures("size")
def test_a_view_of_one_row_and_keys_that_are_null_or_no_numbers(world: Iceberg) -> None:
    kinds = "CREATE TABLE t (id BIGINT, k DOUBLE, n BIGINT, PRIMARY KEY (id)) WITH (connector ="
    kinds += " 'files', path = '{folder}/in') FORMAT UPSERT ENCODE JSON (non_finite = 'accept');"
    grouped = "CREATE STREAMING VIEW v AS SELECT k, sum(n) AS n FROM t GROUP BY k;"
    world.define(kinds + grouped, "v", "UPSERT")
    world.change(
        {"id": 1, "k": None, "n": 1}, {"id": 2, "k": "NaN", "n": 1}, {"id": 3, "k": 0.0, "n": 1}
    )
    world.deliver()
    world.change(
        {"id": 1, "k": None, "n": 2}, {"id": 2, "k": "NaN", "n": 3}, {"id": 3, "k": -0.0, "n": 4}
    )
    world.deliver()
    assert [each[1] for each in world.held()] == [each[1] for each in world.view("v")]
    assert len(world.held()) == 3


def test_a_view_of_one_row_has_one_row(world: Iceberg) -> None:
    whole = "CREATE STREAMING VIEW whole AS SELECT count(*) AS places, sum(amount) AS n FROM stock;"
    world.define(STOCK + whole, "whole", "UPSERT")
    world.change(row("a", "x", 1))
    world.deliver()
    world.change(row("a", "y", 1.25))
    world.deliver()
    assert world.held() == [(2, Decimal("2.25"))] == world.view("whole")


def test_tables_of_headwater_are_left_alone(world: Iceberg, lake: Lake) -> None:
    world.define(STOCK, "totals", "UPSERT")
    world.change(row("a", "x", 1))
    del world.options["catalog_type"], world.options["warehouse_path"]
    world.define(STOCK, "totals", "UPSERT", table=f"{lake.namespace}.totals")
    assert world.refused().condition == "OWN_TABLE"
    world.define(STOCK, "totals", "UPSERT", table=f"{lake.namespace}_out.totals")
    assert world.deliver() == 1
    there = world.spark.table(f"lake.{lake.namespace}_out.totals").collect()
    assert [tuple(each) for each in there] == world.view()
    # known by its own address, it is still a table of Headwater's
    other = {"catalog_type": "embedded", "warehouse_path": str(world.config.warehouse)}
    world.define(STOCK, "totals", "UPSERT", table=f"{lake.namespace}.stock", **other)
    again = planned(world.text.replace("SINK out", "SINK again"))[0].sinks["again"]
    with pytest.raises(HeadwaterError) as caught:
        Delivery(world.lake, again, world.folder).step()
    assert caught.value.condition == "OWN_TABLE"


@pytest.mark.parametrize("same_name", [False, True])
def test_two_projects_share_a_table_but_not_a_name(
    world: Iceberg, monkeypatch: pytest.MonkeyPatch, same_name: bool
) -> None:
    world.define(LOG, "log", "PLAIN")
    world.change({"id": 1, "said": "x"})
    world.deliver()
    mine, theirs = world.lake.namespace, Lake(world.spark, f"{world.lake.namespace}_theirs")
    landing = Landing(world.spark, theirs, world.catalog.sources["log"], world.config)
    while landing.step():
        pass
    if same_name:
        who = property(lambda self: f"{mine}.out")
        monkeypatch.setattr(IcebergTable, "_who", who)
    delivery = Delivery(theirs, world.sink, world.folder)
    if same_name:
        with pytest.raises(HeadwaterError) as caught:
            delivery.step()
        assert caught.value.condition == "TABLE_TAKEN"
    else:
        assert delivery.step() is not None
    assert world.held() == [(1, "x")] * (1 if same_name else 2)


def test_a_catalog_that_is_not_there_is_named(world: Iceberg) -> None:
    world.define(STOCK, "totals", "UPSERT", warehouse_path=str(world.folder / "in"))
    world.change(row("a", "x", 1))
    assert world.refused().condition == "CATALOG_MISSING"
