"""Bounds of columns in the data files of one snapshot, from Iceberg's file metrics.

In: Iceberg's table. Out: smallest and largest values; no data is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession

from headwater.lake.java import elements, java_class

_EXACT = "write.metadata.metrics.column."


class FileBounds:
    """Reads the metrics of data files.

    Args:
        java: Iceberg's own table object.
    """

    def __init__(self, spark: SparkSession, java: JavaObject) -> None:
        self._java = java
        self._conversions = java_class(spark, "org.apache.iceberg.types.Conversions")

    def of(self, column: str, snapshot_id: int, *, upper: bool) -> Iterator[int]:
        """Yield the largest or smallest value of a time column in each file of a snapshot.

        Args:
            column: a TIMESTAMP or TIMESTAMP_NTZ column (or an integer column).
            snapshot_id: the snapshot that added the files.
        """
        for file in self._added(snapshot_id):
            if (bound := self._bound(file, column, upper=upper)) is not None:
                yield int(bound)

    def by_part(self, part: str, column: str, snapshot_id: int) -> Iterator[tuple[str | None, int]]:
        """Yield the largest value of a time column in each file, with the part that it holds.

        Args:
            part: a text column whose exact bounds are known.

        Yields:
            The value that ``part`` has in all rows of the file, None if it has several; and the
            largest value of ``column``.
        """
        for file in self._added(snapshot_id):
            if (newest := self._bound(file, column, upper=True)) is not None:
                first, last = (self._bound(file, part, upper=each) for each in (False, True))
                alone = first is not None and str(first) == str(last)
                yield str(first) if alone else None, int(newest)

    def _added(self, snapshot_id: int) -> Iterator[Any]:
        return elements(self._java.snapshot(snapshot_id).addedDataFiles(self._java.io()))

    def _bound(self, file: Any, column: str, *, upper: bool) -> Any:  # noqa: ANN401 - Java objects
        field = self._java.schema().findField(column)
        bounds = (file.upperBounds() if upper else file.lowerBounds()) or {}
        found = bounds.get(field.fieldId())
        return None if found is None else self._conversions.fromByteBuffer(field.type(), found)


def ensure_exact(java: JavaObject, columns: Iterable[str]) -> None:
    """Have the files that are written from now on keep the exact bounds of some columns."""
    missing = [_EXACT + each for each in columns if java.properties().get(_EXACT + each) != "full"]
    if missing:
        update = java.updateProperties()
        for key in missing:
            update = update.set(key, "full")
        update.commit()
