"""Columns of subqueries that can fail and that nobody reads: no engine computes them.

In: a bound query. Out: a copy without them, so that no row is left out because of what is not even
looked at. Other columns stay: an event time that is not read may date the rows.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from headwater.analyze.fallibility.fallible import failing
from headwater.analyze.query_parts import (
    is_aggregate,
    is_distinct,
    is_union_all,
    relations,
    selects,
    union_branches,
)
from headwater.plan.guards.computed import renamed


def without_unread(query: exp.Query) -> exp.Query:
    """Return a copy of a bound query without the unread columns of its subqueries that can fail."""
    copy = query.copy()
    for select in list(selects(copy)):  # the outermost first: it says what is read below
        read = {(each.table, each.name) for each in select.find_all(exp.Column)}
        for item in relations(select):
            if isinstance(item, exp.Subquery) and is_union_all(item.this):
                _drop(item, {name for alias, name in read if alias == item.alias_or_name})
    return copy


def _drop(item: exp.Subquery, read: Collection[str]) -> None:
    branches, given = union_branches(item.this), renamed(item)
    names = given or [each.alias_or_name for each in branches[0].selects]
    kept = [
        at
        for at, (name, *same) in enumerate(zip(names, *(b.selects for b in branches), strict=True))
        if name in read or not any(any(failing(each)) for each in same) or _named(branches, at)
    ]
    if kept and len(kept) < len(names) and all(_stays(branch, kept) for branch in branches):
        for branch in branches:
            branch.set("expressions", [branch.selects[at] for at in kept])
        if given:
            alias = item.args["alias"]
            alias.set("columns", [alias.columns[at] for at in kept])


def _named(branches: Collection[exp.Select], at: int) -> bool:
    """Whether a clause of the subquery itself has an output by its name, as ORDER BY may."""
    return any(
        not column.table and column.name == branch.selects[at].alias_or_name
        for branch in branches
        for clause in ("having", "qualify", "order")
        if (held := branch.args.get(clause)) is not None
        for column in held.find_all(exp.Column)
    )


def _stays(select: exp.Select, kept: Collection[int]) -> bool:
    """Whether a SELECT has the same rows with some of its columns."""
    if is_distinct(select):
        return False
    if select.args.get("group") or not is_aggregate(select):
        return True
    return any(select.selects[at].find(exp.AggFunc) for at in kept)
