"""Views that pass event time on: what a view that needs it reads in their place.

In: a view and the catalog. Out: the view's query over the tables below. The rows of a view do not
say which watermark they met, those of a table do. A view that only filters and computes columns,
row by row, holds no more than its query says, so that reading the query is reading the view.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.correlated.subqueries import has_predicates
from headwater.analyze.definitions import Catalog, Emit, OnError, View
from headwater.analyze.query_parts import is_stateful, relations, selects, unlike_union_all
from headwater.analyze.time.dated import DATED
from headwater.analyze.time.event_time import source_watermark
from headwater.dialect.syntax import ViewWatermark


def passed_on(view: View, catalog: Catalog, on_error: OnError) -> exp.Query | None:
    """Return a copy of a view's query in which no view is left; None where rows depend on others.

    Args:
        on_error: what the reader does with rows on which an expression fails.
    """
    alone = unlike_union_all(view.query) is None and not any(map(_has_more, selects(view.query)))
    late = view.late is not None and not view.late.accept
    if not alone or late or view.changes or view.options.get("engine"):
        return None
    dated = any(DATED in each.meta for each in view.query.find_all(exp.Table))
    if dated or view.query.find(ViewWatermark):
        return None  # its watermark is its own
    if view.emit is Emit.ON_WINDOW_CLOSE or view.on_error is not on_error:
        return None
    query = view.query.copy()
    for select in list(selects(query)):
        for item in relations(select):
            if isinstance(item, exp.Subquery | exp.Unnest):
                continue
            below = _below(item, catalog, on_error)
            if below is None:
                return None
            if isinstance(below, exp.Query):
                item.replace(exp.Subquery(this=below, alias=item.args["alias"].copy()))
    return query


def _has_more(select: exp.Select) -> bool:
    return is_stateful(select) or has_predicates(select)


def _below(item: exp.Expr, catalog: Catalog, on_error: OnError) -> exp.Expr | None:
    """What stands for a FROM item: itself if it is a landed table with a watermark."""
    if not isinstance(item, exp.Table) or not isinstance(item.this, exp.Identifier):
        return None
    if inner := catalog.views.get(item.name):
        return passed_on(inner, catalog, on_error)
    kept = catalog.sources[item.name].kept and source_watermark(item.name, catalog)
    return item if kept else None
