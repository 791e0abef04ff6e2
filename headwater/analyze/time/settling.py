"""What makes a row final: the event times that a SELECT reads, and how they settle it.

In: the event times of all that a SELECT reads (:class:`Scope`) and what its groups and calls with
OVER depend on. Out: by which event time its rows are dated and how far past it the watermark must
be (:class:`Settled`), or why nothing says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property

from sqlglot import exp

from headwater.analyze.correlated.subqueries import has_predicates
from headwater.analyze.query_parts import first_aggregate, is_aggregate, is_distinct, window_calls
from headwater.analyze.time.bounds import Name
from headwater.analyze.time.distances import Distance, Distances
from headwater.analyze.time.event_time import (
    MICROSECOND,
    NONE,
    TRUNC_UNITS,
    WINDOW_END,
    WINDOW_START,
    EventTime,
    Grid,
    Reach,
    Reads,
    Times,
    merged,
)
from headwater.analyze.time.lengths import calendar_length, window_length
from headwater.analyze.time.over import Demand, demand_of
from headwater.dialect.syntax import WindowTable

_BEST = ("window_end", "window_start", "time")
"""Kinds of event time, that which settles first before the others."""


@dataclass(frozen=True, slots=True)
class Settled:
    """When the rows of a SELECT are final.

    Attributes:
        anchors: what dates a row; the first that is not NULL does.
        after: how far past it the watermark must be.
        reads: the rows that stand behind a row, relative to the anchor.
        dates: by mention in FROM, how far a row's date can be past the event time of a row behind.
        grid: the dates that there can be, if they are some only.
        unless: columns that are NULL where an outer join found nothing: only such rows wait, if
            there are any.
    """

    anchors: tuple[exp.Expr, ...]
    after: timedelta
    reads: Reads
    dates: Mapping[int, timedelta] = field(default_factory=dict)
    grid: Grid | None = None
    unless: tuple[Name, ...] = ()

    def last_date(self, newest: int) -> int:
        """Return the last date that rows up to an event time can have.

        Args:
            newest: microseconds since 1970 UTC.
        """
        last = newest + max(self.dates.values(), default=NONE) // MICROSECOND
        if self.grid is None:
            return last
        first, apart = (each // MICROSECOND for each in self.grid)
        return (last - first) // apart * apart + first


@dataclass(frozen=True, slots=True)
class Unsettled:
    """Why nothing says when the rows of a SELECT are final.

    Attributes:
        what: a sentence.
        at: the place.
        hint: what to write.
    """

    what: str
    at: exp.Expr
    hint: str = ""


@dataclass
class Scope:
    """The event times that a SELECT reads.

    Attributes:
        times: by column; those of subqueries in its expressions included.
        items: by alias, all that must have one.
        optional: aliases of what can be NULL.
        steps: what is known of their distances.
        computed: group keys that cut an event time to its hour or day, by the name that stands for
            them.
        blocked: a subquery that no event time bounds.
        as_of: the versions that it looks up, and the column by whose time.
    """

    times: dict[Name, EventTime] = field(default_factory=dict)
    items: dict[str, exp.Expr] = field(default_factory=dict)
    optional: set[str] = field(default_factory=set)
    steps: list[Distance] = field(default_factory=list)
    computed: dict[Name, exp.Expr] = field(default_factory=dict)
    blocked: exp.Expr | None = None
    as_of: list[tuple[exp.Expr, Name | None]] = field(default_factory=list)

    def value(self, name: Name) -> exp.Expr:
        """Return an event time as an expression."""
        return self.computed[name] if name in self.computed else exp.column(name[1], name[0])

    @cached_property
    def distances(self) -> Distances:
        """How far apart they are, once all of them are known."""
        return Distances(self.times, self.steps)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The sources, tables and views whose watermarks bound them."""
        return tuple(dict.fromkeys(name for time in self.times.values() for name in time.inputs))


def name_of(node: exp.Expr) -> Name | None:
    """The name of an event time where it is written as a column, or cut to its hour or day."""
    if isinstance(node, exp.Column):
        return node.table, node.name
    if isinstance(node, exp.TimestampTrunc) and isinstance(node.this, exp.Column):
        return node.this.table, node.sql()
    return None


def add_computed(scope: Scope, key: exp.Expr) -> None:
    """Add what a group key cuts an event time to: the start of a window of its own."""
    name, unit = name_of(key), key.text("unit").upper()
    if name is None or not isinstance(key, exp.TimestampTrunc) or unit not in TRUNC_UNITS:
        return
    of = (name[0], key.this.name)
    time = scope.times.get(of)
    if time is None:
        return
    size = TRUNC_UNITS[unit]
    scope.times[name] = replace(
        time,
        kind="window_start",
        lag=time.lag + size,
        reads=seen(time, Reach(NONE, size)),
        grid=(NONE, size),
    )
    scope.steps += [Distance(of, name, NONE), Distance(name, of, size)]
    scope.computed[name] = key.copy()


def seen(time: EventTime, by: Reach) -> Reads:
    """Return the rows behind a value that lies within a reach of an event time."""
    return {mention: reach + by for mention, reach in time.reads.items()}


def within_window(alias: str, window: WindowTable, times: Times) -> Iterator[Distance]:
    """What is known of the bounds of a window and the time in it."""
    size = window_length(window)
    if size is None or WINDOW_END not in times:
        return
    exact = window.args["kind"] in ("tumble", "hop") and calendar_length(window) is None
    time, start, end = (
        (alias, name) for name in (window.args["time"].name, WINDOW_START, WINDOW_END)
    )
    for before, after, most in (
        (time, start, NONE),
        (start, time, size),
        (end, time, NONE),
        (time, end, size),
        (start, end, size),
        (end, start, -size if exact else -MICROSECOND),
    ):
        yield Distance(before, after, most)


def demands_of(select: exp.Select, scope: Scope) -> list[Demand] | Unsettled:
    """What the groups and the calls with OVER of a SELECT depend on; empty if it has none."""
    if is_aggregate(select):
        group = select.args.get("group")
        named = [name for key in (group.expressions if group else []) if (name := name_of(key))]
        keys = [key for key in named if key in scope.times and key[0] not in scope.optional]
        if not keys:
            hint = "group by date_trunc('hour', ts), or write EMIT CHANGES"
            if any(
                name == WINDOW_START and (item, WINDOW_END) in scope.times for item, name in named
            ):
                hint = "group by window_end too: it says when a session is over"
            message = "nothing says when a group is final: no window is among the group keys"
            return Unsettled(message, group or first_aggregate(select), hint)
        return [Demand(min(keys, key=lambda key: rank(scope, key)))]
    found = []
    for call in window_calls(select):
        demand = demand_of(call, scope.times)
        if isinstance(demand, str):
            hint = "order by event time, partition by a window, or write EMIT CHANGES"
            return Unsettled(f"nothing says when a row is final: {demand}", call, hint)
        found.append(demand)
    return found


def versions_of(scope: Scope) -> list[Demand] | Unsettled:
    """What as-of joins depend on: the versions up to the time by which they are asked."""
    found = []
    for item, asked in scope.as_of:
        if asked is None or asked not in scope.times:
            what = f"the version of {item.alias_or_name} is asked for by what is no event time"
            hint = "ask by the column of the WATERMARK of the left side, or write EMIT CHANGES"
            return Unsettled(what, item, hint)
        if asked[0] in scope.optional:
            what = f"the version of {item.alias_or_name} is asked for by a time that may be missing"
            hint = f"join {asked[0]} without LEFT, ask by another time, or write EMIT CHANGES"
            return Unsettled(what, item, hint)
        found.append(Demand(asked, of=item.alias_or_name))
    return found


def waits(select: exp.Select, scope: Scope) -> bool:
    """Return whether a SELECT that neither groups nor ranks has rows that can still change."""
    return bool(scope.optional) or is_distinct(select) or has_predicates(select)


def anchors_of(select: exp.Select, scope: Scope) -> list[Name]:
    """What can date the rows of a SELECT that neither groups nor ranks them."""
    names = [name for name in scope.times if name[0] not in scope.optional]
    if not is_distinct(select):
        return names
    columns = (item.unalias() for item in select.selects)
    shown = [(c.table, c.name) for c in columns if isinstance(c, exp.Column)]
    return [name for name in names if name in shown]


def optional_times(scope: Scope) -> tuple[Name, ...]:
    """The event times of what outer joins may not find."""
    return tuple(_best(scope, alias) for alias in scope.items if alias in scope.optional)


def either_of(scope: Scope, *, waits: bool) -> Settled | None:
    """When a row is final of which any part may be missing: a FULL JOIN.

    Args:
        waits: whether a row waits of which no part is missing.
    """
    if any(not _times_of(scope, alias) for alias in scope.items):
        return None
    names = tuple(_best(scope, alias) for alias in scope.items)
    found = [settled for name in names if (settled := settle(scope, name, []))]
    if len(found) < len(names) or not names:
        return None
    dates = {
        mention: max(each.dates.get(mention, NONE) for each in found)
        for one in found
        for mention in one.dates
    }
    reads = merged(*(each.reads for each in found))
    after = max(each.after for each in found)
    anchors = tuple(map(scope.value, names))
    return Settled(anchors, after, reads, dates, unless=() if waits else names)


def _times_of(scope: Scope, alias: str) -> list[Name]:
    return [name for name in scope.times if name[0] == alias]


def _best(scope: Scope, alias: str) -> Name:
    return min(_times_of(scope, alias), key=lambda name: rank(scope, name))


def rank(scope: Scope, name: Name) -> int:
    """Return which event times are taken before others: bounds of windows settle sooner."""
    return _BEST.index(scope.times[name].kind)


def settle(scope: Scope, anchor: Name, demands: list[Demand]) -> Settled | None:
    """When all is there that rows dated by a column depend on; None if that is never certain."""
    if scope.blocked is not None:
        return None
    distances = scope.distances
    own = _rows_up_to(scope, distances, anchor, scope.items)
    if own is None:
        return None
    after, reads = own.after, own.reads
    for demand in demands:
        most = distances.most(anchor, demand.anchor)
        items = [demand.of] if demand.of else scope.items
        behind = _rows_up_to(scope, distances, demand.anchor, items)
        highest = demand.reach.highest
        if most is None or behind is None or highest is None:
            return None
        least = distances.most(demand.anchor, anchor)
        apart = Reach(None if least is None else -least, most) + demand.reach
        after = max(after, most + highest + behind.after)
        reads = merged(reads, {mention: reach + apart for mention, reach in behind.reads.items()})
    return replace(own, after=after, reads=reads)


def _rows_up_to(
    scope: Scope, distances: Distances, anchor: Name, items: Collection[str]
) -> Settled | None:
    """How far the watermark must be past a column before all that some items can meet is there."""
    after, reads, dates = NONE, list[Reads](), dict[int, timedelta]()
    for alias in items:
        best: tuple[bool, timedelta, EventTime, Reach] | None = None
        for name in _times_of(scope, alias):
            time, most = scope.times[name], distances.most(anchor, name)
            if most is None:
                continue
            least = distances.most(name, anchor)
            apart = Reach(None if least is None else -least, most)
            found = (least is None, most + time.settles, time, apart)
            best = found if best is None or found[:2] < best[:2] else best
        if best is None:
            return None
        _, settles, time, apart = best
        after = max(after, settles)
        reads.append(seen(time, apart))
        for mention, reach in time.reads.items():
            ahead = time.ahead if reach.lowest is None else -reach.lowest
            dates[mention] = ahead - (apart.lowest if apart.lowest is not None else NONE)
    grid = scope.times[anchor].grid
    return Settled((scope.value(anchor),), after, merged(*reads), dates, grid)


def unbounded(select: exp.Select, scope: Scope, anchors: list[Name]) -> Unsettled:
    """Say which item no event time bounds."""
    if scope.blocked is not None:
        hint = "bound its event times in its WHERE, or write EMIT CHANGES"
        return Unsettled("a subquery may change a row at any time", scope.blocked, hint)
    for alias, item in scope.items.items():
        mine = _times_of(scope, alias)
        if not mine:
            hint = "declare WATERMARK FOR ts AS … in it, or write EMIT CHANGES"
            if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
                hint = hint.replace("it,", f"{item.name}, if it is a view EMIT ON WINDOW CLOSE,")
            return Unsettled(f"rows of {alias} have no event time", item, hint)
        for anchor in anchors[:1]:
            if mine and all(scope.distances.most(anchor, name) is None for name in mine):
                times = ".".join(mine[0]), ".".join(anchor)
                hint = "bound it: AND {0} BETWEEN {1} AND {1} + INTERVAL '1' HOUR".format(*times)
                return Unsettled(f"rows of {alias} may come any time later", item, hint)
    return Unsettled("nothing says when a row is final", select, "write EMIT CHANGES")
