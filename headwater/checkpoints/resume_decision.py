"""Where a streaming view can go on: its checkpoint held against the markers of its table.

In: a checkpoint, whose it should be, the markers. Out: a :class:`Resume`: go on, write the
checkpoint anew from the marker, or refuse. The runner acts upon it and ``headwater doctor``
explains it, so the two never differ. Knows no Spark.

The markers are the truth. Each holds the exact input range of its epoch and the watermark that its
rows were decided by. Which files of a SOURCE make up a range, only the log in the checkpoint knows;
the marker proves that log. State is in the checkpoint alone: a query that has some reads a SOURCE,
whose rows cannot be read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from headwater.checkpoints.folder import OWNER_FILE, Batch, Checkpoint, CheckpointOwner
from headwater.checkpoints.offsets import (
    NOTHING,
    OffsetStream,
    cut_of,
    log_end,
    log_offset,
    records_at,
)
from headwater.errors import TerminalError
from headwater.lake.protocol.marker import Marker

_STATE_LOST = "its state cannot be rebuilt from a SOURCE, which is not landed"
CHECKPOINT_REFUSED = ("CHECKPOINT_LOST", "CHECKPOINT_MISMATCH")
"""Conditions of a view that cannot go on from what there is of its checkpoint."""


class ResumeMode(Enum):
    """How a view goes on."""

    GO_ON = "the checkpoint continues where the table ends"
    CUT_BACK = "batches of the checkpoint beyond the newest commit are removed"
    MEND = "the record of the last batch but one, which Spark needs, is written from its marker"
    ANEW = "a new checkpoint is written from the newest marker"
    REFUSE = "only a person can decide"


@dataclass(frozen=True, slots=True)
class Resume:
    """What to do with a checkpoint.

    Attributes:
        way: how the view goes on.
        epoch: the last epoch of the checkpoint that stays; -1 for none.
        damage: what is wrong with it, in plain words.
        condition: with ``REFUSE``, the condition of the error.
        reason: with ``REFUSE``, why nothing else is safe.
    """

    way: ResumeMode
    epoch: int = -1
    damage: tuple[str, ...] = ()
    condition: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ResumeFacts:
    """A checkpoint and what it is held against.

    Attributes:
        checkpoint: the checkpoint.
        owner: whose it must be, with the order of the query's sources.
        stateful: whether the query keeps state in it.
        newest: the newest marker of the view's table, None before the first commit.
        history: returns the markers of the table by epoch, as far as they are kept.
    """

    checkpoint: Checkpoint
    owner: CheckpointOwner
    stateful: bool
    newest: Marker | None
    history: Callable[[], Mapping[int, Marker]]


def decide_resume(held: ResumeFacts) -> Resume:
    """Return how a view can go on.

    Args:
        held: its checkpoint and what that is held against.
    """
    if held.newest is None:
        return _without_commit(held)
    found = held.checkpoint.owner()
    foreign = found is not None and not held.owner.owns(found)
    damage = _damage(held, found if foreign else None)
    if not foreign and _agrees(held, held.newest):
        return _continued(held, held.newest, damage)
    kept_only = all(item.kept or item.name is None for item in held.owner.order)
    if not kept_only and (foreign or not _is_log_proven(held, held.newest)):
        return _refused(held, damage, "the record of the files read from its SOURCE is lost")
    if held.stateful:
        return _refused(held, damage, _STATE_LOST)
    return Resume(ResumeMode.ANEW, held.newest.epoch, damage)


def cut_at(
    checkpoint: Checkpoint, view: str, order: Sequence[OffsetStream], batch: Batch
) -> dict[str, str]:
    """Return the cut at the end of a batch.

    Args:
        checkpoint: the checkpoint with the batch.
        order: the query's sources.

    Returns:
        Per input its position; in topics of Kafka, without their ids.

    Raises:
        TerminalError: ``CUT_SPLIT``, or ``CHECKPOINT_LOST`` if the log of a SOURCE is damaged.
    """
    ends = list(batch.ends)
    for index, item in enumerate(order):
        if not item.name or item.kept:
            continue
        upto = log_offset(ends[index])
        if upto is None:
            ends[index] = records_at(ends[index]) or ends[index]
            continue
        position = checkpoint.file_log(index).position(upto)
        if position is None:
            raise TerminalError(
                "CHECKPOINT_LOST",
                f'the checkpoint of view "{view}" lacks the record of files read of "{item.name}"',
                hint=f"run `headwater doctor {view}`, which shows the safe repairs",
            )
        ends[index] = position
    return cut_of(view, order, ends)


def ends_of(
    cut: Mapping[str, str], order: Sequence[OffsetStream], offset: Callable[[str, str], str]
) -> tuple[str, ...]:
    """Return where the sources of a query are at a cut; heartbeats, where nothing was read.

    Args:
        order: the query's sources.
        offset: returns the offset of an input in the lake, given its name and snapshot id.
    """
    ends = []
    for item in order:
        position = cut.get(item.name or "")
        if item.name is None or position is None:
            ends.append(NOTHING)
        elif item.kept:
            ends.append(offset(item.name, position))
        else:
            number = log_offset(position)
            ends.append(records_at(position) or position if number is None else log_end(number))
    return tuple(ends)


def _without_commit(held: ResumeFacts) -> Resume:
    """Nothing is committed: a checkpoint is of use only for a first batch that was planned."""
    checkpoint, found = held.checkpoint, held.checkpoint.owner()
    own = found is None or held.owner.owns(found)
    if checkpoint.last_planned() is None and checkpoint.last_finished() is None and own:
        return Resume(ResumeMode.GO_ON)
    planned = checkpoint.last_planned() == 0 and checkpoint.last_finished() is None
    if own and planned and _is_readable(held, 0):
        return Resume(ResumeMode.GO_ON)
    return Resume(ResumeMode.ANEW, -1, ("the table of this checkpoint does not exist any more",))


def _continued(held: ResumeFacts, marker: Marker, damage: tuple[str, ...]) -> Resume:
    """The checkpoint ends where the table ends: is what comes after it usable too?"""
    checkpoint, top = held.checkpoint, marker.epoch
    planned = checkpoint.last_planned()
    finished = _finished(checkpoint)
    if held.stateful and finished >= 0 and (lost := checkpoint.lost_state(finished)):
        damage = (*damage, f"state is missing: {_listed(lost)}")
        return _refused(held, damage, _STATE_LOST)
    if planned is not None and planned > top and _is_readable(held, planned):
        return Resume(ResumeMode.GO_ON, top, damage)
    if top > 0 and not _is_readable(held, top - 1):
        if held.stateful and top - 1 not in held.history():
            return _refused(held, damage, f"the marker of epoch {top - 1} has expired")
        return Resume(ResumeMode.MEND, top, damage)
    # nothing of a batch whose record is torn was committed
    return Resume(ResumeMode.GO_ON if planned == top else ResumeMode.CUT_BACK, top, damage)


def _agrees(held: ResumeFacts, marker: Marker) -> bool:
    """Whether Spark finished the marker's batch, or is about to run it again."""
    checkpoint, top = held.checkpoint, marker.epoch
    planned = checkpoint.last_planned()
    finished = _finished(checkpoint)
    if finished not in (top, top - 1) or planned is None or planned > top + 1:
        return False
    if finished >= 0 and not (checkpoint.is_finished(finished) and _is_readable(held, finished)):
        return False
    return _matches(held, marker)


def _matches(held: ResumeFacts, marker: Marker) -> bool:
    """Whether a batch of the checkpoint is the one that a marker tells of."""
    if not _is_readable(held, marker.epoch):
        return False
    batch = held.checkpoint.batch(marker.epoch)
    assert batch is not None
    try:
        cut = cut_at(held.checkpoint, marker.view, held.owner.order, batch)
    except TerminalError:
        return False
    same = cut == {name: records_at(at) or at for name, at in marker.cut_to.items()}
    return same and (not held.stateful or batch.watermark == marker.watermark)


def _is_readable(held: ResumeFacts, number: int) -> bool:
    batch = held.checkpoint.batch(number)
    return batch is not None and len(batch.ends) == len(held.owner.order)


def _is_log_proven(held: ResumeFacts, marker: Marker) -> bool:
    """Whether the logs of the SOURCEs name the very files that the table was made of.

    Offsets of Kafka say themselves which records they were.
    """
    for index, item in enumerate(held.owner.order):
        if not item.name or item.kept:
            continue
        position = marker.cut_to.get(item.name)
        if position and records_at(position):
            continue
        upto = log_offset(position) if position else -1
        log = held.checkpoint.file_log(index)
        if upto is None or (position and log.position(upto) != position):
            return False
    return True


def _refused(held: ResumeFacts, damage: tuple[str, ...], reason: str) -> Resume:
    lost = held.checkpoint.last_planned() is None
    condition = CHECKPOINT_REFUSED[not lost]
    return Resume(ResumeMode.REFUSE, -1, damage, condition, reason)


def _damage(held: ResumeFacts, foreign: CheckpointOwner | None) -> tuple[str, ...]:
    """What is wrong with a checkpoint of a table that holds commits, in plain words."""
    checkpoint, newest = held.checkpoint, held.newest
    assert newest is not None
    if foreign is not None:
        whose = f'view "{foreign.view}" in namespace "{foreign.namespace}"'
        return (f"it is the checkpoint of {whose}, version {foreign.version}",)
    if not checkpoint.folder.exists():
        return (f"the checkpoint is missing, but the table is at epoch {newest.epoch}",)
    damage = [f"{file} cannot be read" for file in checkpoint.damaged()]
    if checkpoint.owner() is None:
        damage.append(f"{OWNER_FILE} is missing or cannot be read (it names the view)")
    damage += [f"{file} is missing" for file in checkpoint.missing()]
    if not (checkpoint.folder / "metadata").exists():
        damage.append("metadata is missing (Spark makes a new one; nothing depends on it)")
    planned, finished = checkpoint.last_planned(), _finished(checkpoint)
    if planned is None:
        damage.append("it holds no batch")
    elif max(planned, finished) < newest.epoch:
        ends = f"it ends with epoch {max(planned, finished)}, but the table with {newest.epoch}"
        damage.append(f"{ends}: its newest batches are lost, or it is an old copy")
    elif finished > newest.epoch:
        damage.append(f"it is ahead: it has epoch {finished}, but the table is at {newest.epoch}")
    elif finished < newest.epoch - 1:
        damage.append(f"it has finished epoch {finished}, but the table is at {newest.epoch}")
    elif _is_readable(held, newest.epoch) and not _matches(held, newest):
        damage.append(f"its input range of epoch {newest.epoch} is not that of the table")
    return tuple(damage)


def _finished(checkpoint: Checkpoint) -> int:
    finished = checkpoint.last_finished()
    return -1 if finished is None else finished


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
