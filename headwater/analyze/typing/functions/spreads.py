"""Variances and covariances of floating-point numbers, which in engines depend on order.

Out: SQL with ``_1`` and ``_2`` for the arguments. It returns what Trino 476 answers, as far as that
does not depend on the order: NaN if a value is NaN or infinite, Infinity if the result is beyond
DOUBLE.

Engines multiply means with one another when they put partial results together, so that
values around 1e160 and more give NaN. Values are scaled by a power of two before, which changes no
digit. Small ones are scaled up, since digits of a square below 1e-300 are lost.
"""

from __future__ import annotations

from collections.abc import Mapping

_LARGE, _TINY = "1e70", "1e-70"
_DOWN, _UP = 2.0**-600, 2.0**600
_SMALL_UP, _SMALL_DOWN = 2.0**150, 2.0**-300
_NAN, _INFINITY = "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)"


def _scaled(function: str, value: str, size: str) -> str:
    """A variance, by the greatest size of a value."""
    large = f"{function}({value} * {_DOWN!r}) * {_UP!r} * {_UP!r}"
    small = f"{function}({value} * {_SMALL_UP!r}) * {_SMALL_DOWN!r}"
    return f"CASE WHEN {size} > {_LARGE} THEN {large} ELSE {small} END"


def _size(value: str) -> str:
    return f"max(abs({value}))"


def _not_finite(value: str) -> str:
    return f"NOT {_size(value)} < {_INFINITY}"  # NaN is the greatest number


def _variance(function: str, least: int, around: str = "{}") -> Mapping[str, str]:
    value = "CAST(_1 AS DOUBLE)"
    nan = f"CASE WHEN count(_1) >= {least} THEN {_NAN} END"
    of_finite = _scaled(function, value, _size(value))
    return _everywhere(
        around.format(f"CASE WHEN {_not_finite(value)} THEN {nan} ELSE {of_finite} END"), value
    )


def _everywhere(text: str, *values: str) -> Mapping[str, str]:
    """The text of each engine; for Trino, NaN is neither the greatest number nor the least."""
    in_trino = text
    for value in values:
        in_trino = in_trino.replace(_not_finite(value), f"bool_or(NOT is_finite({value}))")
        finite = f"max(CASE WHEN is_finite({value}) THEN abs({value}) END)"
        in_trino = in_trino.replace(_size(value), finite)
    return {"spark": text, "duckdb": text, "trino": in_trino}


VARIANCE = _variance("var_samp", least=2)
VARIANCE_POP = _variance("var_pop", least=1)
STDDEV = _variance("var_samp", least=2, around="sqrt({})")
STDDEV_POP = _variance("var_pop", least=1, around="sqrt({})")

# of pairs: the values of a row that lacks neither
_FIRST = "CASE WHEN _2 IS NOT NULL THEN _1 END"
_SECOND = "CASE WHEN _1 IS NOT NULL THEN _2 END"
_SIZES = (_size(_FIRST), _size(_SECOND))
_NONE_LARGE = f"{_SIZES[0]} < {_LARGE} AND {_SIZES[1]} < {_LARGE}"
_NONE_TINY = f"{_SIZES[0]} > {_TINY} AND {_SIZES[1]} > {_TINY}"
_ANY_NOT_FINITE = " OR ".join(map(_not_finite, (_FIRST, _SECOND)))
_SPREADS = [
    _scaled("var_pop", value, size) for value, size in zip((_FIRST, _SECOND), _SIZES, strict=True)
]


def _of_pairs(function: str) -> str:
    """A covariance of finite values, by the greatest sizes of both sides."""
    product = f"{_SIZES[0]} * {_SIZES[1]} > 1e100"
    large = f"{function}(_1 * {_DOWN!r}, _2 * {_DOWN!r}) * {_UP!r} * {_UP!r}"
    small = f"{function}(_1 * {_SMALL_UP!r}, _2 * {_SMALL_UP!r}) * {_SMALL_DOWN!r}"
    return (
        f"CASE WHEN {_NONE_LARGE} THEN {small} WHEN {product} AND {_NONE_TINY} THEN {large}"
        f" ELSE {function}(_1, _2) END"
    )


def covariance(function: str, least: int) -> dict[str, str]:
    """Return the text of ``covar_pop`` or ``covar_samp``.

    Args:
        least: the number of pairs from which on it has a value.
    """
    nan = f"CASE WHEN count({_FIRST}) >= {least} THEN {_NAN} END"
    text = f"CASE WHEN {_ANY_NOT_FINITE} THEN {nan} ELSE {_of_pairs(function)} END"
    return dict(_everywhere(text, _FIRST, _SECOND))


_COVARIANCE = _of_pairs("covar_pop")
_SLOPE = f"(({_COVARIANCE}) / nullif({_SPREADS[1]}, 0e0))"
_MEANS = [
    f"CASE WHEN {size} > {_LARGE} THEN avg({value} * {_DOWN!r}) * {_UP!r} ELSE avg({value}) END"
    for value, size in zip((_FIRST, _SECOND), _SIZES, strict=True)
]
_CORRELATION = " / ".join([f"({_COVARIANCE})", *(f"nullif(sqrt({e}), 0e0)" for e in _SPREADS)])
LINES: Mapping[str, str] = {
    "corr": _CORRELATION,
    "regr_slope": _SLOPE,
    "regr_intercept": f"({_MEANS[0]}) - {_SLOPE} * ({_MEANS[1]})",
}
"""What Trino computes of covariance, variances and means; it is NULL if that is not finite."""


def of_line(name: str, text: str) -> str:
    """Return the text of a function of :data:`LINES`, by its text for values of ordinary sizes."""
    scaled = f"CASE WHEN abs({LINES[name]}) < {_INFINITY} THEN {LINES[name]} END"
    ordinary = f"{_NONE_LARGE} AND {_NONE_TINY}"
    return f"CASE WHEN {_ANY_NOT_FINITE} THEN NULL WHEN {ordinary} THEN {text} ELSE {scaled} END"
