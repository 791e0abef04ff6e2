"""The lateness of a table's rows: counted as they are landed, carried on from marker to marker.

In: the epochs of a landed table. Out: what the marker of the next epoch says of them
(:mod:`headwater.lake.lateness`). Only a table with an adaptive watermark has something to say.

The marker of an epoch must be known before its rows are written, so it has the counts of the epochs
before it. Those of the newest epoch are in memory; after a restart its event times are read once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import Row
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.analyze.definitions import AdaptiveDelay, Source
from headwater.formats.columns import BAD
from headwater.intake.quarantine import REPLAYED
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.lateness import MILLISECOND, PER_DOUBLING, buckets, delay, with_epoch
from headwater.lake.protocol.marker import Marker
from headwater.lake.watermark import Reached
from headwater.plan.sql.spark_text import micros, name, per_epoch

LATE = "late"
"""The name of the counts among what is observed."""
_SIZE = 1_000
"""Buckets that a pass counts exactly, more than there are."""


class LatenessLog:
    """Carries the lateness of one table's rows on."""

    def __init__(self, source: Source, table: LakeTable) -> None:
        self._column = source.watermark.column if source.watermark else ""
        self._rule = source.watermark.adaptive if source.watermark else None
        self._table = table
        self._epoch, self._counts = -1, dict[int, float]()

    def marker_fields(self, last: Marker, come: Reached) -> dict[str, Any]:
        """Return what the next marker says of lateness.

        Args:
            last: the marker before it.
            come: how far the table has come with it.
        """
        if self._rule is None:
            return {}
        if self._epoch != last.epoch:
            self.note(last.epoch, self._read(last))
        before = {int(bucket): rows for bucket, rows in last.lateness.items()}
        recent = with_epoch(before, self._counts, self._rule)
        return {
            "newest": come.newest,
            "delay": delay(recent, self._rule),
            "lateness": {str(bucket): rows for bucket, rows in recent.items()},
        }

    def note(self, epoch: int, counts: Mapping[int, float]) -> None:
        """Remember the counts of an epoch that was committed."""
        self._epoch, self._counts = epoch, dict(counts)

    def aggregates(self, marker: Marker) -> list[Expression]:
        """Return what a pass over an epoch's decoded rows counts for :func:`counted`, if it does.

        Rows of the quarantine that are landed at last say nothing of when rows come.
        """
        if self._rule is None or marker.newest is None or REPLAYED in marker.counts:
            return []
        bucket = _bucket(self._column, per_epoch(marker.newest), self._rule)
        counts = F.expr(f"approx_top_k(IF({BAD}, NULL, {bucket}), {_SIZE}, {_SIZE})")
        return [counts.alias(LATE)]

    def _read(self, last: Marker) -> dict[int, float]:
        """Count the rows of the newest commit anew."""
        commit = self._table.newest(last.view)
        if self._rule is None or last.newest is None or commit is None or not commit.added:
            return {}
        snapshot = self._table.snapshot(commit.snapshot_id)
        if REPLAYED in last.counts or snapshot is None or self._table.is_expired(snapshot.parent):
            return {}
        bucket = _bucket(self._column, str(last.newest), self._rule)
        rows = self._table.added_by(commit.snapshot_id).selectExpr(f"{bucket} AS item")
        return counted(rows.groupBy("item").count().collect())


def counted(found: Iterable[Row] | None) -> dict[int, float]:
    """Return the counts of an epoch by bucket; rows without event time are in none."""
    return {int(row[0]): float(row[1]) for row in found or () if row[0] is not None}


def _bucket(column: str, newest: str, rule: AdaptiveDelay) -> str:
    """The bucket of a row's lateness, NULL without an event time."""
    first, last = buckets(rule)
    late = f"({newest} - unix_micros(CAST({name(column)} AS TIMESTAMP)))"
    step = f"CAST(ceil({PER_DOUBLING} * log2({late} / {MILLISECOND}D)) AS INT)"
    later = f"least(greatest({step}, {first + 1}), {last})"
    return f"CASE WHEN {late} <= {micros(rule.least)} THEN {first} WHEN {late} > 0 THEN {later} END"
