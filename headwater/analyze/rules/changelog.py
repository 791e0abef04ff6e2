"""Which changes a view emits: only new rows, corrected rows by key, or retractions.

In: a bound view and the catalog. Out: its :class:`~headwater.analyze.definitions.ChangelogMode`
and the emission that holds when none is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sqlglot import exp

from headwater.algebra.nodes import Aggregate, Join, Values, from_bottom
from headwater.algebra.properties.appends import only_appends
from headwater.analyze.definitions import Catalog, ChangelogMode, Emit, View
from headwater.analyze.query_parts import (
    is_aggregate,
    is_distinct,
    is_union_all,
    selects,
    window_calls,
)
from headwater.analyze.time.joins import join_times

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
        if effective_emit(view, self.catalog) is Emit.ON_WINDOW_CLOSE:
            # a row that is final stays, whatever the query does inside
            return all(map(self.appends, view.inputs))
        if _has_groups(view.query):
            return False
        root = view.tree.root
        kinds = {type(each) for each in from_bottom(root)}
        if view.inputs and Values in kinds:
            return False  # computed anew
        if kinds >= {Aggregate, Join}:
            return False  # DISTINCT of joined rows: they are replaced with those of the same unit
        return only_appends(root, self.appends)


def _has_groups(query: exp.Query) -> bool:
    """Return whether a query makes groups in a way whose rows come as corrections.

    UNION, GROUP BY, DISTINCT of a subquery, and what nobody reads of one: they have from the first,
    and a sink or a view that has read such commits could not go on with rows that only come.
    """
    inside = (each for each in selects(query) if each is not query)
    sets = query.find_all(exp.SetOperation)
    parts = (is_aggregate(each) or window_calls(each) for each in selects(query))
    return not all(map(is_union_all, sets)) or any(parts) or any(map(is_distinct, inside))
