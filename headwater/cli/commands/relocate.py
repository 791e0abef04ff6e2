"""``headwater relocate``: go on with a lake that was moved or copied."""

from __future__ import annotations

import click

from headwater.cli.context import Command, Context, pass_context
from headwater.errors import EXIT_OK

COLUMNS = ("table", "format", "manifests", "delete_files")


@click.command(
    cls=Command,
    short_help="Go on with a lake that was moved or copied.",
    examples=("headwater relocate", "headwater relocate --project /data/copy --output json"),
)
@pass_context
def relocate(context: Context) -> int:
    """Make the catalog name the place where the project's tables lie now.

    Writes the metadata of each table anew, with all snapshots and commit markers, then changes the
    catalog in one transaction. Data files stay as they are. A copy becomes a lake of its own; the
    original is not touched. Starts no Java. If it is killed, run it again.
    """
    from headwater.deploy.relocate import relocate as move
    from headwater.lake.storage.places import local_path

    project, _ = context.survey()
    found = move(project, lambda name: context.output.note(f"relocating {name}"))
    rows = ((t.table, t.format, t.manifests, t.delete_files) for t in found.tables)
    context.output.rows(COLUMNS, rows)
    now = local_path(found.now) or found.now
    if found.before is None:
        context.output.note(f'the lake at "{now}" lies where it was written')
        return EXIT_OK
    before = local_path(found.before) or found.before
    if found.is_copy:
        said = f'is a copy; the original stays at "{before}"'
    elif before == now:
        said = "belongs to this catalog now"
    else:
        said = f'was moved from "{before}"'
    context.output.note(f'the lake at "{now}" {said}')
    return EXIT_OK
