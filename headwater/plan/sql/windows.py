"""Windows as SQL: the rows of a relation, once for each window that holds their time.

In: a window and the rows that it is over. Out: a query of an engine with two more columns,
``window_start`` and ``window_end``. Spark and DuckDB count in microseconds, Trino in seconds, or
where these do not do, in milliseconds. Days and months are those of the wall clock in their zone.
"""

from __future__ import annotations

from collections.abc import Callable

from headwater.plan.windows import TimeWindow

NUMBER = "__n"
"""Column with the number of a row's window, from 0."""

Edges = tuple[str, str]
"""Start and end of a window, as SQL."""


def assign(dialect: str, window: TimeWindow, rows: str) -> str:
    """Return the query that assigns windows.

    Args:
        dialect: ``spark``, ``duckdb`` or ``trino``.
        rows: what stands behind FROM: a name, or a query in brackets.
    """
    several = window.count > 1
    start, end = edges(dialect, window, window.time, NUMBER if several else "0")
    some = f"{rows} WHERE {window.time} IS NOT NULL"
    if several:
        some = f"({_NUMBERED[dialect](window.count, some)}) AS numbered"
    found = f"SELECT *, {start} AS window_start, {end} AS window_end FROM {some}"
    if window.kind != "cumulate":
        return found
    return f"SELECT * FROM ({found}) AS windows WHERE window_end > {window.time}"


def edges(dialect: str, window: TimeWindow, time: str, number: str) -> Edges:
    """Return start and end of a window that can hold a time; of ``cumulate`` some do not.

    Args:
        dialect: ``spark``, ``duckdb`` or ``trino``.
        time: the time.
        number: which of the windows, from 0.
    """
    calendar, fixed = _ENGINES[dialect]
    return (calendar if window.by_calendar else fixed)(window, time, number)


def first_close(window: TimeWindow) -> str:
    """Return the end of the first window that holds a row's time, as Spark SQL."""
    if window.by_calendar:
        return _spark_calendar(window, window.time, "0")[1]
    return _edge(window, window.size + window.offset, window.slide, window.slide)


def last_close(window: TimeWindow) -> str:
    """Return the end of the last window that holds a row's time, as Spark SQL."""
    if window.by_calendar:
        return _spark_calendar(window, window.time, "0")[1]
    return _edge(window, window.offset, window.size, _step(window))


def _step(window: TimeWindow) -> int:
    return window.size if window.kind == "cumulate" else window.slide


def _edge(window: TimeWindow, edge: int, length: int, step: int) -> str:
    """The newest edge of a window that a row's time has reached, and some microseconds later."""
    micros = f"unix_micros(CAST({window.time} AS TIMESTAMP))"
    return f"timestamp_micros({micros} - pmod({micros} - {edge}, {step}) + {length})"


def _of(window: TimeWindow, last: str, number: str, unit: int) -> Edges:
    """Start and end of a window as numbers.

    Args:
        last: start of the last window that holds the time.
        unit: microseconds that count as one.
    """
    size, slide = window.size // unit, window.slide // unit
    if window.kind == "cumulate":
        return last, f"{last} + {slide} * ({number} + 1)"
    start = last if number == "0" else f"{last} - {slide} * {number}"
    return start, f"{start} + {size}"


def _spark_fixed(window: TimeWindow, time: str, number: str) -> Edges:
    micros = f"unix_micros(CAST({time} AS TIMESTAMP))"
    last = f"{micros} - pmod({micros} - {window.offset}, {_step(window)})"
    start, end = (f"timestamp_micros({each})" for each in _of(window, last, number, 1))
    return _spark_typed(start, end, window)


def _spark_calendar(window: TimeWindow, time: str, number: str) -> Edges:
    local = f"CAST({time} AS TIMESTAMP)"
    if window.zone != "UTC":
        local = f"from_utc_timestamp({local}, '{window.zone}')"
    zero, edge = "DATE '1970-01-01'", "CAST(date_add({zero}, {at}) AS TIMESTAMP)"
    passed, length = f"datediff(CAST({local} AS DATE), {zero})", window.days
    if window.months:
        passed, length = f"(year({local}) * 12 + month({local}) - {1970 * 12 + 1})", window.months
        edge = "CAST(add_months({zero}, {at}) AS TIMESTAMP)"
    start = f"{passed} - pmod({passed}, {length})"
    ends = [edge.format(zero=zero, at=each) for each in (start, f"{start} + {length}")]
    if window.zone != "UTC":
        ends = [f"to_utc_timestamp({each}, '{window.zone}')" for each in ends]
    return _spark_typed(ends[0], ends[1], window)


def _spark_typed(start: str, end: str, window: TimeWindow) -> Edges:
    if window.zoned:
        return start, end
    return f"CAST({start} AS TIMESTAMP_NTZ)", f"CAST({end} AS TIMESTAMP_NTZ)"


def _duckdb_fixed(window: TimeWindow, time: str, number: str) -> Edges:
    micros, step = f"epoch_us({time})", _step(window)
    last = f"{micros} - (({micros} - {window.offset}) % {step} + {step}) % {step}"
    name = "make_timestamptz" if window.zoned else "make_timestamp"
    start, end = (f"{name}({each})" for each in _of(window, last, number, 1))
    return start, end


def _duckdb_calendar(window: TimeWindow, time: str, number: str) -> Edges:
    local = f"timezone('{window.zone}', {time})" if window.zoned else time
    length = f"INTERVAL {window.days} DAY" if window.days else f"INTERVAL {window.months} MONTH"
    start = f"time_bucket({length}, {local}, TIMESTAMP '1970-01-01 00:00:00')"
    ends = [start, f"{start} + {length}"]
    if window.zoned:
        ends = [f"timezone('{window.zone}', {each})" for each in ends]
    return ends[0], ends[1]


def _trino_fixed(window: TimeWindow, time: str, number: str) -> Edges:
    zero = f"TIMESTAMP '1970-01-01 00:00:00.000{' UTC' if window.zoned else ''}'"
    lengths = (window.size, window.slide, window.offset)
    whole = not any(length % 1_000_000 for length in lengths)
    unit, micros = ("second", 1_000_000) if whole else ("millisecond", 1000)
    passed = f"date_diff('{unit}', {zero}, date_trunc('{unit}', {time}))"
    step, offset = _step(window) // micros, window.offset // micros
    last = f"{passed} - mod(mod({passed} - {offset}, {step}) + {step}, {step})"
    add = "date_add('second', {0}, {1})"
    if not whole:  # Trino adds no more milliseconds than an INTEGER holds
        add = "date_add('millisecond', mod({0}, 1000), date_add('second', ({0}) / 1000, {1}))"
    start, end = (add.format(each, zero) for each in _of(window, last, number, micros))
    return start, end


def _trino_calendar(window: TimeWindow, time: str, number: str) -> Edges:
    local = f"CAST({time} AT TIME ZONE '{window.zone}' AS TIMESTAMP(6))" if window.zoned else time
    zero, unit, length = "DATE '1970-01-01'", "day", window.days
    passed = f"date_diff('day', {zero}, CAST({local} AS DATE))"
    if window.months:
        unit, length = "month", window.months
        passed = f"((year({local}) - 1970) * 12 + month({local}) - 1)"
    start = f"{passed} - mod(mod({passed}, {length}) + {length}, {length})"
    ends = [
        f"CAST(date_add('{unit}', {each}, {zero}) AS TIMESTAMP(6))"
        for each in (start, f"{start} + {length}")
    ]
    if window.zoned:
        ends = [f"with_timezone({each}, '{window.zone}') AT TIME ZONE 'UTC'" for each in ends]
    return ends[0], ends[1]


_ENGINES: dict[str, tuple[Callable[[TimeWindow, str, str], Edges], ...]] = {
    "spark": (_spark_calendar, _spark_fixed),
    "duckdb": (_duckdb_calendar, _duckdb_fixed),
    "trino": (_trino_calendar, _trino_fixed),
}

_NUMBERED: dict[str, Callable[[int, str], str]] = {
    "spark": lambda count, some: (
        f"SELECT *, explode(sequence(0L, {count - 1}L)) AS {NUMBER} FROM {some}"
    ),
    "duckdb": lambda count, some: f"SELECT *, unnest(range({count})) AS {NUMBER} FROM {some}",
    "trino": lambda count, some: (
        f"SELECT d.*, {NUMBER} FROM (SELECT * FROM {some}) AS d"
        f" CROSS JOIN UNNEST(sequence(0, {count - 1})) AS s({NUMBER})"
    ),
}
"""By engine: the query of rows, each once for every number below a count."""
