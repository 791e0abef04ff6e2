"""Random expressions over the columns of a FROM clause: values, conditions, aggregates, windows.

In: a random generator and columns. Out: SQL text of a kind (``text``, ``number``, ``float``) that
means the same in Headwater and DuckDB. Constants are few, so that rows meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

KINDS = {"text": "VARCHAR", "number": "BIGINT", "float": "DOUBLE"}
"""Kinds of values, and their types."""

_CONSTANTS = {"text": "'v'", "number": "1", "float": "0e0"}
_DEFAULTS = {"text": "'none'", "number": "CAST(7 AS BIGINT)", "float": "-1e0"}
_VALUES_OF_ROWS = ("lag({0})", "lead({0}, 2)", "first_value({0})", "last_value({0})", "min({0})")
_WINDOWS = {
    "text": _VALUES_OF_ROWS,
    "float": (*_VALUES_OF_ROWS, "nth_value({0}, 2)", "avg({1})", "max({0})"),
    "number": (
        *_VALUES_OF_ROWS,
        *("row_number()", "rank()", "dense_rank()", "ntile(2)", "nth_value({0}, 2)"),
        *("count(*)", "count({0})", "max({0})", "sum({0})"),
    ),
}
_AGGREGATES = ("count", "sum", "min", "max", "avg")
_ROWS = (
    "",
    "",
    " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    " ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING",
    " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
)
_RANGES = (
    " RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column that an expression can name.

    Attributes:
        text: how it is named.
        kind: one of :data:`KINDS`.
    """

    text: str
    kind: str


def value(rnd: Random, columns: Sequence[Column], kind: str) -> str:
    """Return a value of one row."""
    fitting = [column.text for column in columns if column.kind == kind]
    if not fitting:
        column = rnd.choice(columns).text
        return f"CASE WHEN {column} IS NULL THEN {_DEFAULTS[kind]} END"
    text = rnd.choice(fitting)
    if rnd.random() < 0.2:
        return f"coalesce({text}, {_DEFAULTS[kind]})"
    return text


def condition(rnd: Random, columns: Sequence[Column]) -> str:
    """Return a condition on one row."""
    column = rnd.choice(columns)
    constant = _CONSTANTS[column.kind]
    terms = (
        f"{column.text} IS NULL",
        f"{column.text} IS NOT NULL",
        f"{column.text} > {constant}",
        f"{column.text} <> {constant}",
        f"coalesce({column.text}, {constant}) = {constant}",
    )
    text = rnd.choice(terms)
    if rnd.random() < 0.3:
        text = f"({text} {rnd.choice(('AND', 'OR'))} {condition(rnd, columns)})"
    return text


def aggregate(rnd: Random, columns: Sequence[Column], kind: str) -> str:
    """Return an aggregate."""
    one = value(rnd, columns, kind)
    any_value = rnd.choice(columns).text
    calls = [f"min({one})", f"max({one})"]
    if kind == "float":
        calls.append(f"avg({value(rnd, columns, 'number')})")
    if kind == "number":
        counts = ["count(*)", f"count({any_value})", f"count(DISTINCT {any_value})"]
        calls += [*counts, f"sum({one})"]
    call = rnd.choice(calls)
    if rnd.random() < 0.15 and "DISTINCT" not in call:
        call += f" FILTER (WHERE {condition(rnd, columns)})"
    return f"CAST({call} AS BIGINT)" if call.startswith("sum") else call


def window(rnd: Random, columns: Sequence[Column], kind: str, keys: Sequence[str]) -> str:
    """Return a call with OVER whose order leaves no ties: DuckDB gets the text as it is.

    Args:
        rnd: the generator.
        columns: what it reads.
        kind: of its value.
        keys: what it is partitioned by, at least.
    """
    by = [*keys] if rnd.random() < 0.8 else [*keys, rnd.choice(columns).text]
    order = [f"{c.text}{rnd.choice(('', ' DESC', ' NULLS FIRST'))}" for c in columns]
    rnd.shuffle(order)
    numbers = [column.text for column in columns if column.kind == "number"]
    one, number = value(rnd, columns, kind), value(rnd, columns, "number")
    call, frame = rnd.choice(_WINDOWS[kind]).format(one, number), ""
    if call.startswith(_AGGREGATES):
        if numbers and rnd.random() < 0.3:
            order, frame = [rnd.choice(numbers)], rnd.choice(_RANGES)
        else:
            frame = rnd.choice(_ROWS)
        if rnd.random() < 0.15:
            call += f" FILTER (WHERE {condition(rnd, columns)})"
    elif call.startswith(("first", "last", "nth")):
        frame = rnd.choice(_ROWS)
    partition = f"PARTITION BY {', '.join(by)} " if by else ""
    text = f"{call} OVER ({partition}ORDER BY {', '.join(order)}{frame})"
    return f"CAST({text} AS BIGINT)" if call.startswith("sum") else text
