"""Rows of two traced queries, and equal rows of one.

In: traced queries. Out: UNION, EXCEPT, INTERSECT and DISTINCT of them, traced.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.serve.why.traced import THERE, WHY, Traced, frozen, gathered, listed, named

_SIDE, _COPIES = "__side", "__copies"


def distinct(traced: Traced) -> Traced:
    """Return each row once: equal rows keep it there."""
    keys = [exp.column(name, "__row") for name in traced.names]
    found = exp.select(*keys, named(gathered([exp.column(WHY, "__row")]), WHY))
    if traced.ghosts:
        keys.append(exp.column(THERE, "__row"))
        found.append("expressions", keys[-1])
    found = found.from_(traced.query.subquery("__row")).group_by(*keys)
    return Traced(found, traced.names, traced.stable, traced.ghosts, traced.rest)


def appended(sides: Sequence[Traced]) -> Traced:
    """Return the rows of both sides."""
    names, ghosts = sides[0].names, any(side.ghosts for side in sides)
    parts = []
    stable = set(names)
    for side in sides:
        part = exp.select(*(exp.column(name, "__row") for name in (*side.names, WHY)))
        if ghosts:
            known = exp.column(THERE, "__row") if side.ghosts else exp.true()
            part.append("expressions", named(known, THERE))
        parts.append(part.from_(side.query.subquery("__row")))
        stable &= {n for n, own in zip(names, side.names, strict=True) if own in side.stable}
    whole = exp.Union(this=parts[0], expression=parts[1], distinct=False)
    rest = tuple(each for side in sides for each in side.rest)
    return Traced(whole, names, frozenset(stable), ghosts, rest)


def by_value(
    query: exp.SetOperation, sides: Sequence[Traced], known: Sequence[Traced], absent: bool
) -> Traced:
    """Return EXCEPT or INTERSECT: rows that are equal decide together.

    Args:
        query: the operation.
        sides: its traced sides.
        known: the sides traced for what is absent.
        absent: whether the operation is traced for it.
    """
    left, right = sides
    minus = isinstance(query, exp.Except)
    if absent and not all(side.stable.issuperset(side.names) for side in known):
        return frozen(query)
    rest = [each for side in sides for each in side.rest]
    if minus and not absent:
        right = known[1]
        rest = [*left.rest]
        if not right.shrinks:
            return frozen(query)
    columns = [exp.column(name, "__row") for name in left.names]
    parts = []
    for number, side in enumerate((left, right)):
        items = [
            named(exp.column(own, "__row"), n)
            for own, n in zip(side.names, left.names, strict=True)
        ]
        there = exp.column(THERE, "__row") if side.ghosts else exp.true()
        part = exp.select(*items, exp.column(WHY, "__row"), named(there, THERE))
        part = part.select(named(exp.Literal.number(number), _SIDE))
        parts.append(part.from_(side.query.subquery("__row")))
    both_sides = exp.Union(this=parts[0], expression=parts[1], distinct=False)

    def count(side: int) -> str:
        return f"count(*) FILTER (WHERE __row.{_SIDE} = {side} AND __row.{THERE})"

    one, two = count(0), count(1)
    if query.args.get("distinct"):
        copies = f"CAST({one} > 0 AND {two} {'= 0' if minus else '> 0'} AS BIGINT)"
    else:
        copies = f"greatest({one} - {two}, 0)" if minus else f"least({one}, {two})"
    numbers: exp.Expr = listed(exp.column(WHY, "__row"))
    if minus and not absent:
        own = exp.EQ(this=exp.column(_SIDE, "__row"), expression=exp.Literal.number(0))
        numbers = exp.Filter(this=numbers, expression=exp.Where(this=own))
    numbers = exp.Anonymous(this="flatten", expressions=[numbers])
    counted = exp.select(*columns, named(numbers, WHY), f"{copies} AS {_COPIES}", dialect="duckdb")
    counted = counted.from_(both_sides.subquery("__row")).group_by(*columns)
    times = f"unnest(range(greatest({_COPIES}, {1 if absent else 0}))) AS {_SIDE}"
    names = [exp.column(name, "__row") for name in (*left.names, WHY)]
    shown = [named(exp.column(_COPIES, "__row") > 0, THERE)] if absent else []
    found = exp.select(*names, *shown, times, dialect="duckdb").from_(counted.subquery("__row"))
    outer = exp.select(*(exp.column(n, "__row") for n in (*left.names, WHY, *([THERE] * absent))))
    whole = outer.from_(found.subquery("__row"))
    return Traced(whole, left.names, left.stable, absent, tuple(rest))
