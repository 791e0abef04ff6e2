"""One Iceberg table: its snapshots, markers, bounds and rows, and the staging branch of a commit.

In: a Spark session and the full name of a table. Out: DataFrames at pinned snapshots, commit
markers, and the moves of the commit protocol (stage, publish) as one metadata commit each.
Talks to Iceberg's Java API through py4j; a method costs a few milliseconds and no Spark job.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession

from headwater.lake.evolve import ColumnDifference
from headwater.lake.iceberg.file_bounds import FileBounds
from headwater.lake.iceberg.files import commit_to_main
from headwater.lake.iceberg.staging import IcebergStaging
from headwater.lake.iceberg.unpushed import behind_barrier
from headwater.lake.java import elements, java_class, java_session
from headwater.lake.protocol.history import COMPACTION, Commit, Snapshot
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Staging, Table, described, struct_of
from headwater.lake.reserved_names import BRANCH_PREFIX, MARKER_TAG
from headwater.lake.storage.own_files import check_inside

_ICEBERG = "org.apache.iceberg"
_PLACES = (
    *("write.data.path", "write.metadata.path", "write.object-storage.path"),
    "write.folder-storage.path",
)
"""Properties that set files apart from the table's location."""
_REMEMBERED = 100
"""Snapshots that are not read again: none ever changes."""


class LakeTable(Table):
    """One Iceberg table, seen through one Spark session.

    Args:
        name: table name, without catalog and namespace.
        identifier: full name as Spark SQL reads it.
        warehouse: address of the folder in which the table may write and delete; empty for a table
            that somebody else writes.

    Attributes:
        marker_tag: name of the tag that keeps the newest marker.
    """

    marker_tag = MARKER_TAG

    def __init__(
        self, spark: SparkSession, name: str, identifier: str, warehouse: str = ""
    ) -> None:
        super().__init__(spark, name, identifier)
        self.warehouse = warehouse
        self._checked: tuple[str, ...] = ()
        self._writer = uuid.uuid4().hex[:8]
        self._views_cleared: set[str] = set()
        self._snapshots: dict[int, Snapshot] = {}

    def using(self, spark: SparkSession) -> LakeTable:
        """Return the same table seen through another session."""
        return LakeTable(spark, self.name, self.identifier, self.warehouse)

    @cached_property
    def java(self) -> JavaObject:
        """Iceberg's own table object."""
        return java_class(self.spark, f"{_ICEBERG}.spark.Spark3Util").loadIcebergTable(
            java_session(self.spark), self.identifier
        )

    def refresh(self) -> None:
        """Read the newest metadata from the catalog."""
        self.java.refresh()

    def check_place(self) -> None:
        """Refuse to write if the table, or metadata that a commit may delete, lies elsewhere."""
        if not self.warehouse:
            return
        properties = self.properties()
        set_apart = (properties[key] for key in _PLACES if key in properties)
        places = (str(self.java.location()), *set_apart)
        if places != self._checked:
            metadata = self.metadata()
            lists = [each.get("manifest-list", "") for each in metadata.get("snapshots", ())]
            log = [each["metadata-file"] for each in metadata.get("metadata-log", ())]
            check_inside((*places, *filter(None, lists), *log), self.warehouse, self.name)
            self._checked = places

    # -- snapshots and markers

    def snapshot_id(self) -> int:
        """Return the id of the current snapshot as of the last refresh."""
        return int(self.java.currentSnapshot().snapshotId())

    def snapshot(self, snapshot_id: int) -> Snapshot | None:
        """Return one snapshot, or None if it is unknown or was expired."""
        found = self.java.snapshot(snapshot_id)
        if found is None:
            return None
        if snapshot_id not in self._snapshots:
            parser = java_class(self.spark, f"{_ICEBERG}.SnapshotParser")
            self._snapshots[snapshot_id] = Snapshot.from_json(json.loads(parser.toJson(found)))
            if len(self._snapshots) > _REMEMBERED:
                del self._snapshots[next(iter(self._snapshots))]
        return self._snapshots[snapshot_id]

    def kept_commit(self) -> Commit | None:
        """Return the commit that the marker's tag points at, if it does."""
        tagged = self.ref(self.marker_tag)
        kept = self.snapshot(tagged) if tagged is not None else None
        marker = kept.marker if kept else None
        return Commit.of(kept, marker) if kept and marker else None

    def total_rows(self) -> int:
        """Return the number of rows written and not removed with their file."""
        snapshot = self.current()
        return snapshot.count("total-records") if snapshot else 0

    def properties(self) -> Mapping[str, str]:
        """Return its properties."""
        return dict(self.java.properties())

    # -- rows and bounds

    def changes(self, after: int | None, upto: int) -> DataFrame:
        """Return the rows appended between two snapshots."""
        if after is None:
            return self.read(upto)
        if after == upto:
            return self.read(upto).where("false")
        if not self.leads_to(after, upto):
            raise self.not_in_history(after, upto)
        reader = self.spark.read.format("iceberg").option("start-snapshot-id", str(after))
        return behind_barrier(reader.option("end-snapshot-id", str(upto)).load(self.identifier))

    def read(self, snapshot_id: int | None = None) -> DataFrame:
        """Return all rows."""
        return behind_barrier(super().read(snapshot_id))

    def rows_changed(self, after: int | None, upto: int, *, corrected: bool) -> int:
        """Return how many rows a piece of history added, from the snapshot summaries alone."""
        rows = 0
        for snapshot in self.ancestors(upto):
            if snapshot.id == after:
                return rows
            if after is None and self.is_expired(snapshot.parent):
                return rows + snapshot.count("total-records")
            if snapshot.operation == "append" or corrected:
                rows += snapshot.added
            if corrected:
                rows += snapshot.removed
        if after is not None:
            raise self.not_in_history(after, upto)
        return rows

    def rows_at(self, snapshot_id: int) -> int:
        """Return how many rows the table holds at a snapshot, from its summary alone."""
        snapshot = self.snapshot(snapshot_id)
        return snapshot.total if snapshot else 0

    def includes(self, snapshot_id: int, earlier: int) -> bool:
        """Return whether a snapshot is another one, or was built on it, both being kept."""
        if None in (self.snapshot(snapshot_id), self.snapshot(earlier)):
            return False
        util = java_class(self.spark, f"{_ICEBERG}.util.SnapshotUtil")
        return bool(util.isAncestorOf(self.java, snapshot_id, earlier))

    def added_by(self, snapshot_id: int) -> DataFrame:
        """Return the rows that one snapshot appended, from its own files.

        Args:
            snapshot_id: the snapshot; the one before it must be kept too.
        """
        snapshot = self.snapshot(snapshot_id)
        return self.changes(snapshot.parent if snapshot else None, snapshot_id)

    def lower_bound(self, column: str, snapshot_id: int) -> int | None:
        """Return the smallest value of a time column in the data files that a snapshot added.

        Args:
            column: as for :meth:`upper_bound`.
            snapshot_id: the snapshot that added the files.
        """
        return min(self.bounds.of(column, snapshot_id, upper=False), default=None)

    def upper_bound(self, column: str, snapshot_id: int) -> int | None:
        """Return the largest value of a time column in the data files that a snapshot added.

        Read from Iceberg's file metrics, so no data is read.

        Args:
            column: a TIMESTAMP or TIMESTAMP_NTZ column (or an integer column).
            snapshot_id: the snapshot that added the files.

        Returns:
            Microseconds since 1970 UTC, or None if no row with a value was added.
        """
        return max(self.bounds.of(column, snapshot_id, upper=True), default=None)

    @property
    def bounds(self) -> FileBounds:
        """The bounds of columns in its data files."""
        return FileBounds(self.spark, self.java)

    # -- columns

    def columns(self, snapshot_id: int | None = None) -> dict[str, str]:
        """Return name and Spark type of every column, with ``NOT NULL`` where it holds.

        Args:
            snapshot_id: a snapshot that is kept, to return the columns that the table had when it
                was written; the columns are those of now by default.
        """
        if snapshot_id is None:
            return self._described(self.java.schema())
        number = self.java.snapshot(snapshot_id).schemaId()
        return self._described(self.java.schemas().get(number))

    def stored_columns(self, ddl: str) -> dict[str, str]:
        """Return what :meth:`columns` would say of a table created with these columns.

        Args:
            ddl: columns as Spark DDL.
        """
        schemas = java_class(self.spark, f"{_ICEBERG}.spark.SparkSchemaUtil")
        return self._described(schemas.convert(struct_of(self.spark, ddl)))

    def earlier_columns(self) -> set[str]:
        """Return the names of all columns that the table ever had."""
        schemas = self.java.schemas().values()  # py4j makes it Python's own
        return {str(field.name()) for schema in schemas for field in elements(schema.columns())}

    def alter(self, change: ColumnDifference, ddl: str) -> None:
        """Give the table other columns, in one metadata commit.

        Args:
            ddl: all columns as they shall be, as Spark DDL.
        """
        schemas = java_class(self.spark, f"{_ICEBERG}.spark.SparkSchemaUtil")
        wanted = schemas.convert(struct_of(self.spark, ddl))
        update = self.java.updateSchema()
        for column in change.dropped:
            update = update.deleteColumn(column)
        for column in change.added:
            update = update.addColumn(column, wanted.findType(column))
        for column in change.widened:
            update = update.updateColumn(column, wanted.findType(column))
        names = [field.name() for field in elements(wanted.columns())]
        update = update.moveFirst(names[0])
        for before, column in pairwise(names):
            update = update.moveAfter(column, before)
        update.commit()

    def _described(self, schema: JavaObject) -> dict[str, str]:
        schemas = java_class(self.spark, f"{_ICEBERG}.spark.SparkSchemaUtil")
        return described(schemas.convert(schema))

    # -- moves of the commit protocol

    def staging(self, marker: Marker, base: int, attempt: str) -> Staging:
        """Return what stages one attempt of a commit."""
        return IcebergStaging(self, marker, base, attempt)

    def ensure_first_snapshot(self) -> None:
        """Give the table an empty snapshot if it has none, so that branches have a base."""
        if self.java.currentSnapshot() is None:
            self.java.newFastAppend().commit()

    def is_new(self) -> bool:
        """Return whether the first snapshot, which is empty, is all that it ever had."""
        snapshot = self.current()
        return snapshot is not None and snapshot.parent is None and self.total_rows() == 0

    def ref(self, name: str) -> int | None:
        """Return the snapshot id of a branch or tag as of the last refresh, if there is one."""
        found = self.java.refs().get(name)
        return None if found is None else int(found.snapshotId())

    def staging_branch(self, view: str) -> str:
        """Return the name of the branch on which this writer stages commits of a view."""
        return f"{BRANCH_PREFIX}{self._writer}_{view}"

    def stage(self, view: str, base: int) -> str:
        """Point the staging branch at a snapshot; the first time, drop branches of dead writers.

        The branch stays after a commit and is then already where the next commit begins.

        Args:
            base: id of the snapshot that the commit builds on.

        Returns:
            The identifier that writes to the branch.
        """
        branch = self.staging_branch(view)
        staged_at, dead = self.ref(branch), self._dead_branches(view)
        if staged_at != base or dead:
            update = self.java.manageSnapshots()
            for name in dead:
                update = update.removeBranch(name)
            if staged_at is None:
                update = update.createBranch(branch, base)
            elif staged_at != base:
                update = update.replaceBranch(branch, base)
            update.commit()
        self._views_cleared.add(view)
        return f"{self._staging}{branch}`"

    @property
    def _staging(self) -> str:
        return f"{self.identifier}.`branch_"

    def head(self, staged: str) -> int:
        """Return the newest snapshot of a staging branch as of the last refresh.

        Args:
            staged: the identifier that :meth:`stage` gave.
        """
        branch = staged.removeprefix(self._staging).removesuffix("`")
        return int(self.java.refs()[branch].snapshotId())

    def _dead_branches(self, view: str) -> list[str]:
        if view in self._views_cleared:
            return []
        own = self.staging_branch(view)
        return [name for name in self.staging_branches(view) if name != own]

    def staging_branches(self, view: str) -> list[str]:
        """Return the branches on which commits of a view are staged, or were, by any writer."""
        names = map(str, elements(self.java.refs().keySet()))
        return [name for name in names if _staged_view(name) == view]

    def publish(self, branch: str, head: int) -> None:
        """Move ``main`` and the marker's tag to the head of a staging branch.

        A compare-and-swap: refused if ``main`` has moved since the branch was staged.

        Args:
            head: its head, as checked by the caller.

        Raises:
            py4j.protocol.Py4JJavaError: ``main`` or the metadata moved, or the catalog failed.
        """
        tagged = self.ref(self.marker_tag) is not None
        update = self.java.manageSnapshots().fastForwardBranch("main", branch)
        (update.replaceTag if tagged else update.createTag)(self.marker_tag, head).commit()

    def publish_files(self, view: str, base: int, update: JavaObject) -> None:
        """Move ``main`` and the marker's tag to an update that nobody has seen.

        Branches on which commits of the view were staged go with it.

        Args:
            base: the snapshot at which ``main`` must still be.
            update: from :func:`headwater.lake.iceberg.files.update_of`.

        Raises:
            Conflict: ``main`` has moved.
            py4j.protocol.Py4JJavaError: the metadata moved, or the catalog failed.
        """
        commit_to_main(self, base, update, self.marker_tag, self.staging_branches(view))

    def take_back(self, before: int) -> None:
        """Undo the newest commit of a side table, whose epoch was never published.

        Args:
            before: the snapshot that it was built on.
        """
        commit = self.newest(before=before)
        update = self.java.manageSnapshots().rollbackTo(before)
        if commit:
            update = update.replaceTag(self.marker_tag, commit.snapshot_id)
        else:
            update = update.removeTag(self.marker_tag)
        update.commit()

    # -- maintenance

    def leads_to(self, after: int, upto: int) -> bool:
        """Return whether a snapshot is in the history of a later one, with all between them."""
        util = java_class(self.spark, f"{_ICEBERG}.util.SnapshotUtil")
        known = self.java.snapshot(upto) is not None
        return known and bool(util.isParentAncestorOf(self.java, upto, after))

    def greatest(self, column: str) -> int | None:
        """Return the largest value of a time column in the whole table, from file metrics.

        Args:
            column: as for :meth:`upper_bound`.

        Returns:
            Microseconds since 1970 UTC, or None if there is none.
        """
        newest = self.read(self.snapshot_id()).selectExpr(f"max(`{column}`) AS newest")
        if "TIMESTAMP" in self.columns()[column]:
            newest = newest.selectExpr("unix_micros(CAST(newest AS TIMESTAMP)) AS newest")
        row = newest.first()
        return None if row is None or row.newest is None else int(row.newest)

    def is_expired(self, snapshot_id: int | None) -> bool:
        """Return whether a snapshot that was there once is not kept any more.

        Args:
            snapshot_id: its id; None, the parent of the first snapshot, is nothing that expires.
        """
        return snapshot_id is not None and self.java.snapshot(snapshot_id) is None

    def begins_compacted(self) -> bool:
        """Return whether the oldest snapshot that is kept is a compaction, as of a fresh refresh.

        Iceberg's streaming source, begun there, leaves out the rows of that snapshot.
        """
        self.refresh()
        util = java_class(self.spark, f"{_ICEBERG}.util.SnapshotUtil")
        return bool(util.oldestAncestor(self.java).operation() == COMPACTION)

    def metadata(self) -> dict[str, Any]:
        """Return Iceberg's whole table metadata as of the last refresh, as its JSON says it."""
        parser = java_class(self.spark, f"{_ICEBERG}.TableMetadataParser")
        found: dict[str, Any] = json.loads(parser.toJson(self.java.operations().current()))
        return found

    def last_change(self) -> int:
        """Return the newest snapshot that changed rows, as of the last refresh.

        Compactions after it hold the same rows in other files. Iceberg's streaming source stops
        here too, so that all readers name the same cut.
        """
        snapshot = self.java.currentSnapshot()
        while snapshot.operation() == COMPACTION and snapshot.parentId() is not None:
            before = self.java.snapshot(snapshot.parentId())
            if before is None:
                break
            snapshot = before
        return int(snapshot.snapshotId())


def _staged_view(branch: str) -> str | None:
    if not branch.startswith(BRANCH_PREFIX):
        return None
    return branch.removeprefix(BRANCH_PREFIX).partition("_")[2]
