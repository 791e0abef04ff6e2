"""Random queries kept by the real engine: after every tick each view equals DuckDB's answer.

In: how many queries, a seed. Out: a line per query that is wrong, with the seed of it, and at the
end one line ``queries=N ticks=N wrong=N refused=N seed=S``; exit code 1 if something is wrong. A
batch of queries is one project: they share its tables, ticks and snapshots. What is wrong is kept,
and made small if DuckDB alone shows it too. With a journal, batches that are in it are not run
again: hundreds of them take hours, and what was stopped goes on.

    python -m tests.fuzz.run --queries 2000 --seed 1 --jobs 2 --journal fuzz.jsonl
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from multiprocessing import get_context
from multiprocessing.util import Finalize
from pathlib import Path
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
from tests.fuzz.correlated import correlated
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
CORRELATED = 10
"""Every so many queries one has subqueries that read columns around them at any place."""
LATE = {
    "": None,
    "ACCEPT": None,
    "DROP": timedelta(0),
    "ACCEPT FOR INTERVAL '30' SECOND": timedelta(seconds=30),
}
"""What LATE ROWS can be, and how much later than the watermark allows a row may come."""
SETTINGS = {
    "spark.driver.memory": "4g",
    # each plan runs once: what the JVM would gain by its second compiler does not pay for it. With
    # one it keeps 48 MB of code, less than a batch needs, and sweeps all the time.
    "spark.driver.extraJavaOptions": "-Xms3g -Xmn1500m -XX:MetaspaceSize=600m"
    " -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=400m",
}
"""Settings of Spark under which many small different plans take the least time."""
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
        return allowed is None or watermark is None or micros(time + allowed) >= watermark


def random_view(number: int, seed: int, schema: Schema) -> View:
    """Return a view of some inputs.

    Args:
        number: which one.
        seed: the same seed, the same views.
        schema: the inputs.
    """
    rnd = Draw(f"{seed}-{number}", schema)
    made = queries.query if number % FOLDED else queries.folded
    if number % CORRELATED == 0:
        made = correlated
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
        rows = (row[1:-1] for row in self.changes.rows)  # without the epoch and the arrival
        for key, *rest, change, _, _ in sorted(rows, key=lambda row: row[-2:]):
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


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a batch.

    Attributes:
        seed: of the run.
        start: number of its first query.
        queries: how many were kept and compared.
        wrong: how many of them were wrong.
        refused: how many were refused.
    """

    seed: int
    start: int
    queries: int
    wrong: int
    refused: int


class Journal:
    """Results of batches, in a file if there is one.

    Args:
        path: a JSON object per line.
        seed: results of other seeds are left alone.
    """

    def __init__(self, path: Path | None, seed: int) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path and path.exists() else []
        held = [Result(**json.loads(line)) for line in lines]
        self.results = {each.start: each for each in held if each.seed == seed}

    def add(self, result: Result) -> None:
        """Take in a result."""
        self.results[result.start] = result
        if self._path:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")

    def total(self, field: str) -> int:
        """Return the sum of a field of the results."""
        return sum(getattr(result, field) for result in self.results.values())


def run_batch(spark: SparkSession, numbers: Sequence[int], seed: int) -> Result:
    """Try some random queries over tables of their own.

    Args:
        spark: where they run.
        numbers: which ones.
        seed: the same seed, the same queries, tables and rows.
    """
    start = numbers[0]
    vary(spark, Random(f"{seed}-{start}-spark"))
    schema = random_schema(Random(f"{seed}-{start}-schema"))
    views, refused = [], 0
    for number in numbers:
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
    return Result(seed, start, len(views), len(batch.failed), refused)


def vary(spark: SparkSession, rnd: Random) -> None:
    """Choose how Spark runs a batch: mostly as it starts soonest, sometimes as a project does.

    Args:
        spark: the session.
        rnd: the generator.
    """
    as_projects = rnd.random() < 0.25
    spark.conf.set("spark.sql.codegen.wholeStage", str(as_projects).lower())
    spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if as_projects else "NO_CODEGEN")
    spark.conf.set("spark.sql.adaptive.enabled", str(as_projects).lower())
    spark.conf.set("spark.sql.shuffle.partitions", str(rnd.choice((1, 1, 2, 3))))


def _run_batch(numbers: Sequence[int], seed: int) -> Result:
    """Try some queries in the session of this process."""
    try:
        return run_batch(_session(), numbers, seed)
    except Exception as error:  # those of py4j cannot be sent to another process
        raise RuntimeError(f"queries {numbers[0]} and later: {error!r}") from None


@cache
def _session() -> SparkSession:
    """The session of this process, closed when it ends."""
    stack = ExitStack()
    Finalize(None, stack.close, exitpriority=1)  # in such a process atexit runs nothing
    return stack.enter_context(local_session("fuzz", SETTINGS))


@click.command()
@click.option("--queries", "count", default=200, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--journal", "path", type=click.Path(path_type=Path), help="goes on from here")
@click.option("--jobs", default=1, show_default=True, help="processes, each with its own Spark")
def main(count: int, seed: int, path: Path | None, jobs: int) -> None:
    """Try random queries in Spark."""
    journal = Journal(path, seed)
    began = time.monotonic()
    starts = [start for start in range(0, count, BATCH) if start not in journal.results]
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        batches = (range(start, min(start + BATCH, count)) for start in starts)
        for done in as_completed([pool.submit(_run_batch, batch, seed) for batch in batches]):
            journal.add(done.result())
            minutes = (time.monotonic() - began) / 60
            queries, wrong = journal.total("queries"), journal.total("wrong")
            click.echo(f"[{minutes:6.1f} min] {queries} queries, {wrong} wrong")
    done, wrong, refused = (journal.total(each) for each in ("queries", "wrong", "refused"))
    click.echo(f"queries={done} ticks={done * TICKS} wrong={wrong} refused={refused} seed={seed}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
