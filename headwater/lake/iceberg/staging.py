"""Step 5 of a commit in Iceberg: rows on a staging branch, then a compare-and-swap of ``main``.

In: a table, the snapshot on which everything was decided, what writes the rows. Out: the branch
holds that snapshot and what this attempt wrote, all of it stamped with the marker; then ``main``
is there too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from pyspark.sql import SparkSession

from headwater.errors import TerminalError
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


class BranchedTable(Protocol):
    """What staging needs of a table (:class:`headwater.lake.iceberg.table.LakeTable` has it)."""

    name: str

    def refresh(self) -> None:
        """Read the newest metadata from the catalog."""

    def staging_branch(self, view: str) -> str:
        """Return the name of the branch on which this writer stages commits of a view."""

    def stage(self, view: str, base: int) -> str:
        """Point the branch at a snapshot and return the identifier to write to."""

    def publish(self, branch: str, head: int) -> None:
        """Move ``main`` to the head of the branch, if it has not moved since it was staged."""

    def ref(self, name: str) -> int | None:
        """Return the snapshot of a branch as of the last refresh."""

    def since(self, base: int, head: int | None = None) -> Iterable[Snapshot]:
        """Yield the snapshots after a base, the newest first."""

    def append_nothing(self, branch: str, summary: Mapping[str, str]) -> None:
        """Add a snapshot without files to the branch."""


class BranchStaging:
    """One attempt to commit one epoch to an Iceberg table."""

    def __init__(self, table: BranchedTable, marker: Marker, base: int, attempt: str) -> None:
        self._table = table
        self._marker = marker
        self._base = base
        self._branch = table.staging_branch(marker.view)
        self._head = base
        self._staged = False
        self._summary = {**marker.to_summary(), ATTEMPT: attempt}

    def fill(self, write: Write, session: SparkSession) -> None:
        """Write the rows to the branch, and check that it holds nothing else.

        Args:
            write: writes the rows; gets the identifier of the branch; may write several times or,
                without rows, not at all.

        Raises:
            TerminalError: ``LOST_RACE``, ``MARKER_MISSING``.
            Moved: the branch was made again on a ``main`` that maintenance had moved.
        """
        target = self._table.stage(self._marker.view, self._base)
        self._staged = True
        stamps = {SNAPSHOT_PROPERTY + key: value for key, value in self._summary.items()}
        with session_settings(session, stamps):
            write(target)
        self._table.refresh()
        self._head = self._checked_head()

    def publish(self) -> None:
        """Move ``main`` to the head of the branch, unless it has moved meanwhile."""
        self._table.publish(self._branch, self._head)

    def is_dropped(self) -> bool:
        """Return whether the branch was there and is gone."""
        return self._staged and self._table.ref(self._branch) is None

    def is_intact(self) -> bool:
        """Return whether the branch still ends where this attempt left it."""
        return self._table.ref(self._branch) == self._head

    def _checked_head(self) -> int:
        """Return the head of the branch if it is the base plus what this attempt wrote."""
        table, attempt = self._table, self._summary[ATTEMPT]
        head = table.ref(self._branch)
        if head is None:
            raise lost_race(self._marker)
        staged = list(table.since(self._base, head))
        if any(snapshot.summary.get(ATTEMPT) != attempt for snapshot in staged):
            # a successor may have dropped the branch, and a late write made it again on a newer
            # main
            self._check_main({snapshot.id for snapshot in staged})
        # nothing was written, or last a DELETE of whole files, which Iceberg does not stamp
        if not staged or (ATTEMPT not in staged[0].summary and staged[0].operation == "delete"):
            table.append_nothing(self._branch, self._summary)
            return table.ref(self._branch) or head
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
