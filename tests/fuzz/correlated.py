"""Random queries whose subqueries read columns of the queries around them at any place.

In: a random generator with a schema. Out: SQL text that means the same in Headwater and in DuckDB.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.fuzz.expressions import Column, aggregate, comparable, condition, value
from tests.fuzz.queries import Query
from tests.fuzz.schemas import INPUTS, Draw, elements

_SIGNS = ("=", "=", "<", "<>", ">=")
_SHAPES = ("rows", "rows", "first", "one", "one", "groups", "distinct", "union", "below")


def correlated(rnd: Draw) -> Query:
    """Return a random query with a subquery that reads columns of the query around."""
    source, around = _source(rnd, "t", (), 0)
    way = rnd.choice(("lateral", "lateral", "exists", "in", "scalar"))
    kinds = tuple(_kind(rnd) for _ in range(rnd.randint(1, 2)))
    negated = rnd.choice(("", "NOT "))
    if way == "lateral":
        text, on = _body(rnd, around, kinds, "l", 1), rnd.choice(("ON TRUE", "ON q.c0 IS NOT NULL"))
        side = rnd.choice((f"LEFT JOIN LATERAL ({text}) q {on}", f"CROSS JOIN LATERAL ({text}) q"))
        own = [Column(f"q.c{n}", kind) for n, kind in enumerate(kinds)]
        items = [value(rnd, own, kind) for kind in kinds]
        items.append(value(rnd, around, kind := _kind(rnd)))
        return Query(f"SELECT {_named(items)} FROM {source} {side}", (*kinds, kind))
    items = [value(rnd, around, kind) for kind in kinds]
    if way == "exists":
        where = f"{negated}EXISTS ({_body(rnd, around, (_kind(rnd),), 'l', 1)})"
    elif way == "in":
        found = rnd.choice(around)
        where = f"{found.text} {negated}IN ({_body(rnd, around, (found.kind,), 'l', 1)})"
    else:
        kind = _kind(rnd)
        items.append(f"({_body(rnd, around, (kind,), 'l', 1, 'one')})")
        kinds, where = (*kinds, kind), condition(rnd, around)
    return Query(f"SELECT {_named(items)} FROM {source} WHERE {where}", kinds)


def _kind(rnd: Draw) -> str:
    return rnd.choice(rnd.schema.kinds)


def _named(items: Sequence[str]) -> str:
    return ", ".join(f"{item} AS c{number}" for number, item in enumerate(items))


def _source(
    rnd: Draw, alias: str, around: Sequence[Column], level: int
) -> tuple[str, list[Column]]:
    """FROM, of which anything after the first relation can read what is around."""
    text, columns = _input(rnd, alias)
    if rnd.random() < 0.4:
        side = rnd.choice(("", "LEFT ", "RIGHT ", "FULL "))
        if around and level < 2 and rnd.random() < 0.5:
            kinds = (_kind(rnd),)
            inner, own = f"({_body(rnd, around, kinds, alias + 'n', level + 1)}) {alias}j", []
            own.append(Column(f"{alias}j.c0", kinds[0]))
        else:
            inner, own = _input(rnd, f"{alias}j")
        among = columns if side in ("RIGHT ", "FULL ") else [*columns, *around]
        on = _compared(rnd, own, columns, ("=",))
        if around and rnd.random() < 0.4 and side in ("", "LEFT "):
            on += f" AND {_compared(rnd, own, among, _SIGNS)}"
        text, columns = f"{text} {side}JOIN {inner} ON {on}", [*columns, *own]
    return text, columns


def _input(rnd: Draw, alias: str) -> tuple[str, list[Column]]:
    name = rnd.choice(INPUTS)
    columns = rnd.schema.inputs[name].items()
    found = [Column(f"{alias}.{name}", kind) for name, kind in columns if not elements(kind)]
    return f"{name} {alias}", found


def _compared(
    rnd: Draw, own: Sequence[Column], others: Sequence[Column], signs: Sequence[str]
) -> str:
    pairs = [(one, two) for one in own for two in others if comparable(one, two)]
    if not pairs:
        return condition(rnd, own)
    one, two = rnd.choice(pairs)
    return f"{one.text} {rnd.choice(signs)} {two.text}"


def _body(
    rnd: Draw,
    around: Sequence[Column],
    kinds: Sequence[str],
    alias: str,
    level: int,
    shape: str = "",
) -> str:
    """A subquery with columns of some kinds, named ``c0``, ``c1``, …"""
    shape = shape or rnd.choice(_SHAPES)
    if shape == "union":
        sides = [_body(rnd, around, kinds, f"{alias}{n}", level + 1, "rows") for n in "ab"]
        return rnd.choice((" UNION ALL ", " UNION ", " EXCEPT ")).join(sides)
    if shape == "below":
        inner = _body(rnd, around, kinds, f"{alias}b", level + 1, rnd.choice(("rows", "first")))
        own = [Column(f"{alias}.c{n}", kind) for n, kind in enumerate(kinds)]
        return f"SELECT {_named([c.text for c in own])} FROM ({inner}) {alias}"
    source, own = _source(rnd, alias, around, level)
    terms = [_compared(rnd, own, around, _SIGNS)]
    if level < 2 and rnd.random() < 0.3:
        negated = rnd.choice(("", "NOT "))
        inner = _body(rnd, [*around, *own], (_kind(rnd),), f"{alias}e", level + 1, "rows")
        terms.append(f"{negated}EXISTS ({inner})")
    among = [*own, *around] if rnd.random() < 0.3 else own
    head, tail = "", f" FROM {source} WHERE {' AND '.join(terms)}"
    if shape == "one":
        items = [aggregate(rnd, own, kind) for kind in kinds]
        if rnd.random() < 0.3 and kinds[0] == "number":
            items[0] = f"count(*) FILTER (WHERE {_compared(rnd, own, around, _SIGNS)})"
    elif shape == "groups":
        items = [value(rnd, among, kinds[0]), *(aggregate(rnd, own, kind) for kind in kinds[1:])]
        tail += f" GROUP BY {items[0]}"
        tail += " HAVING count(*) > 1" if rnd.random() < 0.3 else ""
    else:
        items = [value(rnd, among, kind) for kind in kinds]
        head = "DISTINCT " if shape == "distinct" else ""
        if shape == "first":
            order = [f"c{n}{rnd.choice(('', ' DESC'))}" for n in range(len(kinds))]
            tail += f" ORDER BY {', '.join(order)} LIMIT {rnd.randint(1, 3)}"
    return f"SELECT {head}{_named(items)}{tail}"
