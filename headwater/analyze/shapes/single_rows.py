"""Scalar subqueries of one row at most → aggregates.

In: a bound subquery. Out: the same value from one that always has a row: ``max`` of one value is
the value, and of none NULL. There is one row at most of ``LIMIT 1``, and of a keyed table whose
whole key is compared with values of the query around::

    (SELECT name FROM users WHERE users.id = t.user_id)
    (SELECT max(name) FROM users WHERE users.id = t.user_id)
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.analyze.failing.fallible import failing
from headwater.analyze.query_parts import (
    conjuncts,
    is_aggregate,
    is_distinct,
    relations,
    window_calls,
)
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import named, type_of

_COMPARABLE = ("boolean", "number", "text", "time")


def aggregate_single_row(query: exp.Query, catalog: Catalog) -> None:
    """Let a subquery of one row at most be an aggregate, in place.

    Args:
        query: bound.
        catalog: tables and their keys.
    """
    if not isinstance(query, exp.Select) or len(query.selects) != 1 or is_aggregate(query):
        return
    output = query.selects[0]
    if t.family(type_of(output.unalias())) not in _COMPARABLE or window_calls(query):
        return
    if any(failing(output)):
        return  # of a group it would be NULL, not a bad row
    limit = query.args.get("limit")
    if limit is not None and not query.args.get("offset") and limit.expression.name == "1":
        _around(query)
    elif limit is None and not is_distinct(query) and _is_found_by_key(query, catalog):
        output.set("this", _greatest(output.this))


def _around(query: exp.Select) -> None:
    """Put a SELECT into a subquery of itself, and aggregate what it shows."""
    name = query.selects[0].alias
    inner = query.copy()
    for key in list(query.args):
        query.set(key, None)
    column = exp.column(name, table="_single")
    column.type = type_of(inner.selects[0].unalias())
    alias = exp.TableAlias(this=exp.to_identifier("_single"))
    query.set("from_", exp.From(this=exp.Subquery(this=inner, alias=alias)))
    query.set("expressions", [named(_greatest(column), name)])


def _greatest(value: exp.Expr) -> exp.Max:
    found = exp.Max(this=value.copy())
    found.type = type_of(value)
    return found


def _is_found_by_key(query: exp.Select, catalog: Catalog) -> bool:
    """Return whether WHERE compares the whole key of the only table with values of outside."""
    read = relations(query)
    table = read[0] if len(read) == 1 else None
    view = catalog.views.get(table.name) if isinstance(table, exp.Table) else None
    if view is None or not view.changes or query.args.get("qualify"):
        return False
    where = query.args.get("where")
    alias = table.alias_or_name if table is not None else ""
    found = set()
    for term in conjuncts(where.this if where is not None else None):
        if isinstance(term, exp.EQ):
            for side, other in ((term.this, term.expression), (term.expression, term.this)):
                outside = all(column.table != alias for column in other.find_all(exp.Column))
                if isinstance(side, exp.Column) and side.table == alias and outside:
                    found.add(side.name)
    return bool(view.primary_key) and found >= set(view.primary_key)
