"""Aggregates that take values of single rows: any_value, min_by, max_by, array_agg, listagg.

In: typed calls. Out: the same in a form in which it does not matter which of the rows that tie
comes first, and what each engine has to be told to agree. any_value is the least value; of the rows
with the least (greatest) y min_by (max_by) takes the least (greatest) x, NULL only if there is no
other; lists are ordered by their values in the end. What is left equal is equal in everything.

In Spark 4.1.3 array_agg leaves NULLs out and has no order, and listagg fails beside two DISTINCT
aggregates (apache/spark#51117). In DuckDB 2.0.0 arg_min passes over NULLs.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp, parse_one

from headwater.analyze.inference.lists import LISTS
from headwater.analyze.names.ordering import anchored
from headwater.analyze.query_parts import is_over
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.rows import values_of

_ZEROS = {"text": "", "number": "0", "boolean": "false", "time": "1970-01-01"}
_ZEROS |= {"clock": "", "uuid": "", "interval": "0"}


def settle(select: exp.Select) -> None:
    """Rewrite the aggregates of a typed SELECT in place, so that nothing is left to chance."""
    for node in list(select.find_all(exp.AnyValue, *LISTS)):
        if isinstance(node, exp.AnyValue):
            least = exp.Min(this=node.this)
            least.type = node.type
            node.replace(least)
            continue
        order = node.this if isinstance(node.this, exp.Order) else exp.Order(this=node.this)
        value = order.this.expressions[0] if isinstance(order.this, exp.Distinct) else order.this
        whole = anchored(order, _keys(value))
        whole.set("this", order.this)
        whole.type = type_of(value)
        node.set("this", whole)


def _keys(value: exp.Expr) -> list[exp.Expr]:
    """Return what orders values: of rows, their fields, and first which of them are NULL."""
    if type_of(value).this is not t.Type.STRUCT:
        return [value]
    made = value.unnest()
    if isinstance(made, exp.Struct):
        return [key for each in values_of(made) for key in _keys(each)]
    is_null = exp.Is(this=exp.paren(value.copy()), expression=exp.Null())
    is_null.type = t.BOOLEAN
    return [is_null, *(key for field in _fields(value) for key in _keys(field))]


def _fields(row: exp.Expr) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for field, kind in zip(type_of(row).expressions, t.elements(type_of(row)), strict=True):
        around = exp.Paren(this=row.copy())
        around.type = type_of(row)
        part = exp.Dot(this=around, expression=exp.to_identifier(field.name))
        part.type = kind
        found.append(part)
    return found


# -- min_by and max_by


def spark_by(node: exp.Expr) -> exp.Expr:
    """Let min_by and max_by settle ties: Spark's take any of the rows that tie.

    Args:
        node: a typed call; changed in place.
    """
    names = ("y", "n", "x")
    kinds = (type_of(node.expression), t.BOOLEAN, type_of(node.this))
    node.set("expression", _ranked(node, _struct(dict(zip(names, _ranks(node), strict=True)))))
    node.expression.type = t.row(dict(zip(names, kinds, strict=True)))
    return node


def duckdb_by(node: exp.Expr) -> exp.Expr:
    """Keep rows whose first argument is NULL: DuckDB's arg_min leaves them out."""
    name = "ARG_MIN_NULL" if isinstance(node, exp.ArgMin) else "ARG_MAX_NULL"
    row = exp.Anonymous(this="ROW", expressions=_ranks(node))
    return exp.Anonymous(this=name, expressions=[node.this.copy(), _ranked(node, row)])


def trino_by(node: exp.Expr) -> exp.Expr:
    """Replace a NULL by a value: Trino does not compare rows that hold a NULL.

    Args:
        node: a typed call; changed in place.
    """
    by, is_null, value = _ranks(node)
    kind = type_of(node.this)
    zero = _ZEROS[t.family(kind)] + (" UTC" if kind == t.TIMESTAMPTZ else "")
    given = exp.Coalesce(
        this=value,
        expressions=[exp.cast(exp.Literal.string(zero), t.CARRIERS.get(kind.this, kind))],
    )
    row = exp.Anonymous(this="ROW", expressions=[by, is_null, given])
    node.set("expression", _ranked(node, row))
    return node


def _ranks(node: exp.Expr) -> list[exp.Expr]:
    """What rows are compared by; the second is never NULL, and decides where the third is."""
    given = _given(node.this)
    last = given if isinstance(node, exp.ArgMax) else given.this
    return [node.expression.copy(), last, node.this.copy()]


def _ranked(node: exp.Expr, row: exp.Expr) -> exp.Expr:
    """Rows that have no y are left out."""
    return _where(_given(node.expression), row)


# -- lists, and FILTER


def spark_list(node: exp.Expr) -> exp.Expr:
    """Mend Spark's array_agg: it has no order, omits NULLs, and is not NULL without rows.

    Its listagg would do, but not beside aggregates with DISTINCT, where Spark fails.
    """
    return node if isinstance(node.parent, exp.Filter) else _spark_list(node)


def spark_filter(node: exp.Expr) -> exp.Expr:
    """Apply FILTER inside a list or a call with OVER: Spark knows no FILTER before OVER.

    Args:
        node: an aggregate with FILTER, typed.
    """
    condition = node.expression.this
    call: exp.Expr = node.this
    if type(call) in LISTS:
        return _spark_list(call, condition)
    if not is_over(node):
        return node
    key = "expression" if isinstance(call, (exp.ArgMin, exp.ArgMax)) else "this"
    value = exp.Literal.number(1) if isinstance(call.this, exp.Star) else call.args[key]
    call.set(key, _where(condition, value))
    return call


def _spark_list(node: exp.Expr, *conditions: exp.Expr) -> exp.Expr:
    """The values of the rows that meet all conditions; rows are collected, for none is NULL."""
    order = node.this
    distinct = isinstance(order.this, exp.Distinct)
    value = order.this.expressions[0] if distinct else order.this
    if isinstance(node, exp.GroupConcat):
        conditions = (*conditions, _given(value))
    keys = {f"k{at}": item for at, item in enumerate(order.expressions)}
    own = next((name for name, item in keys.items() if item.this == value), "v")
    held = {name: item.this.copy() for name, item in keys.items()}
    row = _struct(held if own in held else held | {own: value.copy()})
    item = _where(exp.and_(*conditions), row) if conditions else row
    rows = exp.ArrayAgg(this=exp.Distinct(expressions=[item]) if distinct else item)
    branches = " ".join(_comparison(name, item) for name, item in keys.items())
    sort = parse_one(f"ARRAY_SORT(x, (l, r) -> CASE {branches} ELSE 0 END)", dialect="spark")
    sort.set("this", rows)
    values = exp.Dot(this=sort, expression=exp.to_identifier(own))
    found = exp.Nullif(this=values, expression=exp.Array(expressions=[]))
    if isinstance(node, exp.GroupConcat):
        return exp.Anonymous(this="ARRAY_JOIN", expressions=[found, node.args["separator"].copy()])
    return found


def _comparison(name: str, item: exp.Expr) -> str:
    """Branches of a CASE that says which of two rows, ``l`` and ``r``, comes first by one key."""
    null, other = (-1, 1) if item.args.get("nulls_first") else (1, -1)
    less, more = (1, -1) if item.args.get("desc") else (-1, 1)
    left, right = f"l.{name}", f"r.{name}"
    return (
        f"WHEN {left} IS NULL AND {right} IS NOT NULL THEN {null}"
        f" WHEN {left} IS NOT NULL AND {right} IS NULL THEN {other}"
        f" WHEN {left} < {right} THEN {less} WHEN {left} > {right} THEN {more}"
    )


def _struct(fields: Mapping[str, exp.Expr]) -> exp.Struct:
    items = [
        exp.PropertyEQ(this=exp.to_identifier(name), expression=value)
        for name, value in fields.items()
    ]
    return exp.Struct(expressions=items)


def _given(value: exp.Expr) -> exp.Not:
    return exp.Not(this=exp.Is(this=exp.paren(value.copy()), expression=exp.Null()))


def _where(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())])
