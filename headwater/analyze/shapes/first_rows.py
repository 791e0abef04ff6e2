"""DISTINCT ON, FETCH and OFFSET → LIMIT and QUALIFY.

In: a query as parsed, without ORDER BY of set operations. Out: the same rows::

    SELECT DISTINCT ON (k) k, v FROM t ORDER BY k, v DESC
    SELECT k, v FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY v DESC) = 1

    SELECT k FROM t ORDER BY v FETCH FIRST 3 ROWS WITH TIES
    SELECT k FROM t QUALIFY rank() OVER (ORDER BY v) <= 3

    SELECT k FROM t ORDER BY v OFFSET 3
    SELECT k FROM t QUALIFY row_number() OVER (ORDER BY v) > 3
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import written_name
from headwater.dialect.vocabulary import unnamed_column

_ROWS = ("order", "limit", "offset")
_SETS = (exp.GroupingSets, exp.Rollup, exp.Cube)


def plain_first_rows(query: exp.Query, report: Diagnostics) -> None:
    """Replace DISTINCT ON, FETCH, and OFFSET without LIMIT, in place."""
    for select in list(query.find_all(exp.Select)):
        ties = _limit_of_fetch(select, report)
        distinct = select.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            _first_of_groups(select, distinct, report)
        limit, order = select.args.get("limit"), select.args.get("order")
        alone = select.args.get("offset") is not None and limit is None
        if order is None or not (limit is not None or alone):
            continue  # refused by what reads ORDER BY
        windowed = ties or alone
        if select.args.get("qualify") or (windowed and _looks_at_outputs(select)):
            select = around(select)
        if windowed:
            windowed_order(select, ties=ties)  # what it cannot write is refused later


def _limit_of_fetch(select: exp.Select, report: Diagnostics) -> bool:
    """Write FETCH as LIMIT; return whether it says WITH TIES."""
    fetch = select.args.get("limit")
    if not isinstance(fetch, exp.Fetch):
        return False
    options = fetch.args.get("limit_options") or exp.LimitOptions()
    if options.args.get("percent"):
        report.not_yet("FETCH of a percentage", fetch, "write the number of rows")
    count = fetch.args.get("count") or exp.Literal.number(1)
    limit = exp.Limit(expression=count)
    limit.meta.update(fetch.meta)
    select.set("limit", limit)
    return bool(options.args.get("with_ties"))


def _first_of_groups(select: exp.Select, distinct: exp.Expr, report: Diagnostics) -> None:
    """Write DISTINCT ON as the first row of each group of equal keys."""
    order = select.args.get("order")
    if order is None:
        hint = "say which row of them: ORDER BY the same, then what comes first"
        message = "DISTINCT ON without ORDER BY takes any row"
        report.add("NON_DETERMINISTIC", message, distinct.args["on"], hint)
        return
    on = distinct.args["on"]
    keys = [value_of(each, select) for each in (on.expressions or [on.unnest()])]
    items = [_ordered(item, select) for item in order.expressions]
    inner = [item for item in items if item.this not in keys] or items
    if select.args.get("qualify"):
        report.not_yet("DISTINCT ON with QUALIFY", on, "put the part with QUALIFY into a subquery")
        return
    first = exp.Window(
        this=exp.RowNumber(), partition_by=keys, order=exp.Order(expressions=inner), over="OVER"
    )
    select.set("distinct", None)
    select.set("qualify", exp.Qualify(this=exp.EQ(this=first, expression=exp.Literal.number(1))))
    if not select.args.get("limit") and not select.args.get("offset"):
        select.set("order", None)


def _looks_at_outputs(select: exp.Select) -> bool:
    """Return whether ORDER BY comes after something that QUALIFY comes before."""
    group = select.args.get("group")
    return bool(select.args.get("distinct")) or (group is not None and bool(group.find(*_SETS)))


def around(select: exp.Select) -> exp.Select:
    """Put a SELECT without its ORDER BY and LIMIT into a subquery; return what is around it."""
    clauses = {key: select.args.get(key) for key in _ROWS}
    for key in _ROWS:
        select.set(key, None)
    for item in clauses["order"].expressions if clauses["order"] else []:
        _name_output(item, select)
    around = exp.Select(expressions=[exp.Star()])
    select.replace(around)
    inner = exp.Subquery(this=select, alias=exp.TableAlias(this=exp.to_identifier("_limited")))
    around.set("from_", exp.From(this=inner))
    for key, clause in clauses.items():
        around.set(key, clause)
    return around


def _name_output(item: exp.Expr, select: exp.Select) -> None:
    """Write an output that an item of ORDER BY names by position, or with its table, by name."""
    value = item.this
    if isinstance(value, exp.Literal) and value.is_int:
        at = int(value.name) - 1
        if 0 <= at < len(select.selects) and not select.is_star:
            output = select.selects[at]
            item.set("this", exp.column(written_name(output) or unnamed_column(at)))
    elif isinstance(value, exp.Column) and value in select.selects:
        item.set("this", exp.column(value.name))


def windowed_order(select: exp.Select, *, ties: bool = False) -> bool:
    """Write ORDER BY with LIMIT and OFFSET as QUALIFY, in place; return whether it can be.

    Args:
        select: its outputs can be columns of the query around.
        ties: whether rows that tie with the last one are there too.
    """
    order, limit, offset = (select.args.get(key) for key in _ROWS)
    first, skipped = count(limit), count(offset)
    beside = any(map(select.args.get, ("distinct", "qualify")))
    if order is None or first is None or skipped is None or beside:
        return False
    items = [_ordered(item, select) for item in order.expressions]
    if any(isinstance(item.this, exp.Literal) for item in items):
        return False  # a position that does not exist
    terms: list[exp.Expr] = []
    if limit is not None:
        rank = _over(exp.Rank() if ties else exp.RowNumber(), items)
        terms.append(exp.LTE(this=rank, expression=exp.Literal.number(skipped + first)))
    if offset is not None:
        number = _over(exp.RowNumber(), items)
        terms.append(exp.GT(this=number, expression=exp.Literal.number(skipped)))
    for key in _ROWS:
        select.set(key, None)
    select.set("qualify", exp.Qualify(this=exp.and_(*terms, copy=False)))
    return True


def count(node: exp.Expr | None) -> int | None:
    """Return the number of LIMIT or OFFSET, 0 if there is none; None if it is not written as one.

    Args:
        node: the clause.
    """
    if node is None:
        return 0
    number = node.args.get("expression")
    return int(number.name) if isinstance(number, exp.Literal) and number.is_int else None


def _over(call: exp.Expr, items: Sequence[exp.Expr]) -> exp.Window:
    order = exp.Order(expressions=[item.copy() for item in items])
    return exp.Window(this=call, order=order, over="OVER")


def _ordered(item: exp.Expr, select: exp.Select) -> exp.Expr:
    """An item of ORDER BY over what the SELECT reads, not over its outputs."""
    written = item.copy()
    written.set("this", value_of(item.this, select))
    return written


def value_of(node: exp.Expr, select: exp.Select) -> exp.Expr:
    """What a position or the name of an output stands for, here and within an expression."""
    outputs = {item.alias: item.this for item in select.selects if isinstance(item, exp.Alias)}
    if isinstance(node, exp.Literal) and node.is_int and not select.is_star:
        at = int(node.name) - 1
        return select.selects[at].unalias().copy() if 0 <= at < len(select.selects) else node.copy()
    root = exp.Paren(this=node.copy())
    for column in list(root.find_all(exp.Column)):
        if not column.table and column.name in outputs and not column.find_ancestor(exp.Query):
            column.replace(exp.paren(outputs[column.name].copy(), copy=False))
    found: exp.Expr = root.this.pop()
    return found if isinstance(found, exp.Subquery) else found.unnest()
