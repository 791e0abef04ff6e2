"""The history of a table: its snapshots, the commits among them, and every walk over them.

A :class:`History` knows two things of its own: the current snapshot and one snapshot by its id.
Everything else follows from these. The adapters are ``lake.iceberg.table`` (Iceberg in the JVM),
``lake.iceberg.retention`` (Iceberg's metadata as JSON), ``serve.iceberg`` (PyIceberg), and for the
log of a Delta table, where a snapshot is a version, ``lake.delta.table`` and ``serve.delta``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import takewhile
from typing import Any

from headwater.errors import TerminalError
from headwater.lake.protocol.marker import Marker

COMPACTION = "replace"
"""Operation of a snapshot that holds the rows of the one before it in other files."""


@dataclass(frozen=True)
class Snapshot:
    """One snapshot of a table (Delta: one version).

    Attributes:
        id: snapshot id.
        parent: id of the snapshot before it, or None for the first.
        operation: ``append``, ``overwrite``, ``delete`` or ``replace`` (compaction).
        summary: the properties of its summary, without the operation.
        at: when it was committed, milliseconds since 1970 UTC.
        sequence: Iceberg's sequence number, or the version.
    """

    id: int
    parent: int | None
    operation: str
    summary: Mapping[str, str]
    at: int
    sequence: int = 0

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Snapshot:
        """Return a snapshot as Iceberg's table metadata describes it.

        Args:
            fields: one element of the metadata's ``snapshots``.
        """
        summary = dict(fields.get("summary", {}))
        return cls(
            int(fields["snapshot-id"]),
            fields.get("parent-snapshot-id"),
            summary.pop("operation", ""),
            summary,
            int(fields["timestamp-ms"]),
            fields.get("sequence-number", 0),
        )

    @cached_property
    def marker(self) -> Marker | None:
        """The commit marker, or None for a snapshot that no view wrote."""
        return Marker.from_summary(self.summary)

    @property
    def added(self) -> int:
        """Rows that it added."""
        return self.count("added-records")

    @property
    def removed(self) -> int:
        """Rows that it deleted or replaced."""
        return self.count("deleted-records") + self.count("added-position-deletes")

    @property
    def total(self) -> int:
        """Rows of the table after it."""
        return self.count("total-records") - self.count("total-position-deletes")

    def count(self, name: str) -> int:
        """Return a number of the summary, 0 if it is missing.

        Args:
            name: the property, for example ``added-data-files``.
        """
        return int(self.summary.get(name, 0))

    def is_commit_of(self, view: str) -> bool:
        """Return whether this is a commit of a view.

        Args:
            view: name of the view.
        """
        marker = self.marker
        return marker is not None and marker.view == view


@dataclass(frozen=True, slots=True)
class Commit:
    """A published commit of a view or landed table.

    Attributes:
        snapshot_id: the snapshot that it made.
        marker: what it says about itself.
        at: when it was committed, milliseconds since 1970 UTC.
        added: rows that it added.
        removed: rows that it deleted or replaced.
        total: rows of the table after it.
    """

    snapshot_id: int
    marker: Marker
    at: int
    added: int = 0
    removed: int = 0
    total: int = 0

    @classmethod
    def of(cls, snapshot: Snapshot, marker: Marker) -> Commit:
        """Return the commit that made a snapshot.

        Args:
            snapshot: the snapshot.
            marker: the marker in it.
        """
        rows = snapshot.added, snapshot.removed, snapshot.total
        return cls(snapshot.id, marker, snapshot.at, *rows)

    @property
    def seconds(self) -> float | None:
        """How long the work on it took; None if its marker does not say when it began."""
        began = self.marker.began
        return None if began is None else max(self.at - began, 0) / 1000

    @property
    def committed_at(self) -> datetime:
        """When it was committed."""
        return datetime.fromtimestamp(self.at / 1000, UTC)


class History(ABC):
    """The snapshots of one table, as of the last refresh.

    Attributes:
        name: table name, without catalog and namespace.
    """

    name: str

    @abstractmethod
    def snapshot_id(self) -> int | None:
        """Return the id of the current snapshot, or None if the table has none yet."""

    @abstractmethod
    def snapshot(self, snapshot_id: int) -> Snapshot | None:
        """Return one snapshot, or None if it is unknown or was expired.

        Args:
            snapshot_id: id of the snapshot.
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

    def current(self) -> Snapshot | None:
        """Return the current snapshot, or None if the table has none yet."""
        current = self.snapshot_id()
        return None if current is None else self.snapshot(current)

    def ancestors(self, start: int | None = None) -> Iterator[Snapshot]:
        """Yield a snapshot and those before it, newest first, as far as they are kept.

        Args:
            start: the newest of them; the current snapshot by default.
        """
        next_id = self.snapshot_id() if start is None else start
        while next_id is not None and (snapshot := self.snapshot(next_id)) is not None:
            yield snapshot
            next_id = snapshot.parent

    def since(self, base: int, head: int | None = None) -> Iterator[Snapshot]:
        """Yield the snapshots after one, newest first.

        Args:
            base: the snapshot that is not among them.
            head: the newest of them; the current snapshot by default.
        """
        return takewhile(lambda snapshot: snapshot.id != base, self.ancestors(head))

    def reaches(self, after: int | None, upto: int) -> bool:
        """Return whether every snapshot after one, up to a later one, is kept.

        Args:
            after: the earlier snapshot; None for the beginning of the table.
            upto: the later one.
        """
        oldest: Snapshot | None = None
        for oldest in self.ancestors(upto):
            if oldest.id == after:
                return True
        return after is None and oldest is not None and oldest.parent is None

    def commits(self, view: str | None = None, start: int | None = None) -> Iterator[Commit]:
        """Yield the commits of one view, newest first; maintenance between them is skipped.

        A commit can be several snapshots, published together: only the last of them is yielded,
        since only there the law holds.

        Args:
            view: the view, for side tables; the one of the table's own name by default.
            start: the snapshot to start from; the current snapshot by default.
        """
        commit: Commit | None = None
        for snapshot in self.ancestors(start):
            marker = snapshot.marker
            if marker is None or marker.view != (view or self.name):
                continue
            if commit is not None and marker.epoch == commit.marker.epoch:
                added, removed = commit.added + snapshot.added, commit.removed + snapshot.removed
                commit = replace(commit, added=added, removed=removed)
                continue
            if commit is not None:
                yield commit
            commit = Commit.of(snapshot, marker)
        if commit is not None:
            yield commit

    def commits_of_others(self, name: str) -> Iterator[Commit]:
        """Yield the changes of a table that somebody else writes, newest first.

        They have no marker: their epoch is Iceberg's sequence number.

        Args:
            name: the table's name in the project.
        """
        for snapshot in self.ancestors():
            if snapshot.operation != COMPACTION:
                yield Commit.of(snapshot, Marker(name, 0, snapshot.sequence, {}, {}))

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
        for last in self.ancestors(before):
            marker = last.marker
            if marker and view in (None, marker.view):
                return Commit.of(last, marker)
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
            hint="run `headwater doctor`: another tool expired snapshots",
        )

    def marker(self) -> Marker | None:
        """Return the newest marker, or None if nothing was committed yet."""
        commit = self.newest()
        return commit.marker if commit else None

    def committed_at(self) -> int:
        """Return when the newest commit was made, in milliseconds since 1970 UTC; 0 without one."""
        commit = self.newest()
        return commit.at if commit else 0
