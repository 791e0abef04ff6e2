"""Which snapshots of a table expiry must keep, decided from the table's metadata alone.

In: Iceberg's table metadata, the snapshots that readers need, how long everything is kept.
Out: the ids that may go. What is kept of ``main`` is one unbroken piece that begins at a commit:
walks over the history (markers, changes, bounds) never meet a hole, and a stream that begins at
the oldest snapshot finds rows there, not a compaction, which Iceberg's streaming source skips.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from headwater.config.settings import Maintenance
from headwater.lake.protocol.history import COMPACTION, History, Snapshot
from headwater.lake.protocol.marker import PREFIX

MAINTENANCE = PREFIX + "maintenance"
"""Summary property of the snapshots that maintenance writes: the step's name."""

MAIN = "main"


class SnapshotHistory(History):
    """The snapshots and references of a table.

    Args:
        metadata: Iceberg's table metadata as JSON says it.
    """

    def __init__(self, metadata: Mapping[str, Any], name: str = "") -> None:
        self.name = name
        found = map(Snapshot.from_json, metadata.get("snapshots", ()))
        self.snapshots: Mapping[int, Snapshot] = {entry.id: entry for entry in found}
        self.refs: Mapping[str, int] = {
            name: int(ref["snapshot-id"]) for name, ref in metadata.get("refs", {}).items()
        }

    def without(self, refs: Collection[str]) -> SnapshotHistory:
        """Return the same history with fewer references.

        Args:
            refs: names of the references to leave out.
        """
        other = SnapshotHistory({}, self.name)
        other.snapshots = self.snapshots
        other.refs = {name: head for name, head in self.refs.items() if name not in refs}
        return other

    def snapshot_id(self) -> int | None:
        """Return the head of ``main``, or None if the table has no snapshot yet."""
        return self.refs.get(MAIN)

    def snapshot(self, snapshot_id: int) -> Snapshot | None:
        """Return one snapshot, or None if it is unknown or was expired."""
        return self.snapshots.get(snapshot_id)

    def main(self) -> list[Snapshot]:
        """Return the history of ``main``, newest first."""
        return list(self.ancestors())

    def reachable(self) -> set[int]:
        """Return the snapshots that a branch or tag leads to."""
        return {entry.id for head in self.refs.values() for entry in self.ancestors(head)}

    def newest_markers(self) -> dict[str, int]:
        """Return per view that writes the table the snapshot with its newest marker."""
        newest: dict[str, int] = {}
        for entry in self.main():
            if marker := entry.marker:
                newest.setdefault(marker.view, entry.id)
        return newest

    def added_since(self, step: str, kind: str) -> int:
        """Return how many files ``main`` was given since a step of maintenance, at most.

        Where the step is not in the history any more, all files of the oldest snapshot count: a
        table that seldom gets rows would otherwise never seem to have got enough of them.

        Args:
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

    Kept are: every snapshot younger than ``retain``, up to ``max_snapshots``; the newest
    ``keep_snapshots``; every view's newest marker; what ``needed`` says; on ``main`` everything
    after the oldest of these, and the commit that it belongs to; the head of every branch and tag,
    and what leads from it to ``main``.

    Args:
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
            if number < settings.keep_snapshots
            or (number < settings.max_snapshots and entry.at >= oldest)
            or entry.id in fixed
        ),
        default=-1,
    )
    while last + 1 < len(main) and (
        main[last].marker is None or main[last].operation == COMPACTION
    ):
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
