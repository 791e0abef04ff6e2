"""Which snapshots of a table expiry must keep, decided from the table's metadata alone.

In: Iceberg's table metadata, the snapshots that readers need, how long everything is kept.
Out: the ids that may go. What is kept of ``main`` is one unbroken piece that begins at a commit:
walks over the history (markers, changes, bounds) never meet a hole, and a stream that begins at
the oldest snapshot finds rows there, not a compaction, which Iceberg's streaming source skips.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headwater.config.settings import Maintenance
from headwater.lake.protocol.marker import PREFIX, Marker

MAINTENANCE = PREFIX + "maintenance"
"""Summary property of the snapshots that maintenance writes: the step's name."""

COMPACTION = "replace"
"""Iceberg's operation of a snapshot that holds the rows of the one before it in other files."""

MAIN = "main"


@dataclass(frozen=True, slots=True)
class SnapshotEntry:
    """One snapshot in the metadata.

    Attributes:
        id: its id.
        parent: id of the one before it, None for the first.
        at: when it was made, milliseconds since 1970 UTC.
        operation: Iceberg's operation.
        summary: its summary.
    """

    id: int
    parent: int | None
    at: int
    operation: str
    summary: Mapping[str, str]

    @property
    def view(self) -> str | None:
        """Whose commit it is, None if no view's."""
        marker = Marker.from_summary(self.summary)
        return marker.view if marker else None

    def count(self, name: str) -> int:
        """Return a number of the summary, 0 if it is not there.

        Args:
            name: the property, for example ``added-data-files``.
        """
        return int(self.summary.get(name, 0))


class SnapshotHistory:
    """The snapshots and references of a table.

    Args:
        metadata: Iceberg's table metadata as JSON says it.
    """

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        found = (_entry(fields) for fields in metadata.get("snapshots", ()))
        self.snapshots: Mapping[int, SnapshotEntry] = {entry.id: entry for entry in found}
        self.refs: Mapping[str, int] = {
            name: int(ref["snapshot-id"]) for name, ref in metadata.get("refs", {}).items()
        }

    def without(self, refs: Collection[str]) -> SnapshotHistory:
        """Return the same history with fewer references.

        Args:
            refs: names of the references to leave out.
        """
        other = SnapshotHistory({})
        other.snapshots = self.snapshots
        other.refs = {name: head for name, head in self.refs.items() if name not in refs}
        return other

    def ancestors(self, snapshot_id: int | None) -> Iterator[SnapshotEntry]:
        """Yield a snapshot and those before it, newest first, as far as they are kept.

        Args:
            snapshot_id: where to start.
        """
        while snapshot_id is not None and (entry := self.snapshots.get(snapshot_id)):
            yield entry
            snapshot_id = entry.parent

    def main(self) -> list[SnapshotEntry]:
        """Return the history of ``main``, newest first."""
        return list(self.ancestors(self.refs.get(MAIN)))

    def reachable(self) -> set[int]:
        """Return the snapshots that a branch or tag leads to."""
        return {entry.id for head in self.refs.values() for entry in self.ancestors(head)}

    def newest_markers(self) -> dict[str, int]:
        """Return per view that writes the table the snapshot with its newest marker."""
        newest: dict[str, int] = {}
        for entry in self.main():
            if entry.view is not None:
                newest.setdefault(entry.view, entry.id)
        return newest

    def added_since(self, step: str, kind: str) -> int:
        """Return how many files ``main`` was given since a step of maintenance, at most.

        Where the step is not in the history any more, all files of the oldest snapshot count: a
        table that seldom gets rows would otherwise never seem to have got enough of them.

        Args:
            step: the step.
            kind: which files: ``data-files`` or ``delete-files``.
        """
        added = 0
        for entry in self.main():
            if entry.summary.get(MAINTENANCE) == step:
                return added
            if entry.parent is not None and entry.parent not in self.snapshots:
                return added + entry.count(f"total-{kind}")
            if entry.operation != COMPACTION:
                added += entry.count(f"added-{kind}")
        return added


def expirable(
    history: SnapshotHistory, needed: Collection[int], settings: Maintenance, now: datetime
) -> list[int]:
    """Return the snapshots that nobody needs any more.

    Kept are: every snapshot younger than ``retain``; the newest ``keep_snapshots``; every view's
    newest marker; what ``needed`` says; on ``main`` everything after the oldest of these, and the
    commit that it belongs to; the head of every branch and tag, and what leads from it to ``main``.

    Args:
        history: the table's history.
        needed: snapshots that readers go on from.
        settings: how long and how many.
        now: the time that ages are measured against.
    """
    main = history.main()
    fixed = {*needed, *history.newest_markers().values()}
    oldest = int(now.timestamp() * 1000) - settings.retain // timedelta(milliseconds=1)
    last = max(
        (
            number
            for number, entry in enumerate(main)
            if number < settings.keep_snapshots or entry.at >= oldest or entry.id in fixed
        ),
        default=-1,
    )
    while last + 1 < len(main) and (main[last].view is None or main[last].operation == COMPACTION):
        last += 1
    kept = {*fixed, *(entry.id for entry in main[: last + 1])}
    on_main = {entry.id for entry in main}
    for head in history.refs.values():
        kept.add(head)
        for entry in history.ancestors(head):
            if entry.id in on_main:
                break
            kept.add(entry.id)
    # what no branch leads to was staged and given up, whatever its age: nobody can read it
    return [snapshot_id for snapshot_id in history.snapshots if snapshot_id not in kept]


def _entry(fields: Mapping[str, Any]) -> SnapshotEntry:
    summary = dict(fields.get("summary", {}))
    return SnapshotEntry(
        int(fields["snapshot-id"]),
        fields.get("parent-snapshot-id"),
        int(fields["timestamp-ms"]),
        summary.pop("operation", ""),
        summary,
    )
