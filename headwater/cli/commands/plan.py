"""``headwater plan``: what of the files is not in the lake yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from headwater.cli.context import Command, Context, pass_context, plans_of
from headwater.errors import EXIT_NO, EXIT_OK

if TYPE_CHECKING:
    from headwater.cli.output import Output
    from headwater.deploy.changes import ViewChange

COLUMNS = ("view", "change", "reason", "was", "is", "reads_rows", "reads_bytes", "behind")


@click.command(
    cls=Command,
    short_help="Show what apply would change.",
    examples=("headwater plan", "headwater plan --output json"),
)
@pass_context
def plan(context: Context) -> int:
    """Compare the files with the lake: what is new, changed or gone, and why.

    A changed view is built anew beside the old one, which serves until then. The plan says what it
    has to read for that, and which views and sinks read it. Starts no Java and changes nothing.

    Exits with 0 if there is nothing to do, with 1 if there is.
    """
    from headwater.deploy.changes import ProjectChanges

    project = context.project()
    changes = ProjectChanges(project, plans_of(project))
    due = changes.due
    if due or not context.output.for_people:
        show(context.output, due)
    same = len(changes.changes) - len(due)
    context.output.note(f"{len(due)} to change, {same} unchanged" if due else "nothing to change")
    return EXIT_NO if due else EXIT_OK


def show(output: Output, changes: Iterable[ViewChange]) -> None:
    """Write one row per change.

    Args:
        changes: in the order in which they are applied.
    """
    output.rows(
        COLUMNS,
        (
            (
                change.name,
                change.kind.value,
                change.reason or None,
                change.old or None,
                change.new or None,
                change.reads.rows or None,
                change.reads.bytes or None,
                ", ".join(change.behind) or None,
            )
            for change in changes
        ),
        null="-",
    )
