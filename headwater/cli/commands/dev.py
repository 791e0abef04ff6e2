"""``headwater dev``: the first rows of a view on every save."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from headwater.cli.context import Command, Context, pass_context
from headwater.errors import EXIT_OK

if TYPE_CHECKING:
    from headwater.cli.output import Output
    from headwater.deploy.dev import Look

LOOK_EVERY = 0.2
"""Seconds between two looks at the files."""


@click.command(
    cls=Command,
    short_help="Show errors, or the first rows of a view, on every save.",
    examples=("headwater dev", "headwater dev --limit 30"),
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    metavar="N",
    help="So many rows of each view.",
)
@pass_context
def dev(context: Context, limit: int) -> int:
    """Watch the files of the project, until Ctrl-C.

    On every save it shows the errors of the files, or the first rows of each view that changed.
    DuckDB computes them over what has landed. Windows that are not over yet are shown, too. Starts
    no Java and writes nothing.
    """
    from headwater.deploy.dev import looks

    root = context.root()
    try:
        for look in looks(root, limit, LOOK_EVERY):
            _show(context.output, look)
    except KeyboardInterrupt:
        pass
    return EXIT_OK


def _show(output: Output, look: Look) -> None:
    for error in look.errors:
        output.error(error)
    for each in look.changed:
        if each.error:
            output.error(each.error)
        else:
            output.rows(each.columns, each.rows, title=f"{each.view} ({each.seconds:.1f} s)")
    if not look.errors and not look.changed:
        output.note(f"{look.views} views, no errors; waiting for a save")
