"""Windows over subqueries → windows over the relation within that has the event time.

In: a bound window table over a subquery. Out: the subquery, with the window around the relation
that its time comes from. The rows are the same, and a row is late for each of its windows, not for
its own time.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.bind.scope import NULLABLE
from headwater.analyze.definitions import Catalog
from headwater.analyze.query_parts import (
    is_aggregate,
    is_distinct,
    is_union_all,
    optional,
    relations,
    union_branches,
    window_calls,
)
from headwater.analyze.time.event_time import WINDOW_END, WINDOW_START
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.syntax import WindowTable

_BOUNDS = (WINDOW_START, WINDOW_END)


def pushed_down(node: exp.Table, catalog: Catalog) -> exp.Subquery | None:
    """Return what stands for a window table over a subquery, None if it must stay where it is.

    Args:
        node: the bound FROM item; what is within is changed.
    """
    window: WindowTable = node.this
    if not isinstance(window.this, exp.Subquery) or not is_union_all(window.this.this):
        return None
    branches = union_branches(window.this.this)
    places = [_place(branch, window.args["time"].name, catalog) for branch in branches]
    if any(place is None for place in places):
        return None
    kind = type_of(window.args["time"])
    for branch, place in zip(branches, places, strict=True):
        assert place is not None
        item, name = place
        alias = item.alias_or_name
        time = exp.column(name, table=alias)
        time.type = kind.copy()
        own = window.copy()
        own.set("this", item.copy())
        own.set("time", time)
        around = exp.Table(this=own, alias=exp.TableAlias(this=exp.to_identifier(alias)))
        item.replace(pushed_down(around, catalog) or around)
        for bound in _BOUNDS:
            column = exp.column(bound, table=alias)
            column.type = kind.copy()
            column.meta[NULLABLE] = False
            output = exp.Alias(this=column, alias=exp.to_identifier(bound))
            output.type = kind.copy()
            branch.append("expressions", output)
    inner = window.this
    inner.set("alias", node.args["alias"].copy())
    return inner


def _place(branch: exp.Select, name: str, catalog: Catalog) -> tuple[exp.Expr, str] | None:
    """The FROM item of a SELECT that an output is a column of, and that column."""
    if is_aggregate(branch) or is_distinct(branch) or window_calls(branch):
        return None
    if branch.args.get("limit") or branch.args.get("offset"):
        return None
    output = next(item.unalias() for item in branch.selects if item.alias_or_name == name)
    if not isinstance(output, exp.Column):
        return None
    for item, may_miss in zip(relations(branch), optional(branch), strict=True):
        if item.alias_or_name == output.table:
            return None if may_miss or not _may_have(item, catalog) else (item, output.name)
    return None


def _may_have(item: exp.Expr, catalog: Catalog) -> bool:
    """Return whether a window can stand around a FROM item."""
    if isinstance(item, exp.Subquery):
        names = [each.alias_or_name for each in union_branches(item.this)[0].selects]
    elif isinstance(item, exp.Table) and not isinstance(item.this, WindowTable):
        known = catalog.sources.get(item.name) or catalog.views[item.name]
        names = [field.name for field in known.fields]
    else:
        return False
    return not set(_BOUNDS) & set(names)
