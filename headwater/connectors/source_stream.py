"""A SOURCE as a stream: the same decoding as landing, by Structured Streaming, kept nowhere.

In: a ``CREATE SOURCE``. Out: a streaming DataFrame of its good rows, and another one of its bad
rows.

The offsets of Spark's checkpoint say what was read; rows are the same when a batch runs again. The
good and the bad rows are two queries, because a streaming plan has one output. The stream of good
rows counts the bad ones under the name :func:`bad_rows`; whoever runs a source starts
:func:`quarantine_stream` when there are any, once and not per view.

What landing can do and this cannot: leave out an unreadable file (the query fails and names it),
take each CSV file by its own header (``header`` must be ``false``), and stamp lateness:
``_watermark`` is NULL.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headwater.analyze.definitions import WATERMARK_COLUMN, Source
from headwater.connectors.contract import StreamConfig
from headwater.connectors.datagen import ROWS_PER_EPOCH, generated
from headwater.connectors.files.place import folder_prefix
from headwater.connectors.files.read import SETTINGS, coordinates, record_columns, relative_path
from headwater.connectors.kafka.records import encoding_of, kafka_records
from headwater.connectors.kafka.schemas import Schemas, refuse_unasked
from headwater.connectors.kafka.stream import kafka_stream
from headwater.errors import SqlError
from headwater.formats.avro.decode import avro_records
from headwater.formats.columns import (
    BAD,
    PATH,
    ROW,
    UNNUMBERED,
    VALUE,
    Decoder,
    Encoded,
    Records,
    ddl,
    stored,
)
from headwater.formats.csv import csv_lines, parquet_rows
from headwater.formats.flat_json import flat_reader, may_be_flat
from headwater.formats.json import json_lines, json_rows
from headwater.lake.watermark import watermark_type
from headwater.plan.sql.spark_text import name

ARRIVAL = "element_at(transform(array(current_timestamp()), t -> t), 1)"
"""Structured Streaming keeps it the same when a batch runs again. Not the bare function: its value
would be part of the generated code, which then is compiled anew for each batch; transform() is
interpreted, and keeps it out."""
_ROWS_PER_FILE = 25_000
_ARRIVED = "NOT (_metadata.file_name LIKE '%.tmp' OR _metadata.file_name LIKE '%.crc')"


def bad_rows(source: str) -> str:
    """Return the name under which the stream of a source counts its bad rows, batch by batch.

    Args:
        source: its name.
    """
    return f"bad rows of {source}"


def stream(
    spark: SparkSession, source: Source, config: StreamConfig, *, flat: bool = False
) -> DataFrame:
    """Return the good rows of a source as a stream.

    Args:
        spark: the session of the query; file settings and temporary views of it are changed.
        source: the definition.
        config: the project's settings.
        flat: whether to read JSON as flat lines, if the source can have them; whoever says so
            checks each batch with ``flat.are_flat``.

    Returns:
        The columns of the definition in their order, then ``_watermark`` (NULL) if it has a
        WATERMARK.

    Raises:
        SqlError: ``NOT_YET`` for CSV with a header and for the number of a row in a file.
        HeadwaterError: what :func:`~headwater.connectors.kafka.stream.kafka_stream` raises.
    """
    decoder = _decoder(spark, source, config, flat=flat and may_be_flat(source))
    counted = spark.sql(decoder.rows()).observe(bad_rows(source.name), F.count_if(BAD))
    rows = counted.where(f"NOT {BAD}")
    columns = [name(column.name) for column in source.columns]
    if source.watermark:
        columns.append(f"CAST(NULL AS {watermark_type(source)}) AS {WATERMARK_COLUMN}")
    return rows.selectExpr(*columns)


def quarantine_stream(spark: SparkSession, source: Source, config: StreamConfig) -> DataFrame:
    """Return the bad rows of a source as a stream, as ``quarantine_spec`` has them.

    Args:
        spark: the session of the query, another than that of :func:`stream`.
        source: the definition.
        config: the project's settings.
    """
    return spark.sql(_decoder(spark, source, config).rejected())


def _decoder(
    spark: SparkSession, source: Source, config: StreamConfig, *, flat: bool = False
) -> Decoder:
    view = f"_stream_{source.name}"
    if source.connector == "datagen":
        encoded = _datagen(spark, source, config, view)
    elif source.connector == "kafka":
        encoded = _topics(spark, source, config, view)
    else:
        encoded = _files(spark, source, config, view, flat=flat)
    return Decoder(source, encoded, ARRIVAL, config.max_future)


def _topics(spark: SparkSession, source: Source, config: StreamConfig, view: str) -> Encoded:
    frame = kafka_stream(spark, source, config.directory, config.state)
    frame.createOrReplaceTempView(view)
    records = kafka_records(source, view)
    if source.encode != "avro":
        return encoding_of(source, records)
    known = Schemas(source, config).known()
    encoded = avro_records(source, records, {VALUE: known})
    return replace(encoded, strange=refuse_unasked(source, VALUE, known))


def _files(
    spark: SparkSession, source: Source, config: StreamConfig, view: str, *, flat: bool
) -> Encoded:
    for key, value in SETTINGS.items():
        spark.conf.set(key, value)
    if any(column.metadata == "row" for column in source.columns):
        raise _not_yet(source, "the number of a row is not known in a stream")
    options = source.options
    folder = config.directory / options["path"]
    reader = (
        spark.readStream.option("pathGlobFilter", options.get("pattern", "*"))
        .option("recursiveFileLookup", options.get("recursive", "false"))
        .option(
            "maxFilesPerTrigger", options.get("max_files_per_epoch", config.max_files_per_epoch)
        )
        # by default a file a week older than the newest one is skipped without a word
        .option("maxFileAge", "36500d")
    )
    path = relative_path(folder_prefix(spark, folder), plain=False)
    if source.encode == "parquet":
        names = [name(column.name) for column in stored(source)]
        frame = reader.schema(ddl(stored(source))).parquet(str(folder)).where(_ARRIVED)
        frame = frame.selectExpr(*names, f"{path} AS {PATH}", f"_metadata.row_index AS {ROW}")
        frame.createOrReplaceTempView(view)
        return parquet_rows(source, view)
    if flat:
        frame = flat_reader(reader, source).json(str(folder)).where(_ARRIVED)
        frame.selectExpr("*", *coordinates(path)).createOrReplaceTempView(view)
        return json_rows(source, Records(view, UNNUMBERED))
    frame = reader.option("lineSep", "\n").text(str(folder)).where(_ARRIVED)
    frame.selectExpr(*record_columns(path)).createOrReplaceTempView(view)
    if source.encode == "json":
        return json_lines(source, Records(view, UNNUMBERED))
    if source.encode_options.get("header", "true").lower() == "true":
        raise _not_yet(source, "CSV with a header is not streamed: each file may have its own")
    return csv_lines(source, Records(view, UNNUMBERED), None)


def _datagen(spark: SparkSession, source: Source, config: StreamConfig, view: str) -> Encoded:
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
    reader = reader.option("maxFilesPerTrigger", max(1, most // _ROWS_PER_FILE))
    numbers = f"explode(sequence(first, last - 1)) AS {ROW}"
    reader.option("maxFileAge", "36500d").json(str(folder)).selectExpr(
        numbers
    ).createOrReplaceTempView(view)
    return generated(source, view)


def _ranges(source: Source, config: StreamConfig, total: int) -> Path:
    """Write the row numbers of a generator as files, which are the same whoever writes them."""
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


def _not_yet(source: Source, what: str) -> SqlError:
    return SqlError(
        "NOT_YET",
        f'source "{source.name}": {what}',
        hint="write CREATE TABLE instead of CREATE SOURCE",
        span=source.span,
    )
