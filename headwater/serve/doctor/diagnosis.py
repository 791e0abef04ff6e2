"""The diagnosis: every check on every table and view that was asked for.

In: a project and its plans. Out: findings, inputs before what reads them. Starts no JVM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headwater.errors import HeadwaterError
from headwater.lake.failures import OUT_OF_REACH, explain_failure
from headwater.serve.doctor.checks import CHECKS
from headwater.serve.doctor.findings import Finding, Subject
from headwater.serve.lake_reader import LakeReader
from headwater.serve.status import RUN_FILE, is_alive, read_run_file

if TYPE_CHECKING:
    from headwater.plan.view_plan import ViewPlan
    from headwater.project import Project


def diagnose(
    project: Project, plans: Mapping[str, ViewPlan], names: Sequence[str] = ()
) -> list[Finding]:
    """Return everything that is wrong.

    Args:
        plans: the plans of all its views, in topological order.
        names: the tables, sources and views to look at; all if empty.

    Raises:
        ServiceError: ``CATALOG_UNREADABLE`` if nothing can be read; ``CATALOG_DOWN``,
            ``STORE_DOWN``, … if catalog or object store do not answer.
    """
    chosen = [each for each in subjects(project, plans) if not names or each.name in names]
    return [finding for subject in chosen for finding in _examined(subject)]


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
            if known is not None and known.condition in OUT_OF_REACH:
                raise known from error
            found.append(_unreadable(subject, check.__name__, error))
    return list({(item.problem, item.check): item for item in found}.values())


def _unreadable(subject: Subject, check: str, error: Exception) -> Finding:
    said = error.message if isinstance(error, HeadwaterError) else str(error).strip()
    reason = (said or type(error).__name__).splitlines()[0]
    safe = "restore missing files from a backup; doctor repairs nothing that it cannot read"
    return Finding(subject.name, check, f"it cannot be read: {reason}", safe)
