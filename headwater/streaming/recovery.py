"""Where a streaming query goes on: its checkpoint held against the newest marker of its table.

In: checkpoint and table. Out: a checkpoint that continues exactly where the table ends, or an error
that says how to recover. A query never begins anew in front of a table that holds rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater.errors import TerminalError
from headwater.incremental.changes import InputTable
from headwater.lake.iceberg import LakeTable
from headwater.lake.marker import Marker
from headwater.lake.table import Table
from headwater.streaming.checkpoint import NOTHING, Checkpoint, offset_at
from headwater.streaming.streams import Stream, cut_of


def recover(
    checkpoint: Checkpoint,
    target: Table,
    stateful: bool,
    order: Sequence[Stream],
    inputs: Mapping[str, InputTable],
) -> None:
    """Make the checkpoint agree with the table.

    Args:
        checkpoint: the view's checkpoint.
        target: the view's table.
        stateful: whether the query keeps state in its checkpoint.
        order: the query's sources.
        inputs: the view's inputs in the lake.

    Raises:
        TerminalError: ``CHECKPOINT_LOST`` or ``CHECKPOINT_MISMATCH`` if only a rebuild helps;
            ``HISTORY_EXPIRED`` if an input cannot be read from its beginning.
    """
    marker = target.marker()
    for stream in order:
        if stream.kept and stream.name and not (marker and stream.name in marker.cut_to):
            _check_beginning(target.name, inputs[stream.name].table)
    if marker is None:
        if checkpoint.last_planned() is not None and checkpoint.last_finished() is not None:
            checkpoint.discard()  # of a table that was dropped: everything is read again
        return
    if _agrees(checkpoint, marker, order):
        return
    if stateful or any(stream.name and not stream.kept for stream in order):
        raise _refused(checkpoint, marker)
    checkpoint.write(marker.epoch, [_end(stream, marker, inputs) for stream in order])


def _check_beginning(view: str, table: LakeTable) -> None:
    """Refuse to begin at a compaction: Iceberg's streaming source would leave out its rows."""
    if table.begins_compacted():
        raise TerminalError(
            "HISTORY_EXPIRED",
            f'view "{view}" cannot begin to read "{table.name}": the commits before its compaction '
            "were expired by another tool",
            hint="keep the view with WITH (engine = 'incremental'), or land the table anew",
        )


def _agrees(checkpoint: Checkpoint, marker: Marker, order: Sequence[Stream]) -> bool:
    """Whether Spark finished the marker's batch, or is about to replay it."""
    finished = checkpoint.last_finished()
    if (-1 if finished is None else finished) not in (marker.epoch, marker.epoch - 1):
        return False
    batch = checkpoint.batch(marker.epoch)
    return (
        batch is not None
        and len(batch.ends) == len(order)
        and cut_of(marker.view, order, batch.ends) == dict(marker.cut_to)
    )


def _end(stream: Stream, marker: Marker, inputs: Mapping[str, InputTable]) -> str:
    position = marker.cut_to.get(stream.name or "")
    if position is None or stream.name is None:
        return NOTHING
    snapshot = inputs[stream.name].table.snapshot(int(position))
    if snapshot is None:
        raise TerminalError(
            "SNAPSHOT_EXPIRED",
            f'view "{marker.view}" needs snapshot {position} of "{stream.name}", which was expired',
            hint="rebuild the view: drop its table and its state folder, then run again",
        )
    return offset_at(position, int(snapshot.summary.get("added-data-files", 0)))


def _refused(checkpoint: Checkpoint, marker: Marker) -> TerminalError:
    lost = checkpoint.last_planned() is None
    found = "is missing" if lost else f"does not belong to epoch {marker.epoch} of its table"
    return TerminalError(
        "CHECKPOINT_LOST" if lost else "CHECKPOINT_MISMATCH",
        f'the checkpoint of view "{marker.view}" {found}, and the query keeps state in it',
        hint=f'restore "{checkpoint.folder}", or rebuild the view: drop its table and that folder',
    )
