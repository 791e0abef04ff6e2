"""Random queries kept by the real engine: after every tick each view equals DuckDB's answer.

In: how many queries, a seed. Out: a line per query that is wrong, with the seed of it, and at the
end one line ``queries=N ticks=N wrong=N refused=N seed=S``; exit code 1 if something is wrong. A
batch of queries is one project: they share its tables, ticks and snapshots.

    python -m tests.fuzz.run --queries 200 --seed 1
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from random import Random

import click
import duckdb
from pyspark.sql import SparkSession

from headwater.analyze.binder import bind_all
from headwater.analyze.definitions import Catalog
from headwater.config import Config
from headwater.dialect import parse
from headwater.errors import HeadwaterError, raise_all
from headwater.incremental.tick import Ticks
from headwater.incremental.view import IncrementalView
from headwater.lake.catalog import Lake
from headwater.plan.nodes import ViewPlan
from headwater.plan.planner import plan_project
from headwater.runtime.session import open_session, session_for_thread
from tests.fuzz import queries
from tests.spark.law import Landed

TABLES = (*queries.LOGS, "fed")
COLUMNS = {"id": "BIGINT", "k": "STRING", "x": "BIGINT"}
TICKS, BATCH = 3, 25


def planned(views: Sequence[tuple[str, str]]) -> tuple[Catalog, dict[str, ViewPlan]]:
    """Return the definitions and plans of a project with some views."""
    text = queries.DEFINITIONS + "\n".join(
        f"CREATE STREAMING VIEW {name} WITH (engine = 'incremental') AS {query};"
        for name, query in views
    )
    catalog, errors = bind_all({"fuzz.sql": parse(text, file="fuzz.sql")})
    raise_all(errors)
    return catalog, plan_project(catalog)


class Batch:
    """Some views that run together."""

    def __init__(self, spark: SparkSession, name: str, views: Sequence[tuple[str, str]]) -> None:
        self.spark, self.sql, self.failed = spark, dict(views), dict[str, str]()
        self.lake = Lake(spark, name)
        self.catalog, self.plans = planned(views)
        self.landed = [Landed(self.lake, t, COLUMNS, None, timedelta(0)) for t in TABLES]
        self.views = [self._open(name) for name in (queries.CORRECTED, *self.sql)]

    def _open(self, name: str) -> IncrementalView:
        lake = self.lake.using(session_for_thread(self.spark))
        return IncrementalView(lake, self.plans[name], self.catalog)

    def tick(self, rnd: Random) -> None:
        """Land some rows, run every view once, compare each with DuckDB."""
        for table in self.landed:
            if rows := queries.rows(rnd, range(6), 4):
                table.land(*rows)
        ticks = Ticks(self.lake, list(TABLES))
        try:
            views = [view for view in self.views if view.plan.view.name not in self.failed]
            result = ticks.run(views, ticks.pin())
        finally:
            ticks.close()
        for name, error in result.failed.items():
            self.failed[name] = f"{type(error).__name__}: {str(error)[:2000]}"
        with duckdb.connect() as duck:
            self._compare(duck)

    def _compare(self, duck: duckdb.DuckDBPyConnection) -> None:
        for table in self.landed:
            table.create_in(duck)
            rows = f"SELECT * EXCLUDE (_epoch) FROM all_{table.name}"
            duck.execute(f"CREATE TABLE {table.name} AS {rows}")
        u = queries.DEFINITIONS.partition(f"CREATE STREAMING VIEW {queries.CORRECTED} AS ")[2]
        duck.execute(f"CREATE TABLE {queries.CORRECTED} AS {u}")
        for name, query in self.sql.items():
            if name in self.failed:
                continue
            names = [field.name for field in self.plans[name].view.fields]
            held = [tuple(row) for row in self.lake.table(name).read().select(*names).collect()]
            expected = duck.sql(f"FROM ({query})").fetchall()
            if sorted(map(repr, held)) != sorted(map(repr, expected)):
                self.failed[name] = (
                    f"holds {sorted(held, key=repr)}, not {sorted(expected, key=repr)}"
                )


def run(spark: SparkSession, count: int, seed: int) -> tuple[int, int, int]:
    """Try random queries.

    Returns:
        How many were kept, were wrong, were refused.
    """
    wrong = refused = done = 0
    began = time.monotonic()
    for start in range(0, count, BATCH):
        views = []
        for number in range(start, min(start + BATCH, count)):
            text = queries.query(Random(f"{seed}-{number}")).text
            try:
                planned([("v", text)])
            except HeadwaterError as error:
                refused += 1
                click.echo(f"refused {seed}-{number}: {str(error).splitlines()[0]}")
                continue
            views.append((f"v{number}", text))
        batch = Batch(spark, f"fuzz_{seed}_{start}", views)
        rnd = Random(f"{seed}-{start}-rows")
        for _ in range(TICKS):
            batch.tick(rnd)
        for name, why in batch.failed.items():
            click.echo(f"WRONG {seed}-{name}: {batch.sql.get(name, name)}\n  {why}")
        wrong, done = wrong + len(batch.failed), done + len(views)
        minutes = (time.monotonic() - began) / 60
        click.echo(f"[{minutes:6.1f} min] {start + BATCH}/{count}: {wrong} wrong")
    return done, wrong, refused


@click.command()
@click.option("--queries", "count", default=200, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(count: int, seed: int) -> None:
    """Try random queries in Spark."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        config = Config(
            directory=home, name="fuzz", namespace="fuzz", warehouse=home / "warehouse",
            state=home / "state", master="local[2]", shuffle_partitions=2,
        )  # fmt: skip
        spark = open_session(config, app_name="headwater-fuzz")
        try:
            done, wrong, refused = run(spark, count, seed)
        finally:
            spark.stop()
    click.echo(f"queries={done} ticks={done * TICKS} wrong={wrong} refused={refused} seed={seed}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
