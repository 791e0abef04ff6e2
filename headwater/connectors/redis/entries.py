"""Entries of a stream of Redis between ids → decoded rows, by a data source of Spark's in Python.

In: spans of ids. Out: all rows with ``_bad``, and the bad rows (see ``headwater.formats.columns``).

Spark's workers read the spans, each by a connection of its own, and hand on whole Arrow batches. A
span says how many entries it has: one that was trimmed meanwhile fails, and no row is missing
without a word.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from headwater.analyze.definitions import Source
from headwater.connectors.contract import IntakeConfig, Rows, rows_of
from headwater.connectors.redis.server import Span, client
from headwater.formats.columns import KNOWN, PATH, ROW, VALUE, Decoder, Records
from headwater.formats.json import json_lines
from headwater.plan.sql.spark_text import text

_FORMAT = "headwater_redis"
_SCHEMA = "id STRING, value BINARY"
_ARROW = pa.schema([("id", pa.string()), ("value", pa.binary())])
_FIRST, _MOST = 100, 1_000
"""Entries of the first batch and of every other one, unless they are large."""
_BYTES = 8_000_000
"""What a batch is to hold at most, by the size of the entries before it."""
_ENTRIES_PER_TASK = 25_000
_NUMBER = "CAST(id IS NULL AS BIGINT)"
"""``_row``, always 0; not as a literal, see :func:`headwater.plan.sql.spark_text.per_epoch`."""
_LAST_MILLIS = 253_402_300_799_999
"""The end of the year 9999: of ids that somebody made up, whose times no engine has."""
_MILLIS = f"coalesce(try_cast(split_part(_id, '-', 1) AS BIGINT), {_LAST_MILLIS})"
_CARRIED = {
    "_id": f"regexp_extract({PATH}, '[^/]*$', 0)",
    "_timestamp": f"timestamp_millis(least({_MILLIS}, {_LAST_MILLIS}))",
}


class EntriesGoneError(Exception):
    """Entries were deleted after it was decided to read them."""


def is_gone(error: Exception) -> bool:
    """Return whether a worker of Spark's found entries gone."""
    return EntriesGoneError.__name__ in str(error)


class RedisReader:
    """Reads entries of one source."""

    def __init__(self, source: Source, settings: Mapping[str, str], config: IntakeConfig) -> None:
        self._source, self._settings, self._max_future = source, settings, config.run.max_future

    def read(
        self,
        spark: SparkSession,
        spans: Sequence[Span],
        arrived_at: int,
        expected: tuple[str, ...] = (),
    ) -> Rows:
        """Return the rows of some entries, not read yet.

        Args:
            spark: a session of the caller's own.
            arrived_at: their arrival, microseconds since 1970 UTC.
            expected: see :class:`~headwater.formats.columns.Records`.
        """
        spark.dataSource.register(RedisStream)
        stream = self._source.options["stream"]
        tasks = spark.sparkContext.defaultParallelism
        options = {
            **self._settings,
            "stream": stream,
            "field": self._source.options.get("field", "value"),
            "spans": json.dumps(_shared_out(spans, tasks)),
        }
        entries = spark.read.format(_FORMAT).schema(_SCHEMA).options(**options)
        path = f"concat({text(stream + '/')}, id) AS {PATH}"
        value, number = f"CAST(value AS STRING) AS {VALUE}", f"{_NUMBER} AS {ROW}"
        records = entries.load().selectExpr(value, path, number)
        return self._decoded(spark, self._viewed(records, expected), arrived_at)

    def again(self, spark: SparkSession, kept: DataFrame, arrived_at: int) -> Rows:
        """Decode rows of the quarantine again; see ``Redecodable.decode_quarantined``.

        Args:
            spark: a session of the caller's own.
            kept: the rows, which say all there is to know of their entries.
            arrived_at: their arrival, microseconds since 1970 UTC.
        """
        records = kept.selectExpr(f"CAST(raw AS STRING) AS {VALUE}", PATH, ROW)
        return self._decoded(spark, self._viewed(records), arrived_at)

    def _viewed(self, records: DataFrame, expected: tuple[str, ...] = ()) -> Records:
        view = f"_raw_{self._source.name}"
        for column, value in _CARRIED.items():
            records = records.selectExpr("*", f"{value} AS {column}")
        records.createOrReplaceTempView(view)
        return Records(view, KNOWN, tuple(_CARRIED), expected, lines=False)

    def _decoded(self, spark: SparkSession, records: Records, arrived_at: int) -> Rows:
        encoded = json_lines(self._source, records)
        return rows_of(
            spark,
            Decoder.of_epoch(self._source, encoded, arrived_at, self._max_future),
        )


def _shared_out(spans: Sequence[Span], most: int) -> list[Span]:
    """Join spans that follow each other until they are as many as there are tasks."""
    total = sum(count for *_, count in spans)
    tasks = max(1, min(most, -(-total // _ENTRIES_PER_TASK)))
    joined: list[Span] = []
    taken = 0
    for after, upto, count in spans:
        if joined and taken * tasks < len(joined) * total:
            first, _, before = joined.pop()
            joined.append((first, upto, before + count))
        else:
            joined.append((after, upto, count))
        taken += count
    return joined


@dataclass
class Entries(InputPartition):
    """The entries that one task reads.

    Attributes:
        after: the id before the first.
        upto: the id of the last.
        count: how many they are.
    """

    after: str
    upto: str
    count: int


class RedisStream(DataSource):
    """The data source; Spark shows none of its options whose name says that it is a secret.

    Its options are a client's settings, the stream, the field, and the spans as JSON.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name by which Spark knows it."""
        return _FORMAT

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return what reads the entries."""
        return _Reader(dict(self.options))


class _Reader(DataSourceReader):
    def __init__(self, options: dict[str, str]) -> None:
        self._stream, self._field = options.pop("stream"), options.pop("field").encode()
        self._spans = json.loads(options.pop("spans"))
        self._settings = options

    def partitions(self) -> list[InputPartition]:
        return [Entries(*span) for span in self._spans]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Entries)
        server = client(self._settings)
        after, left, most = partition.after, partition.count, _FIRST
        while found := server.xrange(self._stream, f"({after}", partition.upto, most):
            ids = [entry.decode() for entry, _ in found]
            values = [_value(fields, self._field) for _, fields in found]
            yield pa.RecordBatch.from_arrays([pa.array(ids), pa.array(values)], schema=_ARROW)
            after, left = ids[-1], left - len(found)
            mean = sum(map(len, values)) // len(values) + 1
            most = max(1, min(_MOST, _BYTES // mean))
        server.close()
        if left:
            raise EntriesGoneError(f"{left} entries up to {partition.upto} of {self._stream}")


def _value(fields: Mapping[bytes, bytes], name: bytes) -> bytes:
    """What an entry holds; of one without the field all that it has, which is no row of JSON."""
    if name in fields:
        return fields[name]
    words = (word for pair in fields.items() for word in pair)
    return json.dumps([word.decode(errors="backslashreplace") for word in words]).encode()
