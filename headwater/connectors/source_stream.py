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

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headwater.analyze.definitions import WATERMARK_COLUMN, Source
from headwater.connectors.contract import Streamable, StreamConfig
from headwater.connectors.registry import reader_of
from headwater.errors import SqlError
from headwater.formats.columns import BAD, Decoder
from headwater.formats.flat_json import may_be_flat
from headwater.lake.watermark import watermark_type
from headwater.plan.sql.spark_text import name

_ARRIVAL, _LOCALLY = (
    f"element_at(transform(array({now}()), t -> t), 1)"
    for now in ("current_timestamp", "localtimestamp")
)
"""Structured Streaming keeps both the same when a batch runs again. Not the bare functions: their
values would be part of the generated code, which then is compiled anew for each batch; transform()
is interpreted, and keeps them out."""


def bad_rows(source: str) -> str:
    """Return the name under which the stream of a source counts its bad rows, batch by batch."""
    return f"bad rows of {source}"


def stream(
    spark: SparkSession, source: Source, config: StreamConfig, *, flat: bool = False
) -> DataFrame:
    """Return the good rows of a source as a stream.

    Args:
        spark: the session of the query; file settings and temporary views of it are changed.
        flat: whether to read JSON as flat lines, if the source can have them; the caller then
            checks each batch with ``flat_json.are_flat``.

    Returns:
        The columns of the definition in their order, then ``_watermark`` (NULL) if it has a
        WATERMARK.

    Raises:
        SqlError: ``NOT_YET`` for CSV with a header and for the number of a row in a file.
        HeadwaterError: what :func:`~headwater.connectors.kafka.stream.kafka_stream` raises.
    """
    decoder = _decoder(spark, source, config, flat=flat and may_be_flat(source))
    counted = spark.sql(decoder.rows()).observe(
        bad_rows(source.name), F.count_if(BAD).alias("bad"), F.count("*").alias("seen")
    )
    rows = counted.where(f"NOT {BAD}")
    columns = [name(column.name) for column in source.columns]
    if source.watermark:
        columns.append(f"CAST(NULL AS {watermark_type(source)}) AS {WATERMARK_COLUMN}")
    return rows.selectExpr(*columns)


def quarantine_stream(spark: SparkSession, source: Source, config: StreamConfig) -> DataFrame:
    """Return the bad rows of a source as a stream, as ``quarantine_spec`` has them.

    Args:
        spark: the session of the query, another than that of :func:`stream`.
    """
    return spark.sql(_decoder(spark, source, config).rejected())


def _decoder(
    spark: SparkSession, source: Source, config: StreamConfig, *, flat: bool = False
) -> Decoder:
    reader = reader_of(source)
    if not issubclass(reader, Streamable):
        raise SqlError(
            "NOT_YET",
            f'source "{source.name}": connector {source.connector} is not streamed',
            hint="write CREATE TABLE instead of CREATE SOURCE",
            span=source.span,
        )
    encoded = reader.stream(spark, source, config, f"_stream_{source.name}", flat=flat)
    return Decoder(source, encoded, _ARRIVAL, config.run.max_future, _LOCALLY)
