"""Small pieces of Spark SQL text, and option values as Python values.

In: names, texts and times. Out: SQL that cannot be broken out of, and typed option values.
"""

from __future__ import annotations

import re
from datetime import timedelta

from sqlglot import exp

from headwater.errors import ConfigError
from headwater.plan.query_shape import MICROSECOND

_UNITS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}


def name(column: str) -> str:
    """Return a quoted identifier.

    Args:
        column: name of a column or view.
    """
    return f"`{column.replace('`', '``')}`"


def text(value: str) -> str:
    """Return a string literal."""
    return exp.Literal.string(value).sql(dialect="spark")


def at(micros: int, kind: str = "TIMESTAMP") -> str:
    """Return a point in time as an expression.

    Args:
        micros: microseconds since 1970 UTC.
        kind: Spark type, ``TIMESTAMP`` or ``TIMESTAMP_NTZ``.
    """
    point = f"timestamp_micros({micros})"
    return point if kind == "TIMESTAMP" else f"CAST({point} AS {kind})"


def per_epoch(value: int) -> str:
    """Return a number that differs from epoch to epoch, over a relation with a column ``_row``.

    A plain literal would become part of the Java code that Spark generates, so that every epoch's
    code would be compiled anew and start cold. The item of a literal array, at a place that depends
    on the row as far as the optimizer can tell (it is always 0), is data.
    """
    return _as_data(f"{value}L")


def _as_data(constant: str) -> str:
    return f"get(array({constant}), CAST(_row < 0 AS INT))"


def moment(micros: int, kind: str = "TIMESTAMP") -> str:
    """Return a point in time that differs from epoch to epoch; see :func:`per_epoch`.

    Args:
        micros: microseconds since 1970 UTC.
        kind: Spark type, ``TIMESTAMP`` or ``TIMESTAMP_NTZ``.
    """
    return _as_data(at(micros, kind))


def interval(value: str) -> timedelta:
    """Return an option of kind ``interval`` (``'90 seconds'``, ``'1 hour'``).

    Raises:
        ConfigError: ``INVALID_OPTION``.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+?)s?\s*", value.lower())
    if not match or match[2] not in _UNITS:
        raise ConfigError(
            "INVALID_OPTION", f"'{value}' is not an interval", hint="write for example '90 seconds'"
        )
    return timedelta(microseconds=round(float(match[1]) * _UNITS[match[2]]))


def micros(span: timedelta) -> int:
    """Return a span in whole microseconds."""
    return span // MICROSECOND
