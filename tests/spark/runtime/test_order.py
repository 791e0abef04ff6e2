"""Whatever the order of arrival and wherever the batches are cut: one answer."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime.supervisor import Supervisor
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of

pytestmark = pytest.mark.spark

START = datetime(2024, 1, 1, tzinfo=UTC)
SQL = """
CREATE TABLE a (k BIGINT, x INTEGER, at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR at AS at - INTERVAL '1' MINUTE
) WITH (connector = 'files', path = 'a') FORMAT PLAIN ENCODE JSON;
CREATE TABLE b (k BIGINT, at TIMESTAMP WITH TIME ZONE, WATERMARK FOR at AS at
) WITH (connector = 'files', path = 'b') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW by_key AS
SELECT k, count(*) AS n, sum(x) AS total, min(x) AS least, max(at) AS newest FROM a GROUP BY k;
CREATE STREAMING VIEW varied AS
SELECT k, count(DISTINCT x) AS kinds FROM a GROUP BY k HAVING count(*) > 2;
CREATE STREAMING VIEW per_hour AS
SELECT window_start, count(*) AS n FROM TUMBLE(a, at, INTERVAL '1' HOUR)
GROUP BY window_start EMIT ON WINDOW CLOSE;
CREATE STREAMING VIEW met AS
SELECT a.k, a.at, b.at AS met_at FROM a LEFT JOIN b
  ON b.k = a.k AND b.at BETWEEN a.at AND a.at + INTERVAL '2' HOUR;
"""
VIEWS = ("by_key", "varied", "per_hour", "met")


def events() -> dict[str, list[str]]:
    """Return the lines of both tables, the same each time."""
    chance = random.Random(1)
    made: dict[str, list[str]] = {"a": [], "b": []}
    for _ in range(60):
        key, at = chance.randrange(12), START + timedelta(minutes=chance.randrange(600))
        made["a"].append(json.dumps({"k": key, "x": chance.randrange(5), "at": at.isoformat()}))
        later = at + timedelta(minutes=chance.randrange(-30, 200))
        made["b"].append(json.dumps({"k": key, "at": later.isoformat()}))
    return made


def arrive(folder: Path, seed: int) -> None:
    """Write the events in another order, cut into files at random."""
    chance = random.Random(seed)
    for table, lines in events().items():
        (folder / table).mkdir(parents=True)
        chance.shuffle(lines)
        cuts = sorted(chance.sample(range(1, len(lines)), 2))
        for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, None], strict=True)):
            text = "".join(line + "\n" for line in lines[begin:end])
            (folder / table / f"{number}.json").write_text(text)


def answer(spark: Any, lake: Any, folder: Path, seed: int) -> dict[str, list[tuple[Any, ...]]]:
    """Run the project over one order of arrival and return the rows of its views."""
    folder.mkdir()
    settings = 'name = "t"\n[run]\nmax_files_per_epoch = 1\nrecompute_below = 0\n'
    (folder / "headwater.toml").write_text(settings)
    (folder / "views.sql").write_text(SQL)
    arrive(folder, seed)
    found = load_project(folder)
    namespace = f"{lake.namespace}_{seed}"
    config = replace(found.config, namespace=namespace, warehouse=warehouse_of(spark))
    project = replace(found, config=config)
    assert Supervisor(project, spark=spark).run(once=True, end_of_input=True) == 0
    results = verify(project, plan_project(project.catalog), ())
    assert {result.verdict for result in results} == {Verdict.EQUAL}
    rows = {}
    for view in VIEWS:
        names = [field.name for field in project.catalog.views[view].fields]
        frame = spark.table(f"lake.{namespace}.{view}").select(*names)
        rows[view] = sorted((tuple(row) for row in frame.collect()), key=repr)
    return rows


def test_the_order_of_arrival_and_the_cuts_do_not_matter(
    spark: Any, lake: Any, tmp_path: Path
) -> None:
    first, *others = (answer(spark, lake, tmp_path / str(seed), seed) for seed in (1, 2, 3))
    assert all(first.values())
    for other in others:
        assert other == first
