"""``headwater versions`` and ``headwater rollback``: earlier versions of a view."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.context import NAME, Command, Context, pass_context, plans_of, require_view
from headwater.cli.handover import CommandAnswer, done_here_or_handed_over
from headwater.errors import EXIT_OK
from headwater.errors.words import moment

if TYPE_CHECKING:
    from headwater.project import Project

COLUMNS = ("version", "current", "snapshot", "until", "rows", "definition")


@click.command(
    cls=Command,
    short_help="List the versions of a view that are kept.",
    examples=("headwater versions product_totals",),
)
@click.argument("view", type=NAME)
@pass_context
def versions(context: Context, view: str) -> int:
    """List the versions of a view, the newest first.

    Trino reads the rows of an earlier one with FOR VERSION AS OF the snapshot. Starts no Java.
    """
    from headwater.deploy.rollback import versions as kept
    from headwater.serve.lake_reader import LakeReader

    project, _ = context.survey()
    require_view(project, view)
    table, exact = LakeReader(project.config).table(view), not context.output.for_people
    context.output.rows(
        COLUMNS,
        (
            (
                each.number,
                each.current,
                each.snapshot_id,
                _time(each.at, exact=exact),
                each.rows,
                " ".join(each.definition.split()) if exact else each.definition,
            )
            for each in (kept(table) if table else ())
        ),
        below=("definition",),
    )
    return EXIT_OK


def _time(millis: int, *, exact: bool) -> object:
    at = datetime.fromtimestamp(millis / 1000, UTC)
    return at if exact else moment(at)


@click.command(
    cls=Command,
    short_help="Put an earlier version of a view in the place of the current one.",
    examples=(
        "headwater versions product_totals",
        "headwater rollback product_totals",
        "headwater rollback product_totals --to 1",
    ),
)
@click.argument("views", type=NAME, nargs=-1, required=True, metavar="VIEW...")
@click.option("--to", type=click.IntRange(1), metavar="N", help="The version. [default: the last]")
@pass_context
def rollback(context: Context, views: tuple[str, ...], to: int | None) -> int:
    """Put an earlier version of views in the place of the current one.

    One commit brings back its rows, columns and definition. The view goes on from where that
    version had read its inputs. The files stay as they are: headwater plan shows what they would
    change, and runs keep the definition that was brought back until it is applied. If the project
    is running, the process that runs it does it, and goes on.
    """
    from headwater.machine.java import find_java

    project = context.project()
    for name in views:
        require_view(project, name)
    find_java()
    arguments = {"views": list(views), "to": to}
    return done_here_or_handed_over(context, project, rollback_task, "rollback", arguments)


def rollback_task(
    context: Context, project: Project, arguments: Mapping[str, Any]
) -> tuple[CommandAnswer, Project]:
    """Put an earlier version of views in the place of the current one.

    Args:
        project: as its files have it.
        arguments: the ``views``, and the version ``to`` go back to.

    Returns:
        What was done, and the project with the definitions that serve then.
    """
    from headwater.deploy.changes import ProjectChanges
    from headwater.deploy.rollback import rollback as roll_back

    done = roll_back(project, arguments["views"], arguments["to"])
    notes = [
        f"{name}: version {each.version}, as it was in an earlier one"
        for name, each in done.items()
    ]
    return CommandAnswer(notes=notes), ProjectChanges(project, plans_of(project)).applied
