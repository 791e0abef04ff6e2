"""Casts of exact numbers to floating point numbers, with Trino's result in every engine.

In: typed casts. Out: casts that give Trino's last digit. Trino divides the digits as one number by
a power of ten, and rounds both; Spark and DuckDB round the exact value once.

Spark 4.1.3 drops the middle one of BIGINT → REAL → DOUBLE (SimplifyCasts), although it rounds: it
does not drop what comes of a DECIMAL.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_EXACT_DIGITS: Mapping[exp.DType, int] = {t.Type.FLOAT: 7, t.Type.DOUBLE: 15}
"""So many digits are exact in the type: rounding once and twice is the same."""
_SHORT = 18
"""Trino reads decimals with more digits from their text, and rounds once."""


def decimal_as_float(node: exp.Expr, dialect: str) -> exp.Expr:
    """Return a cast that rounds as Trino does; another cast as it is.

    Args:
        node: a typed cast, or what became of one.
        dialect: ``spark`` or ``duckdb``.
    """
    if not isinstance(node, (exp.Cast, exp.TryCast)):
        return node
    source, target = type_of(node.this), node.args["to"]
    if dialect == "spark" and target == t.REAL and t.is_integer(source):
        return _cast(_cast(node.this, t.decimal(*t.digits(source))), t.REAL)
    exact = _EXACT_DIGITS.get(target.this)
    if exact is None or source.this is not t.Type.DECIMAL:
        return node
    precision, scale = t.digits(source)
    if scale == 0 or not exact < precision <= _SHORT:
        return node
    unit = _cast(exp.Literal.number(10**scale), t.decimal(scale + 1, 0))
    value: exp.Expr = exp.paren(node.this.copy())
    if dialect == "duckdb":  # which calculates with 18 digits if both operands have no more
        value = _cast(value, t.decimal(t.MAX_PRECISION, scale))
    digits = _cast(exp.Mul(this=value, expression=unit), t.decimal(_SHORT, 0))
    quotient = exp.Div(this=_cast(digits, target), expression=_cast(unit, target), typed=True)
    return _cast(exp.paren(quotient, copy=False), target)


def _cast(node: exp.Expr, kind: exp.DataType) -> exp.Cast:
    return exp.Cast(this=node.copy(), to=kind.copy())
