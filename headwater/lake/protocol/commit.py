"""The commit protocol: one epoch of one view becomes visible exactly once, or not at all.

In: a table, the marker of the epoch, and a function that writes its rows.
Out: the rows and the marker in one atomic move of ``main``; or an error that says how to recover.

The steps, with the crash points that follow them:

1. refresh the table, read the newest marker of the view (``1-read``)
2. epoch and range already committed: done; another range, a gap or an overlap: stop (``2-checked``)
3. an older fence token may not commit (``3-fenced``)
4. write the side tables, each with its own marker (each ``4-staged``, ``4-published``; ``4-sides``)
5. write the target beside what readers see (``5-staged``), ask for the lease again, and publish it
   by moving ``main`` from the snapshot of step 1, a compare-and-swap (``5-published``).
   Maintenance or a fenced writer moved ``main``: again from 1. Another commit of the view moved it:
   lost
6. outcome unknown: reload, look for the own attempt, decide; delete nothing (``6-decided``)
7. release: the session carries no marker any more, the caller acknowledges (``7-released``)
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_attempt, wait_random

from headwater.errors import ServiceError, TerminalError
from headwater.lake.protocol.crash_points import crash_point
from headwater.lake.protocol.history import Commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import (
    ATTEMPT,
    Conflict,
    Moved,
    Staging,
    Table,
    Write,
    overtaken,
)

CRASH_POINTS = (
    *("1-read", "2-checked", "3-fenced", "4-staged", "4-published", "4-sides"),
    *("5-staged", "5-published", "6-decided", "7-released"),
)
"""Names for ``HEADWATER_CRASH_POINT``, in the order in which a commit reaches them."""

ATTEMPTS = 5
"""How often a commit is tried while maintenance moves the table; each time the rows are written."""


_CONFLICT = re.compile(
    r"CommitFailedException|(?:Ref|Branch) does not exist|Ref \S+ already exists"
    r"|Cannot fast-forward|older than last sequence number"
)
"""What Iceberg says if the table's metadata moved between its look and its swap."""


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
        write: writes the rows.
    """

    table: Table
    write: Write


def commit(
    table: Table,
    marker: Marker,
    write: Write,
    *,
    session: SparkSession,
    sides: Sequence[SideWrite] = (),
    fence: Fence | None = None,
    attempts: int = ATTEMPTS,
) -> Outcome:
    """Commit one epoch of a view by the numbered protocol of this module.

    Args:
        table: the view's table.
        marker: identity, input range and watermark of the epoch.
        write: writes the epoch's rows with ``session``; may write several times or, without rows,
            not at all; called again after maintenance.
        session: the session that ``write`` uses; no other query may run in it meanwhile.
        sides: rows of the same epoch for other tables, committed first.
        fence: asked at step 3, if given.
        attempts: how often it is tried while others move the table.

    Returns:
        Whether this call committed the epoch or found it committed.

    Raises:
        TerminalError: ``EPOCH_RANGE_CHANGED``, ``CUT_GAP``, ``CUT_OVERLAP``, ``VERSION_CHANGED``,
            ``FENCED``, ``LOST_RACE``, ``MARKER_LOST`` or ``MARKER_MISSING``.
        ServiceError: ``TABLE_CONTENDED`` after all attempts, or ``OUTCOME_UNKNOWN``.
    """
    retrying = Retrying(
        stop=stop_after_attempt(attempts),
        wait=wait_random(0, 0.05),
        retry=retry_if_exception_type(Moved),
    )
    try:
        return retrying(_attempt, table, marker, write, session, sides, fence)
    except RetryError as error:
        raise ServiceError(
            "TABLE_CONTENDED",
            f'table "{table.name}" was changed by others during {attempts} attempts to commit',
            hint="stop other writers of this table, then start again",
        ) from error


def _attempt(
    table: Table,
    marker: Marker,
    write: Write,
    session: SparkSession,
    sides: Sequence[SideWrite],
    fence: Fence | None,
) -> Outcome:
    # 1. the newest marker of this view, and the snapshot that everything below is decided on
    table.refresh()
    base = table.snapshot_id()
    newest = table.newest(marker.view)
    crash_point("1-read", table.name)
    # 2. replay, gap, overlap
    if _is_committed(table, marker, newest):
        return Outcome.ALREADY_COMMITTED
    crash_point("2-checked", table.name)
    # 3. lease and fence token
    check_token(newest, marker)
    if fence:
        fence.check()
    crash_point("3-fenced", table.name)
    # 4. side tables
    for side in sides:
        commit_side(side, marker, session)
    crash_point("4-sides", table.name)
    # 5, 6 and 7. the target
    _stage_and_publish(table, base, marker, write, session, fence, step=5)
    crash_point("7-released", table.name)
    return Outcome.COMMITTED


def _is_committed(table: Table, marker: Marker, newest: Commit | None) -> bool:
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


def _is_replay(table: Table, marker: Marker, newest: Commit) -> bool:
    found = newest
    while found.marker.epoch > marker.epoch:
        before = table.snapshot(found.snapshot_id)
        parent = before.parent if before else None
        older = table.newest(marker.view, before=parent) if parent is not None else None
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


def check_token(newest: Commit | None, marker: Marker) -> None:
    """Refuse a commit of a process whose project another one has taken over (step 3).

    Args:
        newest: the newest commit of the table.
        marker: of the commit to be made.

    Raises:
        TerminalError: ``FENCED``.
    """
    if newest and newest.marker.token > marker.token:
        raise TerminalError(
            "FENCED",
            f'another process runs view "{marker.view}": its fence token is '
            f"{newest.marker.token}, that of this process is {marker.token}",
            hint="stop this process; `headwater status` shows the one that runs",
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
    check_token(newest, marker)
    _stage_and_publish(table, base, marker, side.write, session, None, step=4)


def _stage_and_publish(
    table: Table,
    base: int,
    marker: Marker,
    write: Write,
    session: SparkSession,
    fence: Fence | None,
    *,
    step: int,
) -> None:
    table.check_place()
    attempt = uuid.uuid4().hex
    staging = table.staging(marker, base, attempt)
    try:
        staging.fill(write, session)
    except (Py4JError, PySparkException) as error:
        _check_overtaken(table, staging, base, marker, error)
        raise
    crash_point(f"{step}-staged", table.name)
    if fence:  # the write may have taken longer than a lease
        fence.check()
    _publish(table, staging, base, attempt, marker)
    crash_point(f"{step}-published", table.name)


def _check_overtaken(
    table: Table, staging: Staging, base: int, marker: Marker, error: Exception
) -> None:
    """Say so if a write failed because of another writer: it moved main or dropped the branch."""
    try:
        table.refresh()
        moved = list(table.since(base))
    except (Py4JError, PySparkException, OSError):
        return
    for snapshot in moved:
        if snapshot.is_commit_of(marker.view):
            raise overtaken(snapshot, marker) from error
    if staging.is_dropped() or _CONFLICT.search(str(error)):
        raise Moved from error


def _publish(table: Table, staging: Staging, base: int, attempt: str, marker: Marker) -> None:
    for _ in range(ATTEMPTS):
        try:
            return staging.publish()
        except (Conflict, Py4JError, PySparkException, OSError) as error:
            # 6. it may have landed all the same
            landed = _has_landed(table, base, attempt, marker, error)
            crash_point("6-decided", table.name)
            if landed:
                return None
            if not _CONFLICT.search(str(error)):
                raise
            # another branch or tag of the table was moved: what was written is still good
            if not staging.is_intact():
                raise Moved from error
    raise Moved


def _has_landed(table: Table, base: int, attempt: str, marker: Marker, cause: Exception) -> bool:
    try:
        table.refresh()
        now = table.snapshot_id()
    except (Py4JError, PySparkException, OSError) as error:
        raise ServiceError(
            "OUTCOME_UNKNOWN",
            f'the catalog failed while epoch {marker.epoch} of view "{marker.view}" was published',
            hint="start again: Headwater looks for the epoch before it writes anything",
        ) from error
    if now == base:
        return False
    for snapshot in table.since(base, now):
        if snapshot.summary.get(ATTEMPT) == attempt:
            return True
        if snapshot.is_commit_of(marker.view):
            raise overtaken(snapshot, marker) from cause
    raise Moved from cause


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
