"""``headwater maintain``: keep the tables small."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.context import NAME, Command, Context, pass_context, plans_of
from headwater.cli.handover import CommandAnswer, done_here_or_handed_over
from headwater.errors import EXIT_OK, EXIT_SERVICE, ConfigError, HeadwaterError

if TYPE_CHECKING:
    from headwater.lake.protocol.maintenance import MaintenanceResult
    from headwater.project import Project

COLUMNS = (
    *("table", "files", "files_after", "delete_files", "delete_files_after"),
    *("snapshots", "snapshots_after", "bytes", "bytes_after", "done"),
)


@click.command(
    cls=Command,
    short_help="Compact files, expire snapshots, delete orphaned files.",
    examples=("headwater maintain", "headwater maintain orders --dry-run"),
)
@click.argument("views", type=NAME, nargs=-1, metavar="[VIEW]...")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@pass_context
def maintain(context: Context, views: tuple[str, ...], dry_run: bool) -> int:
    """Maintain all tables of the project, or each VIEW or table with its side tables.

    A running project maintains itself, as [maintain] in headwater.toml says. Maintenance expires
    neither the newest commit marker nor a snapshot from which a view continues. Exits with 3 if a
    table failed.
    """
    from headwater.machine.java import find_java

    project = context.project()
    plans_of(project)
    for name in views:
        _require_known(project, name)
    find_java()
    arguments = {"views": list(views), "dry_run": dry_run}
    return done_here_or_handed_over(context, project, maintain_task, "maintain", arguments)


def maintain_task(
    context: Context, project: Project, arguments: Mapping[str, Any]
) -> tuple[CommandAnswer, None]:
    """Maintain tables.

    Args:
        arguments: the ``views``, all if there are none; ``dry_run``.

    Returns:
        What was done to each table; the definitions stay.
    """
    from headwater.runtime.maintenance_job import maintain_project

    rows: list[tuple[object, ...]] = []
    failed = False
    names, dry_run = arguments["views"], arguments["dry_run"]
    for table, result in maintain_project(project, names, dry_run=dry_run):
        context.output.step(f"maintained {table}", minor=True)
        if isinstance(result, HeadwaterError):
            failed = True
            context.output.error(result)
        else:
            rows.append(_row(result))
    return CommandAnswer(EXIT_SERVICE if failed else EXIT_OK, COLUMNS, rows), None


def _require_known(project: Project, name: str) -> None:
    known = [*project.catalog.sources, *project.catalog.views, *project.catalog.sinks]
    if name not in known:
        hint = f"there are: {', '.join(known) or 'none'}"
        raise ConfigError("UNKNOWN_VIEW", f'view, table or sink "{name}" does not exist', hint=hint)


def _row(result: MaintenanceResult) -> tuple[object, ...]:
    before, after = result.before, result.after
    done = "; ".join(f"{step}: {said}" for step, said in result.done.items())
    return (
        *(result.table, before.data_files, after.data_files),
        *(before.delete_files, after.delete_files, before.snapshots, after.snapshots),
        *(before.bytes, after.bytes, done or None),
    )
