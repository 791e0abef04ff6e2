"""Step 5 of a commit in Iceberg: rows beside the table, then a compare-and-swap of ``main``.

In: a table, the snapshot on which everything was decided, what writes the rows. Out: ``main`` holds
that snapshot and what this attempt wrote, stamped with the marker.

Rows that are added, or put in the place of all others, become files that no snapshot has; one
commit of metadata takes them in. A statement that changes rows, MERGE or DELETE, commits by itself:
it gets a branch, which ``main`` then follows. What is written after it goes to the branch too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Protocol

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, DataFrameWriterV2, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.errors import TerminalError
from headwater.lake.iceberg.files import update_of, write_files
from headwater.lake.protocol.history import Snapshot
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import (
    ATTEMPT,
    Moved,
    Write,
    lost_race,
    overtaken,
    session_settings,
)

SNAPSHOT_PROPERTY = "spark.sql.iceberg.snapshot-property."
"""Session settings with this prefix go into the summary of every snapshot the session writes."""


class StagedTable(Protocol):
    """What staging needs of a table (:class:`headwater.lake.iceberg.table.LakeTable` has it)."""

    name: str
    spark: SparkSession

    @property
    def java(self) -> JavaObject:
        """Iceberg's own table object."""

    def refresh(self) -> None:
        """Read the newest metadata from the catalog."""

    def staging_branch(self, view: str) -> str:
        """Return the name of the branch on which this writer stages commits of a view."""

    def stage(self, view: str, base: int) -> str:
        """Point the branch at a snapshot and return the identifier to write to."""

    def publish(self, branch: str, head: int) -> None:
        """Move ``main`` to the head of the branch, if it has not moved since it was staged."""

    def publish_files(self, view: str, base: int, update: JavaObject) -> None:
        """Move ``main`` to an update, if it is still at a snapshot."""

    def ref(self, name: str) -> int | None:
        """Return the snapshot of a branch as of the last refresh."""

    def since(self, base: int, head: int | None = None) -> Iterable[Snapshot]:
        """Yield the snapshots after a base, the newest first."""


class IcebergTarget:
    """Where one attempt writes.

    Args:
        summary: what each snapshot says.
        opened: ends when everything is written.

    Attributes:
        branch: the name of its branch, if it has one; otherwise there are files.
        files: what was written and is in no snapshot.
        replaces: whether all rows of the table go.
    """

    def __init__(
        self,
        table: StagedTable,
        view: str,
        base: int,
        summary: Mapping[str, str],
        session: SparkSession,
        opened: ExitStack,
    ) -> None:
        self._table, self._view, self._base = table, view, base
        self._summary, self._session, self._opened = summary, session, opened
        self._identifier = ""
        self.branch: str | None = None
        self.files: list[JavaObject] = []
        self.replaces = False

    @property
    def identifier(self) -> str:
        """The name of the branch, which is made when it is first asked for."""
        if self.branch is None:
            self._identifier = self._table.stage(self._view, self._base)
            self.branch = self._table.staging_branch(self._view)
            if self.files or self.replaces:
                self.update().toBranch(self.branch).commit()
            stamps = {SNAPSHOT_PROPERTY + key: value for key, value in self._summary.items()}
            self._opened.enter_context(session_settings(self._session, stamps))
        return self._identifier

    def append(self, rows: DataFrame) -> None:
        """Add rows."""
        if self.branch is None:
            self.files += write_files(self._table, rows)
        else:
            _to(self._identifier, rows).append()

    def replace(self, rows: DataFrame) -> None:
        """Put rows in the place of all that there are."""
        if self.branch is None:
            self.files, self.replaces = write_files(self._table, rows), True
        else:
            _to(self._identifier, rows).overwrite(F.expr("true"))

    def update(self) -> JavaObject:
        """Return what takes the files into the table."""
        return update_of(self._table, self.files, self._summary, replace=self.replaces)


def _to(identifier: str, rows: DataFrame) -> DataFrameWriterV2:
    return rows.writeTo(identifier).option("check-nullability", "false")


class IcebergStaging:
    """One attempt to commit one epoch to an Iceberg table."""

    def __init__(self, table: StagedTable, marker: Marker, base: int, attempt: str) -> None:
        self._table = table
        self._marker = marker
        self._base = base
        self._head = base
        self._summary = {**marker.to_summary(), ATTEMPT: attempt}
        self._target: IcebergTarget | None = None

    def fill(self, write: Write, session: SparkSession) -> None:
        """Write the rows; if there is a branch, check that it holds nothing else.

        Args:
            write: writes the rows.

        Raises:
            TerminalError: ``LOST_RACE``, ``MARKER_MISSING``.
            Moved: the branch was made again on a ``main`` that maintenance had moved.
        """
        table, view = self._table, self._marker.view
        with ExitStack() as opened:
            self._target = IcebergTarget(table, view, self._base, self._summary, session, opened)
            write(self._target)
        if self._target.branch:
            table.refresh()
            self._head = self._checked_head(self._target.branch)

    def publish(self) -> None:
        """Move ``main`` to what was written, unless it has moved meanwhile."""
        assert self._target is not None
        if self._target.branch:
            self._table.publish(self._target.branch, self._head)
        else:
            self._table.publish_files(self._marker.view, self._base, self._target.update())

    def is_dropped(self) -> bool:
        """Return whether the branch was there and is gone."""
        branch = self._target.branch if self._target else None
        return branch is not None and self._table.ref(branch) is None

    def is_intact(self) -> bool:
        """Return whether the branch, if there is one, still ends where this attempt left it."""
        branch = self._target.branch if self._target else None
        return branch is None or self._table.ref(branch) == self._head

    def _checked_head(self, branch: str) -> int:
        """Return the head of the branch if it is the base plus what this attempt wrote."""
        table, attempt = self._table, self._summary[ATTEMPT]
        head = table.ref(branch)
        if head is None:
            raise lost_race(self._marker)
        staged = list(table.since(self._base, head))
        if any(snapshot.summary.get(ATTEMPT) != attempt for snapshot in staged):
            # a successor may have dropped the branch, and a late write made it again on a newer
            # main
            self._check_main({snapshot.id for snapshot in staged})
        # nothing was written, or last a DELETE of whole files, which Iceberg does not stamp
        if not staged or (ATTEMPT not in staged[0].summary and staged[0].operation == "delete"):
            update_of(table, (), self._summary).toBranch(branch).commit()
            return table.ref(branch) or head
        if staged[0].summary.get(ATTEMPT) != attempt:
            raise TerminalError(
                "MARKER_MISSING",
                f'a write to table "{table.name}" does not carry the commit marker',
                hint="write with DataFrames of the session that was given to commit()",
            )
        return head

    def _check_main(self, staged: set[int]) -> None:
        moved = list(self._table.since(self._base))
        for snapshot in moved:
            if snapshot.is_commit_of(self._marker.view):
                raise overtaken(snapshot, self._marker)
        if any(snapshot.id in staged for snapshot in moved):
            raise Moved
