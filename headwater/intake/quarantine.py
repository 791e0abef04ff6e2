"""The quarantine of a landed table: ``<name>__quarantine``, the rows that could not become rows.

In: the bad rows of an epoch. Out: rows ``_arrived_at, reason, raw`` and the connector's
coordinates, committed before the target of the same epoch is published. ``raw`` is the record as it
came (the first 64 KiB of an oversized one; of Parquet the row as JSON; NULL for a whole file, whose
``_row`` is NULL too).

Its markers count: ``quarantined`` rows waiting here; since the beginning, ``dropped`` rows that ON
ERROR DROP let go and ``replayed`` rows that left for the table.

A row leaves when ``headwater.intake.replay`` has landed it. The table comes first: the epoch that
lands rows of the quarantine says so in its cut, ``<name>__quarantine`` with the snapshot decoded.
:func:`settle` then takes out what is in that epoch; whoever opens the table next does it if a crash
came between the two. So a row is never in neither, and in both only until then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.analyze.definitions import ARRIVAL_COLUMN
from headwater.connectors.contract import Connector
from headwater.lake.catalog import Lake
from headwater.lake.iceberg.comments import SYSTEM_COMMENTS, set_comments
from headwater.lake.iceberg.commits_view import define_commits
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.commit import SideWrite, commit_side
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import quarantine_of
from headwater.lake.spec import TableSpec

REPLAYED = "replayed"
"""In the counts of a marker: rows of the quarantine that left for the table."""

_COMMENTS = {
    **SYSTEM_COMMENTS,
    "reason": "why it could not be decoded",
    "raw": "the record as it came; of Parquet the row as JSON",
}


def quarantine_spec(table: str, connector: Connector[Any] | type[Connector[Any]]) -> TableSpec:
    """Return what the quarantine of a landed table or source looks like.

    Args:
        table: name of the landed table or source.
    """
    columns = (
        *(
            ("_arrived_at", "TIMESTAMP", False),
            ("reason", "STRING", False),
            ("raw", "BINARY", True),
        ),
        *((column, kind, True) for column, kind in connector.coordinates),
    )
    return TableSpec(
        quarantine_of(table),
        columns,
        comment=f"rows of {table} that could not be decoded",
        column_comments=_COMMENTS,
    )


def open_quarantine(
    lake: Lake, table: str, connector: Connector[Any] | type[Connector[Any]]
) -> LakeTable:
    """Create the quarantine if it is missing.

    Args:
        table: name of the landed table.
    """
    spec = quarantine_spec(table, connector)
    existed = lake.exists(spec.name)
    quarantine = lake.ensure(spec)
    set_comments(quarantine, spec)
    if not existed:
        define_commits(lake.spark, lake.namespace)
    return quarantine


def counts(quarantine: LakeTable, table: str) -> Mapping[str, int]:
    """Return how many rows are waiting, and were dropped and replayed since the beginning.

    Args:
        quarantine: the quarantine, refreshed.
        table: name of the landed table.
    """
    commit = quarantine.newest(table)
    return {"quarantined": 0, "dropped": 0, **(commit.marker.counts if commit else {})}


@dataclass(frozen=True, slots=True)
class Begun:
    """An epoch of a table without a ledger that was begun but is not in it.

    Attributes:
        cut: where it reads up to.
        arrived_at: its arrival, microseconds since 1970 UTC; None if no row of it was kept.
        kept: how many rows of it were.
    """

    cut: Mapping[str, str]
    arrived_at: int | None
    kept: int


def begun(quarantine: LakeTable, last: Marker) -> Begun | None:
    """Return the epoch that has bad rows in the quarantine and is not in the table."""
    quarantine.refresh()
    newest = quarantine.newest(last.view)
    if newest is None or newest.marker.epoch <= last.epoch:
        return None
    added = quarantine.added_by(newest.snapshot_id)
    arrival = F.unix_micros(F.max(ARRIVAL_COLUMN))
    arrived_at, kept = added.select(arrival, F.count("*")).first() or (None, 0)
    return Begun(newest.marker.cut_to, arrived_at, kept)


def without_files(quarantine: LakeTable, files: Sequence[str]) -> tuple[DataFrame, int]:
    """Return what stays in the quarantine when files that it holds whole are read again.

    Args:
        quarantine: the quarantine, refreshed.

    Returns:
        The rows that stay, and how many go.
    """
    rows = quarantine.read(quarantine.snapshot_id())
    goes = F.col("_row").isNull() & F.col("_path").isin(list(files))
    return rows.where(~goes), rows.where(goes).count()


def settle(
    quarantine: LakeTable,
    table: LakeTable,
    marker: Marker,
    session: SparkSession,
    reasons: DataFrame | None = None,
) -> None:
    """Take out of the quarantine what a replay has landed, unless that is done.

    Args:
        table: the landed table, refreshed; its newest commit is the replay.
        reasons: ``reason`` and coordinates of rows that stay with another reason.
    """
    quarantine.refresh()
    newest, epoch = quarantine.newest(marker.view), table.newest(marker.view)
    position = marker.cut_to[quarantine.name]
    assert epoch is not None
    if newest and newest.marker.cut_to.get(quarantine.name) == position:
        return
    snapshot = table.snapshot(epoch.snapshot_id)
    before = snapshot.parent if snapshot else None
    known = before is not None and table.snapshot(before) is not None
    landed = table.changes(before if known else None, epoch.snapshot_id)
    rows = quarantine.read(quarantine.snapshot_id())
    stay = rows.join(landed.select("_path", "_row"), ["_path", "_row"], "left_anti")
    if reasons is not None:
        newer = reasons.select("_path", "_row", F.col("reason").alias("_newer"))
        stay = stay.join(newer, ["_path", "_row"], "left")
        stay = stay.withColumn("reason", F.coalesce("_newer", "reason"))
    stay = stay.select(*quarantine.columns())

    found = counts(quarantine, marker.view)
    replayed = marker.counts.get(REPLAYED, 0)
    totals = {
        **found,
        "quarantined": found["quarantined"] - replayed,
        REPLAYED: found.get(REPLAYED, 0) + replayed,
    }
    side = SideWrite(quarantine, lambda target: target.replace(stay))
    commit_side(side, replace(marker, counts=totals), session)
