"""``headwater cut``: one state of all views, by name."""

from __future__ import annotations

import click

from headwater.cli.context import Command, Context, pass_context, plans_of
from headwater.errors import EXIT_OK

COLUMNS = ("table", "epoch", "snapshot")


@click.command(
    cls=Command,
    short_help="Name one common state of all views.",
    examples=(
        "headwater cut month_end",
        "headwater cut latest --replace",
        'headwater sql "SELECT * FROM product_totals" --cut month_end',
    ),
)
@click.argument("name")
@click.option("--replace", is_flag=True, help="Move a cut of this name that is there.")
@pass_context
def cut(context: Context, name: str, replace: bool) -> int:
    """Tag all views, and the tables that they read, at their newest common cut.

    It is the newest state in which all views have read the same of every landed table. Trino reads
    it by FOR VERSION AS OF 'NAME', headwater sql by --cut NAME, PyIceberg by the tag. What has the
    tag is never expired. Works while a run writes, and starts no Java.
    """
    from headwater.deploy.cut import cut as cut_tables

    project = context.project()
    found = cut_tables(project, plans_of(project), name, replace=replace)
    context.output.rows(COLUMNS, ((each.name, each.epoch, each.snapshot_id) for each in found))
    return EXIT_OK
