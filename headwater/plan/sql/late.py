"""Late rows: per input, the query that finds the rows too late for a view.

In: a shape and the allowed lateness. Out: Spark SQL over ``<input>__change``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.query_parts import optional, relations
from headwater.plan.query_shape import RelationShape, Shape, columns_of
from headwater.plan.sql.render import late_rows

COMPUTED = "headwater_computed"
"""Mark of a term in WHERE that is no filter of the user's: it keeps out what fails later."""


def late_queries(shape: Shape, allowed: timedelta | None) -> Mapping[str, str]:
    """Return by input the query for its rows that are too late.

    Args:
        allowed: allowed lateness, or None if every row counts.
    """
    if allowed is None:
        return {}
    return {
        relation.name: late_rows(relation, _filters_before_lateness(relation), allowed)
        for relation in shape.relations
        if relation.tells_lateness
    }


def _filters_before_lateness(relation: RelationShape) -> list[exp.Expr]:
    """The filters of late rows: what is computed of rows that pass does not ask for late ones."""
    return [term for term in own_filters(relation) if not term.meta.get(COMPUTED)]


def own_filters(relation: RelationShape) -> list[exp.Expr]:
    """Return the WHERE terms that read nothing but a relation's own columns.

    Args:
        relation: a relation; none where an outer join can leave it NULL, since a filter below the
            join would turn matched rows into unmatched ones.
    """
    if optional(relation.select)[relations(relation.select).index(relation.table)]:
        return []
    where = relation.select.args.get("where")
    own = set(relation.columns)
    return [
        term
        for term in conjuncts(where.this if where else None)
        if all(column.table == relation.alias for column in term.find_all(exp.Column))
        and columns_of(term, relation.alias) <= own
    ]
