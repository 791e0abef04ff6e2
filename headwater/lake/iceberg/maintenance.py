"""Keeping a table small: compaction, old snapshots, manifests, orphan files.

In: a table of the lake that nobody commits to meanwhile, the snapshots that its readers need, the
settings. Out: the same rows in fewer files, and what was done. Each step looks first, in the
metadata alone, whether there is anything to do. The rows of no snapshot that is kept change, and
the snapshots that the steps write carry no marker: ``headwater.maintenance`` names the step.

The steps, each followed by a crash point:

1. ``compaction``: small data files, and files whose rows are mostly deleted, become large ones, in
   two sizes, so that what has reached the first is not written again with every run
2. ``deletes``: small position delete files become few; those of files that are gone are left out
3. ``manifests``: many small manifests become few
4. ``expiry``: snapshots that nobody needs (``headwater.lake.iceberg.retention``) go, with their
   files, and staging branches of writers that died long ago
5. ``orphans``: files that no snapshot knows, that are old enough, and that a write of this lake has
   left (``headwater.lake.storage.own_files``)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from py4j.java_gateway import JavaObject

from headwater.config.settings import ORPHAN_FLOOR, Maintenance
from headwater.errors import TerminalError
from headwater.lake.iceberg.deletions import delete, deleting
from headwater.lake.iceberg.retention import MAINTENANCE, SnapshotHistory, expirable
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.java import active, java_class, java_session
from headwater.lake.protocol.crash_points import crash_point
from headwater.lake.protocol.maintenance import LEVELS, MIN_FILES, MaintenanceResult, Size
from headwater.lake.reserved_names import BRANCH_PREFIX
from headwater.lake.storage.own_files import orphans

STEPS = ("compaction", "deletes", "manifests", "expiry", "orphans")
"""The steps of maintenance, in order."""

CRASH_POINTS = tuple(f"maintain-{step}" for step in STEPS)
"""Names for ``HEADWATER_CRASH_POINT``: after each step that had something to do."""

MIN_MANIFESTS = 32
"""Manifests from which they are rewritten, if they are small."""

SMALL_MANIFEST = 1024**2
"""Bytes below which manifests are small; Iceberg aims at 8 MiB."""

BATCHES = 10
"""Age of an orphan, at least, in longest batches."""

_MOST_FILES = 5_000
"""Files that one compaction rewrites at most: the table's commits wait for it."""

_ACTIONS = "org.apache.iceberg.spark.actions.SparkActions"


@dataclass(frozen=True, slots=True)
class Job:
    """One run of maintenance over one table.

    Attributes:
        table: the table.
        settings: how small, how long.
        needed: snapshots that readers go on from.
        longest_batch: the longest write to the table that is known.
        steps: what to do, of :data:`STEPS`.
        dry_run: change nothing.
        now: the time that ages are measured against.
    """

    table: LakeTable
    settings: Maintenance
    needed: Collection[int] = ()
    longest_batch: timedelta = timedelta(0)
    steps: Collection[str] = STEPS
    dry_run: bool = False
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def history(self) -> SnapshotHistory:
        """Return the table's history as of the last refresh."""
        return SnapshotHistory(self.table.metadata(), self.table.name)


def maintain(job: Job) -> MaintenanceResult:
    """Maintain one table.

    Args:
        job: the table and what is asked for.

    Raises:
        TerminalError: ``MARKER_LOST`` if another tool has expired the newest marker: nothing is
            expired then; ``ORPHAN_AGE_TOO_SHORT``; ``OUTSIDE_WAREHOUSE``.
        py4j.protocol.Py4JError: Iceberg, Spark or the catalog failed; the table is as good as
            before, and the next run goes on.
    """
    table = job.table
    with active(table.spark):
        table.refresh()
        table.check_place()
        table.newest()  # a table without its marker is for `doctor`, not for us
        before = size_of(table)
        done = {}
        for step, work in _WORK.items():
            if step in job.steps and (said := work(job)):
                done[step] = said
                table.refresh()
                crash_point(f"maintain-{step}")
        return MaintenanceResult(table.name, done, before, size_of(table) if done else before)


def size_of(table: LakeTable) -> Size:
    """Return what a table consists of, as of its last refresh."""
    java = table.java
    snapshot = table.current()
    summary: Mapping[str, str] = snapshot.summary if snapshot else {}
    return Size(
        len(java.snapshots()),
        int(summary.get("total-data-files", 0)),
        int(summary.get("total-delete-files", 0)),
        java.currentSnapshot().allManifests(java.io()).size(),
        int(summary.get("total-files-size", 0)),
    )


def check_orphan_age(settings: Maintenance, longest_batch: timedelta) -> None:
    """Refuse to take young files for orphans.

    Args:
        settings: holds the age.
        longest_batch: the longest write that is known.

    Raises:
        TerminalError: ``ORPHAN_AGE_TOO_SHORT``.
    """
    least = max(ORPHAN_FLOOR, BATCHES * longest_batch)
    if settings.orphan_age < least:
        raise TerminalError(
            "ORPHAN_AGE_TOO_SHORT",
            f"orphan_age {settings.orphan_age} is too short: maintenance could delete files of a "
            f"running write (the longest took {longest_batch})",
            hint=f'set maintain.orphan_age in headwater.toml to "{_hours(least)} hours" or more',
        )


def _compact(job: Job) -> str | None:
    history = job.history()
    added = history.added_since("compaction", "data-files")
    added += history.added_since("compaction", "delete-files")
    if added < MIN_FILES:
        return None
    if job.dry_run:
        return f"{added} new files to compact"
    files = written = deletes = 0
    for share, least in LEVELS:
        options = {
            "target-file-size-bytes": job.settings.target_file_size,
            "min-file-size-bytes": int(job.settings.target_file_size * share),
            "max-file-size-bytes": job.settings.target_file_size * 9 // 5,
            "min-input-files": least,
            "max-files-to-rewrite": _MOST_FILES,
            "max-concurrent-file-group-rewrites": 2,
        }
        action = _actions(job.table).rewriteDataFiles(job.table.java)
        result = _run(action, "compaction", options)
        files += result.rewrittenDataFilesCount()
        written += result.addedDataFilesCount()
        deletes += result.removedDeleteFilesCount()
        job.table.refresh()
    if not files:
        return None
    gone = f" and {deletes} delete files" if deletes else ""
    return f"{files} data files{gone} into {written}"


def _rewrite_deletes(job: Job) -> str | None:
    added = job.history().added_since("deletes", "delete-files")
    if added < MIN_FILES:
        return None
    if job.dry_run:
        return f"{added} new delete files to rewrite"
    action = _actions(job.table).rewritePositionDeletes(job.table.java)
    result = _run(action, "deletes", {"min-input-files": 2})
    old, new = result.rewrittenDeleteFilesCount(), result.addedDeleteFilesCount()
    return f"{old} delete files into {new}" if old else None


def _rewrite_manifests(job: Job) -> str | None:
    java = job.table.java
    manifests = list(java.currentSnapshot().allManifests(java.io()))
    if len(manifests) < MIN_MANIFESTS:
        return None
    if sum(manifest.length() for manifest in manifests) > len(manifests) * SMALL_MANIFEST:
        return None
    if job.dry_run:
        return f"{len(manifests)} manifests to rewrite"
    result = _run(_actions(job.table).rewriteManifests(java), "manifests", {})
    old = sum(1 for _ in result.rewrittenManifests())
    new = sum(1 for _ in result.addedManifests())
    return f"{old} manifests into {new}" if old else None


def _expire(job: Job) -> str | None:
    history = job.history()
    dead = _dead_branches(job, history)
    left = history.without(dead)
    going = expirable(left, job.needed, job.settings, job.now)
    if job.dry_run and (going or dead):
        return f"{len(going)} snapshots to expire"
    if dead:
        update = job.table.java.manageSnapshots()
        for name in dead:
            update = update.removeBranch(name)
        update.commit()
    reachable = left.reachable()
    # of a write that raised, Iceberg 1.12.0 may have deleted the files (apache/iceberg#14947), and
    # reading them would fail for ever
    _forget(job.table, [each for each in going if each not in reachable], clean=False)
    _forget(job.table, [each for each in going if each in reachable], clean=True)
    said = [f"{len(going)} snapshots"] if going else []
    said += [f"{len(dead)} dead staging branches"] if dead else []
    return " and ".join(said) or None


def _forget(table: LakeTable, going: Sequence[int], *, clean: bool) -> None:
    """Take snapshots out of the metadata, with or without the files that only they need."""
    if not going:
        return
    level = java_class(table.spark, "org.apache.iceberg.ExpireSnapshots$CleanupLevel")
    # nothing is old by itself: the ids say what goes
    expiry = table.java.expireSnapshots().expireOlderThan(0)
    for snapshot_id in going:
        expiry = expiry.expireSnapshotId(snapshot_id)
    if not clean:
        expiry.cleanupLevel(level.NONE).commit()
        return
    with deleting(table) as deleted:
        expiry.cleanupLevel(level.ALL).deleteWith(deleted.consumer).commit()


def _dead_branches(job: Job, history: SnapshotHistory) -> list[str]:
    """Staging branches that lead away from ``main`` and that nobody has moved for long."""
    main = {entry.id for entry in history.main()}
    oldest = (job.now - job.settings.orphan_age).timestamp() * 1000
    return [
        name
        for name, head in history.refs.items()
        if name.startswith(BRANCH_PREFIX)
        and head not in main
        and (head not in history.snapshots or history.snapshots[head].at < oldest)
    ]


def _delete_orphans(job: Job) -> str | None:
    check_orphan_age(job.settings, job.longest_batch)
    older_than = job.now - job.settings.orphan_age
    catalog, _, name = job.table.identifier.partition(".")
    # an object store is listed by Iceberg itself, a folder by Hadoop
    prefix = not str(job.table.java.location()).startswith("file:")
    # Iceberg would delete whatever it finds there: it only says what that is
    found = job.table.spark.sql(
        f"CALL {catalog}.system.remove_orphan_files(table => '{name}',"
        f" older_than => TIMESTAMP '{older_than:%Y-%m-%d %H:%M:%S} UTC',"
        f" dry_run => true, prefix_listing => {'true' if prefix else 'false'})"
    ).collect()
    own = orphans((row[0] for row in found), str(job.table.java.location()))
    if own and not job.dry_run:
        delete(job.table, own)
    return f"{len(own)} files{' to delete' if job.dry_run else ''}" if own else None


_WORK: Mapping[str, Callable[[Job], str | None]] = {
    "compaction": _compact,
    "deletes": _rewrite_deletes,
    "manifests": _rewrite_manifests,
    "expiry": _expire,
    "orphans": _delete_orphans,
}


def _actions(table: LakeTable) -> JavaObject:
    return java_class(table.spark, _ACTIONS).get(java_session(table.spark))


def _run(action: JavaObject, step: str, options: Mapping[str, int]) -> JavaObject:
    for key, value in options.items():
        action = action.option(key, str(value))
    return action.snapshotProperty(MAINTENANCE, step).execute()


def _hours(age: timedelta) -> int:
    return -(-age // timedelta(hours=1))  # rounded up
