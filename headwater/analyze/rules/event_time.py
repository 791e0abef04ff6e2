"""Which columns carry event time, and what bounds them.

In: a bound query and the catalog. Out: per output column that is an event time, where its
watermark comes from and how far behind that watermark its values may still arrive. A column keeps
this property as long as it is passed on unchanged: through filters, projections, subqueries, UNION
ALL, group keys on a window, and views. Joins end it: which side holds the other back is the
planner's business.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, cast

from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.analyze.query_parts import is_aggregate, is_union_all, union_branches
from headwater.dialect.syntax import WindowTable

WINDOW_START, WINDOW_END = "window_start", "window_end"

_UNITS = {
    "MICROSECOND": timedelta(microseconds=1),
    "MILLISECOND": timedelta(milliseconds=1),
    "SECOND": timedelta(seconds=1),
    "MINUTE": timedelta(minutes=1),
    "HOUR": timedelta(hours=1),
    "DAY": timedelta(days=1),
    "WEEK": timedelta(weeks=1),
}


@dataclass(frozen=True, slots=True)
class EventTime:
    """One event-time column.

    Attributes:
        column: its name in the relation or query.
        inputs: the sources, tables and views whose watermarks bound it.
        kind: ``time``: an event's own time; ``window_start``, ``window_end``: bounds of a window.
        lag: with the inputs' watermark at W, no more rows below ``W - lag`` are expected.
    """

    column: str
    inputs: tuple[str, ...]
    kind: Literal["time", "window_start", "window_end"] = "time"
    lag: timedelta = timedelta(0)


Times = dict[str, EventTime]


def interval(node: exp.Expr | None) -> timedelta | None:
    """Return a constant interval as a span, None for months, years and what is no constant."""
    if not isinstance(node, exp.Interval) or not isinstance(node.this, exp.Literal):
        return None
    unit = _UNITS.get(node.text("unit").upper())
    try:
        return None if unit is None else unit * float(node.this.name)
    except (ValueError, OverflowError):
        return None


def event_time_columns(query: exp.Query, catalog: Catalog) -> Times:
    """Return the event-time columns of a bound query's result, by name."""
    return _Finder(catalog).query(query)


def relation_times(relation: exp.Expr, catalog: Catalog) -> Times:
    """Return the event-time columns of one bound FROM item, by name.

    Args:
        relation: a table, a window table or a subquery.
    """
    return _Finder(catalog).relation(relation)


def windows(query: exp.Query) -> Iterator[WindowTable]:
    """Yield the window tables of a query, the outermost first."""
    yield from query.find_all(WindowTable, bfs=True)


def source_watermark(name: str, catalog: Catalog) -> str | None:
    """Return the event-time column of a source or table, None for one without and for views."""
    source = catalog.sources.get(name)
    return source.watermark.column if source is not None and source.watermark else None


class _Finder:
    """One pass over a catalog; views are looked at once."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.views: dict[str, Times] = {}

    def query(self, query: exp.Expr) -> Times:
        if isinstance(query, exp.Subquery):
            return self.query(query.this)
        if isinstance(query, exp.SetOperation):
            return self._union(query) if is_union_all(query) else {}
        return self._select(cast(exp.Select, query))

    def relation(self, relation: exp.Expr) -> Times:
        if isinstance(relation, exp.Subquery):
            return self.query(relation.this)
        if not isinstance(relation, exp.Table):
            return {}
        if isinstance(relation.this, WindowTable):
            return self._window(relation.this)
        return self._named(relation.name)

    def _named(self, name: str) -> Times:
        if column := source_watermark(name, self.catalog):
            return {column: EventTime(column, (name,))}
        if name not in self.catalog.views:
            return {}
        if name not in self.views:
            found = self.query(self.catalog.views[name].query)
            self.views[name] = {key: replace(time, inputs=(name,)) for key, time in found.items()}
        return self.views[name]

    def _window(self, window: WindowTable) -> Times:
        inner = self.relation(window.this)
        time = inner.get(window.args["time"].name)
        size = interval(window.args["size"])
        if time is None or size is None:
            return inner
        start = EventTime(WINDOW_START, time.inputs, "window_start", time.lag + size)
        end = EventTime(WINDOW_END, time.inputs, "window_end", time.lag)
        return {**inner, WINDOW_START: start, WINDOW_END: end}

    def _select(self, select: exp.Select) -> Times:
        source = select.args.get("from_")
        joins = select.args.get("joins") or []
        if source is None or any(not isinstance(join.this, exp.Unnest) for join in joins):
            return {}
        times = self.relation(source.this)
        if is_aggregate(select):
            times = {name: time for name, time in times.items() if time.kind != "time"}
        found: Times = {}
        for item in select.selects:
            column = item.unalias()
            if isinstance(column, exp.Column) and column.name in times:
                found[item.alias_or_name] = replace(times[column.name], column=item.alias_or_name)
        return found

    def _union(self, union: exp.SetOperation) -> Times:
        branches = [self.query(branch) for branch in union_branches(union)]
        names = [item.alias_or_name for item in _first_select(union).selects]
        found: Times = {}
        for at, name in enumerate(names):
            times = [
                _nth(branch, union_branch, at)
                for branch, union_branch in zip(branches, union_branches(union), strict=True)
            ]
            known = [time for time in times if time is not None]
            if len(known) == len(times) and len({time.kind for time in known}) == 1:
                inputs = tuple(dict.fromkeys(item for time in known for item in time.inputs))
                found[name] = EventTime(name, inputs, known[0].kind, max(t.lag for t in known))
        return found


def _first_select(query: exp.Expr) -> exp.Select:
    return union_branches(query)[0]


def _nth(times: Mapping[str, EventTime], branch: exp.Select, at: int) -> EventTime | None:
    return times.get(branch.selects[at].alias_or_name)
