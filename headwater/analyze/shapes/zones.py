"""``AT TIME ZONE`` → the wall clock of the zone where it is asked for, the instant elsewhere.

In: a query as parsed. Out: the same values, without times that carry a zone::

    hour(ts AT TIME ZONE 'Europe/Berlin')     hour(_local(ts, 'Europe/Berlin'))
    CAST(ts AT TIME ZONE 'Europe/Berlin' AS DATE)    CAST(_local(ts, 'Europe/Berlin') AS DATE)
    date_trunc('day', ts AT TIME ZONE 'Europe/Berlin')  _beginning_of_day(ts, 'Europe/Berlin')

A column holds instants: a zone is lost where a view ends, and refused where a subquery does.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.typing.functions.lines import named
from headwater.analyze.typing.functions.zones import BEGINNINGS, LOCAL
from headwater.analyze.typing.zones import zone_names
from headwater.dialect.syntax import DIALECT

_PARTS: tuple[type[exp.Expr], ...] = (
    *(exp.Year, exp.Quarter, exp.Month, exp.WeekOfYear, exp.Day, exp.DayOfYear, exp.DayOfWeekIso),
    *(exp.Hour, exp.Minute, exp.Second, exp.Extract, exp.Date, exp.TimeToStr),
    *map(named, ("millisecond", "year_of_week")),
)
_COMPARED = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In, exp.Is),
    *(exp.TimeToUnix, exp.Group, exp.Ordered),
)
_LOCAL_TYPES = (exp.DType.DATE, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ)


def without_zones(query: exp.Query, report: Diagnostics) -> None:
    """Replace AT TIME ZONE in a query of Trino's dialect, in place; report where it has no form."""
    for call in list(query.find_all(exp.Anonymous)):
        if call.name.lower() == "at_timezone" and len(call.expressions) == 2:
            value, zone = call.expressions
            call.replace(exp.AtTimeZone(this=value.copy(), zone=zone.copy()))
    for node in reversed(list(query.find_all(exp.AtTimeZone))):
        if DIALECT in node.meta:
            continue  # the binder refuses it: what it means depends on the type
        zone = node.args["zone"]
        if not isinstance(zone, exp.Literal) or zone.name not in zone_names():
            hint = "write the name of a zone as a literal: 'Europe/Berlin'"
            message = f"{zone.sql('trino')} is no time zone"
            report.add("WRONG_ARGUMENTS", message, node.this, hint)
            node.replace(node.this.copy())
            continue
        _replace(node, report)


def _replace(node: exp.Expr, report: Diagnostics) -> None:
    value, zone = node.this, node.args["zone"]
    around = node.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    if isinstance(around, exp.AtTimeZone):
        node.replace(value.copy())  # the outer zone counts
    elif isinstance(around, exp.TimestampTrunc) and around.text("unit").lower() in BEGINNINGS:
        beginning = named(f"_beginning_of_{around.text('unit').lower()}")
        found = exp.AtTimeZone(
            this=beginning(expressions=[value.copy(), zone.copy()]), zone=zone.copy()
        )
        found.this.meta.update(value.meta)
        around.replace(found)
        _replace(found, report)
    elif isinstance(around, _PARTS) or _is_local_cast(around):
        local = LOCAL(expressions=[value.copy(), zone.copy()])
        local.meta.update(value.meta)
        node.replace(local)
    elif isinstance(around, _COMPARED) or _is_last_output(around):
        kind = exp.DataType(this=exp.DType.TIMESTAMPTZ)
        keeps = isinstance(value, exp.Func) and type(value).__name__.startswith("Called__beg")
        node.replace(value.copy() if keeps else exp.Cast(this=value.copy(), to=kind))
    else:
        hint = "write the wall clock of the zone: CAST(x AT TIME ZONE 'Europe/Berlin' AS TIMESTAMP)"
        report.not_yet("a time with a zone here", value, hint)
        node.replace(value.copy())


def _is_local_cast(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Cast) and node.args["to"].this in _LOCAL_TYPES


def _is_last_output(node: exp.Expr | None) -> bool:
    """Return whether a node is a column of the view, or its SELECT: not one of a subquery."""
    select = node.parent if isinstance(node, exp.Alias) else node
    if not isinstance(select, exp.Select):
        return False
    around = select.parent
    while isinstance(around, exp.SetOperation):
        around = around.parent
    return not isinstance(around, (exp.Subquery, exp.In, exp.Exists, exp.Lateral))
