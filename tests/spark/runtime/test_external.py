"""Tables of Iceberg that somebody else writes, read in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headwater.engine.inputs import open_inputs
from headwater.errors import HeadwaterError
from headwater.lake.catalog import Lake
from headwater.runtime.supervisor import Supervisor
from headwater.serve.status import status
from headwater.serve.verify import Verdict, verify
from tests.spark.others import Shop, opened

pytestmark = pytest.mark.spark

TABLE = """
CREATE TABLE {table} (note STRING, customer STRING, amount DECIMAL(10, 2), id BIGINT NOT NULL)
USING iceberg TBLPROPERTIES ('write.delete.mode' = '{mode}', 'write.update.mode' = '{mode}')
"""


@pytest.fixture
def shop(spark: Any, lake: Any, tmp_path: Path) -> Iterator[Shop]:
    written = f"{lake.namespace}_shop.Orders"
    where = f"connector = 'iceberg', table = '{written}'"
    with opened(spark, lake, tmp_path, where, f"lake.{written}", TABLE) as shop:
        yield shop


@pytest.mark.parametrize("mode", ["merge-on-read", "copy-on-write"])
def test_views_follow_whatever_others_do_to_their_table(shop: Shop, mode: str) -> None:
    shop.create(mode)
    shop.insert("(1, 'ann', 20)", "(2, 'bob', 5)", "(3, 'eve', 7.5)")
    shop.tick()
    assert shop.rows("SELECT * FROM per_city ORDER BY city") == [
        ("Oslo", 1, 20), ("Rome", 1, 5), (None, 1, 7.5),
    ]  # fmt: skip
    shop.insert("(4, 'bob', 90)")
    shop.spark.sql(f"UPDATE {shop.table} SET amount = 1 WHERE id = 1")
    shop.spark.sql(f"DELETE FROM {shop.table} WHERE id = 3")
    shop.tick()
    assert shop.recomputed("per_city") == 0
    assert shop.rows("SELECT id FROM large") == [(4,)]
    assert shop.rows("SELECT * FROM best") == [("Rome", 95)]
    shop.spark.sql(f"ALTER TABLE {shop.table} ADD COLUMN more STRING")
    shop.spark.sql(f"CALL lake.system.rewrite_data_files(table => '{shop.table}')")
    shop.spark.sql(f"TRUNCATE TABLE {shop.table}")
    shop.tick()
    assert shop.rows("SELECT * FROM per_city") == []
    assert shop.rows("SELECT count(*) FROM orders") == [(0,)]


def test_where_the_history_is_gone_the_view_is_computed_anew(shop: Shop) -> None:
    shop.create("merge-on-read")
    shop.insert("(1, 'ann', 20)")
    first = shop.spark.sql(f"SELECT snapshot_id FROM {shop.table}.snapshots").first()[0]
    shop.tick()
    shop.insert("(2, 'ann', 30)")
    shop.tick()
    shop.spark.sql(f"CALL lake.system.rollback_to_snapshot('{shop.table}', {first})")
    shop.insert("(3, 'bob', 50)")
    shop.tick()
    assert shop.recomputed("large") == 1
    assert shop.rows("SELECT id FROM large ORDER BY id") == [(1,), (3,)]
    shop.spark.sql(f"DROP TABLE {shop.table}")
    shop.create("merge-on-read")
    shop.insert("(4, 'bob', 60)")
    shop.tick()
    assert shop.recomputed("large") == 2
    assert shop.rows("SELECT id FROM large") == [(4,)]


def test_what_its_owner_has_expired_cannot_be_verified_until_the_view_is_computed_anew(
    shop: Shop,
) -> None:
    shop.create("merge-on-read")
    shop.insert("(1, 'ann', 20)")
    shop.tick()
    shop.supervisor.stop()
    shop.insert("(2, 'ann', 30)")
    shop.spark.sql(
        f"CALL lake.system.expire_snapshots(table => '{shop.table}', retain_last => 1,"
        " older_than => TIMESTAMP '2999-01-01 00:00:00')"
    )
    results = verify(shop.project, shop.plans, ())
    assert {r.view: r.verdict for r in results} == {
        "large": Verdict.NOT_KEPT, "per_city": Verdict.NOT_KEPT, "best": Verdict.EQUAL,
    }  # fmt: skip
    assert '"orders"' in results[0].reason
    shop.supervisor = Supervisor(shop.project, spark=shop.spark)
    shop.tick()
    assert shop.recomputed("large") == 1
    assert shop.rows("SELECT id FROM large ORDER BY id") == [(1,), (2,)]


def test_status_names_the_table_and_how_far_it_was_read(shop: Shop) -> None:
    shop.create("merge-on-read")
    shop.insert("(1, 'ann', 20)")
    shop.tick()
    shop.supervisor.stop()  # its ticks would read what comes now
    shop.insert("(2, 'ann', 30)")
    shop.insert("(3, 'ann', 30)")
    found = {each.name: each for each in status(shop.project)}
    assert (found["orders"].state, found["orders"].epoch, found["orders"].rows) == (
        "external",
        3,
        3,
    )
    assert found["large"].lag == 2
    assert found["large"].cut == ("orders@1",)
    assert found["per_city"].rows_in == 3


def test_what_is_not_as_declared_is_refused_by_name(shop: Shop) -> None:
    with pytest.raises(HeadwaterError, match=r"_shop\.Orders\" does not exist"):
        once(shop)
    shop.create("merge-on-read")
    with pytest.raises(HeadwaterError, match="has no snapshot yet"):
        once(shop)
    shop.insert("(1, 'ann', 20)")
    shop.spark.sql(f"ALTER TABLE {shop.table} RENAME COLUMN customer TO client")
    with pytest.raises(HeadwaterError, match='column "customer" of table .* is missing'):
        once(shop)
    shop.spark.sql(f"ALTER TABLE {shop.table} RENAME COLUMN client TO customer")
    shop.spark.sql(f"ALTER TABLE {shop.table} ALTER COLUMN id DROP NOT NULL")
    with pytest.raises(HeadwaterError, match='"id" .* is BIGINT, declared as BIGINT NOT NULL'):
        once(shop)


def test_the_tables_of_the_project_are_not_read_as_others(shop: Shop) -> None:
    own = replace(shop.project.config, namespace=f"{shop.project.config.namespace}_shop")
    shop.project = replace(shop.project, config=own)
    with pytest.raises(HeadwaterError, match="is a table of this project"):
        once(shop)


def once(shop: Shop) -> None:
    """What opening the views says."""
    config, catalog = shop.project.config, shop.project.catalog
    lake = Lake(shop.spark, config.namespace, external_tables=catalog.external)
    open_inputs(lake, shop.plans["large"], catalog)
