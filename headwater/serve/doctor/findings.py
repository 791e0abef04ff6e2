"""What ``doctor`` looks at, what it finds, and what it offers to do."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.analyze.connectors.registry import CONNECTORS
from headwater.checkpoints.folder import Checkpoint, CheckpointOwner
from headwater.checkpoints.offsets import (
    HEARTBEAT,
    OffsetStream,
    log_offset,
    records_at,
    snapshot_of,
)
from headwater.checkpoints.replicas import copies_of
from headwater.checkpoints.resume_decision import (
    CHECKPOINT_REFUSED,
    Resume,
    ResumeFacts,
    decide_resume,
)
from headwater.errors.plain import plain
from headwater.lake.failures import OUT_OF_REACH, explain_failure
from headwater.lake.reserved_names import MARKER_TAG, VERSION, quarantine_of, state_folder
from headwater.plan.program import StreamingProgram
from headwater.serve.lake_reader import LakeReader

if TYPE_CHECKING:
    from headwater.lake.protocol.history import Commit
    from headwater.lake.protocol.marker import Marker
    from headwater.plan.view_plan import ViewPlan
    from headwater.project import Project
    from headwater.serve.stored_table import StoredTable


class Repair(Enum):
    """What can be done, each proved safe by the markers."""

    CUT_BACK = "remove the batches of the checkpoint beyond the newest commit; none is visible"
    RESUME = "write a new checkpoint from the newest marker; the view has no state in it"
    REBUILD = "drop the view's table and its state; the next run computes it from its inputs"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found.

    Attributes:
        name: the table or view.
        check: name of the check.
        problem: what is wrong, in plain words.
        safe: what that means, and what is safe to do.
        repair: what ``--repair`` would do, None if nothing or nothing safe.
        serious: False for what does no harm; it does not change the exit code.
        mends: whether the next run mends it by itself; after a repair of the view it is no problem.
    """

    name: str
    check: str
    problem: str
    safe: str
    repair: Repair | None = None
    serious: bool = True
    mends: bool = False


@dataclass(frozen=True)
class Subject:
    """One landed table, SOURCE or view, with what is known of it.

    Attributes:
        name: its name.
        kind: ``table``, ``source`` or ``view``.
        project: the project.
        lake: its tables.
        said: what the supervisor last wrote about it; empty if nothing.
        running: whether the project runs now.
        plan: the plan of a view.
    """

    name: str
    kind: str
    project: Project
    lake: LakeReader
    said: Mapping[str, Any] = field(default_factory=dict)
    running: bool = False
    plan: ViewPlan | None = None

    @cached_property
    def table(self) -> StoredTable | None:
        """Its table, None before the first run or if it has none."""
        return None if self.kind == "source" else self.lake.table(self.name)

    @cached_property
    def history(self) -> tuple[Commit, ...]:
        """Its commits as far as they are kept, newest first."""
        return () if self.table is None else tuple(self.table.commits())

    @cached_property
    def newest(self) -> Marker | None:
        """Its newest marker: of its history, else the one kept on the tag."""
        if self.history:
            return self.history[0].marker
        table = self.table
        tag = table.refs.get(MARKER_TAG) if table else None
        kept = table.snapshot(tag) if table and tag is not None else None
        return kept.marker if kept else None

    @cached_property
    def marker_lost(self) -> bool:
        """Whether it held commits, but what is kept of its history does not reach back to one."""
        if self.table is None or self.newest is not None:
            return False
        current = self.table.snapshot_id()
        return current is not None and not self.table.reaches(None, current)

    @property
    def state(self) -> Path:
        """The state folder of a view; for a SOURCE, that of its quarantine."""
        keeper = quarantine_of(self.name) if self.kind == "source" else self.name
        return state_folder(self.project.config.state, keeper)

    @cached_property
    def held(self) -> ResumeFacts | None:
        """The checkpoint of a streaming view and what it is held against."""
        plan = self.plan
        if plan is None or not isinstance(plan.program, StreamingProgram) or self.marker_lost:
            return None
        checkpoint = Checkpoint(self.state / "checkpoint")
        found = checkpoint.owner()
        inputs = tuple(OffsetStream(item.name, item.kind != "source") for item in plan.inputs)
        order = found.order if found else _order(checkpoint, inputs, self.newest)
        namespace = self.project.config.namespace
        earlier = (plan.printed, plan.former)
        owner = CheckpointOwner(self.name, namespace, VERSION, plan.fingerprint, order, earlier)
        return ResumeFacts(
            checkpoint,
            owner,
            plan.program.stateful,
            self.newest,
            lambda: {commit.marker.epoch: commit.marker for commit in self.history},
        )

    @cached_property
    def copied(self) -> int | None:
        """The epoch of the copy of its checkpoint that the next run begins with, None without one.

        None too if a run has refused it, or will: a SOURCE cannot be read again from an older one.
        """
        copies = copies_of(self.project.config, self.name)
        error = self.said.get("error") or {}
        if copies is None or error.get("condition") in CHECKPOINT_REFUSED or not self.newest:
            return None
        epoch = copies.newest()
        return epoch if epoch is not None and epoch >= self.newest.epoch else None

    @cached_property
    def verdict(self) -> Resume | None:
        """How a streaming view would go on if it were started now."""
        return decide_resume(self.held) if self.held else None


def _order(
    checkpoint: Checkpoint, inputs: tuple[OffsetStream, ...], newest: Marker | None
) -> tuple[OffsetStream, ...]:
    """The sources of a query whose checkpoint does not name them: by where the marker has them."""
    batch = checkpoint.batch(newest.epoch) if newest else None
    if newest is None or batch is None:
        return inputs
    found = []
    for index, end in enumerate(batch.ends):
        upto, records = log_offset(end), records_at(end)
        kept = upto is None and records is None
        if upto is not None:
            at = checkpoint.file_log(index).position(upto)
        else:
            at = records or snapshot_of(end)
        same = [
            item
            for item in inputs
            if item.kept is kept and at == _offset(newest.cut_to.get(item.name or ""))
        ]
        found.append(same[0] if same and at is not None else HEARTBEAT)
    return tuple(found)


def _offset(position: str | None) -> str | None:
    return position and (records_at(position) or position)


def rebuild_if_kept(subject: Subject) -> tuple[Repair | None, str]:
    """Return whether a view can be computed again, and in words what that means."""
    gone = lost_input(subject)
    if gone:
        return None, f"it cannot be rebuilt: {gone}"
    return Repair.REBUILD, "all its inputs still exist, so it can be rebuilt from them"


def lost_input(subject: Subject, rebuilt: Collection[str] = ()) -> str:
    """Return why the input of a view is not all there any more, an empty string if it is.

    Args:
        rebuilt: views that are computed again before it.
    """
    plan = subject.plan
    for item in plan.inputs if plan else ():
        if item.kind != "source":
            if item.name not in rebuilt and (reason := _lost_table(subject, item.name)):
                return reason
            continue
        connector = subject.project.catalog.sources[item.name].connector
        kept = CONNECTORS[connector].input_kept
        if kept == "always":
            continue
        if kept == "unknown":
            server = connector.capitalize()
            return f'doctor cannot tell whether {server} still has every record of "{item.name}"'
        if reason := _lost_files(subject, item.name):
            return reason
    return ""


def _lost_table(subject: Subject, name: str) -> str:
    """Whether all rows of an input are there: then a view is not the only copy of some."""
    try:
        table = subject.lake.table(name)
        lost = table.lost_files() if table is not None else []
    except Exception as error:  # PyIceberg raises what its storage raises
        known = explain_failure(error)
        if known is not None and known.condition in OUT_OF_REACH:
            raise known from error
        return f'table "{name}" cannot be read: {plain(error)}'
    if table is None:
        return f'table "{name}" is missing'
    return f'{len(lost)} files of table "{name}" are missing or damaged' if lost else ""


def _lost_files(subject: Subject, source: str) -> str:
    """Whether every file that a view has read of a SOURCE is still there."""
    held = subject.held
    if held is None or held.newest is None or source not in held.newest.cut_to:
        return ""
    unknown = f'the record of the files read from SOURCE "{source}" is lost'
    index = next((n for n, item in enumerate(held.owner.order) if item.name == source), None)
    if index is None or held.checkpoint.owner() is None:
        return unknown
    log = held.checkpoint.file_log(index)
    if log.last() < 0 or log.position(log.last()) is None:
        return unknown
    gone = [path for path in log.files() if not path.exists()]
    return f'{len(gone)} files of "{source}" are gone, {gone[0].name} among them' if gone else ""
