"""``headwater pause`` and ``headwater resume``: a view stands still for a while."""

from __future__ import annotations

from collections.abc import Sequence

import click

from headwater.cli.context import NAME, Command, Context, pass_context, require_view
from headwater.errors import EXIT_OK

COLUMNS = ("view", "state")


@click.command(
    cls=Command,
    short_help="Let views stand still.",
    examples=("headwater pause product_totals", "headwater status", "headwater resume --all"),
)
@click.argument("views", type=NAME, nargs=-1, required=True, metavar="VIEW...")
@pass_context
def pause(context: Context, views: tuple[str, ...]) -> int:
    """Stop maintaining views until they are resumed.

    The catalog notes it, so it holds for every run of the project. A running one stops after the
    tick that it is in. Inputs are landed as before. What reads a paused view gets no new rows of
    it. Starts no Java.
    """
    return _note(context, views, paused=True)


@click.command(
    cls=Command,
    short_help="Maintain paused views again.",
    examples=("headwater resume product_totals", "headwater resume --all"),
)
@click.argument("views", type=NAME, nargs=-1, metavar="[VIEW]...")
@click.option("--all", "every", is_flag=True, help="Resume all paused views.")
@pass_context
def resume(context: Context, views: tuple[str, ...], every: bool) -> int:
    """Maintain paused views again, from where they had read their inputs. Starts no Java."""
    from headwater.serve.lake_reader import LakeReader

    if every == bool(views):
        raise click.UsageError("name views, or use --all")
    if every:
        views = tuple(sorted(LakeReader(context.project().config).paused()))
        if not views:
            context.output.note("no view is paused")
            return EXIT_OK
        return _note(context, views, paused=False, known=False)
    return _note(context, views, paused=False)


def _note(context: Context, views: Sequence[str], *, paused: bool, known: bool = True) -> int:
    from headwater.serve.lake_reader import pause as note

    project = context.project()
    for name in views if known else ():
        require_view(project, name)
    note(project.config, views if paused else (), () if paused else views)
    context.output.rows(COLUMNS, [(name, "paused" if paused else "resumed") for name in views])
    return EXIT_OK
