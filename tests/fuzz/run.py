"""Random queries kept by the real engine: after every tick each view equals DuckDB's answer.

In: how many queries, a seed. Out: a line per query that is wrong, with the seed of it, and at the
end one line ``queries=N ticks=N wrong=N refused=N seed=S``; exit code 1 if something is wrong. A
batch of queries is one project: they share its tables, ticks and snapshots. What is wrong is kept,
and made small if DuckDB alone shows it too.

    python -m tests.fuzz.run --queries 200 --seed 1
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from random import Random

import click
import duckdb
import pyarrow as pa
from pyspark.sql import SparkSession

from headwater.analyze.definitions import DELETED, UPSERTED
from headwater.errors import HeadwaterError
from headwater.lake.catalog import Lake
from tests.fuzz import queries
from tests.fuzz.algebra import fails
from tests.fuzz.cases import Case, Tick, keep, smallest
from tests.fuzz.oracle import for_duckdb, insert
from tests.fuzz.schemas import (
    CHANGES,
    CORRECTED,
    KEYED,
    LOGS,
    MOVING,
    Draw,
    Row,
    Schema,
    random_schema,
    spark_type,
)
from tests.spark.law import Landed
from tests.spark.running import Running, local_session, planned

TICKS, BATCH = 3, 25
FOLDED = 4
"""Every so many queries one is of those that fold, which are rare in the whole grammar."""
_CHANGE = {"_change_type": "STRING", "_path": "STRING", "_row": "BIGINT"}


def definitions(schema: Schema, views: Sequence[tuple[str, str]]) -> str:
    """Return the definitions of a project with some views."""
    return schema.definitions + "\n".join(
        f"CREATE STREAMING VIEW {name} WITH (engine = 'incremental') AS {query};"
        for name, query in views
    )


class Batch:
    """Some views that run together."""

    def __init__(
        self, spark: SparkSession, name: str, schema: Schema, views: Sequence[tuple[str, str]]
    ) -> None:
        self.schema, self.sql, self.failed = schema, dict(views), dict[str, str]()
        self.ticks: list[Tick] = []
        lake = Lake(spark, name)
        self.landed = {
            name: Landed(lake, name, _in_spark(held)) for name, held in schema.logs.items()
        }
        self.changes = Landed(lake, CHANGES, {**_in_spark(schema.inputs[KEYED]), **_CHANGE})
        self.running = Running(spark, lake, definitions(schema, views))

    def tick(self, rnd: Random) -> None:
        """Land some rows, run every view once, compare each with DuckDB."""
        new = {name: self.schema.rows(rnd, name, range(6)) for name in self.schema.logs}
        for name, landed in self.landed.items():
            if new[name]:
                landed.land(*new[name])
        if changes := self._changes(rnd):
            self.changes.land(*changes)
        for name, error in self.running.tick(without=self.failed).items():
            self.failed[name] = f"{type(error).__name__}: {str(error)[:2000]}"
        with duckdb.connect() as duck:
            self._compare(duck)
            held = {name: _rows(duck.table(name).to_arrow_table()) for name in MOVING}
        self.ticks.append({name: new[name] for name in LOGS} | held)

    def _changes(self, rnd: Random) -> list[Row]:
        """What a new file says of some keys; its name may sort before those of older ones."""
        file, changes = f"{rnd.random()}.json", list[Row]()
        for number, (key, *rest) in enumerate(self.schema.rows(rnd, KEYED, range(6))):
            deleted = rnd.random() < 0.4
            values = [None] * len(rest) if deleted else rest
            changes.append((key, *values, DELETED if deleted else UPSERTED, file, number))
        return changes

    def _newest(self) -> list[Row]:
        """What the changes so far leave in the keyed table."""
        held: dict[object, Row] = {}
        for _, key, *rest, change, _, _ in sorted(self.changes.rows, key=lambda row: row[-2:]):
            held.pop(key, None)
            if change == UPSERTED:
                held[key] = (key, *rest)
        return [*held.values()]

    def case(self, name: str) -> Case:
        """A view and the ticks so far, as DuckDB alone can run them; small if that is wrong too."""
        case = Case(self.sql[name], self.ticks, self.schema)
        return smallest(case, fails) if fails(case) else case

    def _compare(self, duck: duckdb.DuckDBPyConnection) -> None:
        duck.execute("SET TimeZone = 'UTC'")
        for name, landed in self.landed.items():
            landed.create_in(duck)
            duck.execute(f"CREATE TABLE {name} AS SELECT * EXCLUDE (_epoch) FROM all_{name}")
        duck.execute(f"CREATE TABLE {KEYED} ({self.schema.in_duckdb(KEYED)})")
        insert(duck, KEYED, self._newest())
        duck.execute(f"CREATE TABLE {CORRECTED} AS {self.schema.corrected}")
        for name, query in self.sql.items():
            if name in self.failed:
                continue
            held = _sorted(self.running.read(name).toArrow())
            expected = _sorted(duck.sql(f"FROM ({for_duckdb(query)})").to_arrow_table())
            if held != expected:
                self.failed[name] = f"holds {held}, not {expected}"


def _in_spark(columns: Mapping[str, str]) -> dict[str, str]:
    return {column: spark_type(kind) for column, kind in columns.items()}


def _rows(table: pa.Table) -> list[Row]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _sorted(table: pa.Table) -> list[str]:
    """Rows as text; of 0.0 and -0.0, which are equal, DISTINCT may hold either."""
    return sorted(repr(_plain(list(row))) for row in _rows(table))


def _plain(held: object) -> object:
    if isinstance(held, list):
        return [_plain(each) for each in held]
    return held + 0.0 if isinstance(held, float) else held


def run(spark: SparkSession, count: int, seed: int) -> tuple[int, int, int]:
    """Try random queries.

    Returns:
        How many were kept, were wrong, were refused.
    """
    wrong = refused = done = 0
    began = time.monotonic()
    for start in range(0, count, BATCH):
        views = []
        schema = random_schema(Random(f"{seed}-{start}-schema"))
        for number in range(start, min(start + BATCH, count)):
            made = queries.query if number % FOLDED else queries.folded
            text = made(Draw(f"{seed}-{number}", schema)).text
            try:
                planned(definitions(schema, [("v", text)]))
            except HeadwaterError as error:
                refused += 1
                click.echo(f"refused {seed}-{number}: {str(error).splitlines()[0]}")
                continue
            views.append((f"v{number}", text))
        batch = Batch(spark, f"fuzz_{seed}_{start}", schema, views)
        rnd = Random(f"{seed}-{start}-rows")
        for _ in range(TICKS):
            batch.tick(rnd)
        for name, why in batch.failed.items():
            if name in batch.sql:
                keep(batch.case(name))
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
    with local_session("fuzz") as spark:
        done, wrong, refused = run(spark, count, seed)
    click.echo(f"queries={done} ticks={done * TICKS} wrong={wrong} refused={refused} seed={seed}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
