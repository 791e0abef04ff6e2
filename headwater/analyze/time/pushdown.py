"""Windows over subqueries → windows over the relation within that has the event time.

In: a bound window table over a subquery. Out: the subquery, with the window around the relation
that its time comes from. The rows are the same, and a row is late for each of its windows, not for
its own time. A subquery that groups by the time groups by the bounds, too, and one with DISTINCT
has them in each row: they follow from the time.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.analyze.names.scope import NULLABLE
from headwater.analyze.query_parts import (
    column_kept,
    is_union_all,
    item_named,
    union_branches,
)
from headwater.analyze.time.event_time import WINDOW_END, WINDOW_START
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.syntax import WindowTable

_BOUNDS = (WINDOW_START, WINDOW_END)


Place = tuple[exp.Select, exp.Expr, str]
"""A SELECT, an item of its FROM, and the item's column that its event time is."""


def pushed_down(window: WindowTable, catalog: Catalog) -> exp.Subquery | None:
    """Return what stands for a window table over a subquery, None if it must stay where it is.

    Args:
        window: bound; what is within is changed.
    """
    if not isinstance(window.this, exp.Subquery):
        return None
    places = _places(window.this, window.args["time"].name, catalog)
    if places is None:
        return None
    kind = type_of(window.args["time"])
    for select, item, name in places:
        alias = item.alias_or_name
        if isinstance(item, exp.Table):
            time = _typed(exp.column(name, table=alias), kind)
            own = window.copy()
            own.set("this", item.copy())
            own.set("time", time)
            item.set("this", own)
        for bound in _BOUNDS:
            column = _typed(exp.column(bound, table=alias), kind)
            column.meta[NULLABLE] = False
            output = exp.Alias(this=column, alias=exp.to_identifier(bound))
            select.append("expressions", _typed(output, kind))
            if group := select.args.get("group"):
                group.append("expressions", column.copy())
    return window.this


def _typed(node: exp.Expr, kind: exp.DataType) -> exp.Expr:
    node.type = kind.copy()
    return node


def _places(subquery: exp.Subquery, name: str, catalog: Catalog) -> list[Place] | None:
    """Where the bounds of a window belong, the innermost first; None if there is no such place."""
    if not is_union_all(subquery.this):
        return None
    found: list[Place] = []
    for branch in union_branches(subquery.this):
        place = _place(branch, name, catalog)
        if place is None:
            return None
        _, item, inner = place
        below = _places(item, inner, catalog) if isinstance(item, exp.Subquery) else []
        if below is None:
            return None
        found += [*below, place]
    return found


def _place(branch: exp.Select, name: str, catalog: Catalog) -> Place | None:
    """The FROM item of a SELECT that an output is a column of, and that column."""
    column = column_kept(branch, name)
    item = None if column is None else item_named(branch, column.table)
    if column is None or item is None or not _may_have(item, catalog):
        return None
    return branch, item, column.name


def _may_have(item: exp.Expr, catalog: Catalog) -> bool:
    """Return whether a FROM item can have the bounds of a window."""
    if isinstance(item, exp.Subquery):
        names = [each.alias_or_name for each in union_branches(item.this)[0].selects]
    elif isinstance(item, exp.Table) and not isinstance(item.this, WindowTable):
        known = catalog.sources.get(item.name) or catalog.views[item.name]
        names = [field.name for field in known.fields]
    else:
        return False
    return not set(_BOUNDS) & set(names)
