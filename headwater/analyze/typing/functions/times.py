"""Functions over dates and timestamps. The session's time zone is UTC in every engine."""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.functions.entry import Described, Function, Table, always, first
from headwater.analyze.typing.functions.lines import line

_COUNT = always(t.BIGINT)
_AT = "TIMESTAMP '2026-11-25 17:30:45'"
_INTEGER = "Spark returns an `INTEGER`; Headwater returns a `BIGINT`, as Trino does."


def _part(name: str, about: str, result: str, kind: str = "datetime") -> Function:
    example = ((f"{name}({_AT})", result),)
    return Function(name, f"{name}(x)", about, example, params=(kind,), result=_COUNT)


_PER_YEAR = {"millisecond": 31_536_000_000, "second": 31_536_000, "minute": 525_600, "hour": 8760}
_PER_YEAR |= {"day": 365, "week": 52, "month": 12, "quarter": 4, "year": 1}


def _most(node: exp.Expr) -> int:
    """So many units are 10,000 years."""
    return 10_000 * _PER_YEAR.get(node.text("unit").lower(), 1)


TIMES: Table = {
    exp.TimestampTrunc: Function(
        "date_trunc",
        "date_trunc(unit, x)",
        "Rounds a time down to the second, minute, hour, day, week, month, quarter or year; weeks"
        " begin on Monday.",
        (
            (f"date_trunc('hour', {_AT})", "2026-11-25 17:00:00"),
            (f"date_trunc('week', date({_AT}))", "2026-11-23"),
        ),
        "Spark always returns a `TIMESTAMP`; Headwater keeps the type, as Trino does.",
        params=("datetime",),
        result=first,
    ),
    exp.Year: _part("year", "Returns the year.", "2026"),
    exp.Quarter: _part("quarter", "Returns the quarter, 1 to 4.", "4"),
    exp.Month: _part("month", "Returns the month, 1 to 12.", "11"),
    exp.Day: _part("day", "Returns the day of the month.", "25"),
    exp.DayOfYear: _part("day_of_year", "Returns the day of the year, from 1.", "329"),
    exp.WeekOfYear: _part("week", "Returns the ISO week of the year.", "48"),
    exp.DayOfWeekIso: _part("day_of_week", "Returns the day of the week; Monday is 1.", "3"),
    exp.Hour: _part("hour", "Returns the hour, 0 to 23.", "17", "timestamp"),
    exp.Minute: _part("minute", "Returns the minute, 0 to 59.", "30", "timestamp"),
    exp.Second: _part("second", "Returns the second, 0 to 59.", "45", "timestamp"),
    exp.Extract: Function(
        "extract",
        "extract(unit FROM x)",
        "Returns the year, quarter, month, day, hour, minute or second of a time.",
        ((f"extract(month FROM {_AT})", "11"),),
        _INTEGER,
        params=("datetime",),
        result=_COUNT,
    ),
    exp.DateDiff: Function(
        "date_diff",
        "date_diff(unit, from, to)",
        "Counts the full units between two times, from `millisecond` to `year`; between dates, from"
        " `day` on.",
        (
            (f"date_diff('hour', {_AT}, TIMESTAMP '2026-11-25 20:00:00')", "2"),
            ("date_diff('day', DATE '2026-01-01', DATE '2026-11-25')", "328"),
        ),
        "DuckDB counts boundaries that were crossed; Headwater counts full units, as Trino does.",
        params=("datetime", "datetime"),
        result=_COUNT,
    ),
    exp.Date: Function(
        "date",
        "date(x)",
        "Returns the date of a time.",
        ((f"date({_AT})", "2026-11-25"),),
        params=("datetime",),
        result=always(t.DATE),
    ),
    exp.UnixToTime: Function(
        "from_unixtime",
        "from_unixtime(seconds)",
        "Returns the time that lies so many seconds after 1970-01-01 00:00:00 UTC.",
        (("from_unixtime(1764091845)", "2025-11-25 17:30:45 UTC"),),
        params=("integer",),
        result=always(t.TIMESTAMPTZ),
    ),
    exp.TimeToUnix: Function(
        "to_unixtime",
        "to_unixtime(x)",
        "Returns the seconds since 1970-01-01 00:00:00 UTC, with their fraction.",
        (("to_unixtime(TIMESTAMP '1970-01-01 00:01:00.5')", "60.5"),),
        "Spark returns whole seconds; Headwater keeps the fraction, as Trino does.",
        params=("datetime",),
        result=always(t.DOUBLE),
    ),
    exp.TimeToStr: Function(
        "date_format",
        "date_format(x, pattern)",
        "Writes a time as text; the pattern takes `%Y %m %d %H %i %s %T %y %h %p %a %b %W %M`"
        " and plain text.",
        ((f"date_format({_AT}, '%Y-%m-%d %H:%i')", "'2026-11-25 17:30'"),),
        "Names of days and months are English everywhere. The time is rounded to milliseconds"
        " first, as in Trino. Other letters differ between engines and are refused.",
        params=("datetime",),
        result=always(t.VARCHAR),
    ),
    exp.LastDay: Function(
        "last_day_of_month",
        "last_day_of_month(date)",
        "Returns the last day of the month of a date.",
        (("last_day_of_month(DATE '2024-02-10')", "2024-02-29"),),
        params=("datetime",),
        result=always(t.DATE),
    ),
    exp.DateAdd: Function(
        "date_add",
        "date_add(unit, n, x)",
        "Adds units to a time, from `millisecond` to `year`; to a date, from `day` on.",
        (
            ("date_add('month', 1, DATE '2024-01-31')", "2024-02-29"),
            (f"date_add('minute', length('abc'), {_AT})", "2026-11-25 17:33:45"),
        ),
        "It fails beyond 10,000 years.",
        params=("datetime", "bigint"),
        result=first,
        fails=lambda node: f"_2 NOT BETWEEN -{_most(node)} AND {_most(node)}",
    ),
    **dict(
        (
            line(
                "year_of_week(x: datetime) -> BIGINT",
                "Returns the year that the ISO week belongs to.",
                "year_of_week(DATE '2024-12-30') -> 2025",
                spark="extract(YEAROFWEEK FROM _1)",
                duckdb="CAST(strftime(_1, '%G') AS BIGINT)",
                aliases="yow",
            ),
            line(
                "millisecond(x: timestamp) -> BIGINT",
                "Returns the milliseconds of the second, 0 to 999.",
                "millisecond(TIMESTAMP '2026-11-25 17:30:45.678') -> 678",
                spark="CAST(floor(extract(SECOND FROM _1) * 1000) AS BIGINT) % 1000",
                duckdb="millisecond(_1) % 1000",
            ),
        )
    ),
}

TIME_FORMS: tuple[Described, ...] = (
    Described(
        "date_parse",
        "date_parse(text, pattern)",
        "Reads a text as a `TIMESTAMP`; the pattern is a literal of `%Y %m %d %H %i %s %f %T` and"
        " punctuation.",
        (("date_parse('25.11.2026 17:30', '%d.%m.%Y %H:%i')", "2026-11-25 17:30:00"),),
        "A text that does not fit is a bad row.",
    ),
    Described(
        "parse_datetime",
        "parse_datetime(text, pattern)",
        "Reads a text as a time in UTC; the pattern is a literal of `yyyy MM dd HH mm ss` and"
        " punctuation.",
        (("parse_datetime('2026-11-25 17:30', 'yyyy-MM-dd HH:mm')", "2026-11-25 17:30:00 UTC"),),
        "A text that does not fit is a bad row.",
    ),
    Described(
        "format_datetime",
        "format_datetime(x, pattern)",
        "Writes a time as text; the pattern is a literal of `yyyy MM MMM MMMM dd HH hh mm ss a EEE"
        " EEEE` and punctuation.",
        ((f"format_datetime({_AT}, 'dd.MM.yyyy')", "'25.11.2026'"),),
        "Other letters differ between engines and are refused.",
    ),
)
"""What the parser reads as other functions."""

TRUNC_UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
DIFF_UNITS = ("millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year")
DATE_UNITS = DIFF_UNITS[4:]
"""Units of dates; `date_add` has the same as `date_diff`."""
EXTRACT_UNITS = ("year", "quarter", "month", "day", "hour", "minute", "second")
