"""Dates, times and UUIDs as text → values, and the times that are held to be real.

In: expressions and types. Out: Spark SQL. Times inside arrays, maps and rows are looked into.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.typing.functions.carried import FORMS, carried
from headwater.analyze.typing.types import elements, is_timestamp, spark_type
from headwater.plan.sql.spark_text import name, text

EARLIEST, LATEST = "1900-01-01", "2200-01-01"
_TIMES = (exp.DataType.Type.DATE, exp.DataType.Type.TIMESTAMPNTZ, exp.DataType.Type.TIMESTAMPTZ)
_NESTED = (exp.DataType.Type.ARRAY, exp.DataType.Type.MAP, exp.DataType.Type.STRUCT)


def is_time(kind: exp.DataType) -> bool:
    """Whether the type is DATE or TIMESTAMP."""
    return kind.this in _TIMES


def is_cast(kind: exp.DataType) -> bool:
    """Whether values are read as text, and then cast by :func:`cast_text`."""
    return is_time(kind) or kind.this in FORMS


def is_nested(kind: exp.DataType) -> bool:
    """Whether the type is an array, a map or a row."""
    return kind.this in _NESTED


def cast_text(value: str, kind: exp.DataType, pattern: str | None) -> str:
    """Return the expression that reads a date, a time or a UUID from text, NULL if it is none.

    ISO 8601 with four-digit years only: Spark's own cast also takes a bare time of day (and adds
    the date of today), years alone, and text behind a date. A TIMESTAMP without time zone that is
    given an offset is converted to UTC.

    Args:
        value: expression of the text.
        kind: a type that :func:`is_cast`.
        pattern: Spark datetime pattern instead of ISO 8601.
    """
    if kind.this in FORMS:
        return f"CASE WHEN {value} RLIKE {text(FORMS[kind.this])} THEN {carried(value, kind)} END"
    target = spark_type(kind)
    if pattern:
        return f"CAST(try_to_timestamp({value}, {text(pattern)}) AS {target})"
    dashes = f"substr({value}, 5, 1) = '-' AND substr({value}, 8, 1) = '-'"
    if not is_timestamp(kind):
        dashes += f" AND length({value}) = 10"
    # with an offset too a TIMESTAMP is the time of UTC, which is the session's: a cast to
    # TIMESTAMP_NTZ would drop the offset
    found = f"try_cast({value} AS {'TIMESTAMP' if is_timestamp(kind) else target})"
    return f"CASE WHEN {dashes} THEN CAST({found} AS {target}) END"


def outside(value: str, kind: exp.DataType, depth: int = 0) -> str:
    """Return the condition that a value holds a time out of range, or '' if it cannot.

    Args:
        value: expression of the value.
        kind: its type; arrays, maps and rows are looked into.
        depth: level of nesting.
    """
    if is_time(kind):
        target = spark_type(kind)
        return f"NOT {value} BETWEEN {target} '{EARLIEST}' AND {target} '{LATEST}'"
    if kind.this is exp.DataType.Type.STRUCT:
        fields = [
            outside(f"{value}.{name(field.name)}", kind_, depth)
            for field, kind_ in zip(kind.expressions, elements(kind), strict=True)
        ]
        return " OR ".join(f"coalesce({condition}, false)" for condition in fields if condition)
    if kind.this not in _NESTED:
        return ""
    item, parts = f"x{depth}", [value]
    if kind.this is exp.DataType.Type.MAP:
        parts = [f"map_keys({value})", f"map_values({value})"]
    found = [
        f"exists({part}, {item} -> coalesce({inner}, false))"
        for part, kind_ in zip(parts, elements(kind), strict=True)
        if (inner := outside(item, kind_, depth + 1))
    ]
    return " OR ".join(f"coalesce({condition}, false)" for condition in found)
