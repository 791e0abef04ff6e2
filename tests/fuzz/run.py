"""Random queries kept by the real engine: after every tick each view equals DuckDB's answer.

In: how many queries, a seed. Out: a line per query that is wrong, with the seed of it, and at the
end one line ``queries=N ticks=N wrong=N refused=N seed=S``; exit code 1 if something is wrong. A
batch of queries is one project: they share its tables, ticks and snapshots. What is wrong is kept,
and made small if DuckDB alone shows it too.

    python -m tests.fuzz.run --queries 200 --seed 1
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
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
from tests.fuzz.oracle import for_duckdb, insert, open_duckdb
from tests.fuzz.schemas import (
    CHANGES,
    CORRECTED,
    DELAY,
    KEYED,
    LOGS,
    MOVING,
    TIME,
    TIMED,
    Draw,
    Row,
    Schema,
    random_schema,
    spark_type,
)
from tests.spark.law import Landed, micros
from tests.spark.running import Running, local_session, planned

TICKS, BATCH = 3, 25
FOLDED = 4
"""Every so many queries one is of those that fold, which are rare in the whole grammar."""
LATE = {
    "": None,
    "ACCEPT": None,
    "DROP": timedelta(0),
    "ACCEPT FOR INTERVAL '30' SECOND": timedelta(seconds=30),
}
"""What LATE ROWS can be, and how much later than the watermark allows a row may come."""
_CHANGE = {"_change_type": "STRING", "_path": "STRING", "_row": "BIGINT"}


@dataclass(frozen=True, slots=True)
class View:
    """A view to try.

    Attributes:
        name: its name.
        query: its SELECT.
        late: its LATE ROWS, one of :data:`LATE`; empty if it says nothing of them.
    """

    name: str
    query: str
    late: str = ""

    @property
    def definition(self) -> str:
        """The statement."""
        late = f" LATE ROWS {self.late}" if self.late else ""
        options = "WITH (engine = 'incremental')"
        return f"CREATE STREAMING VIEW {self.name}{late} {options} AS {self.query};\n"

    def counts(self, time: datetime, watermark: int | None) -> bool:
        """Return whether a row is not too late.

        Args:
            time: its event time.
            watermark: that of its table when it came, in microseconds.
        """
        allowed = LATE[self.late]
        return allowed is None or watermark is None or micros(time + allowed) > watermark


def random_view(number: int, seed: int, schema: Schema) -> View:
    """Return a view of some inputs.

    Args:
        number: which one.
        seed: the same seed, the same views.
        schema: the inputs.
    """
    rnd = Draw(f"{seed}-{number}", schema)
    made = queries.query if number % FOLDED else queries.folded
    text = made(rnd).text
    timed = schema.timed and re.search(rf"\b{TIMED} [a-z]", text)
    return View(f"v{number}", text, rnd.choice([*LATE]) if timed else "")


def definitions(schema: Schema, views: Iterable[View]) -> str:
    """Return the definitions of a project with some views."""
    return schema.definitions + "".join(view.definition for view in views)


class Batch:
    """Some views that run together."""

    def __init__(
        self, spark: SparkSession, name: str, schema: Schema, views: Sequence[View]
    ) -> None:
        self.schema, self.failed = schema, dict[str, str]()
        self.views = {view.name: view for view in views}
        self.ticks: list[dict[str, list[Row]]] = []
        self.watermarks: list[int | None] = []
        lake = Lake(spark, name)
        self.landed = {
            log: Landed(lake, log, _in_spark(held), TIME if TIME in held else None, DELAY)
            for log, held in schema.logs.items()
        }
        self.changes = Landed(lake, CHANGES, {**_in_spark(schema.inputs[KEYED]), **_CHANGE})
        self.running = Running(spark, lake, definitions(schema, views))

    def tick(self, rnd: Random) -> None:
        """Land some rows, run every view once, compare each with DuckDB."""
        least = {TIMED: 2 * self.schema.timed}  # so that some rows are late
        new = {
            name: self.schema.rows(rnd, name, range(6), least=least.get(name, 0))
            for name in self.schema.logs
        }
        self.ticks.append({name: new[name] for name in LOGS})
        self.watermarks.append(self.landed[TIMED].watermark_after)
        for name, landed in self.landed.items():
            if new[name]:
                landed.land(*new[name])
        if changes := self._changes(rnd):
            self.changes.land(*changes)
        for name, error in self.running.tick(without=self.failed).items():
            self.failed[name] = f"{type(error).__name__}: {str(error)[:2000]}"
        with open_duckdb() as duck:
            self._compare(duck)
            for name in MOVING:
                self.ticks[-1][name] = _rows(duck.table(name).to_arrow_table())

    def _changes(self, rnd: Random) -> list[Row]:
        """What a new file says of some keys; its name may sort before those of older ones."""
        file, changes = f"{rnd.random()}.json", list[Row]()
        for number, (key, *rest) in enumerate(self.schema.rows(rnd, KEYED, range(4), least=2)):
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

    def case(self, view: View) -> Case:
        """A view and the ticks so far, as DuckDB alone can run them; small if that is wrong too.

        Rows that come too late for the view do not come in the case.
        """
        case = Case(view.query, self._in_time(view), self.schema)
        return smallest(case, fails) if fails(case) else case

    def _compare(self, duck: duckdb.DuckDBPyConnection) -> None:
        for name, landed in self.landed.items():
            landed.create_in(duck)
            columns = ", ".join(landed.columns)
            duck.execute(f"CREATE TABLE {name} AS SELECT {columns} FROM all_{name}")
        duck.execute(f"CREATE TABLE {KEYED} ({self.schema.in_duckdb(KEYED)})")
        insert(duck, KEYED, self._newest())
        duck.execute(f"CREATE TABLE {CORRECTED} AS {self.schema.corrected}")
        for view in self.views.values():
            if view.name in self.failed:
                continue
            duck.execute(f"DELETE FROM {TIMED}")
            insert(duck, TIMED, [row for tick in self._in_time(view) for row in tick[TIMED]])
            held = _sorted(self.running.read(view.name).toArrow())
            expected = _sorted(duck.sql(f"FROM ({for_duckdb(view.query)})").to_arrow_table())
            if held != expected:
                self.failed[view.name] = f"holds {held}, not {expected}"

    def _in_time(self, view: View) -> list[Tick]:
        """The ticks so far, without the rows that came too late for a view."""
        if not self.schema.timed:
            return [*self.ticks]
        at = list(self.landed[TIMED].columns).index(TIME)
        return [
            {**tick, TIMED: [row for row in tick[TIMED] if view.counts(row[at], watermark)]}
            for tick, watermark in zip(self.ticks, self.watermarks, strict=True)
        ]


def _in_spark(columns: Mapping[str, str]) -> dict[str, str]:
    return {column: spark_type(kind) for column, kind in columns.items()}


def _rows(table: pa.Table) -> list[Row]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _sorted(table: pa.Table) -> list[str]:
    """Rows as text, in an order."""
    return sorted(repr(_plain(list(row))) for row in _rows(table))


def _plain(held: object) -> object:
    """A value as it is compared: of 0.0 and -0.0, which are equal, DISTINCT may hold either."""
    if isinstance(held, list):
        return [_plain(each) for each in held]
    if isinstance(held, Decimal) and held.as_tuple().exponent == 0:
        return int(held)  # DuckDB's HUGEINT comes as DECIMAL
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
            view = random_view(number, seed, schema)
            try:
                planned(definitions(schema, [view]))
            except HeadwaterError as error:
                refused += 1
                click.echo(f"refused {seed}-{number}: {str(error).splitlines()[0]}")
                continue
            views.append(view)
        batch = Batch(spark, f"fuzz_{seed}_{start}", schema, views)
        rnd = Random(f"{seed}-{start}-rows")
        for _ in range(TICKS):
            batch.tick(rnd)
        for name, why in batch.failed.items():
            found = batch.views.get(name)
            if found:
                keep(batch.case(found))
            click.echo(f"WRONG {seed}-{name}: {found}\n  {why}")
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
