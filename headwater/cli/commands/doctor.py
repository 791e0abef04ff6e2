"""``headwater doctor``: what is wrong with tables and checkpoints, and what is safe to do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from headwater.cli.context import Command, Context, pass_context, plans_of, require_view
from headwater.errors import EXIT_NO, EXIT_OK, ServiceError

if TYPE_CHECKING:
    from headwater.cli.output import Output
    from headwater.plan.view_plan import ViewPlan
    from headwater.project import Project
    from headwater.serve.doctor.findings import Finding
    from headwater.serve.doctor.repairs import Offer

COLUMNS = ("name", "check", "serious", "problem", "safe", "repair")


@click.command(
    cls=Command,
    short_help="Find damage, and repair what is safe.",
    examples=("headwater doctor", "headwater doctor departures_per_hour --repair"),
)
@click.argument("views", nargs=-1, metavar="[VIEW]...")
@click.option("--repair", is_flag=True, help="Do the repairs that the commit markers prove safe.")
@click.option("--yes", is_flag=True, help="Do not ask before a repair.")
@pass_context
def doctor(context: Context, views: tuple[str, ...], repair: bool, yes: bool) -> int:
    """Examine the tables, markers and checkpoints of the project, or those of each VIEW.

    Changes nothing without --repair and starts no Java. For --repair, stop the project first; the
    command asks before each repair. It never touches rows of landed tables. Exits with 1 if there
    are problems.
    """
    from headwater.serve.doctor.diagnosis import diagnose

    project = context.project()
    for name in views:
        if name not in project.catalog.sources:
            require_view(project, name)
    plans = plans_of(project)
    _tell_owner(context.output, project)
    findings = diagnose(project, plans, views)
    if repair:
        findings = _repaired(context.output, project, plans, views, findings, yes=yes)
    _show(context.output, findings)
    return EXIT_NO if any(finding.serious for finding in findings) else EXIT_OK


def _tell_owner(output: Output, project: Project) -> None:
    """Say who runs the project: what is found may be on its way."""
    from headwater.lake.catalogs.lease_record import Life
    from headwater.lake.catalogs.opening import owner_of

    try:
        owner = owner_of(project.config)
    except ServiceError:
        return  # that the catalog cannot be read is told for each table
    if owner is None or owner.life is Life.DEAD:
        return
    unsure = "" if owner.life is Life.ALIVE else " (this host cannot tell whether it still runs)"
    output.note(f"the project is run by {owner}{unsure}; stop it before a repair")


def _repaired(
    output: Output,
    project: Project,
    plans: dict[str, ViewPlan],
    views: Sequence[str],
    findings: Sequence[Finding],
    *,
    yes: bool,
) -> list[Finding]:
    """Do the repairs that are agreed to; return what is found afterwards."""
    from headwater.runtime.lease import Lease
    from headwater.serve.doctor.diagnosis import diagnose
    from headwater.serve.doctor.repairs import carry_out, offers

    agreed = [
        offer for offer in offers(project, plans, findings) if _is_agreed(output, offer, yes=yes)
    ]
    if not agreed:
        return list(findings)
    with Lease.acquire(project.config):
        for offer in agreed:
            carry_out(project, plans, offer)
            output.note(f"done: {offer.explained()}")
    return diagnose(project, plans, views)


def _is_agreed(output: Output, offer: Offer, *, yes: bool) -> bool:
    output.note(offer.explained())
    if yes:
        return True
    if not sys.stdin.isatty():
        output.note("not done, because nobody can be asked: add --yes")
        return False
    return click.confirm("repair now?", default=False, err=True)


def _show(output: Output, findings: Sequence[Finding]) -> None:
    if not output.for_people:
        output.rows(COLUMNS, [_row(finding) for finding in findings])
        return
    for finding in findings:
        kind = "problem" if finding.serious else "note"
        text = f"{finding.name}: {kind} ({finding.check}): {finding.problem}\n  {finding.safe}"
        if finding.repair:
            text += f"\n  headwater doctor {finding.name} --repair would: {finding.repair.value}"
        output.document({}, text)
    serious = sum(finding.serious for finding in findings)
    output.note(f"{serious} problem{'' if serious == 1 else 's'}" if serious else "healthy")


def _row(finding: Finding) -> tuple[object, ...]:
    repair = finding.repair.name.lower() if finding.repair else None
    return (
        *(finding.name, finding.check, finding.serious),
        *(finding.problem, finding.safe, repair),
    )
