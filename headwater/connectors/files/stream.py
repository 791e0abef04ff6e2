"""Files as a stream, for a SOURCE: Spark's own source of files, decoded as landing does.

In: a SOURCE over files. Out: what a streaming query reads, encoded.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from headwater.analyze.definitions import Source
from headwater.connectors.contract import StreamConfig
from headwater.connectors.files.folder import local_address, stream_of
from headwater.connectors.files.known_files import shown_address
from headwater.connectors.files.read import (
    SETTINGS,
    coordinates,
    record_columns,
    relative_path,
    whole_columns,
)
from headwater.errors import SqlError
from headwater.formats.columns import PATH, ROW, UNNUMBERED, Encoded, Records, ddl, stored
from headwater.formats.csv import csv_rows, parquet_rows
from headwater.formats.csv_records import WHOLE
from headwater.formats.flat_json import flat_reader
from headwater.formats.json import json_lines, json_rows
from headwater.plan.sql.spark_text import name

_ARRIVED = "NOT (_metadata.file_name LIKE '%.tmp' OR _metadata.file_name LIKE '%.crc')"


def files_stream(
    spark: SparkSession, source: Source, config: StreamConfig, view: str, *, flat: bool
) -> Encoded:
    """See :meth:`headwater.connectors.contract.Streamable.stream`."""
    for key, value in SETTINGS.items():
        spark.conf.set(key, value)
    if any(column.metadata == "row" for column in source.columns):
        raise _not_yet(source, "the number of a row is not known in a stream")
    options = source.options
    folder = config.directory / options["path"]
    most = options.get("max_files_per_epoch", config.run.max_files_per_epoch)
    reader, place = stream_of(spark.readStream, folder, most)
    reader = reader.option("pathGlobFilter", options.get("pattern", "*"))
    reader = reader.option("recursiveFileLookup", options.get("recursive", "false"))
    path = relative_path(f"{shown_address(spark, local_address(folder))}/", plain=False)
    if source.encode == "parquet":
        names = [f"{name(column.key)} AS {name(column.name)}" for column in stored(source)]
        frame = reader.schema(ddl(stored(source))).parquet(place).where(_ARRIVED)
        frame = frame.selectExpr(*names, f"{path} AS {PATH}", f"_metadata.row_index AS {ROW}")
        frame.createOrReplaceTempView(view)
        return parquet_rows(source, view)
    if flat:
        frame = flat_reader(reader, source).json(place).where(_ARRIVED)
        frame.selectExpr("*", *coordinates(path)).createOrReplaceTempView(view)
        return json_rows(source, Records(view, UNNUMBERED))
    if source.encode == "json":
        frame = reader.option("lineSep", "\n").text(place).where(_ARRIVED)
        frame.selectExpr(*record_columns(path)).createOrReplaceTempView(view)
        return json_lines(source, Records(view, UNNUMBERED))
    if source.encode_options.get("header", "true").lower() == "true":
        raise _not_yet(source, "CSV with a header is not streamed: each file may have its own")
    form, _, as_texts = WHOLE
    frame = reader.format(form).options(**as_texts).load(place).where(_ARRIVED)
    frame.selectExpr(*whole_columns(source, path)).createOrReplaceTempView(view)
    return csv_rows(source, Records(view, UNNUMBERED), None)


def _not_yet(source: Source, what: str) -> SqlError:
    return SqlError(
        "NOT_YET",
        f'source "{source.name}": {what}',
        hint="write CREATE TABLE instead of CREATE SOURCE",
        span=source.span,
    )
