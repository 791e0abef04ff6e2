"""What the commit protocol needs of a table, whatever its format: snapshots, markers, a staging.

In: a table of the lake. Out: its history as :class:`Snapshot` objects, the newest commit of a view,
and a :class:`Staging` that makes one epoch visible. ``headwater.lake.iceberg.table`` and
``headwater.lake.delta.table`` implement it; nothing else knows how either format commits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar, Protocol

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession

from headwater.errors import TerminalError
from headwater.lake.java import java_class, java_session
from headwater.lake.protocol.marker import PREFIX, Marker

ATTEMPT = PREFIX + "attempt"
"""Summary property with the identity of the attempt that wrote a snapshot."""

Write = Callable[[str], None]
"""Writes the rows of an epoch; gets the identifier to write to."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One snapshot of a table (Delta: one version).

    Attributes:
        id: snapshot id.
        parent: id of the snapshot before it, or None for the first.
        operation: ``append``, ``overwrite``, ``delete`` or ``replace`` (compaction).
        summary: the whole snapshot summary.
        at: when it was committed, milliseconds since 1970 UTC.
    """

    id: int
    parent: int | None
    operation: str
    summary: Mapping[str, str]
    at: int

    @property
    def marker(self) -> Marker | None:
        """The commit marker, or None for a snapshot that no view wrote."""
        return Marker.from_summary(self.summary)


@dataclass(frozen=True, slots=True)
class Commit:
    """A published commit: the snapshot and the marker in it."""

    snapshot_id: int
    marker: Marker


class Moved(Exception):
    """The table moved on without a commit of this view: the protocol starts again at step 1."""


class Staging(Protocol):
    """One attempt to commit one epoch: filled, then published, each once."""

    def fill(self, write: Write, session: SparkSession) -> None:
        """Prepare everything up to the point at which it becomes visible.

        Args:
            write: writes the rows; without rows it may write nothing.
            session: the session that ``write`` uses.

        Raises:
            TerminalError: ``LOST_RACE``, ``MARKER_MISSING``.
            Moved: the table moved.
        """

    def publish(self) -> None:
        """Make rows and marker visible in one atomic step, if nobody committed the epoch before.

        Raises:
            TerminalError: ``LOST_RACE``.
            py4j.protocol.Py4JError: it failed; whether it became visible is unknown.
            pyspark.errors.PySparkException: the same.
        """

    def is_dropped(self) -> bool:
        """Return whether another writer has removed what was staged, as of the last refresh."""

    def is_intact(self) -> bool:
        """Return whether what was filled can be published once more, as of the last refresh."""


class Table(ABC):
    """One table that a view writes, seen through one Spark session.

    Args:
        spark: session used to load the table and to read from it.
        name: table name, without catalog and namespace.
        identifier: full name as Spark SQL reads it.
    """

    one_statement: ClassVar[bool] = False
    """Whether an epoch must be written by a single statement."""

    def __init__(self, spark: SparkSession, name: str, identifier: str) -> None:
        self.spark = spark
        self.name = name
        self.identifier = identifier

    # -- what each format does in its own way

    @abstractmethod
    def refresh(self) -> None:
        """Read the newest metadata."""

    @abstractmethod
    def snapshot_id(self) -> int:
        """Return the id of the current snapshot as of the last refresh."""

    def last_change(self) -> int:
        """Return the newest snapshot that changed rows, as of the last refresh: what a cut names.

        Compactions after it hold the same rows in other files.
        """
        return self.snapshot_id()

    @abstractmethod
    def snapshot(self, snapshot_id: int) -> Snapshot | None:
        """Return one snapshot, or None if it is unknown or was expired.

        Args:
            snapshot_id: id of the snapshot.
        """

    @abstractmethod
    def using(self, spark: SparkSession) -> Table:
        """Return the same table seen through another session.

        Args:
            spark: the session.
        """

    @abstractmethod
    def changes(self, after: int | None, upto: int) -> DataFrame:
        """Return the rows that an append-only table gained between two snapshots.

        Args:
            after: snapshot already read; None for the beginning of the table.
            upto: last snapshot to read.

        Raises:
            TerminalError: ``SNAPSHOT_NOT_IN_HISTORY`` if ``upto`` does not come after ``after``, or
                the snapshots between were expired.
        """

    @abstractmethod
    def rows_changed(self, after: int | None, upto: int, *, corrected: bool) -> int:
        """Return how many rows a piece of history added, without reading any.

        Args:
            after: snapshot already read; None for the beginning of the table.
            upto: last snapshot to read.
            corrected: whether rows are removed too; then these count as well.

        Raises:
            TerminalError: ``SNAPSHOT_NOT_IN_HISTORY`` if it does not reach back to ``after``.
        """

    @abstractmethod
    def rows_at(self, snapshot_id: int) -> int:
        """Return how many rows the table holds at a snapshot, about.

        Args:
            snapshot_id: a snapshot that is kept.
        """

    @abstractmethod
    def leads_to(self, after: int, upto: int) -> bool:
        """Return whether a snapshot is in the history of a later one, with all between them.

        Args:
            after: the earlier snapshot.
            upto: the later one.
        """

    @abstractmethod
    def includes(self, snapshot_id: int, earlier: int) -> bool:
        """Return whether a snapshot is another one, or was built on it, both being kept.

        Args:
            snapshot_id: a snapshot.
            earlier: the other one.
        """

    def was_there(self, snapshot_id: int, at: int) -> bool:
        """Return whether a snapshot can be the one of this id that was there at a time.

        Args:
            snapshot_id: its id.
            at: milliseconds since 1970 UTC.
        """
        return True

    @abstractmethod
    def total_rows(self) -> int | None:
        """Return the number of rows as of the last refresh, about.

        Returns:
            The number; None if there are some and the format does not count them.
        """

    @abstractmethod
    def columns(self) -> dict[str, str]:
        """Return name and Spark type of every column, with ``NOT NULL`` where it holds."""

    @abstractmethod
    def stored_columns(self, ddl: str) -> dict[str, str]:
        """Return what :meth:`columns` would say of a table created with these columns.

        Args:
            ddl: columns as Spark DDL.
        """

    @abstractmethod
    def staging(self, marker: Marker, base: int, attempt: str) -> Staging:
        """Return what stages one attempt of a commit (step 5).

        Args:
            marker: the marker of the epoch.
            base: the snapshot on which everything was decided.
            attempt: identity of the attempt.
        """

    def kept_commit(self) -> Commit | None:
        """Return a newest commit that is kept outside the history of snapshots, if there is one."""
        return None

    def may_hold_marker(self, view: str | None) -> bool:
        """Return whether a commit can lie in a part of the history that is not kept any more.

        Args:
            view: the view that would have made it, None for any.
        """
        return True

    # -- what follows

    def ancestors(self, snapshot_id: int) -> Iterator[Snapshot]:
        """Yield a snapshot and those before it, newest first, as far as they are kept.

        Args:
            snapshot_id: where to start.
        """
        next_id: int | None = snapshot_id
        while next_id is not None and (snapshot := self.snapshot(next_id)) is not None:
            yield snapshot
            next_id = snapshot.parent

    def since(self, base: int, head: int | None = None) -> Iterator[Snapshot]:
        """Yield the snapshots after one, newest first.

        Args:
            base: the snapshot that is not among them.
            head: the newest of them; the current snapshot by default.
        """
        newest = self.snapshot_id() if head is None else head
        return takewhile(lambda snapshot: snapshot.id != base, self.ancestors(newest))

    def newest(self, view: str | None = None, *, before: int | None = None) -> Commit | None:
        """Return the newest published commit, walking back over maintenance snapshots.

        Args:
            view: only commits of this view; None for any (side tables can serve several views).
            before: snapshot id to start from; None for the current snapshot.

        Returns:
            The commit, or None if there was none yet.

        Raises:
            TerminalError: ``MARKER_LOST`` if the history ends before a marker or the table's first
                snapshot is reached, and the marker is kept nowhere else.
        """
        last: Snapshot | None = None
        for last in self.ancestors(self.snapshot_id() if before is None else before):
            marker = last.marker
            if marker and view in (None, marker.view):
                return Commit(last.id, marker)
        if last is not None and last.parent is None:
            return None
        kept = self.kept_commit() if before is None else None
        if kept and view in (None, kept.marker.view):
            return kept
        if not self.may_hold_marker(view):
            return None
        raise TerminalError(
            "MARKER_LOST",
            f'the history of table "{self.name}" ends before a commit marker',
            hint="snapshots were expired by another tool; run `headwater doctor`",
        )

    def not_in_history(self, after: int, upto: int) -> TerminalError:
        """Return the error that the rows between two snapshots cannot be read.

        Args:
            after: the snapshot that was read up to.
            upto: the snapshot to read up to now.
        """
        return TerminalError(
            "SNAPSHOT_NOT_IN_HISTORY",
            f'snapshot {after} of table "{self.name}" is not in the history of snapshot {upto}',
            hint="it was rolled back or its snapshots were expired; run `headwater doctor`",
        )

    def marker(self) -> Marker | None:
        """Return the newest marker as of the last refresh, or None if nothing was committed yet."""
        commit = self.newest()
        return commit.marker if commit else None

    def committed_at(self) -> int:
        """Return when the newest commit was made, in milliseconds since 1970 UTC; 0 without one."""
        commit = self.newest()
        snapshot = self.snapshot(commit.snapshot_id) if commit else None
        return snapshot.at if snapshot else 0

    def marker_at(self, snapshot_id: int) -> Marker | None:
        """Return the marker that holds at a snapshot: its own, or the newest one before it.

        Args:
            snapshot_id: id of the snapshot.
        """
        commit = self.newest(before=snapshot_id)
        return commit.marker if commit else None

    def read(self, snapshot_id: int | None = None) -> DataFrame:
        """Return all rows.

        Args:
            snapshot_id: snapshot to read; None for the newest at the time of the read.
        """
        reader = self.spark.read
        if snapshot_id is not None:
            reader = reader.option("versionAsOf", str(snapshot_id))
        return reader.table(self.identifier)

    def added_by(self, snapshot_id: int) -> DataFrame:
        """Return the rows that one snapshot of an append-only table added.

        Args:
            snapshot_id: the snapshot; the one before it must be kept too.
        """
        snapshot = self.snapshot(snapshot_id)
        rows = self.read(snapshot_id)
        if snapshot is None or snapshot.parent is None:
            return rows
        return rows.exceptAll(self.read(snapshot.parent))


def is_commit_of(snapshot: Snapshot, view: str) -> bool:
    """Return whether a snapshot is a commit of a view.

    Args:
        snapshot: the snapshot.
        view: name of the view.
    """
    marker = snapshot.marker
    return marker is not None and marker.view == view


def overtaken(snapshot: Snapshot, marker: Marker) -> Exception:
    """Return what it means that another commit of the view came first.

    Args:
        snapshot: the other commit.
        marker: the marker of this one.

    Returns:
        :class:`Moved` after the last commit of a writer with an older token: that one is fenced
        now, and this one is the owner. ``LOST_RACE`` otherwise.
    """
    other = snapshot.marker
    return Moved() if other and other.token < marker.token else lost_race(marker)


def lost_race(marker: Marker) -> TerminalError:
    """Return the error of a commit that another process was faster with.

    Args:
        marker: the marker of the commit that lost.
    """
    return TerminalError(
        "LOST_RACE",
        f'another process committed view "{marker.view}" while epoch {marker.epoch} was written',
        hint="only one process may run a view: stop this one",
    )


def described(struct: JavaObject) -> dict[str, str]:
    """Return name and Spark type of every field of a struct, with ``NOT NULL`` where it holds.

    Args:
        struct: Spark's ``StructType`` in the JVM.
    """
    return {
        field.name(): field.dataType().sql() + ("" if field.nullable() else " NOT NULL")
        for field in struct.fields()
    }


def struct_of(spark: SparkSession, ddl: str) -> JavaObject:
    """Return the struct that columns as Spark DDL make.

    Args:
        spark: any session of the JVM.
        ddl: the columns.
    """
    return java_class(spark, "org.apache.spark.sql.types.StructType").fromDDL(ddl)


@contextmanager
def session_settings(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Set settings of a session inside the block, and unset them after it.

    Args:
        session: the session.
        settings: the settings.
    """
    conf = java_session(session).conf()
    try:
        for key, value in settings.items():
            conf.set(key, value)
        yield
    finally:
        for key in settings:
            conf.unset(key)
