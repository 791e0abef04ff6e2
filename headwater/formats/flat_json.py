"""Flat JSON lines: what Spark's own reader reads right, in half the time of ``from_json``.

In: JSON files. Out: whether every line of them is flat, and a reader set up for those that are.

The check is a scan for a few bytes per line, a third of the price of what it allows. Landing checks
before it decodes; a stream, whose plan cannot change from batch to batch, checks beside the
decoding and before the commit (``headwater.engine.streaming.query``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from pyspark.sql import Column, DataFrame, DataFrameReader, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamReader

from headwater.analyze.definitions import Source
from headwater.formats.columns import stored
from headwater.formats.json import not_flat, parser_options, reader_schema
from headwater.formats.times import is_nested
from headwater.formats.unknown_fields import values_in

LITERAL_PATHS = ("__globPaths__", "false")
"""Option of a batch reader: a [ in a name is no pattern."""
FLAT_LINES = {"lineSep": "\n"}
LINES = ("text", "value STRING", FLAT_LINES)
"""Format, columns and options of lines as they are."""
Reader = TypeVar("Reader", DataFrameReader, DataStreamReader)


def may_be_flat(source: Source) -> bool:
    """Return whether lines of a source can be flat at all, with no field called as ours are."""
    flat = not any(is_nested(c.type) or c.key.startswith("_") for c in stored(source))
    return source.encode == "json" and flat


def are_flat(spark: SparkSession, source: Source, paths: Sequence[str]) -> bool:
    """Return whether Spark's reader may read some files: every line is flat."""
    ragged = F.count_if("ragged").alias("ragged")
    lines = spark.read.options(**FLAT_LINES).option(*LITERAL_PATHS).text(list(paths))
    return not _scanned(lines, [f"{not_flat(source)} AS ragged"], [ragged])["ragged"]


def values_of_flat(lines: DataFrame, source: Source) -> int | None:
    """Return how many values some files hold at most, found by the scan of :func:`are_flat`.

    Args:
        lines: the files' lines, as :data:`LINES` reads them.

    Returns:
        The number, None if a line is not flat, -1 if the number is not known.
    """
    # computed once for all aggregates over them
    columns = [f"{not_flat(source)} AS ragged", f"{values_in('_value')} AS held"]
    aggregates = [F.count_if("ragged"), F.sum("held"), F.count_if(F.isnull("held"))]
    names = ("ragged", "held", "odd")
    aliased = [each.alias(name) for each, name in zip(aggregates, names, strict=True)]
    found = _scanned(lines, columns, aliased)
    if found["ragged"]:
        return None
    return -1 if found["odd"] else found["held"] or 0


def _scanned(
    lines: DataFrame, columns: Sequence[str], aggregates: Sequence[Column]
) -> Mapping[str, int]:
    """Aggregate over expressions of ``_value``, each of some lines."""
    observed = Observation()
    found = lines.selectExpr("value AS _value").selectExpr(*columns)
    found.observe(observed, *aggregates).write.format("noop").mode("overwrite").save()
    return observed.get


def flat_reader(reader: Reader, source: Source) -> Reader:
    """Return a reader that reads flat lines as ``json_rows`` wants them.

    Args:
        reader: a reader of files, also of a stream.
    """
    return reader.schema(reader_schema(source)).options(**FLAT_LINES, **parser_options(source))
