"""Times with one meaning in three engines: Trino's.

In: typed calls. Out: ``date_format`` that rounds to milliseconds first, as Trino does; ``date_add``
and ``date_diff`` that count months as Trino does at their ends, and dates that stay dates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from headwater.analyze.portable.patterns import call, text
from headwater.analyze.text_places import filled
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.time_patterns import JAVA
from headwater.dialect.vocabulary import LENGTHS

_MONTHS: Mapping[str, int] = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_BETWEEN = (
    "((year({1}) * 12 + month({1})) - (year({0}) * 12 + month({0}))"
    " - CASE WHEN {0} + {months} > {1} THEN 1 ELSE 0 END)"
)
_GIVEN = "CASE WHEN _1 IS NOT NULL THEN {} END"
"""What would fail was made NULL."""
_APART = "year({1}) * 12 + month({1}) - year({0}) * 12 - month({0})"
_MILLIS = " - ".join(
    f"(epoch_us({each}) - (epoch_us({each}) % 1000 + 1000) % 1000) // 1000" for each in ("_1", "_2")
)
_LATER = {"spark": "make_ym_interval(0, {})", "duckdb": "to_months(CAST({} AS INTEGER))"}


def spark_written(node: exp.Expr) -> exp.Expr:
    """``date_format`` for Spark, which signs years above 9999."""
    letters = node.text("format").replace("%T", "%H:%M:%S")
    written = call("DATE_FORMAT", _rounded(node.this), text(_java(letters)))
    return call("TRANSLATE", written, text("+"), text("")) if "%Y" in letters else written


def duckdb_written(node: exp.Expr) -> exp.Expr:
    """``date_format`` for DuckDB."""
    letters = node.text("format").replace("%T", "%H:%M:%S")
    return call("STRFTIME", _rounded(node.this), text(letters))


def _rounded(value: exp.Expr) -> exp.Expr:
    """A time of which no fraction is shown, so that only the carry of rounding to ms counts."""
    half = exp.Interval(this=exp.Literal.string("0.0005"), unit=exp.Var(this="SECOND"))
    return exp.paren(exp.Add(this=value.copy(), expression=half), copy=False)


def _java(letters: str) -> str:
    """Return a pattern of ``strftime`` as one of Java, in which two letters are another one."""
    made = ""
    for part in re.findall(r"%-?.|[^%A-Za-z]+|[^%]+?(?=%|$)", letters):
        java = JAVA.get(part) or (f"'{part}'" if re.search(r"[^\W\d_]|[()]", part) else part)
        made += f"[]{java}" if java[0] == made[-1:] else java
    return made


def kept_date(node: exp.Expr) -> exp.Expr:
    """A date and an interval for DuckDB and Spark, whose sums are timestamps or other intervals."""
    if type_of(node) != t.DATE:
        return node
    return exp.Cast(this=exp.paren(node.copy(), copy=False), to=t.DATE.copy())


def months_between(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Return ``date_diff`` in months, quarters or years; None if it is in another unit.

    A month is full once the same day of the next month has come, or its last day, if that has
    fewer days. Java, and so Spark, waits for the next month then.

    Args:
        node: a typed call.
        dialect: ``spark`` or ``duckdb``.
    """
    unit = node.text("unit").upper()
    if unit not in _MONTHS:
        return None
    forward, backward = (
        _BETWEEN.format(*order, months=_LATER[dialect].format(_APART.format(*order)))
        for order in (("_2", "_1"), ("_1", "_2"))
    )
    count = f"CASE WHEN _2 <= _1 THEN {forward} ELSE -{backward} END"
    if _MONTHS[unit] > 1:
        whole = "CAST({} / {} AS BIGINT)" if dialect == "spark" else "trunc({} / {})"
        count = whole.format(f"({count})", _MONTHS[unit])
    return filled(f"CAST({count} AS BIGINT)", [node.this, node.expression], dialect)


def spark_elapsed(node: exp.Expr) -> exp.Expr:
    """``date_diff`` for Spark."""
    if months := months_between(node, "spark"):
        return months
    given, unit = [node.this, node.expression], node.text("unit").upper()
    if unit == "WEEK":
        node.set("unit", exp.var("DAY"))
        return filled("CAST(_1 / 7 AS BIGINT)", [node], "spark")
    if unit == "MILLISECOND":
        millis = "unix_millis(CAST(_1 AS TIMESTAMP)) - unix_millis(CAST(_2 AS TIMESTAMP))"
        return filled(millis, given, "spark")
    return node


def duckdb_elapsed(node: exp.Expr) -> exp.Expr:
    """``date_diff`` for DuckDB, which counts boundaries; its date_sub counts full units."""
    if months := months_between(node, "duckdb"):
        return months
    if node.text("unit").upper() == "MILLISECOND":
        return filled(_MILLIS, [node.this, node.expression], "duckdb")
    unit = exp.Literal.string(node.text("unit").lower() or "day")
    return call("DATE_SUB", unit, node.expression, node.this)


def spark_later(node: exp.Expr) -> exp.Expr:
    """``date_add`` for Spark."""
    unit, given = node.text("unit").upper(), [node.this, node.expression]
    if unit in _MONTHS:
        sum_ = f"_1 + make_ym_interval(0, CAST(_2 * {_MONTHS[unit]} AS INT))"
    elif type_of(node) == t.DATE:
        sum_ = f"date_add(_1, CAST(_2 * {LENGTHS[unit].days} AS INT))"
    else:
        seconds = LENGTHS[unit].total_seconds()
        length = f"_2 / {round(1 / seconds)}" if seconds < 1 else f"_2 * {round(seconds)}"
        sum_ = f"_1 + make_dt_interval(0, 0, 0, CAST({length} AS DECIMAL(18, 6)))"
    return exp.Cast(this=filled(_GIVEN.format(sum_), given, "spark"), to=type_of(node).copy())


def duckdb_later(node: exp.Expr) -> exp.Expr:
    """``date_add`` for DuckDB."""
    unit, given = node.text("unit").upper(), [node.this, node.expression]
    if unit in _MONTHS:
        sum_ = f"_1 + to_months(CAST(_2 * {_MONTHS[unit]} AS INTEGER))"
    elif type_of(node) == t.DATE:
        sum_ = f"_1 + CAST(_2 * {LENGTHS[unit].days} AS INTEGER)"
    else:
        micros = round(LENGTHS[unit].total_seconds() * 1_000_000)
        sum_ = f"_1 + to_microseconds(_2 * {micros})"
    return exp.Cast(this=filled(_GIVEN.format(sum_), given, "duckdb"), to=type_of(node).copy())


def trino_later(node: exp.Expr) -> exp.Expr:
    """``date_add`` for Trino."""
    return call("DATE_ADD", text(node.text("unit").lower()), node.expression, node.this)
