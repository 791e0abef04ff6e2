"""A query over the fuzz's inputs, kept by one rule, against DuckDB's answer after every tick."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import duckdb

from headwater.analyze.portable.rewrites import portable
from headwater.analyze.typing.types import spark_type
from headwater.plan.program import UNIT
from headwater.plan.query_shape import shape_of
from headwater.plan.rules import affected_groups, top
from headwater.plan.rules.affected_groups import units_program
from tests.algebra.world import Given, Kept, World, planned
from tests.fuzz.cases import Case, Tick, random_ticks
from tests.fuzz.oracle import for_duckdb
from tests.fuzz.queries import Query
from tests.fuzz.schemas import DELAY, INPUTS, MOVING, STANDARD, TIME, TIMED, Draw, Row, Schema

LATE = {
    "": None,
    "LATE ROWS ACCEPT": None,
    "LATE ROWS DROP": 0,
    "LATE ROWS ACCEPT FOR INTERVAL '30' SECOND": 30,
}
"""What a view can say of late rows, and how many seconds later than allowed they may come."""


def wrong(case: Case) -> str:
    """Return what is wrong with a case after some tick, empty if nothing is.

    Args:
        case: the query and its ticks.

    Raises:
        HeadwaterError: the query is refused.
    """
    world = World(inputs(case.schema), [kept(case)], seed=len(case.query))
    try:
        for number, tick in enumerate(stamped(case.ticks, case.schema)):
            world.tick(tick)
            if found := world.wrong("v", answer(case, world.schema)):
                return f"after tick {number}: {found}"
    except (duckdb.Error, AssertionError) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        world.close()
    return ""


def definition(case: Case) -> str:
    """Return the statements of a case's tables and view."""
    return f"{case.schema.definitions}CREATE STREAMING VIEW v {case.clauses} AS {case.query};"


def inputs(schema: Schema) -> list[Given]:
    """Return the relations that a query can read."""
    stamp = {TIMED: ", _watermark TIMESTAMPTZ"} if schema.timed else {}
    return [
        Given(name, schema.in_duckdb(name) + stamp.get(name, ""), name in MOVING) for name in INPUTS
    ]


def kept(case: Case) -> Kept:
    """Return the view of a case as the planner keeps it, or by units if the case says so.

    Args:
        case: the case.
    """
    catalog, plans = planned(definition(case))
    plan = plans["v"]
    if case.rule != "affected groups" or plan.decision.rule in (top.RULE, affected_groups.RULE):
        return Kept.of(plan)
    view = replace(plan.view, query=portable(plan.view.query, "spark"))
    program = units_program(view, shape_of(view, catalog), catalog, plan.lateness)
    fields = tuple((field.name, spark_type(field.type)) for field in view.fields)
    return Kept("v", program, tuple(name for name, _ in fields), (*fields, (UNIT, "BIGINT")))


def answer(case: Case, schema: str) -> str:
    """Return DuckDB's query for what the view of a case must hold.

    Args:
        case: the case.
        schema: where the inputs are.
    """
    allowed = LATE[case.clauses.partition("WITH")[0].strip()]
    if not case.schema.timed:
        return for_duckdb(case.query)
    counts = "true" if allowed is None else in_time(TIME, allowed)
    rows = f"SELECT * EXCLUDE (_watermark) FROM {schema}.{TIMED} WHERE {counts}"
    return f"WITH {TIMED} AS ({rows}) SELECT * FROM ({for_duckdb(case.query)})"


def in_time(close: str, allowed: int, *, ends: bool = False) -> str:
    """Return the condition that a row came before what it belongs to was final.

    Args:
        close: when it is, as SQL.
        allowed: how many seconds later it may come.
        ends: whether it is the end of a window, at which no row counts any more.
    """
    least = f"{close} + INTERVAL {allowed} SECOND"
    return f"(_watermark IS NULL OR {least} {'>' if ends else '>='} _watermark)"


def stamped(ticks: Sequence[Tick], schema: Schema) -> Iterator[Mapping[str, Sequence[Row]]]:
    """Yield ticks in which each row of the log with event times has the watermark that it met.

    Args:
        ticks: the ticks.
        schema: what the inputs are.
    """
    if not schema.timed:
        yield from ticks
        return
    at = [*schema.inputs[TIMED]].index(TIME)
    newest: datetime | None = None
    for tick in ticks:
        rows = tick.get(TIMED, ())
        mark = newest and newest - DELAY
        yield {**tick, TIMED: [(*row, mark) for row in rows]}
        times = [_moment(row[at]) for row in rows] + ([newest] if newest else [])
        newest = max(times, default=None)


def _moment(value: object) -> datetime:
    """A time, which a kept case has as text; whole milliseconds, as watermarks are."""
    time = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return time - time.microsecond % 1000 * timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class QueryTrial:
    """A random query over the fuzz's inputs.

    Attributes:
        case: the query, its ticks and how it is kept.
    """

    case: Case

    def wrong(self) -> str:
        """Return what is wrong with it after some tick, empty if nothing is."""
        return wrong(self.case)

    def __str__(self) -> str:
        return f"{self.case.clauses} {self.case.query}"


def trials(
    rule: str,
    query: Callable[[Draw], Query],
    options: str = "WITH (engine = 'incremental')",
) -> Callable[[str, int], QueryTrial]:
    """Return what makes random trials of a rule from a seed and a number of ticks.

    Args:
        rule: its name.
        query: makes a random query that the planner keeps by it.
        options: of the view.
    """

    def trial(seed: str, ticks: int) -> QueryTrial:
        # every second trial has a schema of its own
        rnd = Draw(f"{rule}-{seed}", STANDARD if seed.endswith(tuple("02468")) else None)
        text = query(rnd).text
        timed = rnd.schema.timed and re.search(rf"\b{TIMED} [a-z]", text)
        late = rnd.choice([*LATE]) if timed else ""
        clauses = f"{late} {options}".strip()
        return QueryTrial(Case(text, random_ticks(rnd, ticks), rnd.schema, rule, clauses))

    return trial
