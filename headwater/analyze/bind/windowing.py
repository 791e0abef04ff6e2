"""Windows of event time in FROM and GROUP BY.

In: window tables with resolved inputs, SELECTs with resolved columns. Out: the columns of a window
table; Flink's ``window_time`` by its end; ``GROUP BY date_trunc('hour', ts)`` on an event time
rewritten to a ``TUMBLE`` window; group keys that hold both bounds of a window as soon as they hold
one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from zoneinfo import available_timezones

from sqlglot import exp

from headwater.analyze.definitions import Catalog, Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.names.scope import NULLABLE, Relation
from headwater.analyze.query_parts import optional
from headwater.analyze.time.event_time import (
    WINDOW_END,
    WINDOW_START,
    EventTime,
    interval,
)
from headwater.analyze.time.finality import relation_times
from headwater.analyze.time.lengths import calendar_length
from headwater.analyze.time.pushdown import pushed_down
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.syntax import WindowTable

BOUNDS = (WINDOW_START, WINDOW_END)
WINDOW_TIME = "window_time"
_MILLISECOND = timedelta(milliseconds=1)
_MOST_WINDOWS = 10_000
_TRUNC_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY")


def window_fields(window: WindowTable, inner: Relation, report: Diagnostics) -> list[Field]:
    """Return the columns of a window table: its input's, then the bounds of the window.

    Args:
        window: the window, its time column resolved.
    """
    time = window.args["time"]
    kind = type_of(time)
    if t.is_unknown(kind):
        return [*inner.fields.values(), *(Field(name, kind, nullable=False) for name in BOUNDS)]
    if not t.is_timestamp(kind):
        message = f"a window needs a timestamp, not {t.sql_type(kind)}"
        report.add("TYPE_CLASH", message, time, "cast it in a computed column of the source")
    for name in BOUNDS:
        if name in inner.fields:
            message = f'the input already has a column "{name}"'
            hint = "rename it in a subquery: FROM TUMBLE((SELECT window_start AS hour, …), hour, …)"
            report.add("DUPLICATE_COLUMN", message, window, hint)
    _check_sizes(window, report)
    return [*inner.fields.values(), *(Field(name, kind, nullable=False) for name in BOUNDS)]


def _check_sizes(window: WindowTable, report: Diagnostics) -> None:
    zone, by_calendar = window.args.get("zone"), calendar_length(window)
    if zone is not None and zone.name not in available_timezones():
        hint = "write it as 'Europe/Berlin'"
        report.add("INVALID_WINDOW", f"{zone.name} is no time zone", zone, hint)
    elif zone is not None and by_calendar is None:
        hint = "leave it out, or use days, weeks, months or years"
        report.add("INVALID_WINDOW", "a time zone matters for days and longer", zone, hint)
    elif by_calendar is not None and window.args["kind"] == "tumble":
        _check_calendar(window, by_calendar, report)
    else:
        _check_fixed(window, report)


def _check_calendar(window: WindowTable, length: tuple[int, int], report: Diagnostics) -> None:
    if not any(length):
        hint = "write INTERVAL '1' DAY"
        report.add("INVALID_WINDOW", "a window needs a length above zero", window, hint)
    elif window.args.get("offset"):
        hint = "leave it out, or name a time zone instead"
        message = "a window of the calendar has no offset"
        report.add("INVALID_WINDOW", message, window.args["offset"], hint)
    elif not is_zoned(window) and window.args.get("zone"):
        hint = "leave the time zone out"
        message = "a TIMESTAMP without time zone has a wall clock of its own"
        report.add("INVALID_WINDOW", message, window.args["zone"], hint)


def is_zoned(window: WindowTable) -> bool:
    """Return whether the event time of a bound window table has a time zone."""
    return type_of(window.args["time"]) != t.TIMESTAMP


def _check_fixed(window: WindowTable, report: Diagnostics) -> None:
    for key in ("size", "slide", "offset"):
        node = window.args.get(key)
        if node is None:
            continue
        span = interval(node)
        if span is None:
            hint = "use milliseconds to weeks, or TUMBLE: months have no fixed length"
            report.add("INVALID_WINDOW", "a window needs a fixed length", node, hint)
            return
        if span.total_seconds() <= 0 and key != "offset":
            hint = "write INTERVAL '1' HOUR"
            report.add("INVALID_WINDOW", "a window needs a length above zero", node, hint)
            return
        if span % _MILLISECOND:
            hint = "round it"
            report.add("INVALID_WINDOW", "windows are of whole milliseconds", node, hint)
            return
    kind = window.args["kind"].upper()
    size, slide = interval(window.args["size"]), interval(window.args.get("slide"))
    if size is None or slide is None:
        return
    step = "slide" if kind == "HOP" else "step"
    if size < slide or size % slide:
        hint = f"{kind}(t, ts, {step}, size): the size is a multiple of the {step}"
        report.add("INVALID_WINDOW", f"the {step} does not divide the size", window, hint)
    elif size // slide > _MOST_WINDOWS:
        message = f"each row would be in {size // slide:,} windows"
        report.add("INVALID_WINDOW", message, window, f"use a longer {step}")


def replace_window_time(select: exp.Select, relations: Sequence[Relation]) -> None:
    """Replace ``window_time``, the last millisecond of a window, by the window's end, in place.

    Args:
        select: its columns are not resolved yet; a column of that name hides the window's.
    """
    group = select.args.get("group")
    for column in [each for each in select.find_all(exp.Column) if each.name == WINDOW_TIME]:
        asked = [each for each in relations if column.table in ("", each.alias)]
        windows = [each for each in asked if isinstance(each.node.this, WindowTable)]
        hidden = any(WINDOW_TIME in each.fields for each in asked)
        if column.parent_select is not select or hidden or len(windows) != 1:
            continue
        end = exp.column(WINDOW_END, table=column.table or None)
        if column.parent is group:
            column.replace(end)
            continue
        last = exp.Interval(this=exp.Literal.string("1"), unit=exp.var("MILLISECOND"))
        time: exp.Expr = exp.Sub(this=end, expression=last)
        if column.parent is select:
            time = exp.alias_(time, WINDOW_TIME)
        column.replace(time)


def recognise_date_trunc(
    select: exp.Select, relations: Sequence[Relation], catalog: Catalog
) -> None:
    """Rewrite a group key ``date_trunc(unit, ts)`` on an event time into a TUMBLE, in place.

    Args:
        select: a SELECT whose columns are resolved.
        catalog: where event times come from.
    """
    group = select.args.get("group")
    if not group:
        return
    for relation, may_miss in zip(relations, optional(select), strict=False):
        if may_miss or relation.broken or any(name in relation.fields for name in BOUNDS):
            continue
        times = relation_times(relation.node, catalog)
        keys = [key for key in group.expressions if _truncates(key, relation.alias, times)]
        if keys:
            key = min(keys, key=lambda item: _TRUNC_UNITS.index(item.text("unit").upper())).copy()
            if _wrap(relation.node, key, relation.alias, catalog):
                _replace_key(select, key, relation)
                return


def _truncates(key: exp.Expr, alias: str, times: Mapping[str, EventTime]) -> bool:
    return (
        isinstance(key, exp.TimestampTrunc)
        and isinstance(key.this, exp.Column)
        and key.this.table == alias
        and key.this.name in times
        and key.text("unit").upper() in _TRUNC_UNITS
    )


def _replace_key(select: exp.Select, key: exp.Expr, relation: Relation) -> None:
    having = select.args.get("having")
    heads = [*select.selects, *select.args["group"].expressions, *([having] if having else [])]
    kind = relation.fields[key.this.name].type
    for head in heads:
        for node in list(head.find_all(type(key))):
            if node == key:
                bound = _bound(WINDOW_START, relation.alias, kind)
                bound.meta.update(node.this.meta)
                bound.meta[NULLABLE] = False
                node.replace(bound)


def _bound(name: str, alias: str, kind: exp.DataType) -> exp.Column:
    column = exp.column(name, table=alias)
    column.type = kind.copy()
    column.meta[NULLABLE] = False
    return column


def _wrap(node: exp.Expr, key: exp.Expr, alias: str, catalog: Catalog) -> bool:
    """Put the window that a key stands for around a FROM item; False if it cannot be there."""
    size = exp.Interval(this=exp.Literal.string("1"), unit=exp.Var(this=key.text("unit").upper()))
    window = WindowTable(kind="tumble", this=node.copy(), time=key.this.copy(), size=size)
    window.args["time"].type = type_of(key.this)
    below = isinstance(node, exp.Subquery)
    found = pushed_down(window, catalog) if below else exp.Table(this=window)
    if found is None:
        return False
    found.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    node.replace(found)
    return True


def complete_window_keys(select: exp.Select) -> None:
    """Add the other bound of a window to GROUP BY if one is there, in place."""
    group = select.args.get("group")
    source = select.args.get("from_")
    if not group or source is None:
        return
    nodes = [source.this, *(join.this for join in select.args.get("joins") or [])]
    for node in nodes:
        if not (isinstance(node, exp.Table) and isinstance(node.this, WindowTable)):
            continue
        found = {
            key.name: key
            for key in group.expressions
            if isinstance(key, exp.Column) and key.table == node.alias and key.name in BOUNDS
        }
        if len(found) == 1:
            kind = type_of(next(iter(found.values())))
            (missing,) = set(BOUNDS) - set(found)
            group.append("expressions", _bound(missing, node.alias, kind))
