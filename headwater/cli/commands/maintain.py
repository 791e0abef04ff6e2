"""``headwater maintain``: keep the tables small."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from headwater.cli.context import NAME, Command, Context, pass_context, plans_of
from headwater.errors import EXIT_OK, EXIT_SERVICE, ConfigError, HeadwaterError

if TYPE_CHECKING:
    from headwater.cli.output import Output
    from headwater.lake.iceberg.maintenance import MaintenanceResult
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
    from headwater.runtime.maintenance_job import maintain_project

    rows: list[tuple[object, ...]] = []
    failed = False
    with _shown(context.output) as show:
        for table, result in maintain_project(project, views, dry_run=dry_run):
            show(table)
            if isinstance(result, HeadwaterError):
                failed = True
                context.output.error(result)
            else:
                rows.append(_row(result))
    context.output.rows(COLUMNS, rows, null="-")
    return EXIT_SERVICE if failed else EXIT_OK


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


@contextmanager
def _shown(output: Output) -> Iterator[Callable[[str], None]]:
    """Say on a terminal what is going on; elsewhere the result says it all."""
    if not (output.for_people and output.err.isatty()):
        yield lambda table: None
        return
    from rich.console import Console

    with Console(file=output.err).status("starting Spark") as status:
        yield lambda table: status.update(f"maintained {table}")
