"""What the commit protocol needs of a table, whatever its format.

A :class:`Table` is a history of snapshots that can be read and written; its :class:`Staging` makes
one epoch visible. ``headwater.lake.iceberg.table`` and ``headwater.lake.delta.table`` implement
both; nothing else knows how either format commits.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar, Protocol

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession

from headwater.errors import TerminalError
from headwater.lake.java import java_class, java_session
from headwater.lake.protocol.history import History, Snapshot
from headwater.lake.protocol.marker import PREFIX, Marker

ATTEMPT = PREFIX + "attempt"
"""Summary property with the identity of the attempt that wrote a snapshot."""


class Target(Protocol):
    """Where the rows of one epoch are written; nobody sees them before they are published."""

    @property
    def identifier(self) -> str:
        """The name by which a statement writes, as MERGE and DELETE do."""

    def append(self, rows: DataFrame) -> None:
        """Add rows."""

    def replace(self, rows: DataFrame) -> None:
        """Put rows in the place of all that there are."""


Write = Callable[[Target], None]
"""Writes the rows of an epoch: nothing, or by one call or several."""


class Moved(Exception):
    """The table moved on without a commit of this view: the protocol starts again at step 1."""


class Conflict(Exception):
    """What was staged cannot be published: the table is not where it was when it was staged."""


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
            Conflict: the table has moved since.
            py4j.protocol.Py4JError: it failed; whether it became visible is unknown.
            pyspark.errors.PySparkException: the same.
        """

    def is_dropped(self) -> bool:
        """Return whether another writer has removed what was staged, as of the last refresh."""

    def is_intact(self) -> bool:
        """Return whether what was filled can be published once more, as of the last refresh."""


class Table(History):
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

    def check_place(self) -> None:  # noqa: B027
        """Refuse to write a table of the lake that does not lie in the lake's warehouse.

        Raises:
            TerminalError: ``OUTSIDE_WAREHOUSE``.
        """

    @abstractmethod
    def snapshot_id(self) -> int:
        """Return the id of the current snapshot as of the last refresh."""

    @abstractmethod
    def properties(self) -> Mapping[str, str]:
        """Return its properties."""

    def last_change(self) -> int:
        """Return the newest snapshot that changed rows, as of the last refresh: what a cut names.

        Compactions after it hold the same rows in other files.
        """
        return self.snapshot_id()

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

    # -- what follows

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
