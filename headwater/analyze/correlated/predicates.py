"""Subqueries of expressions that read columns of the query around → the same over their values.

In: IN, EXISTS or a scalar subquery as parsed. Out: the same one, whose subquery compares with the
query around in WHERE only. What stands for ``…`` has the first two rows of each value of ``t.k``::

    a IN (SELECT b.v FROM b WHERE b.k = t.k ORDER BY b.w LIMIT 2)
    a IN (SELECT _s._v1 FROM (…) AS _s (_v1, _k1) WHERE _s._k1 = t.k)
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.analyze.correlated.domain import Domain, Key
from headwater.analyze.query_parts import is_aggregate, is_limited
from headwater.analyze.shapes.first_rows import count, windowed_order
from headwater.analyze.typing import types as t


def plainer(query: exp.Query, *, only_rows: bool) -> exp.Query | None:
    """Return a query that is as good as a subquery of an expression, if there is a plainer one.

    Args:
        query: the subquery as parsed; not changed.
        only_rows: whether nothing matters but that it has rows.
    """
    shaped = _only_rows(query.copy()) if only_rows else query.copy()
    if isinstance(shaped, exp.Select) and is_limited(shaped):
        windowed_order(shaped)
    return None if shaped == query else shaped


def is_single(query: exp.Query) -> bool:
    """Return whether a query certainly has one row at most.

    Args:
        query: as parsed.
    """
    if not isinstance(query, exp.Select):
        return False
    first = query.args.get("limit") is not None and count(query.args["limit"]) == 1
    return first or (is_aggregate(query) and not query.args.get("group"))


def _only_rows(query: exp.Query) -> exp.Query:
    """Return a query without what decides only what its rows are and how many."""
    limit = query.args.get("limit")
    decides = any(map(query.args.get, ("having", "qualify", "offset", "match")))
    if not isinstance(query, exp.Select) or decides or (limit is not None and not count(limit)):
        return query
    group = query.args.get("group")
    if is_aggregate(query) and (group is None or not group.expressions):
        return query
    for key in ("distinct", "group", "order", "limit"):
        query.set(key, None)
    query.set("expressions", [exp.alias_(exp.Literal.number(1), "_one")])
    return query


def over_values(
    found: exp.Expr, query: exp.Query, columns: int, domain: Domain, *, single: bool
) -> exp.Select:
    """Return the query that stands for a subquery of an expression.

    Args:
        found: IN, EXISTS or a scalar subquery.
        query: the subquery as parsed; changed.
        columns: how many it has.
        single: whether it has at most one row for each row around.
        domain: the values of the columns that it reads of the query around.

    Raises:
        NoDomain: it has a shape for which that is not done.
    """
    item = exp.Subquery(this=query)
    domain.spread(query)
    alias = f"_s{domain.number()}"
    names = [exp.to_identifier(f"_v{at}") for at in range(1, columns + 1)]
    names += [exp.to_identifier(key.name) for key in domain.keys]
    item.set("alias", exp.TableAlias(this=exp.to_identifier(alias), columns=names))
    scalar = isinstance(found, exp.Query)
    terms = [term for key in domain.keys for term in _compared(key, alias, scalar=scalar)]
    value: exp.Expr = exp.column("_v1", table=alias)
    if scalar and single:
        value = exp.AnyValue(this=value)
    shown = exp.alias_(value, "_v1")
    where = exp.Where(this=exp.and_(*terms, copy=False))
    return exp.Select(expressions=[shown], from_=exp.From(this=item), where=where)


_TEXTS: Mapping[str, str] = {
    "text": "",
    "clock": "00:00:00",
    "time": "2000-01-01",
    "uuid": "00000000-0000-0000-0000-000000000000",
}
"""By family of types, a text that can be cast to each of them."""


def _compared(key: Key, alias: str, *, scalar: bool) -> list[exp.Expr]:
    """The conditions that a row is one of the row around; a scalar subquery compares by = only."""
    mine = exp.column(key.name, table=alias)
    condition = key.same(mine, key.outer)
    if isinstance(condition, exp.EQ) or not scalar:
        return [condition]
    other = _some_value(key.type)
    sides = (mine, key.outer)
    nulls = [exp.paren(exp.Is(this=side.copy(), expression=exp.null())) for side in sides]
    values = [exp.func("coalesce", side.copy(), other.copy()) for side in sides]
    return [exp.EQ(this=a, expression=b) for a, b in (nulls, values)]


def _some_value(kind: exp.DataType) -> exp.Expr:
    """Return a value of a type that is not NULL."""
    family = t.family(kind)
    if family == "boolean":
        return exp.false()
    if family == "number":
        return exp.cast(exp.Literal.number(0), kind.copy())
    return exp.cast(exp.Literal.string(_TEXTS[family]), kind.copy())
