"""Events of commits, made of what lake and engines say of them.

In: commits and tables. Out: events for the board.
"""

from __future__ import annotations

from headwater.engine.target import Committed
from headwater.lake.protocol.table import Table
from headwater.runtime.events import Resumed, ViewCommitted


def told(committed: Committed) -> ViewCommitted:
    """Return the event of a commit."""
    marker = committed.marker
    return ViewCommitted(
        committed.view,
        marker.epoch,
        committed.rows,
        marker.counts,
        marker.watermark,
        marker.cut_to,
        committed.snapshot_id,
        committed.seconds,
        committed.read,
    )


def resumed(name: str, table: Table) -> Resumed | None:
    """Return the event of going on from a table's newest commit; None if there is none yet.

    Args:
        name: the table, view or sink.
        table: where its commits are.
    """
    commit = table.newest()
    snapshot = table.snapshot(commit.snapshot_id) if commit else None
    if commit is None or snapshot is None:
        return None
    marker = commit.marker
    return Resumed(
        name, marker.epoch, marker.watermark, marker.cut_to, commit.snapshot_id, snapshot.at
    )
