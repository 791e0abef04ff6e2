"""Records of Kafka between offsets → decoded rows, by batch reads of Spark.

In: ranges of offsets. Out: all rows with ``_bad``, and the bad rows (see
``headwater.formats.columns``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.analyze.definitions import RecordFormat, Source
from headwater.connectors.contract import IntakeConfig, Rows, rows_of
from headwater.formats.avro.decode import as_json, avro_records, beginning, in_avro, numbers_of
from headwater.formats.avro.registry import Registry
from headwater.formats.avro.schema import Schema
from headwater.formats.columns import (
    COORDINATES,
    KNOWN,
    PATH,
    ROW,
    VALUE,
    Decoder,
    Encoded,
    Records,
)
from headwater.formats.csv import csv_rows, raw_records
from headwater.formats.envelopes import KEY, TOMBSTONE
from headwater.formats.json import json_lines

ROWS_PER_EPOCH = 500_000
_ROWS_PER_TASK = 50_000
_OF_RECORDS = {
    "_topic": "topic",
    "_partition": "partition",
    "_timestamp": "timestamp",
    "_headers": "headers",
    KEY: "key",
    TOMBSTONE: "value IS NULL",
}
"""What can be carried beside a record's value, over the columns of Spark's Kafka source."""

Offsets = Sequence[tuple[str, int, int, int]]
"""Topic, partition, first offset and last one plus one."""


class KafkaReader:
    """Reads records of one source."""

    def __init__(self, source: Source, settings: Mapping[str, str], config: IntakeConfig) -> None:
        self._source, self._settings, self._max_future = source, settings, config.run.max_future
        self._registry = Registry(source, config.directory) if source.encode == "avro" else None

    def read(
        self,
        spark: SparkSession,
        offsets: Offsets,
        arrived_at: int,
        expected: tuple[str, ...] = (),
        *,
        apart: bool = False,
    ) -> Rows:
        """Return the rows of some offsets, not read yet; of Avro, the schemas are asked for.

        Args:
            spark: a session of the caller's own.
            arrived_at: their arrival, microseconds since 1970 UTC.
            expected: see :class:`~headwater.formats.columns.Records`.
            apart: whether no task reads two partitions.

        Raises:
            ServiceError: ``REGISTRY_UNAVAILABLE``.
            TerminalError: ``REGISTRY_REFUSED``.
        """
        rows = sum(end - begin for *_, begin, end in offsets)
        most = spark.sparkContext.defaultParallelism
        tasks = max(1, min(most, -(-rows // _ROWS_PER_TASK)))
        records = self._records(spark, offsets)
        if not apart:
            records = records.coalesce(tasks)
        return self._decoded(spark, self._viewed(records, expected), arrived_at)

    def again(
        self,
        spark: SparkSession,
        kept: DataFrame,
        arrived_at: int,
        there: Callable[[Offsets], Offsets],
    ) -> Rows:
        """Decode rows of the quarantine again; see ``Redecodable.decode_quarantined``.

        Args:
            spark: a session of the caller's own.
            kept: the rows; where more than the value is needed of a record, it is read again, and
                left out if it is gone or, in a topic that was made again, another one.
            arrived_at: their arrival, microseconds since 1970 UTC.
            there: returns what can still be read of some offsets.
        """
        value = "raw" if self._registry else "CAST(raw AS STRING)"
        records = kept.selectExpr(f"{value} AS {VALUE}", PATH, ROW)
        if _carried(self._source):
            place = F.regexp_extract(PATH, "^(.*)/", 1), F.regexp_extract(PATH, "([0-9]+)$", 1)
            spans = kept.groupBy(place[0].alias("t"), place[1].cast("int").alias("p")).agg(
                F.min(ROW).alias("begin"), (F.max(ROW) + 1).alias("end")
            )
            read = self._records(spark, there([tuple(row) for row in spans.collect()]))
            records = records.join(read, [PATH, ROW, VALUE])
        return self._decoded(spark, self._viewed(records), arrived_at)

    def _records(self, spark: SparkSession, offsets: Offsets) -> DataFrame:
        return self._between(spark, offsets).selectExpr(*record_columns(self._source))

    def _between(self, spark: SparkSession, offsets: Offsets) -> DataFrame:
        return records_between(spark, self._source, self._settings, offsets)

    def texts(self, spark: SparkSession, offsets: Offsets, *fields: str) -> DataFrame:
        """Return records of some offsets as JSON, but for tombstones.

        Args:
            spark: a session of the caller's own.
            fields: what is needed of them; of Avro no more is read.

        Returns:
            ``v``, NULL where it cannot be read, ``offset`` and ``timestamp``.

        Raises:
            ServiceError: ``REGISTRY_UNAVAILABLE``.
            TerminalError: ``REGISTRY_REFUSED``.
        """
        records = self._between(spark, offsets).where("value IS NOT NULL")
        value = "CAST(value AS STRING)"
        if self._registry:
            schemas = _known(self._registry, schema_numbers(records, "value")["value"])
            value = as_json("value", schemas, *fields)
        return records.selectExpr(f"{value} AS v", "offset", "timestamp")

    def _viewed(self, records: DataFrame, expected: tuple[str, ...] = ()) -> Records:
        view = f"_raw_{self._source.name}"
        records.createOrReplaceTempView(view)
        return kafka_records(self._source, view, expected)

    def _decoded(self, spark: SparkSession, records: Records, arrived_at: int) -> Rows:
        encoded = self._encoded(spark, records)
        return rows_of(
            spark,
            Decoder.of_epoch(self._source, encoded, arrived_at, self._max_future),
        )

    def _encoded(self, spark: SparkSession, records: Records) -> Encoded:
        if self._registry:
            schemas = self._schemas(spark, records, self._registry)
            return avro_records(self._source, records, schemas)
        return encoding_of(self._source, records)

    def _schemas(
        self, spark: SparkSession, records: Records, registry: Registry
    ) -> dict[str, dict[int, Schema | str]]:
        """The schemas that some records name; to know which, their beginnings are read."""
        numbers = schema_numbers(spark.table(records.relation), *in_avro(self._source))
        return {of: _known(registry, named) for of, named in numbers.items()}


def records_between(
    spark: SparkSession, source: Source, settings: Mapping[str, str], offsets: Offsets
) -> DataFrame:
    """Return the records of some offsets, as Spark's own source has them.

    Args:
        spark: a session of the caller's own.
    """
    begins: dict[str, dict[str, int]] = {}
    ends: dict[str, dict[str, int]] = {}
    for topic, partition, begin, end in offsets:
        begins.setdefault(topic, {})[str(partition)] = begin
        ends.setdefault(topic, {})[str(partition)] = end
    if not offsets:
        schema = "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT"
        schema += ", timestamp TIMESTAMP, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
        return spark.createDataFrame([], schema)
    partitions = {topic: [int(number) for number in held] for topic, held in begins.items()}
    reader = spark.read.format("kafka").options(
        assign=json.dumps(partitions),
        startingOffsets=json.dumps(begins),
        endingOffsets=json.dumps(ends),
        includeHeaders=needs_headers(source),
        failOnDataLoss="true",
    )
    return reader.options(**{f"kafka.{k}": v for k, v in settings.items()}).load()


def schema_numbers(records: DataFrame, *of: str) -> dict[str, set[int]]:
    """Return the numbers of the schemas that records name; their beginnings are read.

    Args:
        of: the columns that are Avro.

    Returns:
        By column, the numbers.
    """
    found = records.selectExpr(*(f"collect_set({beginning(each)}) AS {each}" for each in of))
    row = found.first()
    assert row is not None
    return {each: numbers_of(row[each]) for each in of}


def record_columns(source: Source) -> list[str]:
    """Return the columns that decoding reads, as expressions over those of Spark's Kafka source."""
    value = "CAST(value AS STRING)"
    if source.encode == "avro":  # a tombstone of Debezium is none of our records
        value = "value" if source.format is RecordFormat.DEBEZIUM else "coalesce(value, X'')"
    elif source.format is RecordFormat.UPSERT:  # its key says which row goes
        value = f"coalesce({value}, '{{}}')"
    elif source.encode != "raw":  # what is no line must not look like none
        value = f"coalesce({value}, 'null')"
    return [
        f"{value} AS {VALUE}",
        f"concat(topic, '/', partition) AS {PATH}",
        f"offset AS {ROW}",
        *(f"{_OF_RECORDS[column]} AS {column}" for column in _carried(source)),
    ]


def needs_headers(source: Source) -> str:
    """Return whether Spark has to read headers, as text for Spark's option."""
    return str("_headers" in _carried(source)).lower()


def kafka_records(source: Source, view: str, expected: tuple[str, ...] = ()) -> Records:
    """Return what decoding needs to know of a view with :func:`record_columns`.

    Args:
        expected: see :class:`~headwater.formats.columns.Records`.
    """
    return Records(view, KNOWN, _carried(source), expected, lines=False)


def encoding_of(source: Source, records: Records) -> Encoded:
    """Return how records that are not Avro are decoded."""
    if source.encode == "csv":
        return csv_rows(source, records, None)
    if source.encode == "raw":
        return raw_records(source, records)
    return json_lines(source, records)


def _known(registry: Registry, numbers: Iterable[int]) -> dict[int, Schema | str]:
    return {number: registry.schema(number) for number in numbers}


def _carried(source: Source) -> tuple[str, ...]:
    """What is needed of a record beside its value and its place."""
    asked = [COORDINATES[column.metadata] for column in source.columns if column.metadata]
    if source.format is RecordFormat.UPSERT:
        asked += [KEY, TOMBSTONE]
    return tuple(dict.fromkeys(column for column in asked if column in _OF_RECORDS))
