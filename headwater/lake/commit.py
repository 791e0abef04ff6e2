"""The commit protocol: one epoch of one view becomes visible exactly once, or not at all.

In: a table, the marker of the epoch, and a function that writes its rows to a staging branch.
Out: the rows and the marker in one atomic move of ``main``; or an error that says how to recover.

The steps, with the crash points that follow them:

1. refresh the table, read the newest marker of the view (``1-read``)
2. epoch and range already committed: done; another range, a gap or an overlap: stop (``2-checked``)
3. an older fence token may not commit (``3-fenced``)
4. write the side tables, each with its own marker (each ``4-staged``, ``4-published``; ``4-sides``)
5. write the target to a staging branch made at the snapshot of step 1, check that the branch holds
   nothing else (``5-staged``), and publish it by fast-forward of ``main``, a compare-and-swap
   (``5-published``). Maintenance moved ``main``: again from 1. A foreign commit moved it: lost
6. outcome unknown: reload, look for the own attempt, decide; delete nothing (``6-decided``)
7. release: the session carries no marker any more, the caller acknowledges (``7-released``)
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile
from typing import Protocol

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_attempt, wait_random

from headwater.errors import ServiceError, TerminalError
from headwater.lake.crash import crash_point
from headwater.lake.iceberg import ATTEMPT, SNAPSHOT_PROPERTY, Commit, LakeTable, Snapshot
from headwater.lake.java import java_session
from headwater.lake.marker import Marker

CRASH_POINTS = (
    *("1-read", "2-checked", "3-fenced", "4-staged", "4-published", "4-sides"),
    *("5-staged", "5-published", "6-decided", "7-released"),
)
"""Names for ``HEADWATER_CRASH_POINT``, in the order in which a commit reaches them."""

ATTEMPTS = 5
"""How often a commit is tried while maintenance moves the table; each time the rows are written."""


class Outcome(Enum):
    """How a commit ended well."""

    COMMITTED = "committed"
    ALREADY_COMMITTED = "already committed"


class Fence(Protocol):
    """What knows whether this process may still commit (``headwater.runtime.lease.Lease``)."""

    def check(self) -> None:
        """Raise ``TerminalError`` ``FENCED`` if another process has taken over."""


@dataclass(frozen=True, slots=True)
class SideWrite:
    """Rows of the same epoch for another table (quarantine, late rows, change log).

    Attributes:
        table: the side table.
        write: writes the rows; gets the identifier of the staging branch.
    """

    table: LakeTable
    write: Callable[[str], None]


class _Moved(Exception):
    """``main`` moved without a commit of this view."""


def commit(
    table: LakeTable,
    marker: Marker,
    write: Callable[[str], None],
    *,
    session: SparkSession,
    sides: Sequence[SideWrite] = (),
    fence: Fence | None = None,
) -> Outcome:
    """Commit one epoch of a view by the numbered protocol of this module.

    Args:
        table: the view's table.
        marker: identity, input range and watermark of the epoch.
        write: writes the epoch's rows with ``session``; gets the identifier of the staging branch;
            may write several times or, without rows, not at all; called again after maintenance.
        session: the session that ``write`` uses; no other query may run in it meanwhile.
        sides: rows of the same epoch for other tables, committed first.
        fence: asked at step 3, if given.

    Returns:
        Whether this call committed the epoch or found it committed.

    Raises:
        TerminalError: ``EPOCH_RANGE_CHANGED``, ``CUT_GAP``, ``CUT_OVERLAP``, ``VERSION_CHANGED``,
            ``FENCED``, ``LOST_RACE``, ``MARKER_LOST`` or ``MARKER_MISSING``.
        ServiceError: ``TABLE_CONTENDED`` after :data:`ATTEMPTS` attempts, or ``OUTCOME_UNKNOWN``.
    """
    retrying = Retrying(
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait_random(0, 0.05),
        retry=retry_if_exception_type(_Moved),
    )
    try:
        return retrying(_attempt, table, marker, write, session, sides, fence)
    except RetryError as error:
        raise ServiceError(
            "TABLE_CONTENDED",
            f'table "{table.name}" was changed by others during {ATTEMPTS} attempts to commit',
            hint="stop other writers of this table, then start again",
        ) from error


def _attempt(
    table: LakeTable,
    marker: Marker,
    write: Callable[[str], None],
    session: SparkSession,
    sides: Sequence[SideWrite],
    fence: Fence | None,
) -> Outcome:
    # 1. the newest marker of this view, and the snapshot that everything below is decided on
    table.refresh()
    base = table.snapshot_id()
    newest = table.newest(marker.view)
    crash_point("1-read")
    # 2. replay, gap, overlap
    if _is_committed(table, marker, newest):
        return Outcome.ALREADY_COMMITTED
    crash_point("2-checked")
    # 3. lease and fence token
    _check_token(newest, marker)
    if fence:
        fence.check()
    crash_point("3-fenced")
    # 4. side tables
    for side in sides:
        commit_side(side, marker, session)
    crash_point("4-sides")
    # 5, 6 and 7. the target
    _stage_and_publish(table, base, marker, write, session, step=5)
    crash_point("7-released")
    return Outcome.COMMITTED


def _is_committed(table: LakeTable, marker: Marker, newest: Commit | None) -> bool:
    """Compare an epoch with what is committed; True if it is, False if it is the next one."""
    if newest is None:
        if marker.epoch == 0:
            return False
        raise _refused("CUT_GAP", marker, "but the table holds no commit")
    last = newest.marker
    if last.version != marker.version:
        raise _refused(
            "VERSION_CHANGED",
            marker,
            f"has version {marker.version}, the table was written by version {last.version}",
        )
    if marker.epoch <= last.epoch:
        return _is_replay(table, marker, newest)
    if marker.epoch > last.epoch + 1:
        raise _refused("CUT_GAP", marker, f"but the last commit is epoch {last.epoch}")
    if dict(marker.cut_from) == dict(last.cut_to):
        return False
    ends = f"begins at {_cut(marker.cut_from)} but the last commit ended at {_cut(last.cut_to)}"
    # positions are opaque text; what begins where a commit began, or at the start, is read twice
    again = any(
        marker.cut_from.get(name) in (None, last.cut_from.get(name))
        for name, end in last.cut_to.items()
        if marker.cut_from.get(name) != end
    )
    raise _refused("CUT_OVERLAP" if again else "CUT_GAP", marker, ends)


def _is_replay(table: LakeTable, marker: Marker, newest: Commit) -> bool:
    found = newest
    while found.marker.epoch > marker.epoch:
        before = table.snapshot(found.snapshot_id)
        older = (
            table.newest(marker.view, before=before.parent) if before and before.parent else None
        )
        if older is None:
            raise _refused("CUT_OVERLAP", marker, f"but epoch {newest.marker.epoch} is committed")
        found = older
    done = found.marker
    same = (done.epoch, dict(done.cut_from), dict(done.cut_to)) == (
        *(marker.epoch, dict(marker.cut_from)),
        dict(marker.cut_to),
    )
    if same:
        return True
    raise _refused(
        "EPOCH_RANGE_CHANGED",
        marker,
        f"covers {_cut(marker.cut_from)} to {_cut(marker.cut_to)}, "
        f"but was committed with {_cut(done.cut_from)} to {_cut(done.cut_to)}",
    )


def _check_token(newest: Commit | None, marker: Marker) -> None:
    if newest and newest.marker.token > marker.token:
        raise TerminalError(
            "FENCED",
            f'view "{marker.view}" is run by another process: its fence token is '
            f"{newest.marker.token}, the one of this process {marker.token}",
            hint="stop this process; see `headwater status` for the one that runs",
        )


def commit_side(side: SideWrite, marker: Marker, session: SparkSession) -> None:
    """Commit the rows of an epoch to a side table, unless it has the epoch already (step 4).

    Args:
        side: the table and what writes to it.
        marker: the marker of the epoch.
        session: the session that ``side.write`` uses.

    Raises:
        TerminalError: as :func:`commit`.
    """
    table = side.table
    table.refresh()
    base = table.snapshot_id()
    newest = table.newest(marker.view)
    # a side table has commits only for epochs with rows: there is no gap to look for
    if newest and newest.marker.epoch >= marker.epoch and _is_replay(table, marker, newest):
        return
    _check_token(newest, marker)
    _stage_and_publish(table, base, marker, side.write, session, step=4)


def _stage_and_publish(
    table: LakeTable,
    base: int,
    marker: Marker,
    write: Callable[[str], None],
    session: SparkSession,
    *,
    step: int,
) -> None:
    attempt = uuid.uuid4().hex
    branch = table.staging_branch(marker.view)
    target = table.stage(marker.view, base)
    summary = {**marker.to_summary(), ATTEMPT: attempt}
    with _snapshot_properties(session, summary):
        write(target)
    table.refresh()
    head = _check_staged(table, branch, base, summary, marker)
    crash_point(f"{step}-staged")
    _publish(table, branch, head, base, attempt, marker)
    crash_point(f"{step}-published")


def _check_staged(
    table: LakeTable, branch: str, base: int, summary: Mapping[str, str], marker: Marker
) -> int:
    """Return the head of the staging branch if it is the base plus what this attempt wrote."""
    head = table.ref(branch)
    if head is None:
        raise _lost(marker)
    staged = list(_since(table, head, base))
    if any(snapshot.summary.get(ATTEMPT) != summary[ATTEMPT] for snapshot in staged):
        # a successor may have dropped the branch, and a late write made it again on a newer main
        _check_main(table, {snapshot.id for snapshot in staged}, base, marker)
    # nothing was written, or last a DELETE of whole files, which Iceberg does not stamp
    if not staged or (ATTEMPT not in staged[0].summary and staged[0].operation == "delete"):
        table.append_nothing(branch, summary)
        return table.ref(branch) or head
    if staged[0].summary.get(ATTEMPT) != summary[ATTEMPT]:
        raise TerminalError(
            "MARKER_MISSING",
            f'a write to table "{table.name}" does not carry the commit marker',
            hint="write with DataFrames of the session that was given to commit()",
        )
    return head


def _check_main(table: LakeTable, staged: set[int], base: int, marker: Marker) -> None:
    moved = list(_since(table, table.snapshot_id(), base))
    if any(_is_of(snapshot, marker.view) for snapshot in moved):
        raise _lost(marker)
    if any(snapshot.id in staged for snapshot in moved):
        raise _Moved


def _since(table: LakeTable, head: int, base: int) -> Iterator[Snapshot]:
    """Yield the snapshots after ``base`` up to ``head``, newest first."""
    return takewhile(lambda snapshot: snapshot.id != base, table.ancestors(head))


def _publish(
    table: LakeTable, branch: str, head: int, base: int, attempt: str, marker: Marker
) -> None:
    try:
        table.publish(branch, head)
    except (Py4JError, PySparkException, OSError) as error:
        # 6. it may have landed all the same
        landed = _has_landed(table, base, attempt, marker, error)
        crash_point("6-decided")
        if not landed:
            raise


def _has_landed(
    table: LakeTable, base: int, attempt: str, marker: Marker, cause: Exception
) -> bool:
    try:
        table.refresh()
        now = table.snapshot_id()
    except (Py4JError, PySparkException, OSError) as error:
        raise ServiceError(
            "OUTCOME_UNKNOWN",
            f'the catalog failed while epoch {marker.epoch} of view "{marker.view}" was published',
            hint="start again: the epoch is looked for before anything is written",
        ) from error
    if now == base:
        return False
    for snapshot in _since(table, now, base):
        if snapshot.summary.get(ATTEMPT) == attempt:
            return True
        if _is_of(snapshot, marker.view):
            raise _lost(marker) from cause
    raise _Moved from cause


def _is_of(snapshot: Snapshot, view: str) -> bool:
    marker = snapshot.marker
    return marker is not None and marker.view == view


@contextmanager
def _snapshot_properties(session: SparkSession, summary: Mapping[str, str]) -> Iterator[None]:
    """Stamp every snapshot that the session writes inside the block, and none after it."""
    conf = java_session(session).conf()
    keys = [SNAPSHOT_PROPERTY + key for key in summary]
    try:
        for key, value in zip(keys, summary.values(), strict=True):
            conf.set(key, value)
        yield
    finally:
        for key in keys:
            conf.unset(key)


def _cut(cut: Mapping[str, str]) -> str:
    text = ", ".join(f"{name}={position}" for name, position in sorted(cut.items()))
    return f"[{text}]" if len(text) <= 200 else f"[{text[:200]}…]"


def _refused(condition: str, marker: Marker, what: str) -> TerminalError:
    return TerminalError(
        condition,
        f'epoch {marker.epoch} of view "{marker.view}" {what}',
        hint="the checkpoint and the table disagree: "
        f"run `headwater doctor {marker.view}`, which can rebuild the view",
    )


def _lost(marker: Marker) -> TerminalError:
    return TerminalError(
        "LOST_RACE",
        f'another process committed view "{marker.view}" while epoch {marker.epoch} was written',
        hint="only one process may run a view: stop this one",
    )
