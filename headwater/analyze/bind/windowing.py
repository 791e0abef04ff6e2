"""Windows of event time in FROM and GROUP BY.

In: window tables with resolved inputs, SELECTs with resolved columns. Out: the columns of a window
table; ``GROUP BY date_trunc('hour', ts)`` on an event time rewritten to a ``TUMBLE`` window; group
keys that hold both bounds of a window as soon as they hold one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from headwater.analyze.bind.scope import NULLABLE, Relation
from headwater.analyze.definitions import Catalog, Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.time.event_time import (
    WINDOW_END,
    WINDOW_START,
    EventTime,
    interval,
)
from headwater.analyze.time.finality import relation_times
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.syntax import WindowTable

BOUNDS = (WINDOW_START, WINDOW_END)
_TRUNC_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY")


def window_fields(window: WindowTable, inner: Relation, report: Diagnostics) -> list[Field]:
    """Return the columns of a window table: its input's, then the bounds of the window.

    Args:
        window: the window, its time column resolved.
    """
    time = window.args["time"]
    kind = type_of(time)
    if not t.is_unknown(kind) and not t.is_timestamp(kind):
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
    for key in ("size", "slide", "offset"):
        node = window.args.get(key)
        if node is None:
            continue
        span = interval(node)
        if span is None:
            hint = "use microseconds to weeks: months have no fixed length"
            report.add("INVALID_WINDOW", "a window needs a fixed length", node, hint)
            return
        if span.total_seconds() <= 0 and key != "offset":
            report.add(
                "INVALID_WINDOW",
                "a window needs a length above zero",
                node,
                "write INTERVAL '1' HOUR",
            )
            return
    size, slide = interval(window.args["size"]), interval(window.args.get("slide"))
    if size is not None and slide is not None and (size < slide or size % slide):
        hint = "HOP(t, ts, slide, size): the size is a multiple of the slide"
        report.add("INVALID_WINDOW", "the slide does not divide the size", window, hint)


def recognise_date_trunc(
    select: exp.Select, relations: Sequence[Relation], catalog: Catalog
) -> None:
    """Rewrite a group key ``date_trunc(unit, ts)`` on an event time into a TUMBLE, in place.

    Args:
        select: a SELECT whose columns are resolved.
        catalog: where event times come from.
    """
    group = select.args.get("group")
    if not group or len(relations) != 1 or select.args.get("joins"):
        return
    relation = relations[0]
    if isinstance(relation.node, exp.Table) and isinstance(relation.node.this, WindowTable):
        return
    if relation.broken or any(name in relation.fields for name in BOUNDS):
        return
    times = relation_times(relation.node, catalog)
    keys = [key for key in group.expressions if _truncates(key, times)]
    if not keys:
        return
    key = min(keys, key=lambda item: _TRUNC_UNITS.index(item.text("unit").upper()))
    _replace_key(select, key.copy(), relation)
    _wrap(relation.node, key, relation.alias)


def _truncates(key: exp.Expr, times: Mapping[str, EventTime]) -> bool:
    return (
        isinstance(key, exp.TimestampTrunc)
        and isinstance(key.this, exp.Column)
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


def _wrap(node: exp.Expr, key: exp.Expr, alias: str) -> None:
    size = exp.Interval(this=exp.Literal.string("1"), unit=exp.Var(this=key.text("unit").upper()))
    window = WindowTable(kind="tumble", this=node.copy(), time=key.this.copy(), size=size)
    window.args["time"].type = type_of(key.this)
    named = exp.TableAlias(this=exp.to_identifier(alias))
    node.replace(exp.Table(this=window, alias=named))


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
