"""A project in Trino: readable while it is written, and by nobody written to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headwater.errors import SqlError
from headwater.lake.catalog import Lake
from headwater.serve.embedded import Embedded
from headwater.serve.trino.client import trino_query
from headwater.serve.verify import Verdict
from headwater.servers.leftover import temporary_stack
from headwater.testing import slt
from headwater.testing.harness import World, run_record, shared_session
from tests.serving.judge import TrinoJudge, trino_over

pytestmark = pytest.mark.services

DEFINITIONS = """statement ok
CREATE TABLE orders (id BIGINT, item VARCHAR NOT NULL COMMENT 'its name', price DOUBLE,
  at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR at AS ADAPTIVE (PERCENTILE 0.99, MAX INTERVAL '1' MINUTE))
WITH (connector = 'files', path = 'orders') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW per_item (revenue COMMENT 'in EUR') COMMENT 'what was sold of each thing' AS
SELECT item, count(*) AS sold, sum(price) AS revenue FROM orders GROUP BY item;
CREATE STREAMING VIEW total AS SELECT count(*) AS orders FROM orders;

tick

ingest orders
id,item,price,at
1,lamp,2.5,2024-01-01 10:00:00
2,lamp,3.25,2024-01-01 10:01:00
3,chair,10,2024-01-01 10:02:00

tick
"""


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """One session for the module."""
    with shared_session() as session:
        yield session


@pytest.fixture(scope="module")
def judge(spark: SparkSession) -> Iterator[TrinoJudge]:
    """Trino over what that session writes."""
    with temporary_stack() as stack, trino_over(spark, stack) as judge:
        yield judge


@contextmanager
def made(spark: SparkSession, judge: TrinoJudge, folder: Path) -> Iterator[World]:
    """A project with one table, one view and one commit of each."""
    world = World(spark, folder)
    do(world, DEFINITIONS)
    world.project = judge.sees(world.project)
    yield world
    world.stop()


@pytest.fixture
def world(spark: SparkSession, judge: TrinoJudge, tmp_path: Path) -> Iterator[World]:
    """A project of the test's own."""
    with made(spark, judge, tmp_path) as world:
        yield world


@pytest.fixture(scope="module")
def lasting(
    spark: SparkSession, judge: TrinoJudge, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """A project that no test changes."""
    with made(spark, judge, tmp_path_factory.mktemp("lasting")) as world:
        yield world


def do(world: World, text: str) -> None:
    for record in slt.parse(text, "here"):
        run_record(world, record)


def ask(world: World, sql: str) -> list[tuple[object, ...]]:
    with trino_query(world.project.config, sql) as result:
        return list(result.rows)


def test_every_table_and_its_comments_can_be_read(world: World) -> None:
    assert ask(world, "SELECT item, sold, revenue FROM per_item ORDER BY item") == [
        ("chair", 1, 10.0),
        ("lamp", 2, 5.75),
    ]
    namespace = world.project.config.namespace
    comments = (
        "SELECT comment FROM system.metadata.table_comments WHERE catalog_name = 'lake'"
        f" AND schema_name = '{namespace}' AND table_name = 'per_item'"
    )
    assert ask(world, comments) == [("what was sold of each thing",)]
    columns = {name: comment for name, _, _, comment in ask(world, "SHOW COLUMNS FROM per_item")}
    assert [columns[name] for name in ("item", "sold", "revenue")] == ["its name", "", "in EUR"]


def test_a_commit_is_visible_at_once_and_the_one_before_it_by_its_number(world: World) -> None:
    ((before, snapshot),) = ask(
        world,
        "SELECT (SELECT sum(sold) FROM per_item), max_by(snapshot_id, epoch) FROM commits"
        " WHERE view = 'per_item'",
    )
    do(world, "ingest orders\nid,item,price,at\n4,lamp,1,2024-01-01 10:03:00\n\ntick\n")
    assert before == 3
    assert ask(world, "SELECT sum(sold) FROM per_item") == [(4,)]
    then = f"SELECT sum(sold) FROM per_item FOR VERSION AS OF {snapshot}"
    assert ask(world, then) == [(3,)]


def test_readers_see_whole_commits_only_while_a_view_is_written(world: World) -> None:
    seen: list[object] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.extend(sold for (sold,) in ask(world, "SELECT sum(sold) FROM per_item"))

    reader = threading.Thread(target=read)
    reader.start()
    commits = 0
    while len(set(seen)) < 4 and commits < 50:
        commits += 1
        rows = "".join(f"{commits},lamp,1,2024-01-01 11:00:00\n" for _ in range(5))
        do(world, f"ingest orders\nid,item,price,at\n{rows}\ntick\n")
    done.set()
    reader.join()
    assert len(set(seen)) >= 4
    assert seen == sorted(seen)
    assert set(seen) <= {3 + 5 * n for n in range(commits + 1)}


IN_DELTA = """statement ok
CREATE STREAMING VIEW sold COMMENT 'of each thing' WITH (format = 'delta') AS
SELECT item, count(*) AS sold, sum(price) AS revenue FROM orders GROUP BY item;
CREATE STREAMING VIEW newest WITH (format = 'delta') AS
SELECT item, max(at) AS at FROM orders GROUP BY item;

tick
"""


def test_a_view_in_delta_is_read_as_the_others_and_written_by_nobody(
    world: World, judge: TrinoJudge
) -> None:
    do(world, IN_DELTA)
    world.project = judge.sees(world.project)
    schema = world.project.config.namespace
    query = "SELECT item, sold, revenue FROM {} ORDER BY item"
    table = f"lake_delta.{schema}.sold"
    assert ask(world, query.format(table)) == [("chair", 1, 10.0), ("lamp", 2, 5.75)]
    ((before,),) = ask(world, f'SELECT max(version) FROM lake_delta.{schema}."sold$history"')
    do(world, "ingest orders\nid,item,price,at\n4,lamp,1,2024-01-01 10:03:00\n\ntick\n")
    assert ask(world, query.format(table)) == [("chair", 1, 10.0), ("lamp", 3, 6.75)]
    then = query.format(f"{table} FOR VERSION AS OF {before}")
    assert ask(world, then) == [("chair", 1, 10.0), ("lamp", 2, 5.75)]
    for statement in (
        f"INSERT INTO {table} SELECT * FROM {table}",
        f"DELETE FROM {table}",
        f"DROP TABLE {table}",
        f"COMMENT ON TABLE {table} IS 'mine'",
        f"ALTER TABLE {table} EXECUTE optimize",
        f"CALL lake_delta.system.vacuum('{schema}', 'sold', '7d')",
        f"CALL lake_delta.system.register_table('{schema}', 'more', 'file:///tmp')",
        f"CALL lake_delta.system.unregister_table('{schema}', 'sold')",
    ):
        with pytest.raises(SqlError, match="Access Denied"):
            ask(world, statement)
    sold, newest = judge(world.project, world.plans, ["sold", "newest"])
    assert (sold.verdict, sold.difference and sold.difference.rows) == (Verdict.EQUAL, 2)
    assert newest.verdict is Verdict.NOT_KEPT
    assert "rounds to milliseconds" in newest.reason


def test_commits_say_the_same_in_both_engines(world: World) -> None:
    bad = '{"id": 5, "item": null, "price": 1, "at": "2024-01-01 10:05:00"}'
    good = '{"id": 6, "item": "rug", "price": 1, "at": "2024-01-01 10:06:00"}'
    do(world, f"ingest orders raw\n{bad}\n{good}\n\ntick\n")
    question = (
        "SELECT view, epoch, watermark, committed_at, freshness, rows_in, rows_out, rows_removed,"
        " rows_total, rows_late, rows_quarantined, snapshot_id, adaptive_delay FROM commits"
        " ORDER BY 1, 2"
    )
    with Embedded(world.project).query(question) as result:
        embedded = list(result.rows)
    assert ask(world, question) == embedded
    last = {row[0]: dict(zip(result.columns, row, strict=True)) for row in embedded}
    assert last["orders"]["rows_in"] == 2
    assert last["orders"]["adaptive_delay"] == 60
    assert (last["orders"]["rows_out"], last["orders"]["rows_quarantined"]) == (1, 1)
    assert (last["per_item"]["rows_in"], last["per_item"]["rows_out"]) == (1, 1)
    assert [row[5] for row in embedded if row[0] == "total"] == [None, 3, 1]
    assert isinstance(last["per_item"]["freshness"], float)


def test_trino_finds_a_row_that_does_not_belong(world: World, judge: TrinoJudge) -> None:
    (result,) = judge(world.project, world.plans, ["per_item"])
    assert (result.verdict, result.difference and result.difference.rows) == (Verdict.EQUAL, 2)
    table = Lake(world._spark, world.project.config.namespace).identifier("per_item")
    world._spark.sql(f"UPDATE {table} SET revenue = revenue + 1e-3 WHERE item = 'lamp'")
    (result,) = judge(world.project, world.plans, ["per_item"])
    found = result.difference
    assert result.verdict is Verdict.DIFFERENT
    assert found
    assert (found.surplus_rows, found.missing_rows) == (
        (("lamp", 2, 5.751),),
        (("lamp", 2, 5.75),),
    )


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO per_item SELECT * FROM per_item",
        "UPDATE per_item SET sold = 0",
        "DELETE FROM per_item",
        "MERGE INTO per_item USING orders ON false WHEN MATCHED THEN DELETE",
        "TRUNCATE TABLE per_item",
        "DROP TABLE per_item",
        "DROP VIEW commits",
        "DROP SCHEMA {namespace} CASCADE",
        "CREATE TABLE more (a INTEGER)",
        "CREATE TABLE more AS SELECT * FROM per_item",
        "CREATE SCHEMA more",
        "CREATE VIEW more AS SELECT 1 AS a",
        "CREATE OR REPLACE VIEW commits AS SELECT 1 AS a",
        "CREATE CATALOG more USING memory",
        "ALTER TABLE per_item ADD COLUMN more INTEGER",
        "ALTER TABLE per_item RENAME TO less",
        "ALTER TABLE per_item SET PROPERTIES format_version = 2",
        "ALTER TABLE per_item EXECUTE optimize",
        "ALTER TABLE per_item EXECUTE expire_snapshots(retention_threshold => '30d')",
        "ALTER TABLE per_item EXECUTE remove_orphan_files(retention_threshold => '30d')",
        "COMMENT ON TABLE per_item IS 'mine'",
        "ANALYZE per_item",
        "GRANT SELECT ON per_item TO somebody",
        "CALL lake.system.rollback_to_snapshot('{namespace}', 'per_item', 1)",
        "CALL lake.system.unregister_table('{namespace}', 'per_item')",
        "CALL system.runtime.kill_query('20260101_000000_00000_aaaaa', 'why not')",
        "SET SESSION lake.compression_codec = 'NONE'",
    ],
)
def test_a_reader_cannot(statement: str, lasting: World) -> None:
    before = ask(lasting, "SELECT * FROM commits ORDER BY 1, 2")
    with pytest.raises(SqlError, match="Access Denied"):
        ask(lasting, statement.format(namespace=lasting.project.config.namespace))
    assert ask(lasting, "SELECT * FROM commits ORDER BY 1, 2") == before
