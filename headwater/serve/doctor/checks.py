"""The checks of ``headwater doctor``: each looks at one thing of one table or view.

In: a :class:`Subject`. Out: findings. A new check is one function and one line in :data:`CHECKS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from headwater.analyze.connectors.registry import CONNECTORS
from headwater.checkpoints.folder import Checkpoint
from headwater.checkpoints.resume_decision import ResumeMode
from headwater.lake.iceberg.retention import MAINTENANCE
from headwater.lake.protocol.history import COMPACTION
from headwater.lake.protocol.marker import PREFIX
from headwater.lake.reserved_names import BRANCH_PREFIX, quarantine_of
from headwater.serve.doctor.findings import Finding, Repair, Subject, rebuild_if_kept
from headwater.serve.doctor.unit_names import misnamed

if TYPE_CHECKING:
    from headwater.lake.protocol.history import Snapshot
    from headwater.serve.stored_table import StoredTable

Check = Callable[[Subject], Iterator[Finding]]

REBUILT_AFTER = frozenset(
    {
        *("EPOCH_RANGE_CHANGED", "CUT_GAP", "CUT_OVERLAP", "VERSION_CHANGED", "MARKER_LOST"),
        *("SNAPSHOT_EXPIRED", "SNAPSHOT_NOT_IN_HISTORY", "DEFINITION_CHANGED", "SCHEMA_CHANGED"),
        "STATE_DAMAGED",
    }
)
"""Errors after which a view goes on only if it is computed again."""
_AT_NEXT_START = "the next run does this by itself before it reads anything"


def marker_history(subject: Subject) -> Iterator[Finding]:
    """Epochs rise by one, each begins where the one before ended, tokens never fall."""
    for commit, before in pairwise(subject.history):
        new, old = commit.marker, before.marker
        if new.epoch != old.epoch + 1:
            yield _broken(subject, f"epoch {new.epoch} follows epoch {old.epoch}")
        elif dict(new.cut_from) != dict(old.cut_to):
            yield _broken(subject, f"epoch {new.epoch} does not begin where {old.epoch} ended")
        if new.token < old.token:
            tokens = f"its fence token is {new.token}, that of the epoch before {old.token}"
            yield _broken(subject, f"epoch {new.epoch} was written by a fenced process: {tokens}")


def marker_kept(subject: Subject) -> Iterator[Finding]:
    """The newest marker can be found: in the history, or at least on its tag."""
    if subject.marker_lost:
        yield _rebuilt(subject, "marker", "snapshots were expired and the newest marker with them")


def foreign_snapshots(subject: Subject) -> Iterator[Finding]:
    """Nobody but this view and its maintenance wrote to the table."""
    table = subject.table
    if table is None:
        return
    later: Snapshot | None = None
    for snapshot in table.ancestors():
        if _is_foreign(snapshot, later):
            what = snapshot.operation or "unknown"
            problem = f"snapshot {snapshot.id} ({what}) was written by another tool"
            yield _rebuilt(subject, "foreign", problem)
        later = snapshot


def staging(subject: Subject) -> Iterator[Finding]:
    """No rows of dead writers wait on a staging branch."""
    table = subject.table
    if table is None or subject.running or not table.refs:
        return
    published = {s.id for s in table.ancestors()}
    for name, head in table.refs.items():
        if name.startswith(BRANCH_PREFIX) and head not in published:
            yield Finding(
                subject.name,
                "staging",
                f"branch {name} holds rows that were never published",
                f"no query reads it, and the next commit of {subject.name} removes it",
                serious=False,
            )


def definition(subject: Subject) -> Iterator[Finding]:
    """The table was written by the definition that the project has now."""
    plan, newest = subject.plan, subject.newest
    if plan and newest and not plan.is_of(newest.fingerprint):
        yield _rebuilt(
            subject,
            "definition",
            "the definition has changed since the last commit; headwater apply builds it anew",
        )


def units(subject: Subject) -> Iterator[Finding]:
    """Each row has the unit of its columns, so that a tick that replaces the unit finds it."""
    plan, newest = subject.plan, subject.newest
    if subject.table is None or plan is None or newest is None:
        return
    wrong = misnamed(plan, subject.table) if plan.is_of(newest.fingerprint) else None
    if wrong:
        problem = f"rows stored under another unit than that of their columns: {wrong}"
        yield _rebuilt(subject, "units", f"{problem}; no tick replaces them")


def input_snapshots(subject: Subject) -> Iterator[Finding]:
    """What the newest commit has read up to is in the history of the inputs."""
    if subject.plan is None or subject.newest is None:
        return
    cut = subject.newest.cut_to
    for item in subject.plan.inputs:
        position = cut.get(item.name)
        if item.kind == "source" or position is None:
            continue
        table = subject.lake.table(item.name)
        if table is None:
            problem = f'its input "{item.name}" is missing'
        elif item.name in subject.project.catalog.external:
            continue  # the view is computed anew where its history is gone
        elif any(
            str(each.id) == position and not _is_of_another(table, each, subject)
            for each in table.ancestors()
        ):
            continue
        else:
            problem = f'snapshot {position} of "{item.name}", up to which it has read, is gone'
        yield _rebuilt(subject, "input", problem)


def _is_of_another(table: StoredTable, snapshot: Snapshot, subject: Subject) -> bool:
    """Whether a version is younger than the commit that has read one of its number."""
    read_at = subject.history[0].at if subject.history else None
    return table.is_delta and read_at is not None and snapshot.at > read_at


def checkpoint(subject: Subject) -> Iterator[Finding]:
    """The checkpoint continues where the table ends."""
    verdict = subject.verdict
    if verdict is None or (subject.running and verdict.way is not ResumeMode.REFUSE):
        return
    found = "; ".join(verdict.damage)
    if verdict.way is ResumeMode.REFUSE and subject.copied is not None:
        safe = f"the next run restores its replica of epoch {subject.copied} from the object store"
        yield _by_itself(subject, found, safe)
        return
    match verdict.way:
        case ResumeMode.GO_ON:
            if found:
                safe = "the view can continue from it"
                yield Finding(subject.name, "checkpoint", found, safe, serious=False)
        case ResumeMode.CUT_BACK:
            found = found or "it holds batches beyond the newest commit"
            yield _by_itself(subject, found, _AT_NEXT_START, Repair.CUT_BACK)
        case ResumeMode.MEND:
            yield _by_itself(subject, found, _AT_NEXT_START)
        case ResumeMode.ANEW if subject.newest:
            yield _by_itself(subject, found, _AT_NEXT_START, Repair.RESUME)
        case ResumeMode.ANEW:
            yield _by_itself(subject, found, _AT_NEXT_START)
        case ResumeMode.REFUSE:
            repair, safe = rebuild_if_kept(subject)
            safe = f"{verdict.reason}; {safe}"
            yield Finding(subject.name, "checkpoint", found, safe, repair)


def _by_itself(subject: Subject, found: str, safe: str, repair: Repair | None = None) -> Finding:
    return Finding(subject.name, "checkpoint", found, safe, repair, mends=True)


def last_error(subject: Subject) -> Iterator[Finding]:
    """The supervisor has not given it up."""
    error = subject.said.get("error") or {}
    if not error:
        return
    problem = f"{error['condition']}: {error['message']}"
    if error["condition"] in REBUILT_AFTER:
        yield _rebuilt(subject, "error", problem)
    else:
        safe = error.get("hint") or "mend the other findings, then start the project again"
        yield Finding(subject.name, "error", problem, safe)


def files(subject: Subject) -> Iterator[Finding]:
    """Every file that the current snapshot names is there."""
    if subject.table is None:
        return
    lost = subject.table.lost_files()
    if not lost:
        return
    problem = (
        f"{len(lost)} files of the current snapshot are missing or damaged, {lost[0]} among them"
    )
    if subject.kind == "view":
        yield _rebuilt(subject, "files", problem)
    else:
        safe = "restore them from a backup: the rows of a landed table are nowhere else in the lake"
        yield Finding(subject.name, "files", problem, safe)


def sides(subject: Subject) -> Iterator[Finding]:
    """The quarantine and the table of late rows can be read."""
    late = subject.plan.view.late if subject.plan else None
    for name in filter(None, (quarantine_of(subject.name), late.into if late else None)):
        table = subject.lake.table(name)
        if table is not None and (lost := table.lost_files()):
            problem = f"{len(lost)} files of {name} are missing or damaged, {lost[0]} among them"
            safe = "restore them from a backup: its rows may be nowhere else"
            yield Finding(subject.name, "sides", problem, safe)


def quarantine(subject: Subject) -> Iterator[Finding]:
    """The bad rows of a SOURCE are kept, or will be."""
    if subject.kind != "source" or subject.running:
        return
    name = quarantine_of(subject.name)
    table = subject.lake.table(name)
    newest = next(table.commits(subject.name), None) if table is not None else None
    folder = subject.state / "checkpoint"
    planned = Checkpoint(folder).last_planned()
    if newest and (planned is None or planned < newest.marker.epoch):
        yield Finding(
            subject.name,
            "quarantine",
            f"the checkpoint of {name} is missing or old, and with it the record of files read",
            f'{_only_copy(subject, name)}rename table "{name}" and folder "{subject.state}":'
            " the next run reads the bad rows again that its input still has",
        )
    elif (subject.state / "waiting").exists():
        problem = "views have met bad rows that its quarantine may lack"
        safe = "the next run reads the source again and quarantines them"
        yield Finding(subject.name, "quarantine", problem, safe, serious=False)


def _only_copy(subject: Subject, quarantine: str) -> str:
    connector = subject.project.catalog.sources[subject.name].connector
    kept = CONNECTORS[connector].input_kept == "always"
    return "" if kept else f'retain "{quarantine}", as its rows may be nowhere else; '


CHECKS: tuple[Check, ...] = (
    marker_history,
    marker_kept,
    foreign_snapshots,
    staging,
    definition,
    units,
    input_snapshots,
    files,
    sides,
    checkpoint,
    quarantine,
    last_error,
)
"""What ``doctor`` checks, in the order in which it tells."""


def _is_foreign(snapshot: Snapshot, later: Snapshot | None) -> bool:
    summary, operation = snapshot.summary, snapshot.operation
    if PREFIX + "epoch" in summary or MAINTENANCE in summary or operation == COMPACTION:
        return False
    if snapshot.parent is None and not snapshot.count("total-records"):
        return False  # the empty snapshot that every table begins with
    # Iceberg does not stamp a DELETE of whole files, the first write of some epochs
    return not (operation == "delete" and later and later.marker)


def _broken(subject: Subject, problem: str) -> Finding:
    return _rebuilt(subject, "markers", problem)


def _rebuilt(subject: Subject, check: str, problem: str) -> Finding:
    """A finding that only a rebuild repairs, if it is a view whose inputs are kept."""
    if subject.kind != "view":
        safe = "no change of a landed table is safe: compare it with its source"
        return Finding(subject.name, check, problem, safe)
    repair, safe = rebuild_if_kept(subject)
    return Finding(subject.name, check, problem, safe, repair)
