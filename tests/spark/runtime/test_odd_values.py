"""NaN, infinities, negative zeros, odd texts: as keys, in joins, in aggregates kept over ticks."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime.supervisor import Supervisor
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of

pytestmark = pytest.mark.spark

START = datetime(2024, 1, 1, tzinfo=UTC)
NAN, INF = float("nan"), float("inf")
SQL = """
CREATE TABLE f (k DOUBLE, x DOUBLE, s VARCHAR, ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH (connector = 'files', path = 'f') FORMAT PLAIN ENCODE PARQUET;
CREATE TABLE j (k DOUBLE, s VARCHAR, ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH (connector = 'files', path = 'j') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW by_number AS SELECT k, count(*) AS n, sum(x) AS total, min(x) AS least,
  max(x) AS most, avg(x) AS mean FROM f GROUP BY k;
CREATE STREAMING VIEW kinds AS
SELECT s, count(DISTINCT x) AS kinds, count(DISTINCT k) AS keys, stddev(x) AS spread
FROM f GROUP BY s;
CREATE STREAMING VIEW medians AS
SELECT s, approx_percentile(x, 0.5) AS median, approx_distinct(x) AS kinds FROM f GROUP BY s;
CREATE STREAMING VIEW numbers AS SELECT DISTINCT k FROM f;
CREATE STREAMING VIEW large AS SELECT k, floor(x) AS x, greatest(k, x) AS most FROM f WHERE x > 1;
CREATE STREAMING VIEW met AS SELECT f.k, f.x, f.ts, j.ts AS met_at FROM f LEFT JOIN j
  ON f.k = j.k AND j.ts BETWEEN f.ts AND f.ts + INTERVAL '1' HOUR;
CREATE STREAMING VIEW per_hour AS
SELECT window_start, k, count(*) AS n, max(x) AS most, sum(x) AS total
FROM TUMBLE(f, ts, INTERVAL '1' HOUR) GROUP BY window_start, k EMIT ON WINDOW CLOSE;
CREATE STREAMING VIEW by_text AS SELECT s, count(*) AS n, min(k) AS least FROM j GROUP BY s;
CREATE STREAMING VIEW ends AS SELECT min(s) AS first, max(s) AS last FROM j;
"""
NUMBERS = (
    (
        *((0.0, 1.0), (-0.0, 2.0), (NAN, 3.0), (INF, INF), (-INF, -INF), (1.0, NAN), (1.0, 0.0)),
        *((2.0, INF), (None, NAN)),
    ),
    (
        *((-0.0, -0.0), (NAN, NAN), (NAN, -0.0), (1.0, -0.0), (2.0, -INF), (INF, 1.0)),
        *((5e-324, 1.7e308), (3.0, 1.7e308)),
    ),
    ((0.0, 0.0), (1.0, 5.0), (3.0, 1.7e308), (2.0, None), (None, 1.0), (4.0, 1e15), (4.0, 0.1)),
)
TEXTS = (
    *("a", "a ", " a", "a\x00", "a\x00b", "\x00", "", "A", "ä", "a\u0308", "\U0001f600", "a\t"),
    *("\xa0a", "\ufeffa", None),
)


def write_files(folder: Path) -> None:
    for name in "fj":
        (folder / name).mkdir()
    for epoch, pairs in enumerate(NUMBERS):
        begin = START + timedelta(minutes=40 * epoch)
        columns = {
            "k": pa.array([k for k, _ in pairs], pa.float64()),
            "x": pa.array([x for _, x in pairs], pa.float64()),
            "s": pa.array([("p", "q", "p ")[n % 3] for n in range(len(pairs))]),
            "ts": pa.array(
                [begin + timedelta(minutes=n) for n in range(len(pairs))], pa.timestamp("us", "UTC")
            ),
        }
        pq.write_table(pa.table(columns), folder / "f" / f"{epoch}.parquet")
        lines = [
            {"k": (0.0, -0.0, 1.0, 2.0, None, 5e-324)[n % 6], "s": text, "ts": begin.isoformat()}
            for n, text in enumerate(TEXTS)
        ]
        (folder / "j" / f"{epoch}.json").write_text("".join(json.dumps(x) + "\n" for x in lines))


def test_views_equal_their_select_at_rest(spark: Any, lake: Any, tmp_path: Path) -> None:
    settings = 'name = "t"\n[run]\nmax_files_per_epoch = 1\nrecompute_below = 0\n'
    (tmp_path / "headwater.toml").write_text(settings)
    (tmp_path / "views.sql").write_text(SQL)
    write_files(tmp_path)
    found = load_project(tmp_path)
    config = replace(found.config, namespace=lake.namespace, warehouse=warehouse_of(spark))
    project = replace(found, config=config)
    assert Supervisor(project, spark=spark).run(once=True, end_of_input=True) == 0
    results = {r.view: r for r in verify(project, plan_project(project.catalog), ())}
    different = {r.view: r.difference for r in results.values() if r.verdict is not Verdict.EQUAL}
    assert different == {}
    rows = {name: r.difference.rows for name, r in results.items() if r.difference}
    # 0.0 and -0.0 are one key, all NaN are one, and so is NULL
    assert (rows["by_number"], rows["numbers"], rows["by_text"]) == (10, 10, len(TEXTS))
    assert rows["met"] > sum(map(len, NUMBERS))
