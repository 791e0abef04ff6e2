"""avg of decimals: one meaning in three engines, Trino's.

In: a bound query. Out: what Spark and DuckDB compute instead of their own avg. The average of
``DECIMAL(p, s)`` is a ``DECIMAL(p, s)``, the exact quotient of sum and count rounded half away from
zero. DuckDB's own is a DOUBLE; Spark's has four digits more, and to round it once more can be wrong
in the last digit (0.00499996 → 0.0050 → 0.01).
"""

from __future__ import annotations

from sqlglot import exp, parse_one

from headwater.analyze.decimals.sums import exact_average
from headwater.analyze.decimals.units import unit
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.fallibility.fallible import SAFE
from headwater.analyze.query_parts import bare_call
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_MOST_DIGITS = 18
"""After the point, of a number whose average is taken: a fraction of it is a BIGINT in Spark."""
_TOTAL, _COUNT = "__total", "__count"
_OUTER = (exp.Filter, exp.Window)


def check_average(node: exp.Avg, report: Diagnostics) -> None:
    """Refuse the average of decimals with too many digits after the point.

    Args:
        node: the call, its argument typed.
    """
    kind = type_of(node.this)
    if kind.this is t.Type.DECIMAL and t.digits(kind)[1] > _MOST_DIGITS:
        words = f"avg of more than {_MOST_DIGITS} digits after the point"
        report.not_yet(words, node, f"cast it: CAST(x AS DECIMAL(38, {_MOST_DIGITS}))")


def spark_average(node: exp.Expr) -> exp.Expr:
    """Return an average as Spark computes it, with its FILTER and OVER; other nodes as they are.

    Whole part and fraction apart, since Spark's quotient of decimals keeps six digits at least, not
    all; ``%`` and ``DIV`` truncate.

    Args:
        node: ``avg``, ``FILTER`` or ``OVER``, typed.
    """
    if (average := _average(node)) is None:
        return node
    precision, scale = t.digits(type_of(average))
    wide = f"DECIMAL({t.MAX_PRECISION - 1}, {scale})"
    total = f"CAST({_TOTAL} AS {wide})"
    count = f"CAST(nullif({_COUNT}, 0) AS DECIMAL(20, 0))"
    rest = f"({total} % {count})"
    whole = f"CAST(({total} - {rest}) / {count} AS DECIMAL({t.MAX_PRECISION - 1 - scale}, 0))"
    digits = f"CAST({rest} * {10**scale} AS DECIMAL({t.MAX_PRECISION}, 0))"
    half = f"CASE WHEN {_TOTAL} < 0 THEN -{count} ELSE {count} END"
    fraction = f"CAST((2 * {digits} + {half}) DIV (2 * {count}) AS DECIMAL(19, 0)) * {unit(scale)}"
    fraction = f"CAST({fraction} AS DECIMAL({scale + 1}, {scale}))"
    text = f"CAST({whole} + {fraction} AS DECIMAL({precision}, {scale}))"
    return _filled(text, "spark", node)


def duckdb_average(node: exp.Expr) -> exp.Expr:
    """Return an average as DuckDB computes it, in whole numbers of 128 bits.

    Args:
        node: ``avg``, ``FILTER`` or ``OVER``, typed.
    """
    if (average := _average(node)) is None:
        return node
    precision, scale = t.digits(type_of(average))
    wide = f"DECIMAL({t.MAX_PRECISION}, {scale})"
    whole = f"CAST({_TOTAL} AS HUGEINT)"  # apart, since all of it times 10**scale may be too much
    rest = f"CAST(({_TOTAL} - CAST({whole} AS {wide})) * {10**scale} AS HUGEINT)"
    half = f"CASE WHEN {_TOTAL} < 0 THEN -{_COUNT} ELSE {_COUNT} END"
    units = f"(2 * ({whole} * {10**scale} + {rest}) + {half}) // (2 * {_COUNT})"
    text = f"CAST(CAST({units} AS DECIMAL(38, 0)) * {unit(scale)} AS DECIMAL({precision}, {scale}))"
    return _filled(text, "duckdb", node)


def trino_average(node: exp.Expr) -> exp.Expr:
    """Return an average that is NULL in Trino where its sum has too many digits.

    Args:
        node: ``avg``, ``FILTER`` or ``OVER``, typed.
    """
    if (average := _average(node)) is None or not average.meta.get(SAFE):
        return node
    return exact_average(*_sum_and_count(node), "trino")


def _average(node: exp.Expr) -> exp.Avg | None:
    """The average of decimals that a node is, with all of its FILTER and OVER."""
    inner = bare_call(node)
    if not isinstance(inner, exp.Avg) or type_of(inner).this is not t.Type.DECIMAL:
        return None
    is_part = isinstance(node.parent, _OUTER) and node.parent.this is node
    return None if is_part else inner


def _filled(text: str, dialect: str, node: exp.Expr) -> exp.Expr:
    """An expression over the sum and the count of what is averaged."""
    total, count = _sum_and_count(node)
    if bare_call(node).meta.get(SAFE):
        return exact_average(total, count, dialect)
    calls = {_TOTAL: total, _COUNT: count}

    def filled(part: exp.Expr) -> exp.Expr:
        known = calls.get(part.name) if isinstance(part, exp.Column) else None
        return known.copy() if known is not None else part

    return exp.paren(parse_one(text, dialect=dialect).transform(filled), copy=False)


def _sum_and_count(node: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """The sum and the count of what is averaged."""
    average = bare_call(node)
    count = exp.Count(this=average.this.copy(), big_int=True)
    count.type = t.BIGINT
    summed: exp.Expr = exp.Sum(this=average.this.copy())
    summed.type = t.decimal(t.MAX_PRECISION, t.digits(type_of(average))[1])
    return _within(node, summed), _within(node, count)


def _within(node: exp.Expr, call: exp.Expr) -> exp.Expr:
    """A call with the FILTER and OVER of another one."""
    if not isinstance(node, _OUTER):
        return call
    copy = node.copy()
    bare_call(copy).replace(call)
    copy.type = call.type
    return copy
