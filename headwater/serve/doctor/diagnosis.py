"""The diagnosis: every check on every table and view that was asked for.

In: a project and its plans. Out: findings, inputs before what reads them. Starts no JVM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headwater.errors.plain import plain
from headwater.lake.failures import explain_failure
from headwater.serve.doctor.checks import CHECKS
from headwater.serve.doctor.findings import Finding, Subject
from headwater.serve.lake_reader import NOTHING_IS_READABLE, LakeReader
from headwater.serve.status import RUN_FILE, behind, is_alive, read_run_file

if TYPE_CHECKING:
    from headwater.plan.view_plan import ViewPlan
    from headwater.project import Project


_CORRECT = "correct its file, then: headwater check"


def diagnose(
    project: Project, plans: Mapping[str, ViewPlan], names: Sequence[str] = ()
) -> list[Finding]:
    """Return everything that is wrong.

    Args:
        plans: the plans of all its views, in topological order.
        names: the tables, sources and views to look at; all if empty.

    Raises:
        ServiceError: nothing can be read.
    """
    LakeReader(project.config).names()  # that the catalog is damaged is told once
    waits = behind(project, read_run_file(project.config.state / RUN_FILE))
    chosen = [each for each in subjects(project, plans) if not names or each.name in names]
    found = [finding for subject in chosen for finding in _examined(subject)]
    found += [
        Finding(name, "input", reason, "nothing is wrong with it: mend its input", serious=False)
        for name, reason in waits.items()
        if not names or name in names
    ]
    return found + [
        Finding(each.name, "definition", f"the {each.kind} is {each.said}", _CORRECT)
        for each in project.broken.values()
        if not names or each.name in names
    ]


def subjects(project: Project, plans: Mapping[str, ViewPlan]) -> list[Subject]:
    """Return everything there is to look at, inputs before what reads them.

    Args:
        plans: the plans of all its views, in topological order.
    """
    lake = LakeReader(project.config, project.catalog.external)
    said = read_run_file(project.config.state / RUN_FILE)
    running = is_alive(int(said.get("pid", 0)))
    views = said.get("views", {})
    found = [
        Subject(
            name, "table" if item.kept else "source", project, lake, views.get(name, {}), running
        )
        for name, item in project.catalog.sources.items()
        if not item.external
    ]
    return found + [
        Subject(name, "view", project, lake, views.get(name, {}), running, plan)
        for name, plan in plans.items()
    ]


def _examined(subject: Subject) -> list[Finding]:
    """What the checks find; one that cannot look says why, and the others still look."""
    found: list[Finding] = []
    for check in CHECKS:
        try:
            found += check(subject)
        except Exception as error:  # noqa: BLE001 - PyIceberg raises what its storage raises
            known = explain_failure(error)
            if known is not None and known.condition in NOTHING_IS_READABLE:
                raise known from error
            found.append(_unreadable(subject, check.__name__, error))
    return list({(item.problem, item.check): item for item in found}.values())


def _unreadable(subject: Subject, check: str, error: Exception) -> Finding:
    reason = plain(error)
    safe = "restore missing files from a backup; doctor repairs nothing that it cannot read"
    return Finding(subject.name, check, f"it cannot be read: {reason}", safe)
