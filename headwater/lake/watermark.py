"""The watermark of a landed table: from what is committed, so that a replay decides the same.

In: a landed table and its source. Out: the watermark that the next epoch's rows are stamped with.
"""

from __future__ import annotations

from headwater.analyze.definitions import Source
from headwater.analyze.typing.types import spark_type
from headwater.lake.iceberg.table import LakeTable
from headwater.plan.sql.spark_text import micros

MILLISECOND = 1_000


def watermark_after(table: LakeTable, source: Source) -> int | None:
    """Return the watermark that holds after the newest commit of a landed table.

    ``max(W_before, floor_to_ms(newest event time of that commit) - delay)``: the stamp of the
    commit is in its marker, the newest event time in the metrics of its data files; no data is
    read.

    Args:
        table: the landed table; its last refresh is what counts.

    Returns:
        Microseconds since 1970 UTC, a whole number of milliseconds; None without a WATERMARK or
        before the first event time.
    """
    if source.watermark is None:
        return None
    commit = table.newest(source.name)
    if commit is None:
        return None
    newest = table.upper_bound(source.watermark.column, commit.snapshot_id)
    return advanced(commit.marker.watermark, newest, micros(source.watermark.delay))


def advanced(before: int | None, newest: int | None, delay: int) -> int | None:
    """Return a watermark after rows were seen; it never goes back.

    Args:
        before: the watermark until now.
        newest: largest event time of the rows, None without rows.
        delay: how far the watermark stays behind, in microseconds.
    """
    if newest is None:
        return before
    reached = floor_to_ms(newest - delay)
    return reached if before is None else max(before, reached)


def floor_to_ms(time: int) -> int:
    """Return a time cut to whole milliseconds.

    Args:
        time: microseconds since 1970 UTC; may be negative.
    """
    return time // MILLISECOND * MILLISECOND


def watermark_type(source: Source) -> str:
    """Return the Spark type of ``_watermark``: that of the event-time column.

    Args:
        source: a source with a WATERMARK.
    """
    assert source.watermark is not None
    types = {column.name: spark_type(column.type) for column in source.columns}
    return types[source.watermark.column]
