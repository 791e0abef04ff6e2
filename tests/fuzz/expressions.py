"""Random expressions over the columns of a FROM clause: values, conditions, aggregates, windows.

In: a random generator and columns. Out: SQL text of a kind (``text``, ``number``, ``float``) that
means the same in Headwater and in DuckDB by way of :mod:`tests.fuzz.oracle`. Constants are few,
so that rows meet.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from random import Random

from tests.fuzz.functions import PLAIN, fill, holes
from tests.fuzz.schemas import KINDS, elements

_OF_VALUES = (
    *("lag({0})", "lead({0}, 2)", "first_value({0})", "last_value({0})", "nth_value({0}, 2)"),
    *("min({0})", "max({0})", "any_value({0})", "min_by({0}, {1})"),
)
_OF_KIND = {
    "float": ("avg({1})",),
    "number": ("row_number()", "rank()", "dense_rank()", "ntile(2)", "count(*)", "count({0})"),
}
_NUMBERS = {"number", "small", "money", "wide"}
_SUMMED = ("number", "money", "wide")
_AGGREGATES = ("count", "sum", "min", "max", "avg", "any")
_OF_PLACES = ("lag", "lead", "first", "last", "nth")
_STEPS = {
    "number": "{}",
    "small": "{}",
    "money": "{}.5",
    "wide": "{}.25",
    "float": "{}.5",
    "day": "INTERVAL '{}' DAY",
    "moment": "INTERVAL '{}' MICROSECOND",
    "instant": "INTERVAL '{}' MINUTE",
}
"""How far a bound of RANGE is from the row, by the kind of what orders it."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that an expression can name.

    Attributes:
        text: how it is named.
        kind: one of :data:`KINDS`, or a list of them (``text[]``), which only UNNEST reads.
    """

    text: str
    kind: str


def comparable(one: Column, two: Column) -> bool:
    """Return whether two columns can be equal."""
    return one.kind == two.kind or {one.kind, two.kind} <= _NUMBERS


def value(rnd: Random, columns: Sequence[Column], kind: str) -> str:
    """Return a value of one row."""
    fitting = [column.text for column in columns if column.kind == kind]
    if not fitting:
        column = rnd.choice(columns).text
        return f"CASE WHEN {column} IS NULL THEN {KINDS[kind].default} END"
    text = rnd.choice(fitting)
    if rnd.random() < 0.2:
        return f"coalesce({text}, {KINDS[kind].default})"
    if rnd.random() < 0.1:
        known = {each: [c.text for c in columns if c.kind == each] for each in KINDS}
        calls = [call for call in PLAIN.get(kind, ()) if all(map(known.get, holes(call)))]
        return fill(rnd, known, rnd.choice(calls)) if calls else text
    return text


def literal(kind: str) -> str:
    """Return a constant of a kind, as plain as its type allows."""
    plain = kind in ("text", "small", "float", "flag", "day", "moment", "instant")
    constant = KINDS[kind].constant
    return constant if plain else f"CAST({constant} AS {KINDS[kind].type})"


def condition(rnd: Random, columns: Sequence[Column]) -> str:
    """Return a condition on one row."""
    column = rnd.choice(columns)
    constant = KINDS[column.kind].constant
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
    if element := elements(kind):
        return _list(rnd, columns, element)
    one, other = value(rnd, columns, kind), rnd.choice(columns).text
    calls = [f"{name}({one})" for name in ("min", "max", "any_value")]
    calls += [f"min_by({one}, {other})", f"max_by({one}, {other})"]
    if kind == "float":
        calls.append(f"avg({value(rnd, columns, 'number')})")
    if kind == "number":
        calls += ["count(*)", f"count({other})", f"count(DISTINCT {other})"]
    if kind in _SUMMED:
        calls.append(f"sum({one})")
    if kind == "text":
        calls += [f"listagg({one}, ',') WITHIN GROUP (ORDER BY {_order(rnd, other)})"]
        calls += [f"listagg(DISTINCT {one}, '') WITHIN GROUP (ORDER BY {_order(rnd, one)})"]
    call = rnd.choice(calls)
    if rnd.random() < 0.15 and "DISTINCT" not in call:
        call += f" FILTER (WHERE {condition(rnd, columns)})"
    return _narrow(call, kind)


def _list(rnd: Random, columns: Sequence[Column], kind: str) -> str:
    one, other = value(rnd, columns, kind), rnd.choice(columns).text
    orders = ("", f" ORDER BY {_order(rnd, other)}", f" ORDER BY {_order(rnd, one)}")
    distinct = rnd.random() < 0.3
    call = f"array_agg({'DISTINCT ' if distinct else ''}{one}{rnd.choice(orders[:: 1 + distinct])})"
    where = f" FILTER (WHERE {condition(rnd, columns)})" if rnd.random() < 0.15 else ""
    return f"{call}{where}"


def _order(rnd: Random, text: str) -> str:
    return f"{text}{rnd.choice(('', ' DESC', ' NULLS FIRST'))}"


def window(
    rnd: Random,
    columns: Sequence[Column],
    kind: str,
    keys: Sequence[str],
    named: MutableMapping[str, str] | None = None,
) -> str:
    """Return a call with OVER whose order leaves no ties: DuckDB takes rows in an order of its own.

    Args:
        rnd: the generator.
        columns: what it reads.
        kind: of its value.
        keys: what it is partitioned by, at least.
        named: the windows of the WINDOW clause, which may gain some; None if there is none.
    """
    by = [*keys] if rnd.random() < 0.8 else [*keys, rnd.choice(columns).text]
    order = [_order(rnd, column.text) for column in columns]
    rnd.shuffle(order)
    ranged = [column for column in columns if column.kind in _STEPS]
    one, number = value(rnd, columns, kind), value(rnd, columns, "number")
    call, frame = _call_over(rnd, kind).format(one, number), ""
    if call.startswith(_AGGREGATES):
        if rnd.random() < 0.15:
            call += f" FILTER (WHERE {condition(rnd, columns)})"
    elif call.startswith(_OF_PLACES) and rnd.random() < 0.3:
        call = f"{call[:-1]} IGNORE NULLS)"
    if call.startswith((*_AGGREGATES, "first", "last", "nth")):
        if ranged and rnd.random() < 0.3 and not call.startswith("nth"):
            column = rnd.choice(ranged)
            order = [_order(rnd, column.text)]
            frame = _frame(rnd, "RANGE", _STEPS[column.kind])
        elif rnd.random() < 0.7:
            frame = _frame(rnd, "ROWS", "{}")
    text = f"{call} OVER {_window(rnd, by, order, frame, named)}"
    return _narrow(text, kind)


def _frame(rnd: Random, kind: str, step: str) -> str:
    """A frame of any bounds, which may end before it begins if both are on one side of the row."""
    places = ("UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING")
    first = rnd.randrange(4)
    last = rnd.randrange(max(first, 1), 5)
    one, two = (
        f"{step.format(rnd.randint(0, 3))} {places[at]}" if at in (1, 3) else places[at]
        for at in (first, last)
    )
    return f" {kind} BETWEEN {one} AND {two}"


def _call_over(rnd: Random, kind: str) -> str:
    sums = ("sum({0})",) if kind in _SUMMED else ()
    return rnd.choice((*_OF_VALUES, *_OF_KIND.get(kind, ()), *sums))


def _narrow(call: str, kind: str) -> str:
    """Sums are wider than what is summed, and wider in DuckDB than they are here."""
    return f"CAST({call} AS {KINDS[kind].type})" if call.startswith("sum") else call


def _window(
    rnd: Random,
    by: Sequence[str],
    order: Sequence[str],
    frame: str,
    named: MutableMapping[str, str] | None,
) -> str:
    """What stands behind OVER, maybe with a name for all or the first part of it."""
    partition = f"PARTITION BY {', '.join(by)}" if by else ""
    rest = f"ORDER BY {', '.join(order)}{frame}"
    way = rnd.choice(("", "", "part", "all")) if named is not None else ""
    if named is not None and partition and way == "part":
        partition = named.setdefault(partition, f"w{len(named)}")
    text = f"{partition} {rest}".strip()
    if named is not None and way == "all":
        return named.setdefault(text, f"w{len(named)}")
    return f"({text})"
