"""Parts of FROM that a flat list of joins cannot say → subqueries.

In: a bound SELECT. Out: the same rows from one in which

- a table stands first, or one row, not an UNNEST;
- no RIGHT or FULL JOIN stands behind a comma, which binds last;
- no join follows an UNNEST: Spark unnests after all joins of a FROM clause.

For example::

    SELECT a.x, b.y FROM a, b FULL JOIN c ON c.k = b.k
    SELECT a.x, _joined.c1 AS y
    FROM a CROSS JOIN (SELECT b.y AS c1 FROM b FULL JOIN c ON c.k = b.k) AS _joined

    SELECT t.id, u.v, s.x FROM t CROSS JOIN UNNEST(t.vs) AS u(v) JOIN s ON s.v = u.v
    SELECT _unnested.c1, _unnested.c2, s.x
    FROM (SELECT t.id AS c1, u.v AS c2 FROM t CROSS JOIN UNNEST(t.vs) AS u(v)) AS _unnested
    JOIN s ON s.v = _unnested.c2
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from headwater.algebra.scalars import conjunction, conjuncts
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import optional_before, relations, unused_alias
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import named

COMMA = "comma"
"""Key of ``Join.meta``: whether the join was written as a comma."""


def table_first(select: exp.Select, report: Diagnostics) -> None:
    """Let FROM begin with a table, or with one row, if it begins with UNNEST, in place."""
    source, joins = select.args.get("from_"), select.args.get("joins") or []
    if source is None or not isinstance(source.this, exp.Unnest) or report.errors:
        return
    first = exp.Join(this=source.this, kind="CROSS")
    at = next((n for n, join in enumerate(joins) if not isinstance(join.this, exp.Unnest)), None)
    if at is None or joins[at].side or optional_before(select):
        row = exp.Select(expressions=[named(exp.true(), "c1")])
        one = row.subquery(unused_alias(select, "_row"), copy=False)
        select.set("from_", exp.From(this=one))
        select.set("joins", [first, *joins])
        return
    select.set("from_", exp.From(this=joins[at].this))
    select.set("joins", [first, *joins[:at], *joins[at + 1 :]])
    terms = conjuncts(joins[at].args.get("on"))
    if where := select.args.get("where"):
        terms += conjuncts(where.this)
    if terms:
        select.set("where", exp.Where(this=conjunction(terms)))
        select.args["where"].type = t.BOOLEAN


def group_by_commas(select: exp.Select, report: Diagnostics) -> None:
    """Put what stands behind a comma into a subquery if a RIGHT or FULL JOIN is in it, in place."""
    joins = select.args.get("joins") or []
    starts = [at for at, join in enumerate(joins) if join.meta.get(COMMA)]
    ends = [*starts[1:], len(joins)]
    for start, end in reversed([*zip(starts, ends, strict=False)]):
        if any(join.side in ("RIGHT", "FULL") for join in joins[start + 1 : end]):
            first = joins[start]
            before = {join.this.alias_or_name for join in joins[start:end]}
            if far := _reads_beyond(joins[start:end], before):
                hint = "put what follows the comma into a subquery"
                report.not_yet("a RIGHT or FULL JOIN to what reads beyond the comma", far, hint)
                return
            select.set("joins", [*joins[:start], *joins[end:]])
            inner = _read_below(select, first.this, joins[start + 1 : end], before, "_joined")
            table_first(inner.this, report)
            unnest_first(inner.this)
            joins = [*joins[:start], exp.Join(this=inner, kind="CROSS"), *joins[end:]]
            select.set("joins", joins)


def _reads_beyond(joins: Sequence[exp.Join], names: Collection[str]) -> exp.Expr | None:
    """Return an UNNEST or LATERAL among some joins that reads what none of them has."""
    for join in joins:
        read = join.this.expressions if isinstance(join.this, exp.Unnest) else [join.args.get("on")]
        for column in (c for each in filter(None, read) for c in each.find_all(exp.Column)):
            if column.table not in names:
                found: exp.Expr = join.this
                return found
    return None


def unnest_first(select: exp.Select) -> None:
    """Put everything up to the last UNNEST that a join follows into a subquery, in place."""
    joins = select.args.get("joins") or []
    kinds = [isinstance(join.this, exp.Unnest) for join in joins]
    joined = max((at for at, unnests in enumerate(kinds) if not unnests), default=0)
    if True not in kinds[:joined]:
        return
    end = max(at for at in range(joined) if kinds[at]) + 1
    before = {item.alias_or_name for item in relations(select)[: end + 1]}
    first = select.args["from_"].this
    select.set("joins", joins[end:])
    select.set("from_", None)
    inner = _read_below(select, first, joins[:end], before, "_unnested")
    unnest_first(inner.this)
    select.set("from_", exp.From(this=inner))


def _read_below(
    select: exp.Select,
    first: exp.Expr,
    joins: Sequence[exp.Join],
    names: Collection[str],
    alias: str,
) -> exp.Subquery:
    """Return a subquery of FROM items that were taken out of a SELECT, which reads it instead."""
    taken = {item.alias_or_name for item in relations(select)} | set(names)
    alias = unused_alias(select, alias)
    while alias in taken:
        alias += "_"
    columns: dict[exp.Expr, exp.Alias] = {}
    for column in list(select.find_all(exp.Column)):
        if column.table in names and _is_of(column, select):
            item = columns.setdefault(column.copy(), named(column, f"c{len(columns) + 1}"))
            column.set("this", exp.to_identifier(item.alias))
            column.set("table", exp.to_identifier(alias))
    inner = exp.Select(from_=exp.From(this=first), joins=list(joins))
    inner.set("expressions", list(columns.values()) or [named(exp.true(), "c1")])
    return inner.subquery(alias, copy=False)


def _is_of(column: exp.Column, select: exp.Select) -> bool:
    """Return whether no query between a column and a SELECT has a FROM item of its name."""
    inner = column.parent_select
    while inner is not None and inner is not select:
        if any(item.alias_or_name == column.table for item in relations(inner)):
            return False
        inner = inner.parent_select
    return True
