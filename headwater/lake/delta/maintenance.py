"""Keeping a Delta table small: compaction, and files that no version needs any more.

In: a Delta table that nobody commits to meanwhile, the settings. Out: the same rows in fewer files.
The log keeps itself small: Delta writes a checkpoint every 50 versions and drops what is older than
30 days. What either step commits carries no marker; the marker before it holds.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headwater.config.settings import Maintenance
from headwater.lake.delta.table import DeltaTable, only_writer
from headwater.lake.java import active
from headwater.lake.protocol.crash_points import crash_point
from headwater.lake.protocol.maintenance import LEVELS, MIN_FILES, MaintenanceResult, Size
from headwater.lake.protocol.table import session_settings
from headwater.lake.reserved_names import tags_in
from headwater.lake.storage.own_files import orphans
from headwater.lake.storage.places import plain_address

STEPS = ("compaction", "orphans")
"""The steps of maintenance that a Delta table has."""

VACUUM_FLOOR = timedelta(days=7)
"""Age of what a version needed, at least: Delta refuses to delete younger files."""

_OPTIMIZE = "spark.databricks.delta.optimize"
_LISTING = "spark.sql.sources.parallelPartitionDiscovery.parallelism"


def maintain_delta(
    table: DeltaTable,
    settings: Maintenance,
    needed: Collection[int] = (),
    steps: Collection[str] = STEPS,
    *,
    dry_run: bool = False,
) -> MaintenanceResult:
    """Maintain one Delta table.

    Args:
        needed: versions that readers go on from.
        steps: what to do, of :data:`STEPS`; ``orphans`` lists the table's folder.
        dry_run: change nothing.

    Raises:
        TerminalError: ``OUTSIDE_WAREHOUSE``.
        ServiceError: ``TABLE_LOCKED``.
        pyspark.errors.PySparkException: Delta failed; the table is as good as before.
    """
    with active(table.spark), only_writer(table):
        table.check_place()
        before = size_of_delta(table)
        done = {}
        if "compaction" in steps and (said := _compact(table, before, settings, dry_run=dry_run)):
            done["compaction"] = said
            crash_point("maintain-compaction")
        kept = _kept_for(table, settings, {*needed, *tags_in(table.properties()).values()})
        if "orphans" in steps and (said := _vacuum(table, kept, dry_run=dry_run)):
            done["orphans"] = said
            crash_point("maintain-orphans")
        return MaintenanceResult(table.name, done, before, size_of_delta(table) if done else before)


def size_of_delta(table: DeltaTable) -> Size:
    """Return what a Delta table consists of; its versions are its snapshots."""
    detail = table.spark.sql(f"DESCRIBE DETAIL {table.identifier}").collect()[0]
    table.refresh()
    return Size(table.snapshot_id() + 1, detail.numFiles, 0, 0, detail.sizeInBytes)


def _compact(table: DeltaTable, size: Size, settings: Maintenance, *, dry_run: bool) -> str | None:
    """Small files first; those that this has made only when there are many of them."""
    added = removed = 0
    for share, _ in LEVELS:
        if size.data_files < MIN_FILES or size.bytes > size.data_files * settings.target_file_size:
            break
        if dry_run:
            return f"up to {size.data_files} data files to compact"
        sizes = {
            f"{_OPTIMIZE}.maxFileSize": str(settings.target_file_size),
            f"{_OPTIMIZE}.minFileSize": str(int(settings.target_file_size * share)),
        }
        with session_settings(table.spark, sizes):
            result = table.spark.sql(f"OPTIMIZE {table.identifier}").collect()[0].metrics
        added, removed = added + result.numFilesAdded, removed + result.numFilesRemoved
        size = size_of_delta(table)
    return f"{removed} data files into {added}" if removed else None


def _kept_for(table: DeltaTable, settings: Maintenance, needed: Collection[int]) -> timedelta:
    """How long the files stay that the newest version lacks: its readers come first."""
    behind = (table.snapshot(version) for version in needed if version < table.snapshot_id())
    now = datetime.now(UTC)
    ages = (now - datetime.fromtimestamp(each.at / 1000, UTC) for each in behind if each)
    return max(VACUUM_FLOOR, settings.orphan_age, settings.retain, *ages)


def _vacuum(table: DeltaTable, age: timedelta, *, dry_run: bool) -> str | None:
    hours = math.ceil(age / timedelta(hours=1))
    command = f"VACUUM {table.identifier} RETAIN {hours} HOURS"
    # it lists the table's folder in 200 tasks otherwise, however small it is
    tasks = table.spark.conf.get("spark.sql.shuffle.partitions") or "1"
    deleted = 0
    with session_settings(table.spark, {_LISTING: tasks}):
        # VACUUM would delete whatever is in the folder: it only says what that is, some at a time
        while own := orphans(
            (row[0] for row in table.spark.sql(f"{command} DRY RUN").collect()),
            str(table.location),
            delta=True,
        ):
            deleted += len(own)
            if dry_run:
                break
            for address in own:
                Path(plain_address(address)).unlink(missing_ok=True)
    return f"{deleted} files{' to delete' if dry_run else ''}" if deleted else None
