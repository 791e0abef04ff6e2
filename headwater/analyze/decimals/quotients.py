"""The quotient of decimals: one meaning in three engines, Trino's.

In: typed quotients. Out: what Spark and DuckDB compute instead of their own. The quotient has as
many digits after the point as the operand with more of them, rounded half away from zero. DuckDB's
own is a DOUBLE. Spark's has more digits, and to round it once more can be wrong in the last digit.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.decimals.units import unit
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.fallibility.bounds import bound_of
from headwater.analyze.text_places import filled
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_LEFT, _RIGHT = "_1", "_2"
"""The places of the operands in a text."""
_EXACT_DIGITS = t.MAX_PRECISION - 1


def check_quotient(node: exp.Expr, report: Diagnostics) -> None:
    """Refuse a quotient whose digits an engine would cut.

    Args:
        node: a quotient of decimals, typed.
    """
    most = max(_whole_digits(node.this), _whole_digits(node.expression))
    if (needed := most + sum(_scales(node))) > _EXACT_DIGITS:
        message = f"the quotient of decimals needs {needed} digits, {_EXACT_DIGITS} is most"
        hint = "cast the operands to fewer digits, or CAST(x AS DOUBLE)"
        report.add("UNSUPPORTED_SYNTAX", message, node, hint)


def spark_quotient(node: exp.Expr) -> exp.Expr:
    """Return a quotient as Spark computes it.

    Without its rest the dividend is a multiple of the divisor's last digit, so that nothing of the
    quotient is rounded away; the rest decides whether one more of the last digit is nearer.

    Args:
        node: a quotient of decimals, typed.
    """
    scale, right_scale = _scales(node)
    left = f"CAST({_LEFT} AS {_narrow(node.this, scale + right_scale)})"
    right = f"CAST({_RIGHT} AS {_narrow(node.expression, scale + right_scale)})"
    step = f"({right} * {unit(scale)})" if scale else right
    rest = f"({left} % {step})"
    away = f"CASE WHEN ({left} < 0) = ({right} < 0) THEN {unit(scale)} ELSE -{unit(scale)} END"
    more = f"CASE WHEN abs({rest}) * 2 >= abs({step}) THEN {away} ELSE 0 END"
    kind = t.spark_type(type_of(node))
    text = f"CAST(CAST(({left} - {rest}) / {right} AS {kind}) + {more} AS {kind})"
    return filled(text, [node.this, node.expression], "spark")


def duckdb_quotient(node: exp.Expr) -> exp.Expr:
    """Return a quotient as DuckDB computes it, in whole numbers of 128 bits.

    Args:
        node: a quotient of decimals, typed.
    """
    scale, right_scale = _scales(node)
    left_scale = t.digits(type_of(node.this))[1]
    left = f"({_digits(_LEFT, left_scale)} * {10 ** (scale + right_scale - left_scale)})"
    right = _digits(_RIGHT, right_scale)
    size = f"(2 * abs({left}) + abs({right})) // (2 * abs({right}))"
    units = f"CASE WHEN ({left} < 0) = ({right} < 0) THEN {size} ELSE -({size}) END"
    text = f"CAST({units} AS DECIMAL(38, 0))"
    kind = t.duckdb_type(type_of(node))
    text = f"CAST({text} * {unit(scale)} AS {kind})"
    return filled(text, [node.this, node.expression], "duckdb")


def _scales(node: exp.Expr) -> tuple[int, int]:
    """Digits after the point of a quotient, and of its divisor."""
    return t.digits(type_of(node))[1], t.digits(type_of(node.expression))[1]


def _whole_digits(node: exp.Expr) -> int:
    """Digits before the point that the values of an operand have at most."""
    precision, scale = t.digits(type_of(node))
    bound = bound_of(node)
    return precision - scale if bound is None else min(precision - scale, len(str(bound - 1)))


def _narrow(operand: exp.Expr, others: int) -> str:
    """The type of an operand with no more digits than leave room for so many others."""
    precision, scale = t.digits(type_of(operand))
    whole = min(precision - scale, _EXACT_DIGITS - others)
    return f"DECIMAL({max(whole + scale, 1)}, {scale})"


def _digits(operand: str, scale: int) -> str:
    """A decimal without its point, as a whole number."""
    if not scale:
        return f"CAST({operand} AS HUGEINT)"
    text = f"CAST(CAST({operand} AS DECIMAL(38, {scale})) AS VARCHAR)"
    return f"CAST(replace({text}, '.', '') AS HUGEINT)"
