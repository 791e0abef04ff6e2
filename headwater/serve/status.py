"""How the tables, views and sinks of a project are doing, read without a JVM.

In: a project. Out: one row per landed table, view and sink, from the commit markers in the lake and
from what the supervisor last wrote about itself. Nothing is asked of the running process, so a dead
one is reported too. What cannot be read has a row with the reason, and so has what the project
leaves out.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.analyze.definitions import NEXT
from headwater.lake.protocol.history import Commit
from headwater.lake.protocol.unknown_field_counts import fields_in
from headwater.lake.reserved_names import SINK, quarantine_of
from headwater.serve.held_back import HeldBack, held_back
from headwater.serve.lake_reader import LakeReader
from headwater.serve.table_histories import TableHistories

if TYPE_CHECKING:
    from headwater.project import Project

RUN_FILE = "run.json"
NEW, STOPPED, EXTERNAL, UNREADABLE = "new", "stopped", "external", "unreadable"
PAUSED = "paused"
RATE_OVER = timedelta(minutes=1)
"""How far back rows per second are counted."""
_MAY_PAUSE = (NEW, STOPPED, "starting", "running", "done")


@dataclass(frozen=True, slots=True)
class Status:
    """One landed table, view or sink.

    Attributes:
        name: its name.
        kind: ``table``, ``view`` or ``sink``.
        state: what the supervisor says (``running``, ``failed``, …); ``stopped`` when none runs,
            ``paused`` while it is to stand still, ``new`` before the first commit, ``external`` for
            a table that somebody else writes, ``unreadable`` if its table cannot be read,
            ``broken`` or ``blocked`` if the project leaves it out.
        epoch: epoch of its newest commit; of such a table, Iceberg's sequence number.
        watermark: watermark in its newest commit.
        held_by: of a view, the input whose watermark is behind that of another one.
        lag: commits of its inputs that are not in its newest commit; None for tables, and for views
            that read nothing but a SOURCE.
        age: age of its newest commit.
        rate: rows written per second, over the commits of the last :data:`RATE_OVER`; None for
            sinks.
        rows_in: rows read: by a table from its connector, by a view or sink from its inputs in the
            lake; None for views that read nothing but a SOURCE.
        rows_out: rows written; by commits that were expired, those that are still there. None for
            sinks.
        late: rows too late, over all commits that are kept; None for views of a SOURCE with a
            WATERMARK, whose late rows nobody counts.
        quarantined: rows that could not be taken, over all commits that are kept; None if the
            quarantine cannot be read.
        unknown: records with fields that the table does not name, by field, since the beginning.
        added: columns that were added to the table: the first epoch that has them.
        waiting: records that are not read yet, of Kafka by ``<topic>/<partition>``, of Redis by
            stream, as the supervisor last saw it; None when none runs, and for other inputs.
        lost: records that were deleted before they were read (``on_data_loss = 'skip'``), over all
            commits that are kept.
        changed_files: files that were changed after they had been read, as the supervisor last saw
            them; the changes are not in the table.
        building: while it, or its next version, reads the history of its inputs: rows ``done`` of
            ``total``, ``rows_per_second``, ``seconds_left``.
        rows: rows in it now; None for sinks.
        cut: the commits of landed tables that its newest commit is made of, as ``table@epoch``,
            through the views that it reads; views of one tick have one cut.
        problem: the last error, what it waits for, or an empty string.
        judged: whether all of it could be read.
    """

    name: str
    kind: str
    state: str
    epoch: int | None = None
    watermark: datetime | None = None
    held_by: HeldBack | None = None
    lag: int | None = None
    age: timedelta | None = None
    rate: float | None = None
    rows_in: int | None = 0
    rows_out: int | None = 0
    late: int | None = 0
    quarantined: int | None = 0
    unknown: Mapping[str, int] = field(default_factory=dict)
    added: Mapping[str, int] = field(default_factory=dict)
    waiting: Mapping[str, int] | None = None
    lost: int = 0
    changed_files: int = 0
    building: Mapping[str, int] | None = None
    rows: int | None = 0
    cut: tuple[str, ...] = ()
    problem: str = ""
    judged: bool = True


def status(
    project: Project, now: datetime | None = None, lake: LakeReader | None = None
) -> list[Status]:
    """Return the status of every landed table, view and sink, inputs before what reads them.

    Args:
        now: the time that age is measured against; the clock's by default.
        lake: a reader of its tables that was used before; a new one by default.

    Raises:
        ServiceError: nothing can be read.
    """
    lake = lake or LakeReader(project.config, project.catalog.external)
    lake.names()  # that the catalog cannot be read is told once, not for each table
    with lake.one_look():
        return _status(project, lake, now or datetime.now(UTC))


def _status(project: Project, lake: LakeReader, now: datetime) -> list[Status]:
    said = read_run_file(project.config.state / RUN_FILE)
    catalog = project.catalog
    history = TableHistories(lake, catalog)
    tables = [name for name, source in catalog.sources.items() if source.kept]
    rows = [_row(name, "table", (), history, said, now) for name in tables]
    rows += [
        _row(
            name,
            "table" if view.changes else "view",
            tuple(each for each in view.inputs if each in catalog.views or each in tables),
            history,
            said,
            now,
        )
        for name, view in catalog.views.items()
    ]
    rows += [
        _row(sink.name, "sink", (sink.view,), history, said, now) for sink in catalog.sinks.values()
    ]
    paused = lake.paused()
    rows = [
        replace(each, state=PAUSED) if each.name in paused and each.state in _MAY_PAUSE else each
        for each in rows
    ]
    waits = behind(project, said)
    rows = [
        each if each.problem else replace(each, problem=waits.get(each.name, "")) for each in rows
    ]
    return rows + [
        replace(
            _row(each.name, each.kind, (), history, said, now),
            state=each.state,
            problem=each.reason,
            rows_in=None,
            judged=False,
        )
        for each in project.broken.values()
        if each.kind != "source"
    ]


def behind(project: Project, said: Mapping[str, Any]) -> dict[str, str]:
    """Return by name what waits for an input that stopped for good, with the reason.

    Args:
        said: what the supervisor last wrote about itself.
    """
    views = said.get("views", {})
    stopped = {
        name: f"{each['error']['condition']}: {each['error']['message']}"
        for name, each in views.items()
        if each.get("error") and each.get("state") == "failed"
    }
    found: dict[str, str] = {}
    roots: dict[str, str] = {}
    catalog = project.catalog
    read = {name: view.inputs for name, view in catalog.views.items()}
    for name, inputs in {**read, **{n: (each.view,) for n, each in catalog.sinks.items()}}.items():
        root = next(
            (roots.get(each, each) for each in inputs if each in stopped or each in roots), ""
        )
        if root:
            roots[name] = root
            found[name] = waits_for(root, stopped[root])
    return found


def waits_for(name: str, reason: str) -> str:
    """Return in words that something waits for an input that stopped for good."""
    return f"waits for {name}, which stopped: {reason}"


def read_run_file(path: Path) -> Mapping[str, Any]:
    """Return what a supervisor last wrote about itself; empty if it does not run any more.

    Args:
        path: its file.
    """
    try:
        said: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return said if is_alive(int(said.get("pid", 0))) else {"views": _stopped(said.get("views", {}))}


def is_alive(pid: int) -> bool:
    """Return whether a process of this machine is running."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _stopped(views: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, object]]:
    """A dead process keeps nothing running; what had failed has still failed."""
    return {
        name: {
            **said,
            "state": said["state"] if said.get("error") else STOPPED,
            "waiting": None,
            "building": None,
            "note": "",
        }
        for name, said in views.items()
    }


def _row(
    name: str,
    kind: str,
    inputs: tuple[str, ...],
    histories: TableHistories,
    said: Mapping[str, Any],
    now: datetime,
) -> Status:
    stored = name + SINK if kind == "sink" else name
    history = histories[stored]
    own = said.get("views", {}).get(name, {})
    error = own.get("error") or {}
    problem = f"{error['condition']}: {error['message']}" if error else str(own.get("note") or "")
    idle = EXTERNAL if name in histories.external else STOPPED
    state = str(own.get("state", idle if history else NEW))
    if stored in histories.unread:
        said_why = histories.unread[stored]
        return Status(name, kind, UNREADABLE, rows=None, problem=said_why, judged=False)
    if not history:
        return Status(name, kind, state, problem=problem, building=_building(name, said))
    newest = history[0]
    counts: Counter[str] = Counter()
    for commit in history:
        counts.update(commit.marker.counts)
    watermark = newest.marker.watermark
    written = _added(history)
    bad = histories.rejected(name) if kind == "table" else counts
    refused = bad["quarantined"] + bad["dropped"]
    lag = _lag(newest, inputs, histories) if inputs else None
    rows_in = _rows_in(kind, newest, inputs, histories, written + refused)
    blind = [each for each in (*inputs, quarantine_of(name)) if each in histories.unread]
    if blind and inputs:
        lag = rows_in = None
    return Status(
        name,
        kind,
        state,
        epoch=newest.marker.epoch,
        watermark=from_micros(watermark),
        held_by=held_back({each: histories[each] for each in inputs if histories.timed(each)}),
        lag=lag,
        age=max(now - newest.committed_at, timedelta(0)),
        rate=None if kind == "sink" else _rate(history, now),
        rows_in=rows_in,
        rows_out=None if kind == "sink" else written,
        late=None if histories.uncounted(name) else counts["late"],
        quarantined=None if quarantine_of(name) in blind else bad["quarantined"],
        unknown=fields_in(bad),
        added=newest.marker.since,
        waiting=own.get("waiting") or None,
        lost=counts["lost"],
        changed_files=own.get("changed_files") or 0,
        building=_building(name, said, built=lag == 0),
        rows=None if kind == "sink" else newest.total,
        cut=tuple(sorted(histories.cut(newest))) if inputs else (),
        problem=problem or _unread(blind, inputs, histories),
        judged=not blind,
    )


def _building(
    name: str, said: Mapping[str, Any], *, built: bool = False
) -> Mapping[str, int] | None:
    """How far a view, or its next version, is with the history of its inputs.

    Args:
        built: whether its newest commit has read all that there is: then the run, which says how
            far it is once a second, has not said so yet.
    """
    views, versions = said.get("views", {}), (name + NEXT,) if built else (name, name + NEXT)
    found: list[Mapping[str, int]] = [
        each for key in versions if (each := views.get(key, {}).get("building"))
    ]
    return found[0] if found else None


def _unread(blind: Sequence[str], inputs: Sequence[str], histories: TableHistories) -> str:
    """Say what could not be read; why is said once, at the table itself."""
    return "; ".join(
        f"its input {each} cannot be read" if each in inputs else histories.unread[each]
        for each in blind
    )


def from_micros(micros: int | None) -> datetime | None:
    """Return a time in microseconds since 1970 UTC as a datetime, or None for None."""
    if micros is None:
        return None
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=micros)


def _lag(newest: Commit, inputs: tuple[str, ...], histories: TableHistories) -> int:
    """Count the commits of the inputs after the cut of a view's newest commit."""
    return sum(_behind(newest, name, histories[name]) for name in inputs)


def _rows_in(
    kind: str, newest: Commit, inputs: tuple[str, ...], histories: TableHistories, taken: int
) -> int | None:
    """Count the rows of the inputs up to the cut of a view's newest commit; of a SOURCE, nobody."""
    if not inputs:
        return taken if kind == "table" else None
    return sum(_added(histories[name][_behind(newest, name, histories[name]) :]) for name in inputs)


def _added(history: Sequence[Commit]) -> int:
    """Count the rows added by commits; of expired ones, the rows that are still there."""
    if not history:
        return 0
    *newer, oldest = history
    return sum(commit.added for commit in newer) + (
        oldest.total if oldest.marker.epoch else oldest.added
    )


def _rate(history: Sequence[Commit], now: datetime) -> float:
    """Return the rows added per second lately."""
    recent = takewhile(lambda commit: now - commit.committed_at < RATE_OVER, history)
    return sum(commit.added for commit in recent) / RATE_OVER.total_seconds()


def _behind(newest: Commit, name: str, history: Sequence[Commit]) -> int:
    position = newest.marker.cut_to.get(name)
    return next(
        (n for n, commit in enumerate(history) if str(commit.snapshot_id) == position), len(history)
    )
