"""Queries that read the clock: lookups by it, its columns, filters by the present time.

In: a query. Out: the query with the watermark or the present rows in its place, or a refusal. The
clock is no part of the data, so a query that reads it would give another answer at every look.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.dialect.syntax import WindowTable
from headwater.importing.bodies import Body, QueryScope
from headwater.importing.contract import LeftOut

_LOOKUP = "the table is joined as it is now, and rows are corrected when it changes"
_NO_FILTER = "rows wait for no time here, and leave by the event time of a table only"
BY_WATERMARK = "the present time is the watermark here: rows leave when newer rows come"
_NOW = ("now", "mz_now", "current_timestamp", "localtimestamp", "proctime")
_FLIPPED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
}
_MOVED: dict[type[exp.Expr], type[exp.Binary]] = {exp.Add: exp.Sub, exp.Sub: exp.Add}


def leave_out_clock_columns(body: Body, scope: QueryScope) -> None:
    """Leave columns of the clock out of SELECT lists."""
    for table in body.query.find_all(exp.Table):
        body.clocks |= scope.clocks.get(table.name, set())
    for select in body.query.find_all(exp.Select):
        for item in list(select.expressions):
            inner = item.unalias()
            called = isinstance(inner, exp.Anonymous) and inner.name == "proctime"
            if called or (isinstance(inner, exp.Column) and inner.name in body.clocks):
                body.clocks.add(item.alias_or_name)
                if len(select.expressions) == 1:
                    raise LeftOut("the query shows the clock only", "show the event time")
                select.set("expressions", [each for each in select.expressions if each is not item])
                body.remark(f"{item.alias_or_name} is left out: the clock is no part of the data")


def _is_clock(node: exp.Expr | None, body: Body) -> bool:
    if node is None:
        return False
    called = any(each.name == "proctime" for each in node.find_all(exp.Anonymous))
    return called or any(each.name in body.clocks for each in node.find_all(exp.Column))


def join_present_rows(body: Body, scope: QueryScope) -> None:
    """Join the present rows of a table that is looked up by the clock."""
    for table in body.query.find_all(exp.Table):
        version = table.args.get("version")
        if version is not None and _is_clock(version.args.get("expression"), body):
            table.set("version", None)
            body.remark(f"FOR SYSTEM_TIME AS OF the clock: {_LOOKUP}")


def refuse_clock(body: Body, scope: QueryScope) -> None:
    """Refuse queries whose windows or order are of the clock."""
    for window in body.query.find_all(WindowTable):
        if _is_clock(window.args["time"], body):
            raise LeftOut("a window of the clock (PROCTIME)", "use the event time of the table")
    for order in body.query.find_all(exp.Order):
        if _is_clock(order, body):
            raise LeftOut("rows are ordered by the clock (PROCTIME)", "order by the event time")


# -- filters by the present time


def is_now(node: exp.Expr) -> bool:
    """Whether an expression is the present time."""
    named = isinstance(node, exp.Anonymous) and node.name in _NOW
    return named or isinstance(node, exp.CurrentTimestamp | exp.Localtimestamp)


def filter_by_watermark(body: Body, scope: QueryScope) -> None:
    """Turn ``ts > now() - INTERVAL …`` into a filter by the watermark."""
    for where in body.query.find_all(exp.Where, exp.Having, exp.Join):
        for between in list(where.find_all(exp.Between)):
            _split(between)
        while (node := _compared(where)) is not None:
            _by_watermark(body, node)


def _compared(where: exp.Expr) -> exp.Expr | None:
    """Return the next comparison with the present time."""
    found = (node for kind in _FLIPPED for node in where.find_all(kind))
    return next((node for node in found if any(is_now(each) for each in node.walk())), None)


def _split(node: exp.Expr) -> None:
    """Turn ``now() BETWEEN a AND b`` into two comparisons."""
    if is_now(node.this):
        low = exp.LTE(this=node.args["low"].copy(), expression=node.this.copy())
        high = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
        node.replace(exp.and_(low, high, copy=False))


def _by_watermark(body: Body, node: exp.Expr) -> None:
    left, right = _bare(node.this), _bare(node.args["expression"])
    kind: type[exp.Binary] = type(node)  # type: ignore[assignment]
    if any(is_now(each) for each in left.walk()):
        left, right, kind = right, left, _FLIPPED[kind]
    while type(left) in _MOVED and isinstance(left.args["expression"], exp.Interval):
        move = _MOVED[type(left)]
        right = move(this=right.copy(), expression=left.args["expression"].copy())
        left = _bare(left.this)
    if kind in (exp.LT, exp.LTE) or not isinstance(left, exp.Column):
        _leave_out(node)
        body.remark(f"{node.sql()} is left out: {_NO_FILTER}", "filter when you read")
        return
    right = right.copy()
    for each in list(right.walk()):
        if is_now(each):
            watermark = exp.Anonymous(this="watermark", expressions=[])
            right = watermark if each is right else right
            each.replace(watermark)
    node.replace(kind(this=left.copy(), expression=right))
    body.remark(BY_WATERMARK)


def without_filters(query: exp.Query) -> exp.Query:
    """Return a query without the conditions that read the watermark."""
    bare = query.copy()
    for kind in _FLIPPED:
        for node in list(bare.find_all(kind)):
            if any(each.name == "watermark" for each in node.find_all(exp.Anonymous)):
                _leave_out(node)
    return bare


def _leave_out(node: exp.Expr) -> None:
    """Take a condition out of those that AND joins."""
    parent = node.parent
    if isinstance(parent, exp.And):
        other = parent.args["expression"] if node is parent.this else parent.this
        parent.replace(other.copy())
    else:
        node.replace(exp.true())
        if isinstance(parent, exp.Where):
            parent.pop()


def _bare(node: exp.Expr) -> exp.Expr:
    return node.unnest() if isinstance(node, exp.Paren) else node
