"""What ``headwater doctor --repair`` does; what a crash leaves half done can be done again.

In: a finding that offers a repair, and the lease of the project, held by the caller. Out: the
repair done. Landed tables are never touched.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.checkpoints.offsets import offset_at
from headwater.checkpoints.resume_decision import ends_of
from headwater.errors import ConfigError, ServiceError, TerminalError
from headwater.lake.reserved_names import quarantine_of, tables_of
from headwater.serve.doctor.diagnosis import subjects
from headwater.serve.doctor.findings import Finding, Repair, Subject, lost_input
from headwater.serve.lake_reader import LakeReader, drop_table
from headwater.serve.status import RUN_FILE, STOPPED

if TYPE_CHECKING:
    from headwater.plan.view_plan import ViewPlan
    from headwater.project import Project


@dataclass(frozen=True, slots=True)
class Offer:
    """One repair of one view.

    Attributes:
        view: the view.
        repair: what is done.
        readers: with ``REBUILD``, the views that read it, directly or not; they are rebuilt too.
        dropped: with ``REBUILD``, the tables that are dropped.
    """

    view: str
    repair: Repair
    readers: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    def explained(self) -> str:
        """Return what will be done, in words."""
        also = f"; so are the views that read it: {', '.join(self.readers)}" if self.readers else ""
        tables = f"; drops the tables {', '.join(self.dropped)}{also}" if self.dropped else ""
        return f"{self.view}: {self.repair.value}{tables}"


def offers(
    project: Project, plans: Mapping[str, ViewPlan], findings: Sequence[Finding]
) -> list[Offer]:
    """Return the repairs to do for some findings: one per view, a rebuild before anything less.

    Args:
        plans: the plans of all its views, in topological order.
    """
    wanted: dict[str, Repair] = {}
    for finding in findings:
        if finding.repair and wanted.get(finding.name) is not Repair.REBUILD:
            wanted[finding.name] = finding.repair
    rebuilt: set[str] = set()
    found: list[Offer] = []
    known = {subject.name: subject for subject in subjects(project, plans)}
    for name in (name for name in plans if name in wanted):
        if name in rebuilt:
            continue
        if wanted[name] is not Repair.REBUILD:
            found.append(Offer(name, wanted[name]))
            continue
        offer, lost = _rebuild_of(name, plans, known)
        rebuilt.update(offer.readers)
        if not lost:  # a reader that cannot be computed again keeps its rows
            found.append(offer)
    return found


def rebuild_offers(
    project: Project, plans: Mapping[str, ViewPlan], views: Sequence[str]
) -> list[Offer]:
    """Return what computes views again, damaged or not.

    Args:
        plans: the plans of all its views, in topological order.

    Raises:
        ConfigError: ``ONLY_COPY`` if an input is not all there any more.
    """
    known = {subject.name: subject for subject in subjects(project, plans)}
    rebuilt: set[str] = set()
    found: list[Offer] = []
    for name in (name for name in plans if name in views):
        if name in rebuilt:
            continue
        offer, lost = _rebuild_of(name, plans, known)
        if lost:
            raise ConfigError(
                "ONLY_COPY",
                f'view "{name}" cannot be rebuilt: {lost}',
                hint="restore the input from a backup, or define a view of another name",
            )
        rebuilt.update((name, *offer.readers))
        found.append(offer)
    return found


def _rebuild_of(
    name: str, plans: Mapping[str, ViewPlan], known: Mapping[str, Subject]
) -> tuple[Offer, str]:
    """The rebuild of a view, and why it would lose rows, or an empty string."""
    readers = _readers(name, plans)
    again = (name, *readers)
    lost = next(filter(None, (lost_input(known[view], again) for view in again)), "")
    dropped = [table for view in reversed(again) for table in _own_tables(plans[view])]
    return Offer(name, Repair.REBUILD, readers, tuple(dropped)), lost


def _own_tables(plan: ViewPlan) -> tuple[str, ...]:
    """The tables that are computed again: not the quarantine that a keyed table's log fills."""
    kept = quarantine_of(plan.view.name) if plan.view.changes else ""
    return tuple(table for table in tables_of(plan) if table != kept)


def carry_out(project: Project, plans: Mapping[str, ViewPlan], offer: Offer) -> None:
    """Do a repair. The caller holds the lease of the project.

    Raises:
        ServiceError: the catalog or the state folder cannot be written.
        TerminalError: ``REPAIR_OUTDATED`` if the damage is not what it was.
    """
    # looked at again now that nobody else writes
    known = {subject.name: subject for subject in subjects(project, plans)}
    if offer.repair is Repair.REBUILD:
        again = (offer.view, *offer.readers)
        if any(lost_input(known[view], again) for view in again):
            raise _outdated(offer)
        for view in (*reversed(offer.readers), offer.view):
            _rebuild(known[view])
    else:
        _REPAIRS[offer.repair](known[offer.view], offer)
    _forget_errors(project, (offer.view, *offer.readers))


def _forget_errors(project: Project, views: Sequence[str]) -> None:
    """Take the errors of repaired views out of what the supervisor last wrote."""
    path = project.config.state / RUN_FILE
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        for view in views:
            if said["views"].get(view, {}).get("error"):
                said["views"][view] |= {"state": STOPPED, "error": None}
        hidden = path.with_name(f".{RUN_FILE}.{os.getpid()}")
        hidden.write_text(json.dumps(said), encoding="utf-8")
        os.replace(hidden, path)
    except (OSError, ValueError, KeyError):
        return  # nothing was written, or nothing that anybody reads


def _rebuild(subject: Subject) -> None:
    assert subject.plan is not None
    for table in _own_tables(subject.plan):
        drop_table(subject.project.config, table)
        if LakeReader(subject.project.config).table(table) is not None:
            raise ServiceError(
                "REPAIR_FAILED",
                f'table "{table}" could not be dropped',
                hint=f'drop it with Spark or another tool, and the folder "{subject.state}"',
            )
    # a checkpoint without its table is discarded anyway, so the table goes first
    shutil.rmtree(subject.state, ignore_errors=True)


def _cut_back(subject: Subject, offer: Offer) -> None:
    if subject.held is None or subject.verdict is None:
        raise _outdated(offer)
    subject.held.checkpoint.cut_back(subject.verdict.epoch)


def _resume(subject: Subject, offer: Offer) -> None:
    held = subject.held
    if held is None or held.newest is None:
        raise _outdated(offer)

    def offset(name: str, position: str) -> str:
        table = subject.lake.table(name)
        snapshot = table.snapshot(int(position)) if table else None
        if snapshot is None:
            raise _outdated(offer)
        return offset_at(position, snapshot.count("added-data-files"))

    newest, order = held.newest, held.owner.order
    ends, before = (ends_of(cut, order, offset) for cut in (newest.cut_to, newest.cut_from))
    if all(item.kept or item.name is None for item in order):
        held.checkpoint.discard()
    held.checkpoint.restart(newest.epoch, ends, before)
    held.checkpoint.sign(held.owner)


_REPAIRS: Mapping[Repair, Callable[[Subject, Offer], None]] = {
    Repair.CUT_BACK: _cut_back,
    Repair.RESUME: _resume,
}


def _readers(name: str, plans: Mapping[str, ViewPlan]) -> tuple[str, ...]:
    """The views that read a view, directly or not, in topological order."""
    reached = {name}
    for view, plan in plans.items():
        if any(item.name in reached for item in plan.inputs):
            reached.add(view)
    return tuple(view for view in plans if view in reached and view != name)


def _outdated(offer: Offer) -> TerminalError:
    return TerminalError(
        "REPAIR_OUTDATED",
        f'view "{offer.view}" has changed since it was examined',
        hint="run `headwater doctor` again",
    )
