"""``headwater apply``: make the definitions of the files those of the lake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from headwater.cli.commands.plan import show
from headwater.cli.commands.verify import show_results
from headwater.cli.context import Command, Context, pass_context, plans_of
from headwater.cli.progress import shown_progress
from headwater.errors import EXIT_NO, EXIT_OK, ConfigError

if TYPE_CHECKING:
    from headwater.deploy.changes import ProjectChanges
    from headwater.project import Project

COLUMNS = ("view", "version", "rows", "verified")


@click.command(
    cls=Command,
    short_help="Build what changed beside what serves, check it, swap it.",
    examples=("headwater plan", "headwater apply", "headwater apply --auto-approve"),
)
@click.option("--auto-approve", is_flag=True, help="Do not ask.")
@pass_context
def apply(context: Context, auto_approve: bool) -> int:
    """Make the definitions of the files those of the lake.

    A changed view is built anew beside the old version, which serves until then. The new rows are
    compared with their SELECT by DuckDB, and one commit puts them, and the new columns, in the
    place of the old ones. Views that read it see the difference as a change.

    A killed apply goes on when it is started again. Exits with 1 if a new version differs from its
    SELECT; then nothing has changed.
    """
    from headwater.deploy.changes import Kind, ProjectChanges

    project = context.project()
    comparison = ProjectChanges(project, plans_of(project))
    due = [change for change in comparison.changes if change.kind is not Kind.UNCHANGED]
    if not due:
        context.output.note("nothing to change")
        return EXIT_OK
    if context.output.for_people:
        show(context.output, due)
    if not auto_approve:
        _ask()
    return carry_out(context, project, comparison)


def carry_out(context: Context, project: Project, comparison: ProjectChanges) -> int:
    """Apply changes and write what was done.

    Returns:
        The exit code.
    """
    from headwater.deploy.apply import Unequal, apply
    from headwater.machine.java import find_java

    find_java()
    try:
        with shown_progress(context.output) as progress:
            done = apply(project, comparison, progress=progress)
    except Unequal as unequal:
        show_results(context.output, unequal.results)
        context.output.note("nothing was changed: a new version differs from its SELECT")
        return EXIT_NO
    if done or not context.output.for_people:
        rows = ((each.view, each.version, each.rows, each.verdict) for each in done)
        context.output.rows(COLUMNS, rows)
    return EXIT_OK


def _ask() -> None:
    import sys

    if not sys.stdin.isatty():
        raise ConfigError(
            "NOT_APPROVED",
            "there is nobody to ask",
            hint="look at headwater plan, then: headwater apply --auto-approve",
        )
    if not click.confirm("apply?", err=True):
        raise ConfigError("NOT_APPROVED", "nothing was changed")
