"""Which changes a view emits: only new rows, corrected rows by key, or retractions.

In: a bound view and the catalog. Out: its :class:`~headwater.analyze.definitions.ChangelogMode`
and the emission that holds when none is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sqlglot import exp

from headwater.analyze.correlated.subqueries import has_predicates
from headwater.analyze.definitions import Catalog, ChangelogMode, Emit, View
from headwater.analyze.query_parts import (
    has_constants,
    is_aggregate,
    is_distinct,
    is_stateful,
    is_union_all,
    joins,
    relations,
    selects,
    union_branches,
    window_calls,
)
from headwater.analyze.time.dated import DATED
from headwater.analyze.time.joins import join_times
from headwater.analyze.time.recent import RECENT
from headwater.dialect.syntax import (
    PatternRows,
    RecursiveRows,
    ViewWatermark,
    WindowTable,
    WorkingTable,
)

APPEND, UPSERT, RETRACT = ChangelogMode.APPEND, ChangelogMode.UPSERT, ChangelogMode.RETRACT


def effective_emit(view: View, catalog: Catalog) -> Emit:
    """Return when the rows of a bound view appear: as written, or the default.

    The default is EMIT CHANGES, except for a LEFT JOIN bounded in event time that nothing
    aggregates: a stream can wait until its unmatched rows are final.
    """
    if view.emit is not None:
        return view.emit
    found = list(selects(view.query))
    outer = [each for select in found for each in join_times(select, catalog) if each.join.side]
    if not outer or any(is_aggregate(select) for select in found):
        return Emit.CHANGES
    waits = len(found) == 1 and all(each.join.side == "LEFT" and each.closed for each in outer)
    return Emit.ON_WINDOW_CLOSE if waits else Emit.CHANGES


def changelog_mode(view: View, catalog: Catalog) -> ChangelogMode:
    """Return what a bound view emits."""
    return ChangelogModes(catalog).view(view)


class ChangelogModes:
    """What the views of a catalog emit; each view is looked at once."""

    def __init__(
        self, catalog: Catalog, known: Mapping[str, ChangelogMode] = MappingProxyType({})
    ) -> None:
        self.catalog = catalog
        self.known = dict(known)

    def view(self, view: View) -> ChangelogMode:
        """Return what a view emits."""
        if view.name not in self.known:
            self.known[view.name] = self._view(view)
        return self.known[view.name]

    def named(self, name: str) -> ChangelogMode:
        """Return what a source, table or view emits."""
        source = self.catalog.sources.get(name)
        return source.mode if source else self.view(self.catalog.views[name])

    def appends(self, name: str) -> bool:
        """Return whether a source, table or view only gains rows."""
        return self.named(name) is APPEND

    def _view(self, view: View) -> ChangelogMode:
        if self._appends(view):
            return APPEND
        return RETRACT if view.key is None else UPSERT

    def _appends(self, view: View) -> bool:
        if view.options.get("engine") == "full" or view.changes:
            return False
        if (view.inputs and has_constants(view.query)) or view.query.find(ViewWatermark):
            return False  # computed anew
        emit = effective_emit(view, self.catalog)
        if emit is Emit.ON_WINDOW_CLOSE and all(self.appends(name) for name in view.inputs):
            return True  # a row that is final stays, whatever the query does inside
        stateful = [select for select in selects(view.query) if is_stateful(select)]
        alone = len(stateful) == 1 and stateful[0] is view.query and not joins(stateful[0])
        if any(map(is_distinct, stateful)) and not alone:
            return False  # its rows are replaced with those of the same unit
        return self._query(view.query, emit)

    def _query(self, query: exp.Expr, emit: Emit) -> bool:
        branches = union_branches(query)
        together = len(branches) == 1 or is_union_all(query)
        return together and all(self._select(branch, emit) for branch in branches)

    def _select(self, select: exp.Select, emit: Emit) -> bool:
        if not all(self._relation(relation, emit) for relation in relations(select)):
            return False
        if emit is Emit.ON_WINDOW_CLOSE:
            return True
        if any(isinstance(relation, PatternRows) for relation in relations(select)):
            return False
        if window_calls(select) or select.args.get("limit") or has_predicates(select):
            return False
        return not is_aggregate(select) and not any(join.side for join in joins(select))

    def _relation(self, relation: exp.Expr, emit: Emit) -> bool:
        if isinstance(relation, exp.Subquery):
            return self._query(relation.this, emit)
        if isinstance(relation, (RecursiveRows, WorkingTable)):
            return False
        if not isinstance(relation, exp.Table):
            return True
        if isinstance(relation.this, WindowTable):
            return self._relation(relation.this.this, emit)
        return not ({RECENT, DATED} & relation.meta.keys()) and self.appends(relation.name)
