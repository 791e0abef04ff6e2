"""Scalar subqueries → aggregates.

In: a bound subquery. Out: the same value from one that always has a row: ``max`` of one value is
the value, and of none NULL. There is one row at most of ``LIMIT 1``, of groups whose keys are
compared with constants, and of a keyed table whose whole key is compared with values of outside::

    (SELECT name FROM users WHERE users.id = t.user_id)
    (SELECT max(name) FROM users WHERE users.id = t.user_id)

Of any other there may be several, by which the row around fails::

    (SELECT v FROM b WHERE b.id = t.id)
    _scalar_subquery((SELECT CASE WHEN count(*) > 1 THEN ARRAY[max(v), max(v)]
                      ELSE ARRAY[max(v)] END FROM b WHERE b.id = t.id))
"""

from __future__ import annotations

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.definitions import Catalog
from headwater.analyze.fallibility.fallible import fails_on_ordinary_data
from headwater.analyze.inference.compositions import composed
from headwater.analyze.query_parts import is_aggregate, is_row_by_row, relations
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import named, type_of
from headwater.analyze.typing.functions.arrays import SCALAR_SUBQUERY
from headwater.dialect.parser import Headwater
from headwater.dialect.syntax import SHOWN

_GREATEST = "max(_1)"
_ALONE = "CASE WHEN count(*) > 1 THEN ARRAY[max(_1), max(_1)] ELSE ARRAY[max(_1)] END"


def aggregate_single_row(found: exp.Query, catalog: Catalog) -> exp.Query:
    """Let a scalar subquery be an aggregate, in place, and return it as it is then.

    Args:
        found: bound; one over arrays, maps or rows, or that can fail, remains as it is.
        catalog: tables and their keys.
    """
    query = found.unnest()
    assert isinstance(query, exp.Query)
    if is_one_row(query) or len(query.selects) != 1:
        return found
    output = query.selects[0]
    fails = any(map(fails_on_ordinary_data, output.walk()))
    if t.family(type_of(output.unalias())) not in t.SCALARS or fails:
        return found  # of a group, what fails would be NULL, not a bad row
    if _is_first(query) or _is_one_group(query):
        _around(query, _GREATEST)
    elif _is_found_by_key(query, catalog) or _reads_one_row(query):
        output.set("this", composed(_GREATEST, [output.this]))
    elif not any(map(fails_on_ordinary_data, query.walk())):  # the row around asks it once more
        written = exp.Subquery(this=query.copy()).sql(dialect=Headwater)
        if is_row_by_row(query):
            output.set("this", composed(_ALONE, [output.this]))
        else:
            _around(query, _ALONE)
        return _alone(found, written)
    return found


def is_one_row(query: exp.Query) -> bool:
    """Return whether a query aggregates all that it reads, so that it has one row."""
    plain = isinstance(query, exp.Select) and is_aggregate(query)
    return plain and not query.args.get("group") and not query.args.get("having")


def _is_first(query: exp.Query) -> bool:
    limit = query.args.get("limit")
    return limit is not None and not query.args.get("offset") and limit.expression.name == "1"


def _around(query: exp.Query, text: str) -> None:
    """Put a query into a subquery of itself, and aggregate what it shows."""
    name = query.selects[0].alias_or_name
    inner = query.copy()
    column = exp.column(name, table="_single")
    column.type = type_of(inner.selects[0].unalias())
    alias = exp.TableAlias(this=exp.to_identifier("_single"))
    around = exp.Select(
        from_=exp.From(this=exp.Subquery(this=inner, alias=alias)),
        expressions=[named(composed(text, [column]), name)],
    )
    query.replace(around)


def _alone(found: exp.Query, written: str) -> exp.Query:
    """Let the row around a subquery fail if the array that it returns has two elements."""
    kept = found.copy()
    alone = SCALAR_SUBQUERY(expressions=[kept])
    alone.meta[SHOWN] = written
    found.replace(alone)
    return kept


def _reads_one_row(query: exp.Query) -> bool:
    """Return whether FROM is one subquery of one row."""
    if not isinstance(query, exp.Select) or not is_row_by_row(query):
        return False
    read = relations(query)
    return len(read) == 1 and isinstance(read[0], exp.Subquery) and is_one_row(read[0].this)


def _is_found_by_key(query: exp.Query, catalog: Catalog) -> bool:
    """Return whether WHERE pins the whole key of the only table."""
    if not isinstance(query, exp.Select) or not is_row_by_row(query):
        return False
    read = relations(query)
    table = read[0] if len(read) == 1 else None
    view = catalog.views.get(table.name) if isinstance(table, exp.Table) else None
    if view is None or not view.changes:
        return False
    pinned = {column.name for column in _pinned(query)}
    return bool(view.primary_key) and pinned >= set(view.primary_key)


def _is_one_group(query: exp.Query) -> bool:
    """Return whether WHERE pins all keys of the groups."""
    group = query.args.get("group") if isinstance(query, exp.Select) else None
    if group is None or not isinstance(query, exp.Select):
        return False
    pinned = _pinned(query)
    return all(key in pinned for key in group.expressions)


def _pinned(select: exp.Select) -> list[exp.Column]:
    """Return the columns that WHERE compares by ``=`` with values of outside."""
    own = {item.alias_or_name for item in relations(select)}
    where = select.args.get("where")
    found = []
    for term in conjuncts(where.this if where is not None else None):
        if isinstance(term, exp.EQ):
            for side, other in ((term.this, term.expression), (term.expression, term.this)):
                outside = all(column.table not in own for column in other.find_all(exp.Column))
                if isinstance(side, exp.Column) and side.table in own and outside:
                    found.append(side)
    return found
