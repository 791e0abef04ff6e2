"""LIMIT that a view need not have; ORDER BY and QUALIFY that ask for what is not selected.

In: a query as parsed, whose ORDER BY and LIMIT are those of SELECTs. Out: the same rows::

    SELECT k FROM t GROUP BY k ORDER BY sum(v) LIMIT 3
    SELECT k FROM (SELECT k, sum(v) AS _order1 FROM t GROUP BY k) ORDER BY _order1 LIMIT 3

    SELECT k FROM t QUALIFY rank() OVER (ORDER BY v) <= (SELECT max(n) FROM u)
    SELECT k FROM (SELECT k, rank() OVER (ORDER BY v) <= (…) AS _qualify1 FROM t) WHERE _qualify1

    SELECT count(*) FROM t LIMIT 100
    SELECT count(*) FROM t

    SELECT * FROM (SELECT max(x) AS a FROM t), (SELECT max(y) AS b FROM u) LIMIT 100
    SELECT * FROM (SELECT max(x) AS a FROM t), (SELECT max(y) AS b FROM u)
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.analyze.query_parts import (
    is_aggregate,
    is_distinct,
    is_limited,
    joins,
    relations,
    written_name,
)
from headwater.analyze.shapes.first_rows import around, value_of
from headwater.dialect.vocabulary import unnamed_column


def ask_below_qualify(query: exp.Query) -> None:
    """Let subqueries that QUALIFY asks stand in a SELECT list, in place."""
    for select in list(query.find_all(exp.Select)):
        if (qualify := select.args.get("qualify")) and qualify.find(exp.Query):
            _ask_below(select, qualify)


def plain_orders(query: exp.Query) -> bool:
    """Write ORDER BY and LIMIT as binding takes them, in place.

    Returns:
        Whether the rows of the query itself were to be ordered: a table has no order.
    """
    ordered = False
    for select in list(query.find_all(exp.Select)):
        order, limit = select.args.get("order"), select.args.get("limit")
        if order is not None and not is_limited(select):
            ordered = ordered or select is query  # it goes when its names are looked up
        elif order is not None and not is_distinct(select) and _asks_more(select, order):
            _select_what_orders(select)
        elif limit is not None and _takes_one(limit) and _is_one_row_at_most(select):
            select.set("limit", None)
    return ordered


def _asks_more(select: exp.Select, order: exp.Expr) -> bool:
    """Return whether ORDER BY can hold what only the SELECT list is asked for."""
    return is_aggregate(select) or order.find(exp.Query) is not None


def _takes_one(limit: exp.Expr) -> bool:
    count = limit.expression
    return isinstance(count, exp.Literal) and count.is_int and int(count.name) > 0


def _is_one_row_at_most(select: exp.Select) -> bool:
    """Return whether a SELECT is an aggregate without groups, or reads nothing but such."""
    if any(select.args.get(key) for key in ("group", "offset", "laterals")):
        return False
    read = relations(select)
    return is_aggregate(select) or (
        bool(read)
        and all(each.side != "FULL" for each in joins(select))
        and all(
            isinstance(each, exp.Subquery)
            and isinstance(each.this, exp.Select)
            and _is_one_row_at_most(each.this)
            for each in read
        )
    )


def _select_what_orders(select: exp.Select) -> None:
    """Let rows be ordered by the outputs of a subquery, if anything else orders them."""
    if values := _ordering(select):
        _around_more(select, values)


def _ordering(select: exp.Select) -> dict[str, exp.Expr]:
    """What ORDER BY asks for besides outputs, by the name that it has for it from now on."""
    order = select.args.get("order")
    outputs = {item.alias_or_name for item in select.selects}
    items = order.expressions if order is not None else []
    others = [item for item in items if not _is_output(item.this, outputs)]
    found = {}
    for number, item in enumerate(others, 1):
        found[f"_order{number}"] = value_of(item.this, select)
        item.set("this", exp.column(f"_order{number}"))
    return found


def _ask_below(select: exp.Select, qualify: exp.Expr) -> None:
    """Let what QUALIFY says be a column of a subquery, whose rows WHERE chooses."""
    distinct = select.args.get("distinct")
    more = {"_qualify1": value_of(qualify.this, select)}
    more |= {} if distinct else _ordering(select)
    for key in ("qualify", "distinct"):
        select.set(key, None)
    outer = _around_more(select, more)
    outer.set("distinct", distinct)
    outer.set("where", exp.Where(this=exp.column("_qualify1")))


def _around_more(select: exp.Select, more: Mapping[str, exp.Expr]) -> exp.Select:
    """Put a SELECT that computes more into a subquery; return the one around, which shows as much.

    Args:
        select: the SELECT, as parsed; changed.
        more: what it computes besides, by names that ``*`` leaves out.
    """
    shown: list[exp.Expr] = [
        exp.column(written_name(each) or unnamed_column(at))
        for at, each in enumerate(select.selects)
    ]
    if select.is_star:
        shown = [exp.Star()]
    for name, value in more.items():
        select.append("expressions", exp.Alias(this=value, alias=exp.to_identifier(name)))
    outer = around(select)
    outer.set("expressions", shown)
    return outer


def _is_output(value: exp.Expr, outputs: set[str]) -> bool:
    if isinstance(value, exp.Column):
        return not value.table and value.name in outputs
    return isinstance(value, exp.Literal)
