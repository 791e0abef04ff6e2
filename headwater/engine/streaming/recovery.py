"""Where a streaming query goes on: its checkpoint made to agree with the markers of its table.

In: a query, its checkpoint and its table. Out: a checkpoint that continues exactly where the table
ends, or an error that says how to recover. A query never begins anew in front of a table that holds
rows. What is to be done, ``headwater.checkpoints.resume_decision`` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from headwater.checkpoints.folder import Checkpoint, CheckpointOwner
from headwater.checkpoints.offsets import NOTHING, log_offset, offset_at
from headwater.checkpoints.replicas import CheckpointReplicas
from headwater.checkpoints.resume_decision import (
    Resume,
    ResumeFacts,
    ResumeMode,
    decide_resume,
    ends_of,
)
from headwater.engine.inputs import InputTable
from headwater.errors import TerminalError
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.history import Commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Table


@dataclass
class Recovery:
    """One view's way back to its newest commit.

    Attributes:
        checkpoint: the view's checkpoint.
        owner: whose it must be.
        target: the view's table.
        stateful: whether the query keeps state in its checkpoint.
        inputs: the view's inputs in the lake.
        copies: the copies of the checkpoint, if there are any.
    """

    checkpoint: Checkpoint
    owner: CheckpointOwner
    target: Table
    stateful: bool
    inputs: Mapping[str, InputTable]
    copies: CheckpointReplicas | None = None
    _history: dict[int, Commit] = field(default_factory=dict)

    def run(self) -> Resume:
        """Make the checkpoint agree with the table.

        Returns:
            What was done.

        Raises:
            TerminalError: ``CHECKPOINT_LOST`` or ``CHECKPOINT_MISMATCH`` if only a rebuild helps,
                ``SNAPSHOT_EXPIRED``; ``HISTORY_EXPIRED`` if an input cannot be read from its
                beginning.
            ServiceError: the store of the copies cannot be reached, and one is needed.
        """
        self.checkpoint.sweep()
        newest = self.target.marker()
        for item in self.owner.order:
            if item.kept and item.name and not (newest and item.name in newest.cut_to):
                _check_beginning(self.owner.view, self.inputs[item.name].iceberg)
        held = ResumeFacts(self.checkpoint, self.owner, self.stateful, newest, self._markers)
        verdict = decide_resume(held)
        lost = verdict.way is ResumeMode.REFUSE
        if self.copies and lost and self.copies.restore(self.checkpoint):
            again = decide_resume(held)
            if again.way is ResumeMode.REFUSE:  # what was there is worth no less than the copy
                self.checkpoint.take_back()
            else:
                verdict = again
        self._act(verdict, newest)
        self._mend_heartbeats()
        self.checkpoint.sign(self.owner)
        return verdict

    def _act(self, verdict: Resume, newest: Marker | None) -> None:
        match verdict.way:
            case ResumeMode.CUT_BACK:
                self.checkpoint.cut_back(verdict.epoch)
            case ResumeMode.MEND:
                self.checkpoint.cut_back(verdict.epoch)
                self._mend(verdict.epoch)
            case ResumeMode.ANEW:
                if all(item.kept or item.name is None for item in self.owner.order) or not newest:
                    self.checkpoint.discard()
                if newest:
                    cuts = (newest.cut_to, newest.cut_from)
                    self.checkpoint.restart(newest.epoch, *map(self._ends, cuts))
            case ResumeMode.REFUSE:
                raise self._refused(verdict)

    def _mend(self, top: int) -> None:
        """Write the record of the last batch but one again."""
        newest, last = self.target.marker(), self.checkpoint.batch(top)
        assert newest is not None
        assert last is not None
        before = self._markers().get(top - 1)
        watermark = before.watermark if before and self.stateful else None
        ends = self._ends(newest.cut_from, last.ends)
        self.checkpoint.plan(top - 1, replace(last, watermark=watermark, ends=ends))

    def _ends(self, cut: Mapping[str, str], before: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The offsets at a cut; heartbeats stay where they were: their rows never count."""
        ends = ends_of(cut, self.owner.order, self._offset)
        return tuple(
            before[index] if before and item.name is None else end
            for index, (item, end) in enumerate(zip(self.owner.order, ends, strict=True))
        )

    def _offset(self, name: str, position: str) -> str:
        self.inputs[name].know(int(position))
        snapshot = self.inputs[name].table.snapshot(int(position))
        view = self.owner.view
        if snapshot is None:
            raise TerminalError(
                "SNAPSHOT_EXPIRED",
                f'view "{view}" needs snapshot {position} of "{name}", which was expired',
                hint=f"run `headwater doctor {view}`, which can rebuild the view",
            )
        return offset_at(position, int(snapshot.summary.get("added-data-files", 0)))

    def _mend_heartbeats(self) -> None:
        """Restart the heartbeats if the log of those read is lost: new ones would be missed."""
        # A file gets the next number of the log; one that is not above the offset counts as read.
        newest = self.checkpoint.last_planned()
        planned = [] if newest is None else [newest, newest - 1]
        for index in (n for n, item in enumerate(self.owner.order) if item.name is None):
            read = self.checkpoint.file_log(index).last()
            for number in planned:
                batch = self.checkpoint.batch(number)
                if batch and _log_end(batch.ends[index]) > read:
                    ends = (*batch.ends[:index], NOTHING, *batch.ends[index + 1 :])
                    self.checkpoint.plan(number, replace(batch, ends=ends))

    def _markers(self) -> Mapping[int, Marker]:
        """The markers of the table by epoch."""
        if not self._history:
            for commit in self.target.commits(self.owner.view):
                self._history.setdefault(commit.marker.epoch, commit)
        return {epoch: commit.marker for epoch, commit in self._history.items()}

    def _refused(self, verdict: Resume) -> TerminalError:
        view = self.owner.view
        found = "; ".join(verdict.damage) or "it does not belong to its table"
        return TerminalError(
            verdict.condition,
            f'view "{view}" cannot continue from its checkpoint: {found}; {verdict.reason}',
            hint=f"run `headwater doctor {view}`, or restore the folder "
            f'"{self.checkpoint.folder}" as it was when the view stopped',
        )


def _check_beginning(view: str, table: LakeTable) -> None:
    """Refuse to begin at a compaction: Iceberg's streaming source would leave out its rows."""
    if table.begins_compacted():
        raise TerminalError(
            "HISTORY_EXPIRED",
            f'view "{view}" cannot begin to read "{table.name}": another tool expired the commits '
            "before its first compaction",
            hint="write WITH (engine = 'incremental') in the view, or land the table under a new "
            "name",
        )


def _log_end(end: str) -> int:
    found = log_offset(end)
    return -1 if found is None else found
