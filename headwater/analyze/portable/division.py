"""Division with Trino's meaning: a floating point number by 0 is infinite, or not a number.

In: typed quotients and rests. Out: what Spark and DuckDB compute instead of their own, which raise:
Spark's division by 0, DuckDB's rest of the least integer by -1.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of


def spark_quotient(node: exp.Expr) -> exp.Expr:
    """Return ``x / y`` of floating point numbers for Spark, whose own raises if y is 0.

    Args:
        node: a typed quotient.
    """
    if _is_other_number(node.expression):
        return node
    divisor = node.expression
    # both zeros are equal: only as text has the negative one a sign
    text = exp.Cast(this=divisor.copy(), to=t.VARCHAR.copy())
    negative = exp.StartsWith(this=text, expression=exp.Literal.string("-0.0"))
    factor = exp.Case(
        ifs=[
            exp.If(this=negative, true=_special("-Infinity")),
            exp.If(this=_is_zero(divisor), true=_special("Infinity")),
        ]
    )
    return _unless_zero(node, factor)


def spark_rest(node: exp.Expr) -> exp.Expr:
    """Return ``x % y`` of floating point numbers for Spark, whose own raises if y is 0.

    Args:
        node: a typed rest; of other numbers it is left as it is.
    """
    if not t.is_float(type_of(node)) or _is_other_number(node.expression):
        return node
    nan = exp.If(this=_is_zero(node.expression), true=_special("NaN"))
    return _unless_zero(node, exp.Case(ifs=[nan]))


def duckdb_rest(node: exp.Expr) -> exp.Expr:
    """Return ``x % y`` of integers for DuckDB, which does not take the least of them modulo -1.

    Args:
        node: a typed rest; a divisor that is a literal is left as it is.
    """
    divisor = node.expression
    if not t.is_integer(type_of(node)) or isinstance(divisor.unnest(), exp.Literal):
        return node
    # the rest by 1 is 0, as that by -1 is
    is_it = exp.EQ(this=exp.paren(divisor.copy()), expression=exp.Literal.number(-1))
    one = exp.If(this=is_it, true=exp.Literal.number(1))
    node.set("expression", exp.Case(ifs=[one], default=divisor.copy()))
    return node


def _unless_zero(node: exp.Expr, factor: exp.Expr) -> exp.Expr:
    """The quotient or rest if the divisor is not 0, otherwise the dividend times a factor."""
    zero = exp.Literal.number("0e0")
    divisor = exp.Nullif(this=node.expression.copy(), expression=zero)
    own = type(node)(this=node.this.copy(), expression=divisor)
    own.set("typed", node.args.get("typed"))
    other = exp.Mul(this=exp.paren(node.this.copy()), expression=factor)
    value = exp.Coalesce(this=own, expressions=[other])
    # Spark's quotient of REALs is a DOUBLE
    kind = type_of(node)
    return value if kind == t.DOUBLE else exp.Cast(this=value, to=kind.copy())


def _is_zero(node: exp.Expr) -> exp.Expr:
    return exp.EQ(this=exp.paren(node.copy()), expression=exp.Literal.number("0e0"))


def _is_other_number(node: exp.Expr) -> bool:
    """Return whether a divisor is written as a number other than 0."""
    while isinstance(node, (exp.Paren, exp.Cast, exp.Neg)):
        node = node.this
    return isinstance(node, exp.Literal) and not node.is_string and float(node.name) != 0


def _special(text: str) -> exp.Expr:
    return exp.Cast(this=exp.Literal.string(text), to=t.DOUBLE.copy())
