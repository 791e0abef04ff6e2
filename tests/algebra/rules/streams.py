"""Streams with state: windows that close, interval joins, DISTINCT in time.

Spark keeps the state; the planner writes the query and says which rows are final. Three things hold
at every commit. The query over all rows so far, heartbeats included, equals the SELECT at rest
before finality. Its final rows are DuckDB's answer. A row that was final once stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

import duckdb
import pytest

from headwater.analyze.definitions import Catalog
from headwater.plan.at_rest import at_rest
from headwater.plan.program import Program, StreamingProgram
from headwater.plan.rules import streaming
from headwater.plan.view_plan import ViewPlan
from tests.algebra.rule import Rule
from tests.algebra.translate import duckdb_sql
from tests.algebra.world import in_schema, planned
from tests.fuzz.oracle import insert
from tests.fuzz.schemas import KINDS, Row
from tests.fuzz.streams import LATE, Log, StreamingQuery, keyed_table, random_logs, random_query

_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

STAMPS = "_arrived_at TIMESTAMPTZ, _watermark TIMESTAMPTZ"
"""The columns of a landed log that nobody declares."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """A streaming view over logs whose rows come out of order."""

    seed: str
    ticks: int

    def wrong(self) -> str:
        """Return what is wrong with it after some tick, empty if nothing is."""
        view = drawn(self.seed, random_query, kept=False)
        query = view.query
        catalog, plans = planned(view.definitions, as_written=True)
        program = planned(view.definitions)[1]["v"].program
        with in_schema() as (duck, _):
            create(duck, view.used)
            commits = _Commits(duck, query, program, plans["v"], catalog)
            try:
                for number, watermark in enumerate(landed(view.rnd, duck, view.used, self.ticks)):
                    if found := commits.wrong(watermark):
                        return f"{query.select}{query.emit} after tick {number}: {found}"
            except duckdb.Error as error:
                return f"{query.select}{query.emit}: {error}"
        return ""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A random view.

    Attributes:
        rnd: the generator, for what comes after it.
        query: what it is.
        used: the logs that it reads.
        definitions: the statements of all logs and of the view ``v``.
    """

    rnd: Random
    query: StreamingQuery
    used: Sequence[Log]
    definitions: str


def drawn(
    seed: str,
    make: Callable[[Random, Sequence[Log]], StreamingQuery],
    *,
    kept: bool = True,
    keyed: bool = False,
) -> Drawn:
    """Return a random view over random logs.

    Args:
        kept: whether the logs are tables, not sources.
        keyed: whether the second one has the changes of a keyed table.
    """
    rnd = Random(seed)
    logs: Sequence[Log] = random_logs(rnd, kept=kept)
    logs = [logs[0], keyed_table(rnd, logs[1])] if keyed else logs
    query = make(rnd, logs)
    used = [log for log in logs if log.name in query.inputs]
    definitions = "".join(log.definition for log in logs) + query.definition("v")
    return Drawn(rnd, query, used, definitions)


def columns_of(log: Log) -> str:
    """The columns of a log as DuckDB writes them."""
    declared = {name: KINDS[kind].type for name, kind in log.kinds.items()}
    return ", ".join(f"{name} {kind}" for name, kind in (log.hidden | declared).items())


def create(duck: duckdb.DuckDBPyConnection, logs: Sequence[Log]) -> None:
    """Make the tables of some logs, and of their heartbeats."""
    for log in logs:
        for name in (log.table, f"{log.table}__change", f"{log.table}__before"):
            duck.execute(f"CREATE TABLE {name} ({columns_of(log)}, {STAMPS})")
        duck.execute(f"CREATE TABLE {log.table}__heartbeat (ts TIMESTAMPTZ)")


def arrivals(rnd: Random, logs: Sequence[Log], ticks: int) -> Iterator[dict[str, list[Row]]]:
    """Yield the rows that land in a tick, by log: many of one time, each with its arrival."""
    clock, times = _NOON, [None, *[_NOON + timedelta(minutes=n) for n in range(5)] * 2]
    for _ in range(ticks):
        clock += timedelta(minutes=1)
        yield {
            log.table: [
                (*log.row(rnd, clock)[:-1], rnd.choice(times), clock, None)
                for _ in range(rnd.choice((0, 1, 2, 6)))
            ]
            for log in rnd.sample(logs, rnd.randint(1, len(logs)))
        }


def landed(
    rnd: Random, duck: duckdb.DuckDBPyConnection, logs: Sequence[Log], ticks: int
) -> Iterator[int | None]:
    """Land rows, and yield the least watermark then, in microseconds."""
    clock, marks = _NOON, dict[str, int | None]()
    for _ in range(ticks):
        clock += timedelta(seconds=rnd.choice((30, 300, 600, 1500, 7200)))
        for log in logs:
            duck.execute(f"INSERT INTO {log.table}__before FROM {log.table}__change")
            duck.execute(f"DELETE FROM {log.table}__change")
        for log in rnd.sample(logs, rnd.randint(1, len(logs))):
            mark = marks.get(log.name)
            known = mark if log.kept else None
            moment = None if known is None else _EPOCH + known * _MICROSECOND
            rows = [log.row(rnd, clock) for _ in range(rnd.choice((0, 1, 2, 6)))]
            if not log.kept and mark is not None:  # Spark drops late rows of a SOURCE unseen
                rows = [row for row in rows if _micros(row) >= mark]
            for name in (log.table, f"{log.table}__change"):
                insert(duck, name, [(*row, clock, moment) for row in rows])
            insert(duck, f"{log.table}__heartbeat", [(clock,)])
            times = [int(_micros(row)) for row in rows if row[-1] is not None]
            new = [time // 1000 * 1000 - log.delay * 10**6 for time in times]
            marks[log.name] = max([*new, *([mark] if mark is not None else [])], default=None)
        known = [marks.get(log.name) for log in logs]
        yield None if None in known else min(mark for mark in known if mark is not None)


def _micros(row: Row) -> float:
    """The event time of a row; one without is as if it came from the future."""
    return (row[-1] - _EPOCH) // _MICROSECOND if isinstance(row[-1], datetime) else math.inf


class _Commits:
    """What a view holds at its commits.

    Args:
        duck: where its logs are.
        query: what it is.
        program: how it is kept.
        plan: its plan.
        catalog: where its logs are defined.
    """

    def __init__(
        self,
        duck: duckdb.DuckDBPyConnection,
        query: StreamingQuery,
        program: Program,
        plan: ViewPlan,
        catalog: Catalog,
    ) -> None:
        assert isinstance(program, StreamingProgram)
        self._duck, self._query, self._plan, self._catalog = duck, query, plan, catalog
        columns = ", ".join(query.columns)
        self._sql = f"SELECT {columns} FROM ({duckdb_sql(program.sql)})"
        self._allowed = LATE[query.clauses.removeprefix(" LATE ROWS ")] * 10**6
        self._right = f"SELECT {columns} FROM ({query.answer})"

    def wrong(self, least: int | None) -> str:
        """Return what is wrong at a commit, empty if nothing is.

        Args:
            least: the least watermark of the logs, in microseconds.
        """
        watermark = None if least is None else least - self._allowed
        w = "NULL" if watermark is None else f"make_timestamptz({watermark})"
        self._duck.execute(f"SET VARIABLE w = {w}")
        everything, final = (
            at_rest(self._plan, self._catalog, "duckdb", watermark=watermark, final=each).text()
            for each in (False, True)
        )
        first = "CREATE TABLE IF NOT EXISTS held AS FROM ({}) LIMIT 0"
        self._duck.execute(first.format(self._right))
        self._duck.execute(f"CREATE OR REPLACE TABLE now AS {self._right}")
        if found := self._surplus("FROM held", "FROM now"):
            return f"was final: {found}"
        self._duck.execute("CREATE OR REPLACE TABLE held AS FROM now")
        if found := self._different(final, "FROM now"):
            return f"final: {found}"
        if found := self._different(self._sql, everything):
            return f"the stream's query: {found}"
        return ""

    def _different(self, one: str, other: str) -> list[object]:
        return [*self._surplus(one, other), *self._surplus(other, one)]

    def _surplus(self, one: str, other: str) -> list[object]:
        return self._duck.execute(f"({one}) EXCEPT ALL ({other}) LIMIT 3").fetchall()


def _heartbeats_are_rows(patch: pytest.MonkeyPatch) -> None:
    """Heartbeats pass the filter of late rows."""
    patch.setattr("headwater.plan.sql.render.FAR_FUTURE", "1970-01-01 00:00:00")


RULE = Rule(
    "streams",
    (
        streaming.LINEAR,
        streaming.WINDOW_CLOSE,
        streaming.INTERVAL_JOIN,
        streaming.DEDUPLICATE,
    ),
    _Trial,
    _heartbeats_are_rows,
    cases=12,
)
