"""When the rows of a query are final: no row that is still taken can change them.

In: a bound query and the catalog. Out: the event-time columns of its result, and for a SELECT its
:class:`Settled`: by which event time its rows are dated, and how far past it the watermark must be.

What a row depends on is bounded in event time: a group by the time or window among its keys, a row
of OVER by its own time, a joined row by the times that its join compares. All of it is there once
the watermark has passed the latest time that it can have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import permutations

from sqlglot import exp

from headwater.analyze.correlated.subqueries import has_predicates, predicates, query_of
from headwater.analyze.definitions import Catalog, Emit
from headwater.analyze.patterns.rows import rows_read
from headwater.analyze.query_parts import (
    is_distinct,
    is_limited,
    is_union_all,
    optional,
    relations,
    union_branches,
)
from headwater.analyze.time.distances import Distance, steps_of
from headwater.analyze.time.event_time import (
    NONE,
    WINDOW_END,
    WINDOW_START,
    EventTime,
    Reach,
    Times,
    interval,
    merged,
    source_watermark,
)
from headwater.analyze.time.lengths import grid_of, window_length
from headwater.analyze.time.pattern_finality import match_times, within_match
from headwater.analyze.time.sessions import SESSION, TIME, input_of
from headwater.analyze.time.settling import (
    Scope,
    Settled,
    Unsettled,
    add_computed,
    anchors_of,
    demands_of,
    either_of,
    name_of,
    optional_times,
    rank,
    seen,
    settle,
    unbounded,
    versions_of,
    waits,
    within_window,
)
from headwater.analyze.time.versions import AS_OF, moments
from headwater.dialect.syntax import PatternRows, WindowTable


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
    """One pass over a catalog whose queries stay as they are; each is looked at once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._views: dict[str, Times] = {}
        self._scopes: dict[int, tuple[exp.Select, Scope]] = {}

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
            if AS_OF in relation.meta:  # its versions are there once their own times are
                return self.relation(relations(relation.this)[0])
            session = relation.meta.get(SESSION)
            return self.query(relation.this) if session is None else self._session(relation)
        if isinstance(relation, PatternRows):
            return match_times(relation, self.relation(rows_read(relation)))
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
        if source_watermark(window.this.name, self._catalog):
            # a row is late for its window, so it may come until that is over
            inner[time.column] = replace(time, lag=time.lag + size)
        grid = grid_of(window)
        end = EventTime(
            WINDOW_END,
            time.inputs,
            "window_end",
            time.lag,
            seen(time, Reach(-size, NONE)),
            time.ahead + size,
            grid,
        )
        start = EventTime(
            WINDOW_START,
            time.inputs,
            "window_start",
            time.lag + size,
            seen(time, Reach(NONE, size)),
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
        reads = seen(time, Reach(None, NONE))
        ahead = time.ahead + gap
        end = EventTime(WINDOW_END, time.inputs, "window_end", time.lag, reads, ahead)
        return {WINDOW_END: end}

    def _select(self, select: exp.Select) -> Times:
        if is_limited(select):
            return {}
        scope = self.scope(select)
        demands = demands_of(select, scope)
        versions = versions_of(scope)
        if isinstance(demands, Unsettled) or isinstance(versions, Unsettled):
            return {}
        demands += versions
        found: Times = {}
        for item in select.selects:
            name = name_of(item.unalias())
            if name is None or name not in scope.times or name[0] in scope.optional:
                continue
            settled = settle(scope, name, demands)
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
        # branches of a query that is refused can have different numbers of columns
        for item, *others in zip(*(branch.selects for branch in branches), strict=False):
            known = [
                each.get(shown.alias_or_name)
                for each, shown in zip(times, (item, *others), strict=True)
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
        if id(select) not in self._scopes:
            self._scopes[id(select)] = select, self._scope(select)
        return self._scopes[id(select)][1]

    def _scope(self, select: exp.Select) -> Scope:
        scope = Scope()
        outer = select.args.get("joins") or []
        for item, may_miss in zip(relations(select), optional(select), strict=True):
            self._add(scope, item, may_miss=may_miss)
        for join in outer:
            owner = join.this.alias_or_name if join.side else ""
            scope.steps += steps_of(join.args.get("on"), scope.times, owner)
        scope.as_of = moments(select)
        where = select.args.get("where")
        self._predicates(scope, select)
        scope.steps += steps_of(where.this if where else None, scope.times)
        group = select.args.get("group")
        for key in group.expressions if group else ():
            add_computed(scope, key)
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
            scope.steps += within_window(alias, item.this, times)
        elif isinstance(item, PatternRows):
            scope.steps += within_match(alias, item, times)
        elif len(times) > 1:
            scope.steps += self._within(alias, item, times)

    def _within(self, alias: str, item: exp.Expr, times: Times) -> Iterator[Distance]:
        """What a subquery or a final view says of the distances between its own event times."""
        view = self._catalog.views.get(item.name) if isinstance(item, exp.Table) else None
        query = item.this if view is None else view.query
        if not isinstance(query, exp.Query) or SESSION in item.meta:
            return
        branches = union_branches(query)
        names = [each.alias_or_name for each in branches[0].selects]
        for start, end in permutations(times, 2):
            places = names.index(start), names.index(end)
            found = [self._most(branch, *places) for branch in branches]
            known = [most for most in found if most is not None]
            if len(known) == len(found):
                yield Distance((alias, start), (alias, end), max(known))

    def _most(self, select: exp.Select, start: int, end: int) -> timedelta | None:
        """The greatest distance from one output of a SELECT to another one, by their places."""
        one, other = (name_of(select.selects[at].unalias()) for at in (start, end))
        if one is None or other is None:
            return None
        return self.scope(select).distances.most(one, other)

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
        if is_limited(select):
            return Unsettled("LIMIT looks at all rows", select, "rank rows within a window")
        scope = self.scope(select)
        demands, versions = demands_of(select, scope), versions_of(scope)
        if isinstance(demands, Unsettled):
            return demands
        if isinstance(versions, Unsettled):
            return versions
        changes = any(self._changes(item) for item in relations(select))
        if not demands and not changes and not waits(select, scope):
            return None
        anchors = [demand.anchor for demand in demands] or anchors_of(select, scope)
        demands = [*demands, *versions]
        found = [
            (rank(scope, name), each.after, number, each)
            for number, name in enumerate(anchors)
            if (each := settle(scope, name, demands))
        ]
        if found:
            *_, settled = min(found, key=lambda each: each[:3])
            holds = demands or changes or is_distinct(select) or has_predicates(select)
            return settled if holds else replace(settled, unless=optional_times(scope))
        either = None if demands or anchors else either_of(scope, waits=changes)
        return either or unbounded(select, scope, anchors)

    def _changes(self, item: exp.Expr) -> bool:
        """Return whether rows of a FROM item can change before they are final."""
        if isinstance(item, exp.Subquery):
            branches = union_branches(item.this)
            return SESSION in item.meta or any(self.settled(each) is not None for each in branches)
        if isinstance(item, PatternRows):
            return True
        window = item.this if isinstance(item, exp.Table) else None
        return isinstance(window, WindowTable) and self._changes(window.this)
