"""``headwater versions`` and ``headwater rollback``: earlier versions of a view."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from headwater.cli.context import NAME, Command, Context, pass_context, require_view
from headwater.errors import EXIT_OK

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
    table = LakeReader(project.config).table(view)
    context.output.rows(
        COLUMNS,
        (
            (
                each.number,
                each.current,
                each.snapshot_id,
                datetime.fromtimestamp(each.at / 1000, UTC),
                each.rows,
                " ".join(each.definition.split()),
            )
            for each in (kept(table) if table else ())
        ),
    )
    return EXIT_OK


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
    change, and runs keep the definition that was brought back until it is applied.
    """
    from headwater.deploy.rollback import rollback as roll_back
    from headwater.machine.java import find_java

    project = context.project()
    for name in views:
        require_view(project, name)
    find_java()
    for name, done in roll_back(project, views, to).items():
        context.output.note(f"{name}: version {done.version}, as it was in an earlier one")
    return EXIT_OK
