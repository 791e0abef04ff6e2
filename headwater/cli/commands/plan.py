"""``headwater plan``: what of the files is not in the lake yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from headwater.cli.context import Command, Context, pass_context, plans_of
from headwater.errors import EXIT_NO, EXIT_OK

if TYPE_CHECKING:
    from headwater.cli.output import Output
    from headwater.deploy.changes import ViewChange
    from headwater.deploy.preview import RowChanges

COLUMNS = ("view", "change", "reason", "was", "is", "reads_rows", "reads_bytes", "behind")


@click.command(
    cls=Command,
    short_help="Show what apply would change.",
    examples=("headwater plan", "headwater plan --diff", "headwater plan --output json"),
)
@click.option("--diff", is_flag=True, help="Show the rows that would appear, vanish and change.")
@click.option(
    "--limit",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    metavar="N",
    help="With --diff: so many rows of each view.",
)
@pass_context
def plan(context: Context, diff: bool, limit: int) -> int:
    """Compare the files with the lake: what is new, changed or gone, and why.

    A changed view is built anew beside the old one, which serves until then. The plan says what it
    has to read for that, and which views and sinks read it. Starts no Java and changes nothing.

    With --diff, DuckDB computes the new SELECT over what the newest commit of the view has read.
    Shown is in what its rows differ from those of now.

    Exits with 0 if there is nothing to do, with 1 if there is.
    """
    from headwater.deploy.changes import ProjectChanges

    project = context.project()
    changes = ProjectChanges(project, plans_of(project))
    due = changes.due
    if diff:
        from headwater.deploy.preview import preview

        _show_rows(context.output, due, preview(changes, limit))
    elif due or not context.output.for_people:
        show(context.output, due)
    same = len(changes.changes) - len(due)
    context.output.note(f"{len(due)} to change, {same} unchanged" if due else "nothing to change")
    return EXIT_NO if due else EXIT_OK


def _show_rows(output: Output, changes: Sequence[ViewChange], found: Iterable[RowChanges]) -> None:
    """Write the changes, then the rows of each view."""
    if output.for_people:
        show(output, changes)
        for each in found:
            said = f"{each.appear} appear, {each.vanish} vanish, {each.change} change"
            left_out = f"; not compared: {', '.join(each.left_out)}" if each.left_out else ""
            output.out.write("\n")
            output.rows(("±", *each.columns), each.rows, title=f"{each.view}: {said}{left_out}")
        return
    rows = {each.view: each for each in found}
    output.rows(
        ("view", "change", "reason", "appear", "vanish", "changed", "rows"),
        (
            (change.name, change.kind.value, change.reason or None, *_counted(rows, change.name))
            for change in changes
        ),
    )


def _counted(rows: Mapping[str, RowChanges], name: str) -> tuple[object, ...]:
    found = rows.get(name)
    if found is None:
        return (None, None, None, [])
    shown = [dict(zip(("±", *found.columns), row, strict=True)) for row in found.rows]
    return (found.appear, found.vanish, found.change, shown)


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
