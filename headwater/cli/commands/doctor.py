"""``headwater doctor``: what is wrong with tables and checkpoints, and what is safe to do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from headwater.cli.context import NAME, Command, Context, pass_context, require_view
from headwater.errors import EXIT_NO, EXIT_OK, ConfigError, ServiceError
from headwater.errors.words import count

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
    examples=(
        "headwater doctor",
        "headwater doctor departures_per_hour --repair",
        "headwater doctor departures_per_hour --rebuild --yes",
    ),
)
@click.argument("views", type=NAME, nargs=-1, metavar="[VIEW]...")
@click.option("--repair", is_flag=True, help="Do the repairs that the commit markers prove safe.")
@click.option(
    "--rebuild",
    is_flag=True,
    help="Drop each VIEW and the views that read it; the next run computes them from their inputs.",
)
@click.option("--yes", is_flag=True, help="Do not ask before a repair.")
@pass_context
def doctor(context: Context, views: tuple[str, ...], repair: bool, rebuild: bool, yes: bool) -> int:
    """Examine the tables, markers and checkpoints of the project, or those of each VIEW.

    Changes nothing without --repair or --rebuild and starts no Java. Before either, stop the
    project; the command asks before each repair. It never touches rows of landed tables, and never
    drops a view whose rows cannot be computed again. Exits with 1 if problems remain.
    """
    from headwater.serve.doctor.diagnosis import diagnose

    project, plans = context.survey()
    if (repair or rebuild) and project.errors:
        message = "the project has errors, so the readers of a view are not known"
        hint = "correct the errors above, then repair"
        raise ConfigError("PROJECT_BROKEN", message, hint=hint)
    for name in views:
        if name not in project.catalog.sources and (rebuild or name not in project.broken):
            require_view(project, name)
    _tell_owner(context.output, project)
    if rebuild:
        return _rebuild(context.output, project, plans, views, yes=yes)
    findings = diagnose(project, plans, views)
    if repair:
        findings = _repaired(context.output, project, plans, views, findings, yes=yes)
    sound = bool(views) or not project.errors
    _show(context.output, findings, sound=sound)
    return EXIT_OK if sound and not any(each.serious for each in findings) else EXIT_NO


def _rebuild(
    output: Output,
    project: Project,
    plans: dict[str, ViewPlan],
    views: Sequence[str],
    *,
    yes: bool,
) -> int:
    """Drop views that their inputs can compute again; return the exit code."""
    from headwater.serve.doctor.repairs import rebuild_offers

    for name in views:
        require_view(project, name)
    if not views:
        hint = "write: headwater doctor VIEW --rebuild"
        raise ConfigError("USAGE", "--rebuild needs the views to rebuild", hint=hint)
    offers = rebuild_offers(project, plans, views)
    done = _carried_out(output, project, plans, offers, yes=yes)
    if len(done) < len(offers):
        return EXIT_NO
    output.note("compute them with: headwater run")
    return EXIT_OK


def _carried_out(
    output: Output,
    project: Project,
    plans: dict[str, ViewPlan],
    offers: Sequence[Offer],
    *,
    yes: bool,
) -> list[Offer]:
    """Do the repairs that are agreed to, and return them."""
    from headwater.runtime.lease import Lease
    from headwater.serve.doctor.repairs import carry_out

    agreed = [offer for offer in offers if _is_agreed(output, offer, yes=yes)]
    if not agreed:
        return []
    with Lease.acquire(project.config):
        for offer in agreed:
            carry_out(project, plans, offer)
            output.note(f"done: {offer.explained()}")
    return agreed


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
    from headwater.serve.doctor.diagnosis import diagnose
    from headwater.serve.doctor.repairs import offers

    done = _carried_out(output, project, plans, offers(project, plans, findings), yes=yes)
    if not done:
        return list(findings)
    touched = {name for offer in done for name in (offer.view, *offer.readers)}
    return [
        replace(each, serious=False) if each.mends and each.name in touched else each
        for each in diagnose(project, plans, views)
    ]


def _is_agreed(output: Output, offer: Offer, *, yes: bool) -> bool:
    output.note(offer.explained())
    if yes:
        return True
    if not sys.stdin.isatty():
        output.note("not done, because nobody can be asked: add --yes")
        return False
    return click.confirm("repair now?", default=False, err=True)


def _show(output: Output, findings: Sequence[Finding], *, sound: bool) -> None:
    """Print the findings, and what they come to.

    Args:
        sound: whether the project has no errors.
    """
    if not output.for_people:
        output.rows(COLUMNS, [_row(finding) for finding in findings])
        return
    for finding in findings:
        kind = "problem" if finding.serious else "note"
        text = f"{finding.name}: {kind} ({finding.check}): {finding.problem}\n  {finding.safe}"
        if finding.repair:
            text += f"\n  headwater doctor {finding.name} --repair would: {finding.repair.value}"
        output.document({}, text, prose=True)
    serious = sum(finding.serious for finding in findings)
    if serious:
        output.note(count(serious, "problem"))
    else:
        output.note("healthy" if sound else "healthy, except for the errors in the project's files")


def _row(finding: Finding) -> tuple[object, ...]:
    repair = finding.repair.name.lower() if finding.repair else None
    return (
        *(finding.name, finding.check, finding.serious),
        *(finding.problem, finding.safe, repair),
    )
