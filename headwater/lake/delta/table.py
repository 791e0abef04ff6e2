"""One Delta table: its versions, its markers, and an epoch as one transaction.

In: a Spark session with Delta's catalog, the name and the folder of a table. Out: the same as
``headwater.lake.iceberg.table`` gives for a table that a view writes; a snapshot is a version.

Delta has no branches: the statement that writes the rows also publishes them. So an epoch is a
single statement, its marker goes into ``commitInfo.userMetadata``, and Delta's own transaction
identifiers (``txnAppId``, ``txnVersion``) put the check of steps 1 to 3 into the commit: a
statement whose epoch is committed already is skipped, one that a commit of the same view overtakes
fails.
"""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.errors import ServiceError
from headwater.lake.delta.changed_files import DataFile, are_there, differing
from headwater.lake.delta.log import FOLDER, is_kept, newest_version, read_snapshot
from headwater.lake.java import active, java_class, java_session
from headwater.lake.protocol.history import Snapshot
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import (
    ATTEMPT,
    Table,
    Write,
    described,
    lost_race,
    session_settings,
    struct_of,
)
from headwater.lake.storage.own_files import check_inside
from headwater.plan.sql.spark_text import text

LOCK_TIMEOUT = 300.0
"""Seconds that a commit waits for another process that writes the same table."""
_LOCK_POLL = 0.02
_threads: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)

EPOCHS = 40
"""Bits of a transaction's version that hold the epoch; those above hold the view's version."""

_DELTA = "spark.databricks.delta."
USER_METADATA = _DELTA + "commitInfo.userMetadata"
APP_ID, APP_VERSION = _DELTA + "write.txnAppId", _DELTA + "write.txnVersion"


class DeltaTable(Table):
    """One Delta table, seen through one Spark session.

    Args:
        name: table name, without catalog and namespace.
        identifier: full name as Spark SQL reads it.
        location: its folder.
        warehouse: address of the folder in which the table may write and delete; empty for a table
            that somebody else writes.
    """

    one_statement = True

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        identifier: str,
        location: Path,
        warehouse: str = "",
    ) -> None:
        super().__init__(spark, name, identifier)
        self.location = location
        self.warehouse = warehouse
        self._version: int | None = None
        self._change = 0
        self._counted: tuple[int, int] | None = None

    def using(self, spark: SparkSession) -> DeltaTable:
        """Return the same table seen through another session."""
        return DeltaTable(spark, self.name, self.identifier, self.location, self.warehouse)

    def check_place(self) -> None:
        """Refuse to write if a link leads out of the warehouse."""
        if self.warehouse:
            log = self.location / FOLDER
            check_inside((str(self.location), str(log / "any")), self.warehouse, self.name)

    def refresh(self) -> None:
        """Look for newer versions in the log."""
        self._version = newest_version(self.location, self._version)

    def snapshot_id(self) -> int:
        """Return the current version as of the last refresh."""
        if self._version is None:
            self.refresh()
        assert self._version is not None, "its creation is a version"
        return self._version

    def last_change(self) -> int:
        """Return the newest version that changed rows, or by which a view said what it has read."""
        newest = self.snapshot_id()
        if newest < self._change:  # another table in the same folder
            self._change = 0
        for version in range(newest, self._change, -1):
            snapshot = self.snapshot(version)
            if (snapshot and snapshot.marker) or differing(
                self.location, version - 1, version
            ).rows:
                self._change = version
                break
        return self._change

    def snapshot(self, snapshot_id: int) -> Snapshot | None:
        """Return one version, or None if it is unknown or was cleaned up."""
        return read_snapshot(self.location, snapshot_id)

    def total_rows(self) -> int | None:
        """Return 0 for a table that was only created, otherwise None: Delta does not count rows."""
        return None if self.snapshot_id() else 0

    def is_new(self) -> bool:
        """Return whether the version that made it is all that it ever had."""
        return self.snapshot_id() == 0

    # -- rows

    def read(self, snapshot_id: int | None = None) -> DataFrame:
        """Return all rows; the table's folder is enough, no catalog need know it."""
        if snapshot_id is not None and self._marks_rows():
            # a write into Iceberg leaves out the rule by which Delta 4.4.0 pins what else it reads,
            # and what is not pinned is refused if it has deletion vectors (delta-io/delta#4794)
            snapshot = self.at(snapshot_id)
            return self._of_files(snapshot, snapshot.allFiles().collectAsList())
        reader = self.spark.read.format("delta")
        if snapshot_id is not None:
            reader = reader.option("versionAsOf", str(snapshot_id))
        return reader.load(str(self.location))

    def changes(self, after: int | None, upto: int) -> DataFrame:
        """Return the rows that an append-only table gained between two versions."""
        if after is None:
            return self.read(upto)
        if not self.leads_to(after, upto):
            raise self.not_in_history(after, upto)
        return self.read_files(differing(self.location, after, upto).come, upto)

    def read_files(self, files: Sequence[DataFile], version: int) -> DataFrame:
        """Return the rows of some files.

        Args:
            files: the files, which need not be in the version.
            version: the version whose columns they are read with.
        """
        chosen = java_class(self.spark, "java.util.ArrayList")()
        for file in files:
            chosen.add(self.action(json.loads(file.action)))
        return self._of_files(self.at(version), chosen)

    def rows_changed(self, after: int | None, upto: int, *, corrected: bool) -> int:
        """Return how many rows came and, of a corrected table, went between two versions."""
        if after is None:
            return self.rows_at(upto)
        if not self.leads_to(after, upto):
            raise self.not_in_history(after, upto)
        return differing(self.location, after, upto).rows

    def rows_at(self, snapshot_id: int) -> int:
        """Return how many rows the table holds at a version.

        Delta counts no rows of a version. They are counted once; what commits say is added to that.
        """
        if self._counted is None or not self.leads_to(self._counted[0], snapshot_id):
            self._counted = snapshot_id, self.read(snapshot_id).count()
        version, rows = self._counted
        changed = differing(self.location, version, snapshot_id)
        rows += sum(file.rows for file in changed.come) - sum(file.rows for file in changed.gone)
        self._counted = snapshot_id, rows
        return rows

    def leads_to(self, after: int, upto: int) -> bool:
        """Return whether a version comes before a later one, with all commits between them kept."""
        between = range(after + 1, upto + 1)
        return after <= upto and all(is_kept(self.location, version) for version in between)

    def includes(self, snapshot_id: int, earlier: int) -> bool:
        """Return whether a version is another one or a later one, all that went being readable."""
        if not self.leads_to(earlier, snapshot_id):
            return False
        return are_there(self.location, earlier, snapshot_id)

    def was_there(self, snapshot_id: int, at: int) -> bool:
        """Return whether a version existed at a time: versions of another table begin anew."""
        snapshot = self.snapshot(snapshot_id)
        return snapshot is None or snapshot.at <= at  # the log forgets what is old

    # -- columns

    def columns(self) -> dict[str, str]:
        """Return name and Spark type of every column, with ``NOT NULL`` where it holds."""
        return described(self._newest().schema())

    def stored_columns(self, ddl: str) -> dict[str, str]:
        """Return what :meth:`columns` would say of a table created with these columns.

        Args:
            ddl: columns as Spark DDL.
        """
        return described(struct_of(self.spark, ddl))

    # -- what it says of itself

    def metadata(self) -> Mapping[str, Any]:
        """Return its metadata as the log has them."""
        found: Mapping[str, Any] = json.loads(self._newest().metadata().json())["metaData"]
        return found

    def properties(self) -> Mapping[str, str]:
        """Return its properties."""
        found: Mapping[str, str] = self.metadata()["configuration"]
        return found

    def set_properties(self, properties: Mapping[str, str]) -> None:
        """Set properties by a commit without rows.

        Raises:
            ServiceError: ``TABLE_LOCKED``.
        """
        said = ", ".join(f"{text(key)} = {text(value)}" for key, value in properties.items())
        with only_writer(self):
            self.spark.sql(f"ALTER TABLE {self.identifier} SET TBLPROPERTIES ({said})")
        self.refresh()

    def action(self, said: Mapping[str, Any]) -> JavaObject:
        """Return one of Delta's own actions.

        Args:
            said: the action as the log has it.
        """
        actions = java_class(self.spark, "org.apache.spark.sql.delta.actions.Action")
        return actions.fromJson(json.dumps(said))

    def may_hold_marker(self, view: str | None) -> bool:
        """Return whether a view has ever committed: checkpoints keep transaction identifiers.

        Args:
            view: the view, the one of this name if None.
        """
        return int(self.log().startTransaction().txnVersion(app_id(view or self.name))) >= 0

    def staging(self, marker: Marker, base: int, attempt: str) -> DeltaStaging:
        """Return what writes one attempt of a commit as a transaction."""
        return DeltaStaging(self, marker, base, attempt)

    def _marks_rows(self) -> bool:
        return bool(self._newest().protocol().readerFeatureNames().contains("deletionVectors"))

    def _newest(self) -> JavaObject:
        none = java_class(self.spark, "scala.Option").empty()
        return self.log().update(False, none, none)  # noqa: FBT003 - Java's

    def at(self, version: int) -> JavaObject:
        """Return Delta's own snapshot of a version."""
        none = java_class(self.spark, "scala.Option").empty()
        return self.log().getSnapshotAt(version, none, none, False)  # noqa: FBT003 - Java's

    def _of_files(self, snapshot: JavaObject, files: JavaObject) -> DataFrame:
        """The rows of a Java list of Delta's own files, with the columns of a version."""
        scala = java_class(self.spark, "scala.jdk.javaapi.CollectionConverters")
        none = java_class(self.spark, "scala.Option").empty()
        chosen = scala.asScala(files).toSeq()
        with active(self.spark):  # whose query it becomes, with the temporary views of that one
            rows = self.log().createDataFrame(snapshot, chosen, False, none)  # noqa: FBT003
        return DataFrame(rows, self.spark)

    def log(self) -> JavaObject:
        """Return Delta's own object of the table."""
        logs = java_class(self.spark, "org.apache.spark.sql.delta.DeltaLog")
        return logs.forTable(java_session(self.spark), str(self.location))


@dataclass(frozen=True, slots=True)
class DeltaTarget:
    """The table itself: each write is a transaction."""

    identifier: str

    def append(self, rows: DataFrame) -> None:
        """Add rows."""
        rows.writeTo(self.identifier).append()

    def replace(self, rows: DataFrame) -> None:
        """Put rows in the place of all that there are."""
        rows.writeTo(self.identifier).overwrite(F.expr("true"))


class DeltaStaging:
    """One attempt to commit one epoch to a Delta table."""

    def __init__(self, table: DeltaTable, marker: Marker, base: int, attempt: str) -> None:
        self._table = table
        self._marker = marker
        self._base = base
        self._attempt = attempt
        self._write: Write | None = None
        self._session = table.spark

    def fill(self, write: Write, session: SparkSession) -> None:
        """Keep what will write the rows: in Delta, writing is publishing.

        Args:
            write: writes the rows by one statement, or not at all.
        """
        self._write, self._session = write, session

    def publish(self) -> None:
        """Write the rows with the marker, unless the epoch is committed already.

        Raises:
            TerminalError: ``LOST_RACE``.
            ServiceError: ``TABLE_LOCKED``.
        """
        assert self._write is not None
        table, marker = self._table, self._marker
        metadata = json.dumps({**marker.to_summary(), ATTEMPT: self._attempt})
        settings = {
            USER_METADATA: metadata,
            APP_ID: app_id(marker.view),
            APP_VERSION: str(app_version(marker)),
        }
        with only_writer(table), session_settings(self._session, settings):
            self._write(DeltaTarget(table.identifier))
            if not self._is_committed():
                # nothing was written, or Delta has skipped it: then it skips this too
                rows = self._session.table(table.identifier).where("false")
                rows.writeTo(table.identifier).append()
        if not self._is_committed():
            raise lost_race(marker)

    def is_dropped(self) -> bool:
        """Return False: nothing is staged apart from the table."""
        return False

    def is_intact(self) -> bool:
        """Return False: publishing again would write again."""
        return False

    def _is_committed(self) -> bool:
        self._table.refresh()
        made = self._table.since(self._base)
        return any(snapshot.summary.get(ATTEMPT) == self._attempt for snapshot in made)


def app_id(view: str) -> str:
    """Return the application id under which Delta remembers the newest epoch of a view."""
    return f"headwater.{view}"


def app_version(marker: Marker) -> int:
    """Return the number that rises with each commit of a view, also from version to version."""
    return (marker.version << EPOCHS) + marker.epoch


@contextmanager
def only_writer(table: DeltaTable) -> Iterator[None]:
    """Keep other processes of this machine from writing a table inside the block.

    Delta's store for local files looks whether a version is there, then renames: two processes can
    both create it, and the first one's commit is gone (4.4.0, delta-io/delta#683). The lock belongs
    to the JVM, which writes: it ends with the JVM, not before, when only Python is killed.

    Args:
        table: the table; its folder need not exist yet: the lock's file lies beside it.

    Raises:
        ServiceError: ``TABLE_LOCKED`` after :data:`LOCK_TIMEOUT`.
    """
    path = lock_file(table)
    give_up = time.monotonic() + LOCK_TIMEOUT
    # Linux frees a file when any channel of the process to it is closed: one thread at a time
    if not _threads[path].acquire(timeout=LOCK_TIMEOUT):
        raise _table_locked(table)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        channel = java_class(table.spark, "java.io.RandomAccessFile")(str(path), "rw").getChannel()
        try:
            while channel.tryLock() is None:
                if time.monotonic() > give_up:
                    raise _table_locked(table)
                time.sleep(_LOCK_POLL)
            yield
        finally:
            channel.close()
    finally:
        _threads[path].release()


def lock_file(table: DeltaTable) -> Path:
    """Return the file that who writes a table holds locked."""
    return table.location.with_name(f"_{table.location.name}.lock")


def _table_locked(table: DeltaTable) -> ServiceError:
    return ServiceError(
        "TABLE_LOCKED",
        f'another process has been writing table "{table.name}" for {LOCK_TIMEOUT:g} seconds',
        hint="stop the other process, or wait for it, then start again",
    )
