"""Sums and averages of decimals of many digits, NULL beyond 38 digits instead of a failure.

In: a typed ``sum`` with its FILTER and OVER, and for an average the count. Out: the exact value in
an engine. Their own sums fail, or are NULL, once a sum of some of the rows has too many digits, and
so depend on the order of rows; no TRY of Trino sees what fails within an aggregate.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp

from headwater.analyze.decimals.units import unit
from headwater.analyze.query_parts import bare_call
from headwater.analyze.text_places import filled
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_WHOLE = f"DECIMAL({t.MAX_PRECISION}, 0)"


class _Halves(NamedTuple):
    """How an engine adds up halves of whole numbers.

    Attributes:
        high: that of a number ``{0}``.
        low: the other one.
        total: the whole of the sums of both, ``_1`` and ``_2``; NULL beyond 38 digits. Of halves
            with two signs, the high one alone may be beyond, and both together not.
    """

    high: str
    low: str
    total: str


_HALF = "CAST(1e20 AS DECIMAL(21, 0))"
_SIGN = "CAST(sign(p.high) AS DECIMAL(1, 0))"
_CARRIED = f"p -> struct(p.high + p.low DIV {_HALF} AS high, p.low % {_HALF} AS low)"
_TOGETHER = f"p -> try_add(try_multiply(p.high - {_SIGN}, {_HALF}), p.low + {_SIGN} * {_HALF})"
_SPARK = _Halves(
    f"CAST({{0}} DIV {_HALF} AS DECIMAL(20, 0))",
    f"{{0}} % {_HALF}",
    f"transform(transform(array(struct(_1 AS high, _2 AS low)), {_CARRIED}), {_TOGETHER})[0]",
)

_TRINO_HALF = f"CAST('1{'0' * 20}' AS {_WHOLE})"
_TRINO_HALVES = f"ROW(high {_WHOLE}, low {_WHOLE})"
_TRINO_CARRIED = (
    f"p -> CAST(ROW(p.high + (p.low - p.low % {_TRINO_HALF}) / {_TRINO_HALF},"
    f" p.low % {_TRINO_HALF}) AS {_TRINO_HALVES})"
)
_TRINO_TOGETHER = (
    f"p -> TRY(CAST((p.high - sign(p.high)) * {_TRINO_HALF} AS {_WHOLE})"
    f" + (p.low + sign(p.high) * {_TRINO_HALF}))"
)
_TRINO = _Halves(
    f"CAST(({{0}} - {{0}} % {_TRINO_HALF}) / {_TRINO_HALF} AS {_WHOLE})",
    f"{{0}} % {_TRINO_HALF}",
    f"transform(transform(ARRAY[CAST(ROW(_1, _2) AS {_TRINO_HALVES})], {_TRINO_CARRIED}),"
    f" {_TRINO_TOGETHER})[1]",
)
_HALVES_AND_COUNT = (
    f"p -> struct(CAST(p.total DIV {_HALF} AS DECIMAL(20, 0)) AS high, p.total % {_HALF} AS low,"
    " CAST(nullif(p.count, 0) AS DECIMAL(20, 0)) AS count)"
)
_DIVIDED_HIGH = (
    "p -> struct(CAST(p.high DIV p.count AS DECIMAL(20, 0)) AS high,"
    f" p.high % p.count * {_HALF} + p.low AS low, p.count AS count)"
)
_DIVIDED = (
    f"p -> CAST(p.high * {_HALF} + CAST((p.low - p.low % p.count) / p.count AS DECIMAL(21, 0))"
    " + CASE WHEN 2 * abs(p.low % p.count) >= p.count THEN CAST(sign(p.low) AS DECIMAL(1, 0))"
    f" ELSE 0 END AS {_WHOLE})"
)


def exact_sum(node: exp.Expr, dialect: str) -> exp.Expr:
    """Return the exact sum, NULL if it has more than 38 digits.

    Args:
        node: ``sum`` of decimals with its FILTER and OVER, typed.
        dialect: ``spark``, ``duckdb`` or ``trino``.
    """
    if _has_own(node, dialect):
        return _own(node, dialect)
    units, calls = _units(node, dialect)
    return filled(_scaled(units, _scale(node), dialect), calls, dialect)


def exact_average(node: exp.Expr, count: exp.Expr, dialect: str) -> exp.Expr:
    """Return the exact average, rounded half away from zero; NULL if the sum is.

    Args:
        node: ``sum`` of decimals with its FILTER and OVER, typed.
        count: of the same rows.
        dialect: ``spark``, ``duckdb`` or ``trino``.
    """
    units, calls = _units(node, dialect)
    number = f"_{len(calls) + 1}"
    if dialect == "trino":
        text = f"{units} / CAST(nullif({number}, 0) AS DECIMAL(20, 0))"
    elif dialect == "spark":
        # by halves, since a quotient of Spark has at most 32 digits before the point
        text = f"array(struct({units} AS total, {number} AS count))"
        for step in (_HALVES_AND_COUNT, _DIVIDED_HIGH, _DIVIDED):
            text = f"transform({text}, {step})"
        text = f"{text}[0]"
    else:
        total = f"CAST({units} AS HUGEINT)"
        away = f"CASE WHEN 2 * abs({total} % {number}) >= {number} THEN sign({total}) ELSE 0 END"
        text = f"CAST({total} // {number} + {away} AS {_WHOLE})"
    return filled(_scaled(text, _scale(node), dialect), [*calls, count], dialect)


def _scale(node: exp.Expr) -> int:
    return t.digits(type_of(bare_call(node)))[1]


def _scaled(units: str, scale: int, dialect: str) -> str:
    """A whole number of units as the decimal that it stands for."""
    kind = f"DECIMAL({t.MAX_PRECISION}, {scale})"
    if not scale:
        return units
    if dialect == "spark":  # whose product would lose digits
        return f"CAST(concat(CAST({units} AS STRING), 'E-{scale}') AS {kind})"
    return f"CAST({units} * {unit(scale)} AS {kind})"


def _units(node: exp.Expr, dialect: str) -> tuple[str, list[exp.Expr]]:
    """The sum as a whole number of units of the last digit, and the aggregates in it."""
    if dialect == "duckdb":
        # numbers of any length; only by way of text do they become others
        total = _of_each(node, "CAST(replace(CAST(_1 AS VARCHAR), '.', '') AS BIGNUM)", dialect)
        return f"TRY_CAST(CAST(_1 AS VARCHAR) AS {_WHOLE})", [total]
    if _has_own(node, dialect):
        return _in_units(node, dialect), [_own(node, dialect)]
    units, halves = _in_units(node, dialect), _SPARK if dialect == "spark" else _TRINO
    calls = [_of_each(node, text.format(units), dialect) for text in (halves.high, halves.low)]
    return halves.total, calls


def _has_own(node: exp.Expr, dialect: str) -> bool:
    """Whether the engine's own sum is taken: different values may have a half in common."""
    return dialect != "duckdb" and bare_call(node).find(exp.Distinct) is not None


def _own(node: exp.Expr, dialect: str) -> exp.Expr:
    if dialect == "trino":
        return node.copy()
    return _replaced(node, exp.Anonymous(this="try_sum", expressions=[bare_call(node).this]))


def _in_units(node: exp.Expr, dialect: str) -> str:
    """A decimal ``_1`` as a whole number of units of its last digit, for Spark or Trino."""
    scale = _scale(node)
    if dialect == "trino":
        return f"CAST(replace(CAST(_1 AS VARCHAR), '.', '') AS {_WHOLE})"
    digits = f"concat(CAST(_1 AS STRING), 'E{scale}')" if scale else "_1"
    return f"CAST({digits} AS {_WHOLE})"


def _of_each(node: exp.Expr, value: str, dialect: str) -> exp.Expr:
    """The call over a value made of each summand."""
    summed = bare_call(node).this
    distinct = isinstance(summed, exp.Distinct)
    made = filled(value, [summed.expressions[0] if distinct else summed], dialect)
    return _replaced(node, exp.Sum(this=exp.Distinct(expressions=[made]) if distinct else made))


def _replaced(node: exp.Expr, call: exp.Expr) -> exp.Expr:
    root = exp.Paren(this=node.copy())
    bare_call(root.this).replace(call.copy())
    found: exp.Expr = root.this.pop()
    return found
