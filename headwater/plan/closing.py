"""Queries cut to what is final: a date for each row, and a condition on it.

In: a bound query and when its rows are final. Out: the same query as its engine reads it, with only
the rows whose date passes. The tick of rule 6 and the SELECT at rest differ in the condition alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.analyze.query_parts import union_branches
from headwater.analyze.time.finality import Finality, Settled, Unsettled
from headwater.plan.query_shape import RelationShape, relations_of

DATE, FINAL = "__date", "__final"

Condition = Callable[[Settled, exp.Expr, RelationShape], exp.Expr]
"""Gives the condition on a date, with a relation whose event time has its type."""


def closing(query: exp.Query, catalog: Catalog) -> list[Settled | Unsettled | None]:
    """Return when the rows of each branch of a bound query are final."""
    finality = Finality(catalog)
    return [finality.settled(branch) for branch in union_branches(query)]


def closings(query: exp.Query, catalog: Catalog) -> list[Settled]:
    """Return when the rows of each branch of a query are final, all of which wait."""
    return [one for one in closing(query, catalog) if isinstance(one, Settled)]


def dated(
    query: exp.Query,
    bound: exp.Query,
    settled: Sequence[Settled],
    catalog: Catalog,
    condition: Condition,
) -> exp.Query:
    """Return a query with only the rows whose date passes.

    Args:
        query: what was rendered of ``bound``; changed in place.
        bound: the query before that.
        settled: when the rows of each branch are final.
        catalog: where event times come from.
        condition: decides about a date.
    """
    holder = exp.Paren(this=query)
    named = {each.alias: each for each in relations_of(bound, catalog) if each.event_time}
    for branch, one in zip(union_branches(query), settled, strict=True):
        names = [item.alias_or_name for item in branch.selects]
        alias, column = one.anchor
        branch.append("expressions", exp.alias_(exp.column(column, alias), DATE))
        like = named.get(alias) or next(iter(named.values()))
        around = exp.select(*(exp.column(name, FINAL) for name in names))
        inner = branch.copy().subquery(FINAL)
        branch.replace(around.from_(inner).where(condition(one, exp.column(DATE, FINAL), like)))
    found = holder.this
    assert isinstance(found, exp.Query)
    return found
