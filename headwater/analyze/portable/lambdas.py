"""Functions with a lambda that DuckDB lacks.

In: a typed call. Out: the same of what DuckDB has.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.portable.patterns import call

_PAIR = "lambda_pair"


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
