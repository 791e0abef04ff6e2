"""`jobs/run.py` on a standalone master with two workers makes the tables of a local process."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.standalone import SETTINGS, SPARK_HOME, environment, own_group, standalone
from headwater.project import load_project
from headwater.serve.embedded import Embedded

JOB = Path(__file__).parents[3] / "jobs" / "run.py"
TIMEOUT = 300  # seconds; a quiet machine needs a tenth

PROJECT = """
CREATE TABLE orders (
  order_id BIGINT, product VARCHAR, quantity INTEGER, ordered_at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '2' MINUTE
) WITH (
  connector = 'datagen', number_of_rows = 2000, rows_per_second = 1, max_rows_per_epoch = 1000,
  seed = 7, fields.order_id.kind = 'sequence', fields.product.kind = 'values',
  fields.product.values = 'apple,banana,cherry,date', fields.quantity.min = 1,
  fields.quantity.max = 9, fields.ordered_at.max_lateness = '1 minute'
);
CREATE TABLE payments (
  order_id BIGINT, paid_at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR paid_at AS paid_at - INTERVAL '2' MINUTE
) WITH (
  connector = 'datagen', number_of_rows = 2000, rows_per_second = 1, max_rows_per_epoch = 1000,
  seed = 8, fields.order_id.kind = 'sequence', fields.paid_at.max_lateness = '1 minute'
);
CREATE STREAMING VIEW orders_per_minute AS
SELECT product, window_start, count(*) AS orders, sum(quantity) AS items
FROM TUMBLE(orders, ordered_at, INTERVAL '1' MINUTE) GROUP BY product, window_start
EMIT ON WINDOW CLOSE;
CREATE STREAMING VIEW paid AS
SELECT o.order_id, o.product, p.paid_at
FROM orders AS o JOIN payments AS p
  ON p.order_id = o.order_id
  AND p.paid_at BETWEEN o.ordered_at - INTERVAL '1' MINUTE AND o.ordered_at + INTERVAL '1' MINUTE;
CREATE STREAMING VIEW totals AS
SELECT product, count(*) AS orders, max(quantity) AS most FROM orders GROUP BY product;
"""
TABLES = ("orders", "payments", "orders_per_minute", "paid", "totals")


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """Address of a standalone master with two workers of one core and one gigabyte each."""
    with standalone(tmp_path, 2) as address:
        yield address


def test_a_cluster_and_one_process_make_the_same_tables(tmp_path: Path, master: str) -> None:
    settings = {**SETTINGS, "spark.cores.max": "2"}
    submit = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", master]
    submit += [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]

    cluster = _run([*submit, str(JOB)], tmp_path / "cluster")
    local = _run([sys.executable, str(JOB)], tmp_path / "local")

    executors = list((tmp_path / "work").glob("app-*/*/stderr"))
    assert len(executors) == 2
    for table in TABLES:
        assert cluster[table], table
        assert cluster[table] == local[table], table


def _run(command: list[str], folder: Path) -> dict[str, Counter[object]]:
    """Run the project in a folder once; return the rows of each table."""
    folder.mkdir()
    (folder / "headwater.toml").write_text('name = "shop"\n')
    (folder / "all.sql").write_text(PROJECT)
    with (
        (folder / "log").open("w") as log,
        own_group([*command, str(folder), "--once"], log, environment()) as run,
    ):
        code = run.wait(TIMEOUT)
    assert code == 0, (folder / "log").read_text()
    engine = Embedded(load_project(folder))
    found = {}
    for table in TABLES:
        with engine.query(f"SELECT * FROM {table}") as result:
            found[table] = Counter[object](result.rows)
    return found
