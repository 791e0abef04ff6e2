"""Casts of decimals to floating point numbers, with Trino's result in every engine.

In: typed casts. Out: casts that give Trino's last digit. Trino divides the digits as one number by
a power of ten, and rounds both; Spark and DuckDB round the exact value once.
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
        node: a typed cast.
        dialect: ``spark`` or ``duckdb``.
    """
    source, target = type_of(node.this), node.args["to"]
    exact = _EXACT_DIGITS.get(target.this)
    if exact is None or source.this is not t.Type.DECIMAL:
        return node
    precision, scale = t.digits(source)
    if scale == 0 or not exact < precision <= _SHORT:
        return node
    unit = exp.Literal.number(10**scale)
    value: exp.Expr = exp.paren(node.this.copy())
    if dialect == "duckdb":  # which calculates with 18 digits if both operands have no more
        value = _cast(value, t.decimal(t.MAX_PRECISION, scale))
    digits = exp.Mul(this=value, expression=_cast(unit, t.decimal(scale + 1, 0)))
    parts = [_cast(_cast(each, t.BIGINT), target) for each in (digits, unit)]
    quotient = exp.Div(this=parts[0], expression=parts[1], typed=True)
    return _cast(exp.paren(quotient, copy=False), target)


def _cast(node: exp.Expr, kind: exp.DataType) -> exp.Cast:
    return exp.Cast(this=node.copy(), to=kind.copy())
