"""Functions at the edges of their domain, with one meaning in three engines.

In: typed calls of a bound query. Out: expressions in which the engines agree on NaN and infinity,
NULL among arguments, numbers beyond 64 bits, and arrays of unequal length.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.portable.patterns import call
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_PAIR = "lambda_pair"
_ALL_WHOLE = "4.503599627370496e15"
"""From 2**52 on, every double is a whole number."""


def spark_whole(node: exp.Expr) -> exp.Expr:
    """Keep floor, ceil and truncate of a double a double: Spark's BIGINT cannot hold all."""
    kind, value = type_of(node.this), node.this
    if not t.is_float(kind):
        return whole(node)
    small = exp.LT(this=exp.Abs(this=value.copy()), expression=exp.Literal.number(_ALL_WHOLE))
    cut = exp.Cast(this=node.copy(), to=kind.copy())
    return exp.Case(ifs=[exp.If(this=small, true=cut)], default=value.copy())


def whole(node: exp.Expr) -> exp.Expr:
    """Keep whole numbers as they are: Spark makes a BIGINT of an INTEGER, DuckDB a DOUBLE.

    Args:
        node: a typed call of floor, ceil or truncate.
    """
    if not t.is_integer(type_of(node.this)):
        return node
    value = exp.paren(node.this.copy())
    return exp.cast(value, type_of(node).copy()) if isinstance(node, exp.Trunc) else value


def spark_extreme(node: exp.Expr) -> exp.Expr:
    """Make greatest and least NULL if one argument is: Spark's leave NULLs out."""
    given = [
        exp.Not(this=exp.Is(this=item.copy(), expression=exp.Null()))
        for item in (node.this, *node.expressions)
        if not isinstance(item, exp.Literal)
    ]
    if not given:
        return node
    return exp.Case(ifs=[exp.If(this=exp.and_(*given), true=node.copy())])


def duckdb_extreme(node: exp.Expr) -> exp.Expr:
    """Do the same for DuckDB: sqlglot would write the arguments twice while it prints."""
    given = [node.this, *node.expressions]
    unknown = [exp.Is(this=item.copy(), expression=exp.Null()) for item in given]
    found = exp.If(this=exp.or_(*unknown), true=exp.Null())
    return exp.Case(ifs=[found], default=call(node.key.upper(), *given))


def duckdb_sign(node: exp.Expr) -> exp.Expr:
    """Give sign the type of its argument, and NaN for NaN: DuckDB's sign of NaN is 0."""
    kind = type_of(node.this)
    sign = exp.Cast(this=node.copy(), to=kind.copy())
    if not t.is_float(kind):
        return sign
    return exp.Case(
        ifs=[exp.If(this=exp.IsNan(this=node.this.copy()), true=node.this.copy())], default=sign
    )


def duckdb_zip(node: exp.Expr) -> exp.Expr:
    """Return ``zip_with`` over the pairs of both arrays, whose parts stand for the parameters.

    Args:
        node: a call of ``zip_with``.
    """
    left, right, function = node.expressions
    root = exp.Paren(this=function.this.copy())
    for place, parameter in enumerate(function.expressions, 1):
        for each in list(root.find_all(exp.Identifier)):
            plain = not isinstance(each.parent, (exp.Column, exp.DataType))
            if plain and each.name == parameter.name:
                pair = exp.to_identifier(_PAIR)
                part = call("STRUCT_EXTRACT_AT", pair, exp.Literal.number(place))
                each.replace(part)
    made = exp.Lambda(this=root.this.pop(), expressions=[exp.to_identifier(_PAIR)])
    values = call("LIST_TRANSFORM", call("LIST_ZIP", left, right), made)
    given = [
        exp.Not(this=exp.Is(this=exp.paren(each), expression=exp.Null())) for each in (left, right)
    ]
    return exp.Case(ifs=[exp.If(this=exp.and_(*given), true=values)])
