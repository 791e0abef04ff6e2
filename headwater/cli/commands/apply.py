"""``headwater apply``: make the definitions of the files those of the lake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.commands.plan import show
from headwater.cli.commands.verify import show_results
from headwater.cli.context import Command, Context, pass_context, plans_of
from headwater.cli.handover import CommandAnswer, done_here_or_handed_over
from headwater.cli.progress import shown_progress
from headwater.errors import (
    EXIT_NO,
    EXIT_OK,
    ConfigError,
    HeadwaterError,
    TerminalError,
)

if TYPE_CHECKING:
    from headwater.deploy.apply import Applied
    from headwater.deploy.changes import ProjectChanges
    from headwater.project import Project

APPLIED = "applied"
"""File in the state folder of a project whose changes somebody applies."""
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

    A changed view is built anew beside the old version, which serves until then. DuckDB compares
    the new rows with their SELECT. Then one commit puts them, and the new columns, in the place of
    the old ones. Views that read it see the difference as a change.

    A killed apply goes on when it is started again. Exits with 1 if a new version differs from its
    SELECT; then nothing has changed.
    """
    project = context.project()
    changes = _changes(project)
    if not changes.due:
        context.output.note("nothing to change")
        return EXIT_OK
    if context.output.for_people:
        show(context.output, changes.due)
    if not auto_approve:
        _ask()
    project.config.state.mkdir(parents=True, exist_ok=True)
    (project.config.state / APPLIED).touch()
    return done_here_or_handed_over(context, project, apply_task, "apply", {})


def apply_task(
    context: Context, project: Project, _arguments: Mapping[str, Any]
) -> tuple[CommandAnswer, Project]:
    """Apply the changes of a project.

    Args:
        project: as its files have it.

    Returns:
        The new versions, and the project with the definitions that serve then.
    """
    changes = _changes(project)
    done = carry_out(context, changes)
    if done is None:
        return CommandAnswer(EXIT_NO), changes.applied
    return _answer(context, changes, done), changes.project


def _answer(context: Context, changes: ProjectChanges, done: Sequence[Applied]) -> CommandAnswer:
    renamed = [f"renamed {old} to {name}" for name, old in changes.renames.pending.items()]
    columns = COLUMNS if done or not context.output.for_people else ()
    return CommandAnswer(columns=columns, rows=[_row(each) for each in done], notes=renamed)


def _changes(project: Project) -> ProjectChanges:
    from headwater.deploy.changes import ProjectChanges

    return ProjectChanges(project, plans_of(project))


def _row(done: Applied) -> tuple[object, ...]:
    return (done.view, done.version, done.rows, done.verdict)


def carry_out(context: Context, changes: ProjectChanges) -> list[Applied] | None:
    """Apply changes, and show the progress.

    Returns:
        The new versions; None if one differs from its SELECT, so that nothing was changed.
    """
    from headwater.deploy.apply import Unequal
    from headwater.deploy.apply import apply as apply_changes
    from headwater.deploy.changes import Kind
    from headwater.machine.java import find_java

    if any(each.kind not in (Kind.RENAMED, Kind.REMOVED) for each in changes.due):
        find_java()
    try:
        with shown_progress(context.output) as progress:
            done = apply_changes(changes, progress=progress)
    except Unequal as unequal:
        show_results(context.output, unequal.results)
        context.output.note("nothing was changed: a new version differs from its SELECT")
        return None
    return done


def definitions_to_run(context: Context, project: Project, first: bool, once: bool) -> Project:
    """Return the project with the definitions that a run keeps, after applying what it may.

    Args:
        project: as its files have it.
        first: whether changes are applied.
        once: whether they are in a project that nobody has ever applied.

    Raises:
        ConfigError: ``RENAME_COLLIDES``.
        TerminalError: ``APPLY_UNFINISHED``.
    """
    from headwater.deploy.changes import BUILT, INTERRUPTED
    from headwater.deploy.rename import rename

    changes = _changes(project)
    try:
        for name, old in changes.renames.pending.items():
            context.output.note(f"renaming {old} to {name}")
        changes = rename(changes)
        built = [change for change in changes.due if change.kind in BUILT]
    except HeadwaterError as error:
        if error.condition in ("RENAME_COLLIDES", "NOT_YET", "ALREADY_RUNNING"):
            raise
        return project  # the run says of which table
    if not built:
        return project
    names = ", ".join(change.name for change in built)
    if first or (once and not has_applied(project)):
        context.output.note(f"changed: {names}; building beside what is there, then swapping")
        return _applied_first(context, changes)
    if any(each.reason == INTERRUPTED and each.name not in changes.restored for each in built):
        raise TerminalError(
            "APPLY_UNFINISHED",
            f"an apply of {names} was interrupted",
            hint="finish it: headwater apply",
        )
    if kept := [change.name for change in built if change.name not in changes.restored]:
        names = ", ".join(kept)
        context.output.note(
            f"changed, and kept as the lake has them: {names}; "
            "see headwater plan, then headwater apply"
        )
    return _restored(context, changes) if changes.restored else changes.applied


def _restored(context: Context, changes: ProjectChanges) -> Project:
    """Build anew the views whose rows an earlier Headwater stored in another order."""
    names = ", ".join(changes.restored)
    context.output.note(
        f"stored in another order by an earlier Headwater: {names}; "
        "building beside what is there, then swapping"
    )
    changes = _changes(changes.applied)
    if (done := carry_out(context, changes)) is None:
        raise TerminalError(
            "DEFINITION_CHANGED",
            f"the rows of {names} could not be stored in the order of this Headwater",
            hint="see headwater verify, then headwater apply",
        )
    _answer(context, changes, done).show(context)
    return changes.project


def _applied_first(context: Context, changes: ProjectChanges) -> Project:
    """Apply what a run finds changed; what cannot be applied keeps its old definition."""
    try:
        if (done := carry_out(context, changes)) is not None:
            _answer(context, changes, done).show(context)
            return changes.project
    except HeadwaterError as error:
        if error.condition != "NOT_YET":
            raise
        context.output.error(error)
    context.output.note("the run goes on with the old definitions")
    return changes.applied


def has_applied(project: Project) -> bool:
    """Return whether somebody applies the changes of a project, so that runs leave that to them."""
    return (project.config.state / APPLIED).exists()


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
