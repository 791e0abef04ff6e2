"""When the rows of a query are final: no row that is still taken can change them.

In: a bound query and the catalog. Out: the event-time columns of its result, and for a SELECT its
:class:`Settled`: by which event time its rows are dated, and how far past it the watermark must be.

What a row depends on is bounded in event time: a group by the time or window among its keys, a row
of OVER by its own time, a joined row by the times that its join compares. All of it is there once
the watermark has passed the latest time that it can have (TIME.md calls this the close rule).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from sqlglot import exp

from headwater.analyze.bind.sessions import SESSION, TIME, input_of
from headwater.analyze.bind.subqueries import has_predicates, predicates, query_of
from headwater.analyze.definitions import Catalog, Emit
from headwater.analyze.query_parts import (
    is_aggregate,
    is_distinct,
    is_union_all,
    optional,
    relations,
    union_branches,
    window_calls,
)
from headwater.analyze.time.bounds import Name
from headwater.analyze.time.distances import Distances, Step, steps_of
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
    interval,
    merged,
    source_watermark,
)
from headwater.analyze.time.lengths import calendar_length, grid_of, window_length
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


@dataclass(slots=True)
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
    """

    times: dict[Name, EventTime] = field(default_factory=dict)
    items: dict[str, exp.Expr] = field(default_factory=dict)
    optional: set[str] = field(default_factory=set)
    steps: list[Step] = field(default_factory=list)
    computed: dict[Name, exp.Expr] = field(default_factory=dict)
    blocked: exp.Expr | None = None

    def value(self, name: Name) -> exp.Expr:
        """Return an event time as an expression."""
        return self.computed[name] if name in self.computed else exp.column(name[1], name[0])

    @property
    def distances(self) -> Distances:
        """How far apart they are."""
        return Distances(self.times, self.steps)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The sources, tables and views whose watermarks bound them."""
        return tuple(dict.fromkeys(name for time in self.times.values() for name in time.inputs))


def event_time_columns(query: exp.Query, catalog: Catalog) -> Times:
    """Return the event-time columns of a bound query's result, by name."""
    return Finality(catalog).query(query)


def relation_times(relation: exp.Expr, catalog: Catalog) -> Times:
    """Return the event-time columns of one bound FROM item, by name.

    Args:
        relation: a table, a window table or a subquery.
    """
    return Finality(catalog).relation(relation)


class Finality:
    """One pass over a catalog; views are looked at once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._views: dict[str, Times] = {}

    # -- the event times of results

    def query(self, query: exp.Expr) -> Times:
        """Return the event-time columns of a bound query's result, by name."""
        if isinstance(query, exp.Subquery):
            return self.query(query.this)
        if isinstance(query, exp.SetOperation):
            return self._union(query) if is_union_all(query) else {}
        assert isinstance(query, exp.Select)
        return self._select(query)

    def relation(self, relation: exp.Expr) -> Times:
        """Return the event-time columns of one bound FROM item, by name."""
        if isinstance(relation, exp.Subquery):
            session = relation.meta.get(SESSION)
            return self.query(relation.this) if session is None else self._session(relation)
        if not isinstance(relation, exp.Table):
            return {}
        if isinstance(relation.this, WindowTable):
            return self._window(relation.this, id(relation))
        return self._named(relation.name, id(relation))

    def _named(self, name: str, mention: int) -> Times:
        reads = {mention: Reach()}
        if column := source_watermark(name, self._catalog):
            return {column: EventTime(column, (name,), reads=reads)}
        view = self._catalog.views.get(name)
        if view is None or view.emit is not Emit.ON_WINDOW_CLOSE:
            return {}  # rows of other views are corrected, or come however late
        if name not in self._views:
            self._views[name] = self.query(view.query)
        waits = view.late.allowed if view.late else NONE
        return {
            column: replace(time, inputs=(name,), reads=reads, lag=time.lag + waits)
            for column, time in self._views[name].items()
        }

    def _window(self, window: WindowTable, mention: int) -> Times:
        inner = self.relation(window.this)
        if isinstance(window.this, exp.Table):
            # the table in FROM is the one around the window
            inner = {name: replace(time, reads={mention: Reach()}) for name, time in inner.items()}
        time = inner.get(window.args["time"].name)
        size = window_length(window)
        if time is None or size is None:
            return inner
        grid = grid_of(window)
        end = EventTime(
            WINDOW_END,
            time.inputs,
            "window_end",
            time.lag,
            _seen(time, Reach(-size, NONE)),
            time.ahead + size,
            grid,
        )
        start = EventTime(
            WINDOW_START,
            time.inputs,
            "window_start",
            time.lag + size,
            _seen(time, Reach(NONE, size)),
            time.ahead,
            grid,
        )
        return {**inner, WINDOW_START: start, WINDOW_END: end}

    def _session(self, session: exp.Subquery) -> Times:
        """Of a session only the end tells when it is over: it may have begun any time before."""
        time = self.relation(input_of(session)).get(session.meta[TIME])
        gap = interval(session.meta[SESSION])
        if time is None or gap is None:
            return {}
        reads = _seen(time, Reach(None, NONE))
        ahead = time.ahead + gap
        end = EventTime(WINDOW_END, time.inputs, "window_end", time.lag, reads, ahead)
        return {WINDOW_END: end}

    def _select(self, select: exp.Select) -> Times:
        if select.args.get("limit") or select.args.get("offset"):
            return {}
        scope = self.scope(select)
        demands = _demands(select, scope)
        if isinstance(demands, Unsettled):
            return {}
        found: Times = {}
        for item in select.selects:
            name = _name(item.unalias())
            if name is None or name not in scope.times or name[0] in scope.optional:
                continue
            settled = _settle(scope, name, demands)
            if settled is None:
                continue
            time = scope.times[name]
            lag = settled.after - (time.settles - time.lag)
            found[item.alias_or_name] = replace(
                time,
                column=item.alias_or_name,
                inputs=scope.inputs,
                lag=lag,
                reads=settled.reads,
            )
        return found

    def _union(self, union: exp.SetOperation) -> Times:
        branches = union_branches(union)
        times = [self.query(branch) for branch in branches]
        found: Times = {}
        for at, item in enumerate(branches[0].selects):
            known = [
                each.get(branch.selects[at].alias_or_name)
                for each, branch in zip(times, branches, strict=True)
            ]
            sure = [time for time in known if time is not None]
            if len(sure) == len(known) and len({time.kind for time in sure}) == 1:
                name = item.alias_or_name
                inputs = tuple(dict.fromkeys(each for time in sure for each in time.inputs))
                lag = max(time.lag for time in sure)
                reads = merged(*(time.reads for time in sure))
                ahead = max(time.ahead for time in sure)
                found[name] = EventTime(name, inputs, sure[0].kind, lag, reads, ahead)
        return found

    # -- what one SELECT reads

    def scope(self, select: exp.Select) -> Scope:
        """Return the event times that a SELECT reads, and what it says of their distances."""
        scope = Scope()
        outer = select.args.get("joins") or []
        for item, may_miss in zip(relations(select), optional(select), strict=True):
            self._add(scope, item, may_miss=may_miss)
        for join in outer:
            owner = join.this.alias_or_name if join.side else ""
            scope.steps += steps_of(join.args.get("on"), scope.times, owner)
        where = select.args.get("where")
        self._predicates(scope, select)
        scope.steps += steps_of(where.this if where else None, scope.times)
        group = select.args.get("group")
        for key in group.expressions if group else ():
            _compute(scope, key)
        return scope

    def _add(self, scope: Scope, item: exp.Expr, *, may_miss: bool) -> None:
        if isinstance(item, exp.Unnest):
            return
        alias = item.alias_or_name
        scope.items[alias] = item
        if may_miss:
            scope.optional.add(alias)
        times = self.relation(item)
        scope.times |= {(alias, name): time for name, time in times.items()}
        if isinstance(item, exp.Table) and isinstance(item.this, WindowTable):
            scope.steps += _within(alias, item.this, times)

    def _predicates(self, scope: Scope, select: exp.Select) -> None:
        """Take the subqueries of a SELECT for items whose WHERE bounds them."""
        roots = [select.args.get(key) for key in ("where", "having", "qualify")]
        for predicate in (p for root in (*select.selects, *roots) for p in predicates(root)):
            query = query_of(predicate)
            if not isinstance(query, exp.Select) or query.args.get("joins"):
                scope.blocked = predicate
                return
            before = len(scope.items)
            for item in relations(query):
                self._add(scope, item, may_miss=True)
            owner = next(iter([*scope.items][before:]), "")
            where = query.args.get("where")
            scope.steps += steps_of(where.this if where else None, scope.times, owner)
            if isinstance(predicate, exp.In):
                same = exp.EQ(this=predicate.this, expression=query.selects[0].unalias())
                scope.steps += steps_of(same, scope.times, owner)
            if has_predicates(query):
                scope.blocked = predicate

    # -- when rows are final

    def settled(self, select: exp.Select) -> Settled | Unsettled | None:
        """Return when the rows of a bound SELECT are final; None if they are at once."""
        if select.args.get("limit") or select.args.get("offset"):
            return Unsettled("LIMIT looks at all rows", select, "rank rows within a window")
        scope = self.scope(select)
        demands = _demands(select, scope)
        if isinstance(demands, Unsettled):
            return demands
        changes = any(self._changes(item) for item in relations(select))
        if not demands and not changes and not _waits(select, scope):
            return None
        anchors = [demand.anchor for demand in demands] or _anchors(select, scope)
        found = [
            (_rank(scope, name), each.after, number, each)
            for number, name in enumerate(anchors)
            if (each := _settle(scope, name, demands))
        ]
        if found:
            *_, settled = min(found, key=lambda each: each[:3])
            waits = demands or changes or is_distinct(select) or has_predicates(select)
            return settled if waits else replace(settled, unless=_optional_times(scope))
        either = None if demands or anchors else _either(scope, waits=changes)
        return either or _unbounded(select, scope, anchors)

    def _changes(self, item: exp.Expr) -> bool:
        """Return whether rows of a FROM item can change before they are final."""
        if isinstance(item, exp.Subquery):
            branches = union_branches(item.this)
            return SESSION in item.meta or any(self.settled(each) is not None for each in branches)
        window = item.this if isinstance(item, exp.Table) else None
        return isinstance(window, WindowTable) and self._changes(window.this)


def _name(node: exp.Expr) -> Name | None:
    """The name of an event time where it is written as a column, or cut to its hour or day."""
    if isinstance(node, exp.Column):
        return node.table, node.name
    if isinstance(node, exp.TimestampTrunc) and isinstance(node.this, exp.Column):
        return node.this.table, node.sql()
    return None


def _compute(scope: Scope, key: exp.Expr) -> None:
    """Add what a group key cuts an event time to: the start of a window of its own."""
    name, unit = _name(key), key.text("unit").upper()
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
        reads=_seen(time, Reach(NONE, size)),
        grid=(NONE, size),
    )
    scope.steps += [Step(of, name, NONE), Step(name, of, size)]
    scope.computed[name] = key.copy()


def _seen(time: EventTime, by: Reach) -> Reads:
    return {mention: reach + by for mention, reach in time.reads.items()}


def _within(alias: str, window: WindowTable, times: Times) -> Iterator[Step]:
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
        yield Step(before, after, most)


def _demands(select: exp.Select, scope: Scope) -> list[Demand] | Unsettled:
    """What the groups and the calls with OVER of a SELECT depend on; empty if it has none."""
    if is_aggregate(select):
        group = select.args.get("group")
        keys = [name for key in (group.expressions if group else []) if (name := _name(key))]
        keys = [key for key in keys if key in scope.times and key[0] not in scope.optional]
        if not keys:
            hint = "group by date_trunc('hour', ts), or write EMIT CHANGES"
            message = "nothing says when a group is final: no window is among the group keys"
            return Unsettled(message, group or select, hint)
        return [Demand(min(keys, key=lambda key: _rank(scope, key)))]
    found = []
    for call in window_calls(select):
        demand = demand_of(call, scope.times)
        if isinstance(demand, str):
            hint = "order by event time, partition by a window, or write EMIT CHANGES"
            return Unsettled(f"nothing says when a row is final: {demand}", call, hint)
        found.append(demand)
    return found


def _waits(select: exp.Select, scope: Scope) -> bool:
    """Return whether a SELECT that neither groups nor ranks has rows that can still change."""
    return bool(scope.optional) or is_distinct(select) or has_predicates(select)


def _anchors(select: exp.Select, scope: Scope) -> list[Name]:
    """What can date the rows of a SELECT that neither groups nor ranks them."""
    names = [name for name in scope.times if name[0] not in scope.optional]
    if not is_distinct(select):
        return names
    columns = (item.unalias() for item in select.selects)
    shown = [(c.table, c.name) for c in columns if isinstance(c, exp.Column)]
    return [name for name in names if name in shown]


def _optional_times(scope: Scope) -> tuple[Name, ...]:
    """The event times of what outer joins may not find."""
    return tuple(_best(scope, alias) for alias in scope.items if alias in scope.optional)


def _either(scope: Scope, *, waits: bool) -> Settled | None:
    """When a row is final of which any part may be missing: a FULL JOIN.

    Args:
        waits: whether a row waits of which no part is missing.
    """
    if any(not _times_of(scope, alias) for alias in scope.items):
        return None
    names = tuple(_best(scope, alias) for alias in scope.items)
    found = [settled for name in names if (settled := _settle(scope, name, []))]
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
    return min(_times_of(scope, alias), key=lambda name: _rank(scope, name))


def _rank(scope: Scope, name: Name) -> int:
    return _BEST.index(scope.times[name].kind)


def _settle(scope: Scope, anchor: Name, demands: list[Demand]) -> Settled | None:
    """When all is there that rows dated by a column depend on; None if that is never certain."""
    if scope.blocked is not None:
        return None
    distances = scope.distances
    own = _rows_up_to(scope, distances, anchor)
    if own is None:
        return None
    after, reads = own.after, own.reads
    for demand in demands:
        most = distances.most(anchor, demand.anchor)
        behind = _rows_up_to(scope, distances, demand.anchor)
        highest = demand.reach.highest
        if most is None or behind is None or highest is None:
            return None
        least = distances.most(demand.anchor, anchor)
        apart = Reach(None if least is None else -least, most) + demand.reach
        after = max(after, most + highest + behind.after)
        reads = merged(reads, {mention: reach + apart for mention, reach in behind.reads.items()})
    return replace(own, after=after, reads=reads)


def _rows_up_to(scope: Scope, distances: Distances, anchor: Name) -> Settled | None:
    """How far the watermark must be past a column before all that meets it is there."""
    after, reads, dates = NONE, list[Reads](), dict[int, timedelta]()
    for alias in scope.items:
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
        reads.append(_seen(time, apart))
        for mention, reach in time.reads.items():
            ahead = time.ahead if reach.lowest is None else -reach.lowest
            dates[mention] = ahead - (apart.lowest if apart.lowest is not None else NONE)
    grid = scope.times[anchor].grid
    return Settled((scope.value(anchor),), after, merged(*reads), dates, grid)


def _unbounded(select: exp.Select, scope: Scope, anchors: list[Name]) -> Unsettled:
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
