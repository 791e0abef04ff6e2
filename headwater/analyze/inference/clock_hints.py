"""What to write in the place of a clock: ``HAVING max(ts) < now() - INTERVAL '5' MINUTE``.

In: a call that is refused, of a function that reads the clock. Out: the same condition or value
with ``watermark()``, which follows the event times of the rows.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.query_parts import relations
from headwater.analyze.typing.determinism import NODES
from headwater.dialect.syntax import ViewWatermark

_AROUND = (exp.Cast, exp.TryCast, exp.Paren, exp.AtTimeZone)
_HOLDS = (
    *(exp.Connector, exp.Not, exp.Where, exp.Having, exp.Qualify, exp.Join, exp.Select),
    *(exp.Alias, exp.Group, exp.Ordered, exp.If, exp.Case, exp.Filter, exp.Tuple, exp.Table),
)
_DAYS = ("current_date", "today", "curdate")
_MOMENTS = (
    *("now", "current_timestamp", "current_datetime", "localtimestamp", "proctime", "mz_now"),
    *("getdate", "sysdate", "get_current_timestamp", "transaction_timestamp"),
    *("statement_timestamp", "clock_timestamp"),
)
_SECONDS = ("unix_timestamp",)


def hint(call: exp.Expr, name: str, *, clock: bool) -> str:
    """Return what to write in the place of a call that reads the clock, in a view.

    Args:
        call: the call, in a query whose columns are resolved.
        name: of its function.
        clock: whether an input of the view has a watermark.
    """
    if not clock:
        return "declare WATERMARK FOR … AS … in a table that the view reads, and use watermark()"
    written = _written(call, name)
    if not written:
        return "use the event time of the rows, or watermark(): the time that they have reached"
    return f"write {written} (the time that the rows have reached)"


def _written(call: exp.Expr, name: str) -> str:
    """The condition or value around a call, empty if ``watermark()`` cannot take its place."""
    stands: exp.Expr = ViewWatermark()
    if name in _DAYS:
        stands = exp.cast(stands, "date")
    elif name in _SECONDS:
        stands = exp.Anonymous(this="to_unixtime", expressions=[stands])
    elif name not in _MOMENTS:
        return ""
    term = call
    while term.parent is not None and not isinstance(term.parent, _HOLDS):
        term = term.parent
    select = term.parent_select
    alone = isinstance(select, exp.Select) and len(relations(select)) == 1
    whole = exp.Paren(this=term.copy())
    if isinstance(term, exp.Between):  # BETWEEN now() - INTERVAL '1' HOUR AND now()
        low = exp.GTE(this=term.this.copy(), expression=term.args["low"].copy())
        whole.this.replace(low)
    for clock in [node for node in whole.walk() if node == call]:
        outer = clock
        while name in _MOMENTS and isinstance(outer.parent, _AROUND) and outer.parent is not whole:
            outer = outer.parent
        outer.replace(stands.copy())
    for column in whole.find_all(exp.Column):
        if alone:
            column.set("table", None)
    text = whole.this.sql("trino", normalize_functions="lower")
    return "" if any(_reads_wall(node) for node in whole.walk()) else str(text)


def _reads_wall(node: exp.Expr) -> bool:
    return type(node) in NODES and NODES[type(node)] in (*_MOMENTS, *_DAYS)
