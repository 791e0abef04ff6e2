"""Queries cut to what is final: a date for each row, and a condition on it.

In: a bound query and when its rows are final. Out: the same query as its engine reads it, with only
the rows whose date passes. A tick of *closed time* and the SELECT at rest differ in the condition
alone.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.analyze.query_parts import union_branches
from headwater.analyze.time.finality import Finality
from headwater.analyze.time.settling import Settled, Unsettled
from headwater.analyze.typing.common_type import type_of

DATE, WHOLE, FINAL = "__date", "__whole", "__final"

Condition = Callable[[Settled, exp.Expr, exp.DataType], exp.Expr]
"""Gives the condition on a date of a type."""


def closing(query: exp.Query, catalog: Catalog) -> list[Settled | Unsettled | None]:
    """Return when the rows of each branch of a bound query are final; None for at once."""
    finality = Finality(catalog)
    return [finality.settled(branch) for branch in union_branches(query)]


def dated(
    branch: exp.Select, own: exp.Select, one: Settled, condition: Condition, *, whole: bool
) -> exp.Select:
    """Return a SELECT with only the rows whose date passes.

    Args:
        branch: what was rendered of ``own``; it is changed.
        own: the bound SELECT.
        one: when its rows are final.
        condition: decides about a date.
        whole: whether rows that do not wait, as outer joins found all their parts, pass too.
    """
    names = [item.alias_or_name for item in branch.selects]
    anchors = [anchor.copy() for anchor in one.anchors]
    date = anchors[0] if len(anchors) == 1 else exp.func("coalesce", *anchors)
    branch.append("expressions", exp.alias_(date, DATE))
    passes = condition(one, exp.column(DATE, FINAL), _type_of(own, one))
    if one.unless:
        found = [exp.column(name, alias).is_(exp.null()).not_() for alias, name in one.unless]
        branch.append("expressions", exp.alias_(exp.and_(*found), WHOLE))
        flag = exp.column(WHOLE, FINAL)
        passes = exp.or_(flag, passes) if whole else exp.and_(exp.not_(flag), passes)
    around = exp.select(*(exp.column(name, FINAL) for name in names))
    return around.from_(branch.subquery(FINAL, copy=False)).where(passes)


def _type_of(select: exp.Select, one: Settled) -> exp.DataType:
    """The type of a date: that of its column where the SELECT names it."""
    date = one.anchors[0].find(exp.Column)
    for column in select.find_all(exp.Column):
        if column == date:
            return type_of(column)
    return exp.DataType.build("TIMESTAMPTZ")
