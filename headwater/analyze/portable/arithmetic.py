"""Functions of numbers with Trino's meaning: wide decimals, rounding, powers, angles, casts.

In: typed operators and calls of a bound query. Out: what Spark and DuckDB compute instead, of the
type that the binder found.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_EXACT_DIGITS = 34
"""Decimals of Spark 4.1.3 that are negated are rounded to as many digits."""
_KEPT_SCALE = 6
"""Digits behind the point that Spark keeps of a difference of more than 38 digits."""
_LARGEST_EXPONENT = 308
_LARGEST = 1.7976931348623157e308


def kept_type(node: exp.Expr) -> exp.Expr:
    """Cast a value to the type that the binder found."""
    return _cast(node, type_of(node))


def kept_decimal(node: exp.Expr) -> exp.Expr:
    """Cast a decimal to the digits that the binder found: rounded ones have fewer elsewhere."""
    return kept_type(node) if type_of(node).this is t.Type.DECIMAL else node


# -- decimals of more digits than an engine computes with


def spark_negative(node: exp.Expr) -> exp.Expr:
    """Negate a decimal by subtraction: Spark's minus rounds to 34 digits."""
    kind = type_of(node)
    if kind.this is not t.Type.DECIMAL or t.digits(kind)[0] <= _EXACT_DIGITS:
        return node
    return exp.paren(_opposite(node.this, kind), copy=False)


def spark_abs(node: exp.Expr) -> exp.Expr:
    """Do the same for abs."""
    value, kind = node.this, type_of(node)
    if kind.this is not t.Type.DECIMAL or t.digits(kind)[0] <= _EXACT_DIGITS:
        return node
    below = exp.LT(this=_operand(value), expression=exp.Literal.number(0))
    opposite = _opposite(value, kind)
    return exp.Case(ifs=[exp.If(this=below, true=opposite)], default=value.copy())


def _opposite(value: exp.Expr, kind: exp.DataType) -> exp.Expr:
    zero = _cast(exp.Literal.number(0), kind)
    precision, scale = t.digits(kind)
    if precision < t.MAX_PRECISION or scale <= _KEPT_SCALE:
        return exp.Sub(this=zero, expression=_operand(value))
    # a difference would give up digits: the sign is changed in the text
    text = _cast(value, t.VARCHAR)
    signed = exp.Concat(expressions=[exp.Literal.string("-"), text.copy()])
    below = exp.LT(this=_operand(value), expression=exp.Literal.number(0))
    bare = exp.Substring(this=text, start=exp.Literal.number(2))
    return _cast(exp.Case(ifs=[exp.If(this=below, true=bare)], default=signed), kind)


def duckdb_literal(node: exp.Expr) -> exp.Expr:
    """Write a decimal of 38 digits as a cast: DuckDB takes it for a DOUBLE."""
    kind = type_of(node)
    if kind.this is not t.Type.DECIMAL or t.digits(kind)[0] < t.MAX_PRECISION - 1:
        return node
    return _cast(exp.Literal.string(node.name), kind)


# -- rounding, powers, angles


def rounded(node: exp.Expr) -> exp.Expr:
    """``round(x, 2)`` of a double → ``round(x * 1e2) / 1e2``: Trino's own definition."""
    decimals = node.args.get("decimals")
    if not t.is_float(type_of(node.this)):
        return kept_decimal(node)
    if decimals is None:
        return node
    negative = isinstance(decimals, exp.Neg)
    digits = int((decimals.this if negative else decimals).name)
    if digits == 0:
        return exp.Round(this=node.this.copy())
    if digits > _LARGEST_EXPONENT:
        return _nothing_left(node.this) if negative else node.this.copy()
    factor = exp.Literal.number(f"1e{digits}")
    first, last = (exp.Div, exp.Mul) if negative else (exp.Mul, exp.Div)
    whole = exp.Round(this=first(this=exp.paren(node.this.copy()), expression=factor))
    result = exp.paren(last(this=whole, expression=factor.copy()))
    if negative:
        return _real(node, result)
    # a number so large that its product is infinite has no digits behind the point
    limit = exp.Literal.number(f"{_LARGEST / 10.0**digits:e}")
    small = exp.LT(this=exp.Abs(this=node.this.copy()), expression=limit)
    return _real(node, exp.Case(ifs=[exp.If(this=small, true=result)], default=node.this.copy()))


def _real(node: exp.Expr, value: exp.Expr) -> exp.Expr:
    return _cast(value, t.REAL) if type_of(node) == t.REAL else value


def _nothing_left(value: exp.Expr) -> exp.Expr:
    return exp.paren(exp.Mul(this=_operand(value), expression=exp.Literal.number("0e0")))


def duckdb_power(node: exp.Expr) -> exp.Expr:
    """Return NaN if the exponent is NaN, and of 1 and -1 if it is infinite: DuckDB's is 1."""
    if not t.is_float(type_of(node.expression)):
        return node
    base, exponent = node.this, node.expression
    ones = [exp.Literal.number(1), exp.Neg(this=exp.Literal.number(1))]
    one = exp.In(this=_operand(base), expressions=ones)
    endless = exp.and_(one, exp.IsInf(this=exponent.copy()))
    unknown = exp.or_(exp.IsNan(this=exponent.copy()), endless)
    nan = exp.Mul(this=_operand(base), expression=_number("NaN", t.DOUBLE))
    return exp.Case(ifs=[exp.If(this=unknown, true=nan)], default=node.copy())


def spark_atan2(node: exp.Expr) -> exp.Expr:
    """Tell negative zeros apart: Spark's atan2 takes them for positive ones."""
    y, x = node.this, node.expression
    zero = exp.EQ(this=_operand(y), expression=exp.Literal.number(0))
    left: exp.Expr = exp.LT(this=_operand(x), expression=exp.Literal.number(0))
    if t.is_float(type_of(x)):
        left = exp.or_(left, _is_negative_zero(x))
    angle: exp.Expr = exp.Case(
        ifs=[exp.If(this=left, true=exp.Pi())],
        default=exp.Atan2(this=y.copy(), expression=x.copy()),
    )
    if t.is_float(type_of(y)):
        turned = exp.Neg(this=exp.Paren(this=angle))
        angle = exp.Case(ifs=[exp.If(this=_is_negative_zero(y), true=turned)], default=angle.copy())
    return exp.Case(ifs=[exp.If(this=zero, true=angle)], default=node.copy())


def _is_negative_zero(value: exp.Expr) -> exp.Expr:
    """Return whether a zero is negative: its text tells, a comparison does not."""
    text = _cast(value, t.VARCHAR)
    return exp.StartsWith(this=text, expression=exp.Literal.string("-0.0"))


def duckdb_number(node: exp.Expr) -> exp.Expr:
    """Cast a number as Trino does.

    A DECIMAL is made of the fewest digits that tell a floating point number apart, and rounded
    once. A number too large for REAL is infinite. A text has a digit before the point.

    Args:
        node: ``exp.Cast`` or ``exp.TryCast``, typed; changed in place.
    """
    source, target = type_of(node.this), node.args["to"]
    if t.is_float(source) and target.this is t.Type.DECIMAL:
        node.set("this", _cast(node.this, t.VARCHAR))
    elif source.this is t.Type.DOUBLE and target.this is t.Type.FLOAT:
        sign = exp.Sign(this=node.this.copy())
        infinite = exp.Mul(this=sign, expression=_number("Infinity", t.REAL))
        large: exp.Expr = exp.GTE(
            this=exp.Abs(this=node.this.copy()), expression=exp.Literal.number(_REAL)
        )
        # NaN is above every number in DuckDB
        large = exp.and_(large, exp.Not(this=exp.IsNan(this=node.this.copy())))
        node.set(
            "this", exp.Case(ifs=[exp.If(this=large, true=infinite)], default=node.this.copy())
        )
    elif source.this is t.Type.DECIMAL and target.this is t.Type.VARCHAR:
        precision, scale = t.digits(source)
        if precision == scale:
            pattern, whole = (exp.Literal.string(text) for text in (r"^(-?)\.", r"\10."))
            return exp.Anonymous(this="REGEXP_REPLACE", expressions=[node.copy(), pattern, whole])
    return node


_REAL = "3.4028235677973366e38"
"""From here on, a DOUBLE is nearer to infinity than to a REAL."""


def _operand(node: exp.Expr) -> exp.Expr:
    copy = node.copy()
    return copy if isinstance(node, (exp.Column, exp.Literal, exp.Func)) else exp.paren(copy)


def _number(text: str, kind: exp.DataType) -> exp.Expr:
    return _cast(exp.Literal.string(text), kind)


def _cast(node: exp.Expr, kind: exp.DataType) -> exp.Cast:
    cast = exp.Cast(this=node.copy(), to=kind.copy())
    cast.type = kind
    return cast


def real_average(node: exp.Expr) -> exp.Expr:
    """Give the average of REALs their type: other engines' is a DOUBLE.

    Args:
        node: ``avg``, or ``FILTER`` or ``OVER`` behind it, typed.
    """
    inner, around = node, (exp.Filter, exp.Window)
    while isinstance(inner, around):
        inner = inner.this
    is_part = isinstance(node.parent, around) and node.parent.this is node
    if is_part or not isinstance(inner, exp.Avg) or type_of(inner).this is not t.Type.FLOAT:
        return node
    return _cast(node, t.REAL)
