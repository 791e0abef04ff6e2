"""Connector ``datagen``: made-up rows, the same for the same seed in whatever pieces.

In: options per column. Out: ranges of row numbers, and rows for them.

Every value is a Spark SQL expression of (seed, column name, row number), so any range can be made
again bit for bit. A generator with ``number_of_rows`` has all of them from the start; one without
makes ``rows_per_second`` from when it was first read, and that time is kept in the position.
Coordinate: ``_row``, the row number.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from pyspark.sql import SparkSession
from sqlglot import exp

from headwater.analyze.definitions import Column, Source
from headwater.analyze.typing.types import is_integer, spark_type
from headwater.connectors.contract import (
    Connector,
    IntakeConfig,
    Limits,
    Range,
    Rows,
    StreamConfig,
    encoded_columns,
    rows_of,
)
from headwater.connectors.files.folder import stream_of
from headwater.errors import SqlError
from headwater.formats.columns import (
    ROW,
    Decoder,
    Encoded,
    stored,
)
from headwater.formats.times import is_nested, is_time
from headwater.plan.sql.spark_text import at, interval, micros, name, per_epoch, text

ROWS_PER_EPOCH = 100_000
_ROWS_PER_TASK = 50_000
_ROWS_PER_FILE = 25_000
_START = "2024-01-01 00:00:00"
_LETTERS = "translate(md5({}), '0123456789abcdef', 'abcdefghijklmnop')"
_LETTERS_PER_HASH = 32
Kind = exp.DataType.Type


RowRange = Range[tuple[int, int]]


class Datagen(Connector[tuple[int, int]]):
    """The connector (see the module), for one source.

    Args:
        once: an endless generator ends with the rows that are due at the first listing.
    """

    coordinates: ClassVar = (("_row", "BIGINT"),)
    unit: ClassVar = "rows"

    def __init__(self, source: Source, config: IntakeConfig, *, once: bool = False) -> None:
        options = source.options
        self._source = source
        self._max_future = config.run.max_future
        self._rate = int(options.get("rows_per_second", "10"))
        self._total = int(options["number_of_rows"]) if "number_of_rows" in options else None
        self._most = int(options.get("max_rows_per_epoch", ROWS_PER_EPOCH))
        self._once = once
        self._end: int | None = None

    def next_range(self, after: str | None, limits: Limits) -> RowRange | None:
        """See :meth:`Connector.next_range`."""
        first, started = _place(after)
        last = min(self._due(started), first + (limits.rows or self._most))
        if last <= first:
            return None
        position = {"next": last} if self._total is not None else {"next": last, "started": started}
        return Range(json.dumps(position), last - first, (first, last))

    def range_between(self, after: str | None, position: str) -> RowRange:
        """See :meth:`HasPositions.range_between`."""
        (first, _), (last, _) = _place(after), _place(position)
        return Range(position, last - first, (first, last))

    def read(self, spark: SparkSession, taken: RowRange, arrived_at: int) -> Rows:
        """See :meth:`Connector.read`."""
        first, last = taken.body
        tasks = min(spark.sparkContext.defaultParallelism, -(-(last - first) // _ROWS_PER_TASK))
        view = f"_raw_{self._source.name}"
        numbers = spark.range(0, last - first, 1, tasks).withColumnRenamed("id", ROW)
        numbers.selectExpr(f"{ROW} + {per_epoch(first)} AS {ROW}").createOrReplaceTempView(view)
        decoder = Decoder.of_epoch(
            self._source, generated(self._source, view), arrived_at, self._max_future
        )
        return rows_of(spark, decoder)

    @staticmethod
    def stream(
        spark: SparkSession,
        source: Source,
        config: StreamConfig,
        view: str,
        *,
        flat: bool,  # noqa: ARG004 - it has no lines
    ) -> Encoded:
        """See :meth:`Streamable.stream`."""
        options = source.options
        if "number_of_rows" not in options:
            reader = spark.readStream.format("rate")
            frame = reader.option("rowsPerSecond", options.get("rows_per_second", "10")).load()
            frame.selectExpr(f"value AS {ROW}").createOrReplaceTempView(view)
            return generated(source, view)
        # Spark's generators never end; files that list ranges of row numbers do
        folder = _ranges(source, config, int(options["number_of_rows"]))
        most = int(options.get("max_rows_per_epoch", ROWS_PER_EPOCH))
        reader = spark.readStream.schema("first BIGINT, last BIGINT")
        reader, path = stream_of(reader, folder, max(1, most // _ROWS_PER_FILE))
        numbers = f"explode(sequence(first, last - 1)) AS {ROW}"
        reader.json(path).selectExpr(numbers).createOrReplaceTempView(view)
        return generated(source, view)

    def backlog(self, after: str | None) -> int:
        """See :meth:`Connector.backlog`."""
        first, started = _place(after)
        return max(0, self._due(started) - first)

    def _due(self, started: int) -> int:
        if self._total is not None:
            return self._total
        if self._end is not None:
            return self._end
        # the first second's rows are there at once
        due = self._rate + (now_micros() - started) * self._rate // 1_000_000
        if self._once:
            self._end = due
        return due


def _ranges(source: Source, config: StreamConfig, total: int) -> Path:
    """Write the row numbers of a generator as files, identical for every writer."""
    folder = config.state / "datagen" / f"{source.name}-{total}"
    folder.mkdir(parents=True, exist_ok=True)
    for first in range(0, total, _ROWS_PER_FILE):
        last = min(total, first + _ROWS_PER_FILE)
        file = folder / f"{first:019d}-{last:019d}.json"
        if not file.exists():
            hidden = file.with_name(f".{file.name}.tmp")
            hidden.write_text(json.dumps({"first": first, "last": last}))
            hidden.rename(file)
    return folder


def now_micros() -> int:
    """Return the time in microseconds since 1970 UTC."""
    return time.time_ns() // 1_000


def _place(after: str | None) -> tuple[int, int]:
    position = json.loads(after) if after else {}
    return position.get("next", 0), position.get("started") or now_micros()


def generated(source: Source, relation: str) -> Encoded:
    """Return the rows of a generator for row numbers.

    Args:
        relation: name of a relation with a column ``_row``.

    Raises:
        SqlError: ``UNSUPPORTED_TYPE`` or ``INVALID_OPTION`` for a column it cannot make.
    """
    values = ", ".join(f"{_value(source, c)} AS {name(c.name)}" for c in stored(source))
    return encoded_columns(source, f"(SELECT {ROW}, {values} FROM {relation})", (ROW,))


def _value(source: Source, column: Column) -> str:
    if is_nested(column.type):
        raise SqlError(
            "UNSUPPORTED_TYPE",
            f'column "{column.name}" of "{source.name}": datagen cannot make arrays, maps or rows',
            hint="compute it: name AS expression",
            span=source.span,
        )
    prefix = f"fields.{column.name}."
    given = {
        key.removeprefix(prefix): value
        for key, value in source.options.items()
        if key.startswith(prefix)
    }
    kind = given.get("kind") or ("time" if is_time(column.type) else "random")
    made = _MAKERS[kind](source, column, given)
    value = f"CAST({made} AS {spark_type(column.type)})"
    rate = float(given.get("null_rate", "0"))
    return (
        f"CASE WHEN {_uniform(source, column, 'null')} >= {rate!r}D THEN {value} END"
        if rate
        else value
    )


def _uniform(source: Source, column: Column, purpose: str = "") -> str:
    """Return a double in [0, 1) that depends on seed, column and row only."""
    key = text(f"{source.options.get('seed', '0')}:{column.name}:{purpose}")
    return f"shiftrightunsigned(xxhash64({key}, {ROW}), 11) / {2**53}D"


def _sequence(source: Source, column: Column, given: dict[str, str]) -> str:
    start, step = given.get("start", "0"), given.get("step", "1")
    if "end" not in given:
        return f"{start} + {ROW} * {step}"
    length = int((float(given["end"]) - float(start)) / float(step)) + 1
    return f"{start} + pmod({ROW}, {max(1, length)}) * {step}"


def _random(source: Source, column: Column, given: dict[str, str]) -> str:
    share = _uniform(source, column)
    if column.type.this is Kind.BOOLEAN:
        return f"{share} < 0.5D"
    if column.type.this in (Kind.VARCHAR, Kind.VARBINARY):
        length = int(given.get("length", "8"))
        seed = source.options.get("seed", "0")
        keys = [
            f"concat({text(f'{seed}:{column.name}:{part}:')}, {ROW})"
            for part in range(-(-length // _LETTERS_PER_HASH))
        ]
        letters = ", ".join(_LETTERS.format(key) for key in keys)
        return f"substr(concat({letters}), 1, {length})"
    if is_time(column.type):
        low, high = (_time(given.get(k, d)) for k, d in (("min", _START), ("max", "2024-12-31")))
        return at(low).replace(
            str(low), f"{low} + CAST(floor({share} * {high - low + 1}) AS BIGINT)"
        )
    low_text, high_text = given.get("min", "0"), given.get("max", "1000000")
    if is_integer(column.type):
        span = int(high_text) - int(low_text) + 1
        return f"{low_text} + CAST(floor({share} * {span}D) AS BIGINT)"
    return f"{low_text}D + {share} * ({high_text}D - {low_text}D)"


def _values(source: Source, column: Column, given: dict[str, str]) -> str:
    choices = [choice.strip() for choice in given["values"].split(",")]
    weights = (
        [float(w) for w in given["weights"].split(",")]
        if "weights" in given
        else [1.0] * len(choices)
    )
    share, total, below = _uniform(source, column), sum(weights), 0.0
    cases = ""
    for choice, weight in zip(choices[:-1], weights[:-1], strict=True):
        below += weight
        cases += f" WHEN {share} < {below / total!r}D THEN {text(choice)}"
    last = text(choices[-1])
    return f"CASE{cases} ELSE {last} END" if cases else last


def _clock(source: Source, column: Column, given: dict[str, str]) -> str:
    rate = int(source.options.get("rows_per_second", "10"))
    moment = f"{_time(given.get('start', _START))} + {ROW} * 1000000 DIV {rate}"
    lateness = micros(interval(given.get("max_lateness", "0 seconds")))
    if lateness:
        moment += f" - CAST(floor({_uniform(source, column, 'late')} * {lateness + 1}) AS BIGINT)"
    return f"timestamp_micros({moment})"


def _constant(source: Source, column: Column, given: dict[str, str]) -> str:
    return text(given.get("value", ""))


def _time(value: str) -> int:
    moment = datetime.fromisoformat(value.strip())
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return micros(moment - datetime.fromtimestamp(0, UTC))


_MAKERS = {
    "sequence": _sequence,
    "random": _random,
    "values": _values,
    "time": _clock,
    "constant": _constant,
}
