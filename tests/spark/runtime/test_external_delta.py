"""Delta tables that somebody else writes, read in place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from headwater.engine.inputs import open_inputs
from headwater.errors import HeadwaterError
from headwater.lake.catalog import Lake
from headwater.lake.storage.warehouse import folder_uri
from headwater.runtime.supervisor import Supervisor
from headwater.serve.status import status
from headwater.serve.verify import Verdict, verify
from tests.spark.others import Shop, opened

pytestmark = pytest.mark.spark

TABLE = """
CREATE TABLE {{table}} (note STRING, customer STRING, amount DECIMAL(10, 2), id BIGINT NOT NULL)
USING delta PARTITIONED BY (customer) LOCATION '{place}'
TBLPROPERTIES ('delta.enableDeletionVectors' = '{{mode}}')
"""


CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"


@pytest.fixture
def shop(spark: Any, lake: Any, tmp_path: Path) -> Iterator[Shop]:
    folder = tmp_path / "somebody's" / "orders"
    table = f"spark_catalog.{lake.namespace}_shop.orders"
    ddl = TABLE.format(place=folder_uri(folder).replace("'", "\\'"))
    where = "connector = 'delta', path = 'somebody''s/orders'"
    with opened(spark, lake, tmp_path, where, table, ddl) as shop:
        yield shop


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_views_follow_whatever_others_do_to_their_table(shop: Shop, vectors: str) -> None:
    shop.create(vectors)
    shop.insert("(1, 'ann', 20)", "(2, 'bob', 5)", "(3, 'eve', 7.5)", "(5, 'ann', 11)")
    shop.tick()
    assert shop.rows("SELECT * FROM per_city ORDER BY city") == [
        ("Oslo", 2, 31), ("Rome", 1, 5), (None, 1, 7.5),
    ]  # fmt: skip
    shop.insert("(4, 'bob', 90)")
    shop.spark.sql(f"UPDATE {shop.table} SET amount = 1 WHERE id = 1")
    shop.spark.sql(f"DELETE FROM {shop.table} WHERE id = 3")
    shop.tick()
    assert shop.recomputed("per_city") == 0
    assert shop.rows("SELECT id FROM large ORDER BY id") == [(4,), (5,)]
    assert shop.rows("SELECT * FROM best") == [("Rome", 95)]
    before = {each.name: each.epoch for each in status(shop.project)}
    shop.spark.sql(f"ALTER TABLE {shop.table} ADD COLUMN more STRING")
    shop.spark.sql(f"OPTIMIZE {shop.table}")
    shop.tick()
    after = {each.name: each.epoch for each in status(shop.project)}
    assert after["per_city"] == before["per_city"]  # the same rows in other files
    shop.spark.sql(f"DELETE FROM {shop.table} WHERE id = 5")
    shop.tick()
    assert shop.rows("SELECT id FROM large") == [(4,)]
    shop.spark.sql(f"RESTORE TABLE {shop.table} TO VERSION AS OF 1")
    shop.tick()
    assert shop.rows("SELECT id FROM large ORDER BY id") == [(1,), (5,)]
    shop.spark.sql(f"DELETE FROM {shop.table}")
    shop.tick()
    assert shop.rows("SELECT * FROM per_city") == []
    assert shop.rows("SELECT count(*) FROM orders") == [(0,)]
    assert shop.recomputed("per_city") == 0


def test_versions_are_read_as_long_as_their_files_are_there(shop: Shop) -> None:
    shop.create("false")
    shop.insert("(1, 'ann', 20)", "(2, 'bob', 5)")
    shop.tick()
    age(shop.project.config.directory / "somebody's" / "orders", days=30)
    shop.spark.sql(f"UPDATE {shop.table} SET amount = 7 WHERE id = 2")
    shop.supervisor.stop()
    assert Supervisor(shop.project, spark=shop.spark).run(once=True, end_of_input=True) == 0
    assert shop.recomputed("per_city") == 0
    assert shop.rows("SELECT city, revenue FROM per_city ORDER BY city") == [
        ("Oslo", 20), ("Rome", 7),
    ]  # fmt: skip


def test_of_another_table_in_the_same_folder_the_view_is_computed_anew(shop: Shop) -> None:
    shop.create("false")
    shop.insert("(1, 'ann', 20)")
    shop.tick()
    shop.spark.sql(f"DROP TABLE {shop.table}")
    shutil.rmtree(shop.project.config.directory / "somebody's")
    shop.create("false")
    shop.insert("(2, 'bob', 60)")  # the version that the other one had
    shop.tick()
    assert shop.recomputed("large") == 1
    assert shop.rows("SELECT id FROM large") == [(2,)]
    shop.spark.sql(f"DROP TABLE {shop.table}")
    shutil.rmtree(shop.project.config.directory / "somebody's")
    shop.create("false")
    for number in range(3, 6):  # more versions than that
        shop.insert(f"({number}, 'bob', 60)")
    shop.tick()
    assert shop.recomputed("large") == 2
    assert shop.rows("SELECT id FROM large ORDER BY id") == [(3,), (4,), (5,)]


def test_what_its_owner_has_vacuumed_cannot_be_verified_until_the_view_is_computed_anew(
    shop: Shop,
) -> None:
    shop.create("false")
    shop.insert("(1, 'ann', 20)", "(2, 'ann', 5)")
    shop.tick()
    shop.supervisor.stop()
    shop.insert("(3, 'ann', 30)")
    shop.spark.sql(f"DELETE FROM {shop.table} WHERE id = 2")
    shop.spark.conf.set(CHECK, "false")
    shop.spark.sql(f"VACUUM {shop.table} RETAIN 0 HOURS")
    shop.spark.conf.unset(CHECK)
    results = {each.view: each for each in verify(shop.project, shop.plans, ())}
    assert results["large"].verdict is Verdict.NOT_KEPT
    assert '"orders"' in results["large"].reason
    shop.supervisor = Supervisor(shop.project, spark=shop.spark)
    shop.tick()
    assert shop.recomputed("large") == 1
    assert shop.rows("SELECT id FROM large ORDER BY id") == [(1,), (3,)]


def test_status_names_the_table_and_how_far_it_was_read(shop: Shop) -> None:
    shop.create("true")
    shop.insert("(1, 'ann', 20)", "(9, 'ann', 20)")
    shop.spark.sql(f"DELETE FROM {shop.table} WHERE id = 9")
    shop.tick()
    shop.supervisor.stop()  # its ticks would read what comes now
    shop.insert("(2, 'ann', 30)")
    shop.insert("(3, 'ann', 30)")
    found = {each.name: each for each in status(shop.project)}
    assert (found["orders"].state, found["orders"].rows) == ("external", 3)
    assert found["large"].lag == 2
    shop.spark.sql(f"UPDATE {shop.table} SET amount = 2 WHERE id = 3")
    shop.spark.sql(f"OPTIMIZE {shop.table}")
    found = {each.name: each for each in status(shop.project)}
    assert (found["orders"].rows, found["large"].lag) == (3, 3)
    results = verify(shop.project, shop.plans, ())
    assert {result.verdict for result in results} == {Verdict.EQUAL}


def test_what_is_not_as_declared_is_refused_by_name(shop: Shop) -> None:
    with pytest.raises(HeadwaterError, match=r"orders\" does not exist"):
        once(shop)
    shop.create("false")
    with pytest.raises(HeadwaterError, match='column "id" .* is STRING, declared as BIGINT'):
        shop.spark.sql(
            f"REPLACE TABLE {shop.table} (id STRING, customer STRING, amount DECIMAL(10, 2))"
            " USING delta"
        )
        once(shop)


def test_the_tables_of_the_project_are_not_read_as_others(shop: Shop) -> None:
    own = Path(shop.project.config.warehouse) / shop.project.config.namespace / "orders"
    source = replace(shop.project.catalog.sources["orders"], external=str(own))
    catalog = replace(shop.project.catalog, sources={"orders": source})
    shop.project = replace(shop.project, catalog=catalog)
    with pytest.raises(HeadwaterError, match="is a table of this project"):
        once(shop)


def age(table: Path, days: int) -> None:
    """Make the versions of a Delta table older."""
    for file in (table / "_delta_log").glob("*.json"):
        then = file.stat().st_mtime - timedelta(days=days).total_seconds()
        os.utime(file, (then, then))


def once(shop: Shop) -> None:
    """What opening the views says."""
    config, catalog = shop.project.config, shop.project.catalog
    external = {"orders": str(config.directory / catalog.external["orders"])}
    lake = Lake(shop.spark, config.namespace, external_tables=external)
    open_inputs(lake, shop.plans["large"], catalog)
