"""Times of day, lengths of time and UUIDs: values of types that columns of tables carry as others.

A ``TIME`` is carried as the text ``09:30:00`` or ``09:30:00.25``: zeros at its end are left out, so
that equal times have equal texts, and texts sort as the times do. A ``UUID`` is carried as text in
lower case, an ``INTERVAL`` of days to seconds as a ``BIGINT`` of microseconds. The lines here have
no names that a query can call: the binder puts them in the place of casts and operators.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.functions.entry import Table
from headwater.analyze.typing.functions.lines import Line, line, named

TIME_FORM = r"^([01]?[0-9]|2[0-3]):[0-5]?[0-9](:[0-5]?[0-9]([.][0-9]{1,6})?)?\z"
UUID_FORM = r"^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\z"
"""Texts that can be cast; a line feed behind them does not fit."""

TIME_OF, TIME_READ = named("_time_of"), named("_time_read")
TIME_LATER, TIME_EARLIER = named("_time_later"), named("_time_earlier")
TIME_TEXT, TIME_MICROS = named("_time_text"), named("_time_micros")
DATE_WITH_TIME, TIMES_APART = named("_date_with_time"), named("_times_apart")
MILLIS_APART = named("_times_apart_in_millis")
UUID_READ, UUID_TEXT = named("_uuid_read"), named("_uuid_text")
MICROS, SPAN, TIMES, WHOLE = (
    named(name) for name in ("_micros", "_span", "_multiplied", "_whole_units")
)
LATER, LATER_ZONED = named("_later"), named("_later_zoned")
TIME_PARTS = {unit: named(f"_{unit}_of_time") for unit in ("hour", "minute", "second")}
TIME_BEGINNINGS = {unit: named(f"_{unit}_began") for unit in ("hour", "minute", "second")}

READ = {t.Type.TIME: TIME_READ, t.Type.UUID: UUID_READ}
READERS = tuple(READ.values())
FORMS = {t.Type.TIME: TIME_FORM, t.Type.UUID: UUID_FORM}

DAY_MICROS = 86_400_000_000
_MOST = 315_360_000_000_000_000
"""Microseconds of 10,000 years."""
_SIGN: Mapping[type[exp.Expr], str] = {TIME_LATER: "+", TIME_EARLIER: "-"}

_OF_TIME = (
    "(CAST(substr({0}, 1, 2) AS BIGINT) * 3600000000 + CAST(substr({0}, 4, 2) AS BIGINT) * 60000000"
    " + CAST(substr({0}, 7, 2) AS BIGINT) * 1000000"
    " + CAST(rpad(substr({0}, 10), 6, '0') AS BIGINT))"
)
"""Microseconds since midnight."""
_SHORT = "regexp_replace({}, '[.]?0+$', '')"
"""Six digits behind the point without the zeros at their end, and without the point alone."""
# Trino 476 casts a timestamp without a zone that is before 1970 to a wrong time
_CLOCK = {
    "spark": "date_format({}, 'HH:mm:ss.SSSSSS')",
    "duckdb": "strftime(CAST({} AS TIMESTAMP), '%H:%M:%S.%f')",
    "trino": "CAST(CAST(CAST({} AS TIMESTAMP(6) WITH TIME ZONE) AT TIME ZONE 'UTC' AS TIME(6))"
    " AS VARCHAR)",
}
_AT_MICROS = {
    "spark": "timestamp_micros({})",
    "duckdb": "(TIMESTAMP '1970-01-01 00:00:00' + to_microseconds({}))",
    "trino": "from_unixtime_nanos(({}) * 1000)",
}
_OF_TEXT = (
    "(lpad(regexp_extract(_1, '^([0-9]+):', 1), 2, '0') || ':'"
    " || lpad(regexp_extract(_1, '^[0-9]+:([0-9]+)', 1), 2, '0') || ':'"
    " || lpad(coalesce(regexp_extract(_1, '^[0-9]+:[0-9]+:([0-9]+)', 1), ''), 2, '0') || '.'"
    " || rpad(coalesce(regexp_extract(_1, '[.]([0-9]+)$', 1), ''), 6, '0'))"
)
_READ_AS = {t.Type.TIME: _SHORT.format(_OF_TEXT), t.Type.UUID: "lower(_1)"}
_INSTANT = "CAST(CAST({} AS TIMESTAMP(6) WITH TIME ZONE) AT TIME ZONE 'UTC' AS TIMESTAMP(6))"
_TO_1970 = 30_610_224_000_000
"""Milliseconds from the year 1000: Trino counts full ones, also before 1970."""
_TRINO_MICROS = (
    f"((date_diff('millisecond', TIMESTAMP '1000-01-01 00:00:00', {_INSTANT}) - {_TO_1970}) * 1000"
    f" + CAST(substr(CAST({_INSTANT} AS VARCHAR), 24, 3) AS BIGINT))"
)


def micros_of(dialect: str, value: str) -> str:
    """Return the microseconds of a timestamp since 1970 in the SQL of an engine.

    Args:
        value: the timestamp, with or without a zone.
    """
    if dialect == "trino":
        return _TRINO_MICROS.format(value, value)
    return (
        f"unix_micros(CAST({value} AS TIMESTAMP))" if dialect == "spark" else f"epoch_us({value})"
    )


def carried(value: str, kind: exp.DataType) -> str:
    """Return the Spark SQL of a time of day or a UUID that a text says.

    Args:
        value: the text, which has the form of the type.
    """
    return _READ_AS[kind.this].replace("_1", value)


def has_form(text: str, form: str) -> bool:
    """Return whether a text has one of :data:`FORMS`."""
    return re.fullmatch(form.replace(r"\z", ""), text, re.ASCII) is not None


def canonical(text: str, kind: exp.DataType) -> str:
    """Return what stands for a literal time of day or UUID, which has the form of its type."""
    if kind.this is t.Type.UUID:
        return text.lower()
    clock, _, fraction = text.partition(".")
    parts = [f"{int(part):02}" for part in [*clock.split(":"), "0"][:3]]
    return ":".join(parts) + f".{fraction}".rstrip("0").rstrip(".")


def _clock(made: str) -> dict[str, str]:
    """A time of day of a timestamp, by engine; of microseconds since midnight if there are some."""
    texts = {}
    for engine, text in _CLOCK.items():
        at = _AT_MICROS[engine].format(made) if made else "_1"
        texts[engine] = _SHORT.format(text.format(at))
    return texts


def _everywhere(text: str) -> dict[str, str]:
    return dict.fromkeys(("spark", "duckdb", "trino"), text)


_MILLIS = {
    "spark": "(CAST(floor(({} + 500) / 1000D) AS BIGINT) * 1000)",
    "duckdb": "(CAST(floor(({} + 500) / 1000) AS BIGINT) * 1000)",
    "trino": "(CAST(floor(({} + 500) / 1000e0) AS BIGINT) * 1000)",
}


def rounded(dialect: str, micros: str) -> str:
    """Return microseconds rounded to milliseconds, as Trino's intervals are."""
    return _MILLIS[dialect].format(micros)


_APART = dict.fromkeys(_MILLIS, f"({_OF_TIME.format('_1')} - {_OF_TIME.format('_2')})")


def _line(
    signature: str,
    about: str,
    texts: Mapping[str, str],
    fails: str | Callable[[exp.Expr], str] = "",
) -> Line:
    spark, duckdb, trino = (texts[engine] for engine in ("spark", "duckdb", "trino"))
    return line(signature, about, spark=spark, duckdb=duckdb, trino=trino, fails=fails)


def _shifted(node: type[exp.Expr], name: str) -> Line:
    """A line that turns the clock; a day has as many microseconds as it ever has."""
    sum_ = f"({_OF_TIME.format('_1')} {_SIGN[node]} _2 % {DAY_MICROS} + {DAY_MICROS})"
    texts = _clock(f"{sum_} % {DAY_MICROS}")
    return _line(f"{name}(t: clock, i: span) -> TIME", "Turns a clock by an interval.", texts)


def _moved(name: str, result: str) -> Line:
    """A line that moves a timestamp by an interval."""
    nanos = f"({micros_of('trino', '_1')} + _2) * DECIMAL '1000'"
    return line(
        f"{name}(x: timestamp, i: span) -> {result}",
        "Moves a timestamp by an interval.",
        spark="timestampadd(MICROSECOND, _2, _1)",
        duckdb="_1 + to_microseconds(_2)",
        trino=f"CAST(from_unixtime_nanos({nanos}) AT TIME ZONE 'UTC' AS {result})",
        fails=_beyond,
    )


def _beyond(node: exp.Expr) -> str:
    """The condition that a time is moved too far; what lies between two times never is."""
    span = node.expressions[1].unnest()
    while isinstance(span, exp.Neg):
        span = span.this.unnest()
    return "" if isinstance(span, exp.Sub) else f"_micros(_2) NOT BETWEEN -{_MOST} AND {_MOST}"


def _unless_literal(form: str) -> Callable[[exp.Expr], str]:
    """The condition that a text has not a form, empty if it is a literal that has it."""

    def fails(node: exp.Expr) -> str:
        value = node.expressions[0]
        good = value.is_string and has_form(value.name, form)
        return "" if good else f"NOT regexp_like(_1, '{form}')"

    return fails


_CUT = {"hour": (2, ":00:00"), "minute": (5, ":00"), "second": (8, "")}

CARRIED: Table = dict(
    (
        _line("_time_of(x: timestamp) -> TIME", "Returns the time of day.", _clock("")),
        _line(
            "_time_read(x: text) -> TIME",
            "Reads a time of day.",
            _everywhere(_READ_AS[t.Type.TIME]),
            fails=_unless_literal(TIME_FORM),
        ),
        _line("_time_text(t: clock) -> VARCHAR", "Writes a time of day.", _everywhere("_1")),
        _line(
            "_time_micros(t: clock) -> BIGINT",
            "Returns the microseconds since midnight.",
            _everywhere(_OF_TIME.format("_1")),
        ),
        _shifted(TIME_LATER, "_time_later"),
        _shifted(TIME_EARLIER, "_time_earlier"),
        _line(
            "_times_apart(t: clock, u: clock) -> span",
            "Returns how much later the first time of day is.",
            _APART,
        ),
        _line(
            "_times_apart_in_millis(t: clock, u: clock) -> span",
            "Returns the same as Trino does, in milliseconds.",
            {engine: rounded(engine, apart) for engine, apart in _APART.items()},
        ),
        line(
            "_date_with_time(d: date, t: clock) -> TIMESTAMP",
            "Returns the timestamp of a date and a time of day.",
            spark="CAST(CAST(_1 AS STRING) || ' ' || _2 AS TIMESTAMP_NTZ)",
            duckdb="CAST(CAST(_1 AS VARCHAR) || ' ' || _2 AS TIMESTAMP)",
            trino="CAST(CAST(_1 AS VARCHAR) || ' ' || _2 AS TIMESTAMP(6))",
        ),
        *(
            _line(
                f"_{unit}_of_time(t: clock) -> BIGINT",
                f"Returns the {unit} of a time of day.",
                _everywhere(f"CAST(substr(_1, {1 + 3 * at}, 2) AS BIGINT)"),
            )
            for at, unit in enumerate(TIME_PARTS)
        ),
        *(
            _line(
                f"_{unit}_began(t: clock) -> TIME",
                f"Returns the time of day at which the {unit} began.",
                _everywhere(f"(substr(_1, 1, {_CUT[unit][0]}) || '{_CUT[unit][1]}')"),
            )
            for unit in TIME_BEGINNINGS
        ),
        _line(
            "_uuid_read(x: text) -> UUID",
            "Reads a UUID.",
            _everywhere(_READ_AS[t.Type.UUID]),
            fails=_unless_literal(UUID_FORM),
        ),
        _line("_uuid_text(x: uuid) -> VARCHAR", "Writes a UUID.", _everywhere("_1")),
        _line("_micros(i: span) -> BIGINT", "Returns microseconds.", _everywhere("_1")),
        _line("_span(n: long) -> span", "Returns an interval.", _everywhere("_1")),
        _line(
            "_multiplied(i: span, n: bigint) -> span",
            "Returns an interval so many times.",
            _everywhere("(_1 * CAST(_2 AS BIGINT))"),
            fails="NOT abs(CAST(_micros(_1) AS DOUBLE) * CAST(_2 AS DOUBLE)) < 9e18",
        ),
        line(
            "_whole_units(i: span, n: bigint) -> BIGINT",
            "Counts full units of so many microseconds.",
            spark="(_1 DIV _2)",
            duckdb="(_1 // _2)",
            trino="(_1 / _2)",
        ),
        _moved("_later", "TIMESTAMP(6)"),
        _moved("_later_zoned", "TIMESTAMP(6) WITH TIME ZONE"),
    )
)
