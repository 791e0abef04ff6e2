"""DuckDB must read what Spark wrote, however it wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from headwater.config.settings import Config
from headwater.lake.catalog import Lake
from headwater.lake.catalogs.backend import CATALOG
from headwater.serve import iceberg_files
from headwater.serve.connection import duckdb_connection, rows_of
from headwater.serve.lake_reader import LakeReader
from headwater.testing.harness import warehouse_of

Rows = list[tuple[object, ...]]


@pytest.fixture
def run(spark: SparkSession, lake: Lake) -> Callable[[str], object]:
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {CATALOG}.{lake.namespace}")
    return lambda text: spark.sql(text.replace("{t}", lake.identifier("t")))


@pytest.fixture
def read(spark: SparkSession, lake: Lake) -> Iterator[Callable[..., Rows]]:
    warehouse = warehouse_of(spark)
    reader = LakeReader(Config(warehouse, "test", lake.namespace, warehouse, warehouse))

    def rows(query: str = "FROM t ORDER BY ALL", snapshot_id: int | None = None) -> Rows:
        table = reader.table("t")
        assert table is not None
        with duckdb_connection() as connection:
            at = snapshot_id or table.snapshot_id()
            table.create_view(connection, "t", at, list(table.columns()))
            return list(rows_of(connection.sql(query)))

    yield rows


MERGE_ON_READ = (
    "TBLPROPERTIES ('write.merge.mode' = 'merge-on-read', 'write.delete.mode' = 'merge-on-read',"
    " 'write.update.mode' = 'merge-on-read', 'format-version' = '{version}')"
)


def test_every_type_comes_back(run: Callable[[str], object], read: Callable[..., Rows]) -> None:
    run(
        "CREATE TABLE {t} (a INT, b BIGINT, c DOUBLE, d FLOAT, e DECIMAL(12, 2),"
        " f STRING, g BOOLEAN, h BINARY, i DATE, j TIMESTAMP, k TIMESTAMP_NTZ, l ARRAY<STRING>,"
        " m MAP<STRING, INT>, n STRUCT<x: INT, y: ARRAY<INT>>) USING iceberg"
    )
    run(
        "INSERT INTO {t} SELECT 1, 2, 1.5D, 2.5F, 3.25, 'ä', true, X'00ff', DATE '2024-01-02',"
        " TIMESTAMP '2024-01-02 03:04:05.678901', TIMESTAMP_NTZ '2024-01-02 03:04:05',"
        " array('p', NULL), map('k', 1), named_struct('x', 1, 'y', array(1, 2))"
    )
    (row,) = read()
    assert row[:8] == (1, 2, 1.5, 2.5, Decimal("3.25"), "ä", True, b"\x00\xff")
    assert [str(value) for value in row[8:11]] == [
        "2024-01-02",
        "2024-01-02 03:04:05.678901+00:00",
        "2024-01-02 03:04:05",
    ]
    assert row[11:] == (["p", None], {"k": 1}, {"x": 1, "y": [1, 2]})


@pytest.mark.parametrize("version", [2, 3])
def test_rows_deleted_on_read_stay_away(
    version: int, run: Callable[[str], object], read: Callable[..., Rows]
) -> None:
    run(
        "CREATE TABLE {t} (k INT, n INT) USING iceberg PARTITIONED BY (bucket(2, k)) "
        + MERGE_ON_READ.replace("{version}", str(version))
    )
    run("INSERT INTO {t} SELECT id, 0 FROM range(100)")
    run(
        "MERGE INTO {t} t USING (SELECT id AS k FROM range(90, 110)) s ON t.k = s.k"
        " WHEN MATCHED THEN UPDATE SET n = t.n + 1"
        " WHEN NOT MATCHED THEN INSERT (k, n) VALUES (s.k, 7)"
    )
    run("DELETE FROM {t} WHERE k < 10")
    run("INSERT INTO {t} VALUES (5, 5)")
    expected = [(5, 5), *((k, 0) for k in range(10, 90)), *((k, 1) for k in range(90, 100))]
    assert read() == [*expected, *((k, 7) for k in range(100, 110))]


def test_columns_follow_their_ids_through_renames(
    run: Callable[[str], object], read: Callable[..., Rows]
) -> None:
    run("CREATE TABLE {t} (a INT, b STRING) USING iceberg")
    run("INSERT INTO {t} VALUES (1, 'old')")
    run("ALTER TABLE {t} RENAME COLUMN b TO c")
    run("ALTER TABLE {t} ADD COLUMN b BIGINT")
    run("ALTER TABLE {t} ALTER COLUMN a TYPE BIGINT")
    run("INSERT INTO {t} VALUES (2, 'new', 3)")
    assert read("SELECT a, b, c FROM t ORDER BY a") == [(1, None, "old"), (2, 3, "new")]


def test_partition_values_in_paths_are_no_columns_and_no_patterns(
    run: Callable[[str], object], read: Callable[..., Rows]
) -> None:
    run("CREATE TABLE {t} (k STRING, n INT) USING iceberg PARTITIONED BY (k)")
    run("INSERT INTO {t} VALUES ('a/b', 1), ('a*', 2), ('aa', 3), ('x=1', 4), (NULL, 5)")
    assert read() == [("a*", 2), ("a/b", 1), ("aa", 3), ("x=1", 4), (None, 5)]


def test_object_stores_are_read_through_arrow_with_the_same_rows(
    run: Callable[[str], object], read: Callable[..., Rows], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("CREATE TABLE {t} (k INT, l ARRAY<INT>) USING iceberg " + MERGE_ON_READ.format(version=2))
    run("INSERT INTO {t} SELECT id, array(id) FROM range(50)")
    run("DELETE FROM {t} WHERE k % 2 = 1")
    direct = read()
    monkeypatch.setattr(iceberg_files, "is_native", lambda task: False)
    assert read() == direct and len(direct) == 25


def test_an_older_snapshot_has_its_own_rows_and_deletes(
    run: Callable[[str], object], read: Callable[..., Rows], lake: Lake
) -> None:
    run("CREATE TABLE {t} (k INT) USING iceberg " + MERGE_ON_READ.format(version=2))
    run("INSERT INTO {t} SELECT id FROM range(10)")
    before = lake.table("t").snapshot_id()
    run("DELETE FROM {t} WHERE k < 5")
    assert read("SELECT count(*) FROM t") == [(5,)]
    assert read("SELECT count(*) FROM t", before) == [(10,)]
