"""The smallest event time a snapshot added, from Iceberg's file metrics (no data is read).

In: a table, a time column and a snapshot. Out: microseconds since 1970 UTC.
"""

from __future__ import annotations

from typing import Any

from headwater.lake.iceberg import LakeTable


def lower_bound(table: LakeTable, column: str, snapshot_id: int) -> int | None:
    """Return the smallest value of a time column in the data files that a snapshot added.

    Args:
        table: the table.
        column: a TIMESTAMP or TIMESTAMP_NTZ column.
        snapshot_id: the snapshot that added the files.

    Returns:
        Microseconds since 1970 UTC, or None if no row with a value was added.
    """
    java: Any = table._java  # noqa: SLF001
    jvm: Any = table.spark._jvm  # noqa: SLF001
    conversions = jvm.org.apache.iceberg.types.Conversions
    field = java.schema().findField(column)
    bounds = []
    for file in java.snapshot(snapshot_id).addedDataFiles(java.io()):
        bound = (file.lowerBounds() or {}).get(field.fieldId())
        if bound is not None:
            bounds.append(int(conversions.fromByteBuffer(field.type(), bound)))
    return min(bounds, default=None)
