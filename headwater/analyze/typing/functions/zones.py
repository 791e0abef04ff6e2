"""What ``AT TIME ZONE`` becomes: the wall clock of a zone, and the beginning of its units.

Engines run in UTC: a time without a zone is one in UTC, as in Trino.
"""

from __future__ import annotations

from headwater.analyze.typing.functions.entry import Table
from headwater.analyze.typing.functions.lines import Line, line, named

LOCAL = named("_local")
BEGINNINGS = ("minute", "hour", "day", "week", "month", "quarter", "year")
"""Units whose beginning in a zone can be asked for."""

_SHORT = ("minute", "hour")
_INSTANT = "TIMESTAMP(6) WITH TIME ZONE"
_SPARK = "CAST(from_utc_timestamp(CAST(_1 AS TIMESTAMP), _2) AS TIMESTAMP_NTZ)"
_DUCKDB = "timezone(_2, CAST(_1 AS TIMESTAMPTZ))"
_TRINO = f"(CAST(_1 AS {_INSTANT}) AT TIME ZONE _2)"


def _beginning(unit: str) -> Line:
    """A line that rounds down to a unit; a short one by its distance, since hours come twice."""
    spark = f"CAST(date_trunc('{unit}', {_SPARK}) AS TIMESTAMP_NTZ)"
    duckdb = f"date_trunc('{unit}', {_DUCKDB})"
    if unit in _SHORT:
        spark = f"CAST(_1 AS TIMESTAMP) - ({_SPARK} - {spark})"
        duckdb = f"CAST(_1 AS TIMESTAMPTZ) - ({_DUCKDB} - {duckdb})"
    else:
        spark = f"to_utc_timestamp(CAST({spark} AS TIMESTAMP), _2)"
        duckdb = f"timezone(_2, {duckdb})"
    return line(
        f"_beginning_of_{unit}(x: timestamp, zone: text) -> {_INSTANT}",
        f"Returns when the {unit} of a time began in a zone.",
        spark=spark,
        duckdb=duckdb,
        trino=f"date_trunc('{unit}', {_TRINO}) AT TIME ZONE 'UTC'",
    )


ZONES: Table = dict(
    (
        line(
            "_local(x: timestamp, zone: text) -> TIMESTAMP",
            "Returns the wall clock of a zone.",
            spark=_SPARK,
            duckdb=_DUCKDB,
            trino=f"CAST({_TRINO} AS TIMESTAMP(6))",
        ),
        *map(_beginning, BEGINNINGS),
    )
)
