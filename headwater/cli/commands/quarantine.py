"""``headwater quarantine``: the rows that could not become rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.context import NAME, Command, Context, pass_context
from headwater.cli.handover import CommandAnswer, done_here_or_handed_over
from headwater.errors import EXIT_NO, EXIT_OK
from headwater.errors.words import moment

if TYPE_CHECKING:
    from headwater.intake.replay import Replayed
    from headwater.project import Project

REASONS = ("table", "reason", "rows", "first_arrival", "last_arrival", "example")
ROWS = ("table", "place", "arrived_at", "reason", "raw")
REPLAYED = ("table", "waiting", "landed", "still_bad", "not_decoded", "files_read", "files_gone")


@click.group(short_help="List quarantined rows, or decode them again.")
def quarantine() -> None:
    """Rows that could not be decoded or broke a constraint, with bytes, place and reason."""


@quarantine.command(
    "list",
    cls=Command,
    short_help="Count quarantined rows by reason.",
    examples=("headwater quarantine list", "headwater quarantine list orders --rows 20"),
)
@click.argument("tables", type=NAME, nargs=-1, metavar="[TABLE]...")
@click.option(
    "--rows", type=click.IntRange(1), metavar="N", help="Show the newest N rows of each table."
)
@pass_context
def list_(context: Context, tables: tuple[str, ...], rows: int | None) -> int:
    """Show how many rows are quarantined, why, since when, and the place of one of them.

    The place is file:row, or the file alone if none of it could be read. Exits with 1 if a
    quarantine cannot be read.
    """
    from headwater.serve.quarantine import bad_rows, waiting

    project, _ = context.survey()
    unread: dict[str, str] = {}
    at = moment if context.output.for_people else lambda time: time
    if rows:
        found = bad_rows(project, tables, rows, unread)
        context.output.rows(
            ROWS,
            [(r.table, r.place, at(r.arrived_at), r.reason, r.raw) for r in found],
            null="-",
            below=("raw", "reason"),
        )
    else:
        groups = waiting(project, tables, unread)
        context.output.rows(
            REASONS,
            [(g.table, g.reason, g.rows, at(g.first), at(g.last), g.example) for g in groups],
            below=("reason",),
            spare=("first_arrival",),
        )
    for name, reason in unread.items():
        context.output.note(f'left out: the quarantine of "{name}": {reason}')
    return EXIT_NO if unread else EXIT_OK


@quarantine.command(
    cls=Command,
    short_help="Decode the quarantined rows of a table again.",
    examples=("headwater quarantine replay orders --dry-run", "headwater quarantine replay orders"),
)
@click.argument("table", type=NAME, metavar="TABLE")
@click.option("--dry-run", is_flag=True, help="Only show what would become of the rows.")
@pass_context
def replay(context: Context, table: str, dry_run: bool) -> int:
    """Decode the quarantined rows of TABLE again, by its present definition.

    Good rows are landed once, with their old place. They arrive now, so a view may drop them as
    late. The other rows stay in the quarantine with their newest reason. Files that could not be
    read at all are read again if they still exist.

    These corrections work: another timestamp_format, date_format, delimiter or null_value, no NOT
    NULL, another computed column, a larger max_future, a corrected file. Another column type does
    not work: a landed table retains its columns (SCHEMA_CHANGED).
    """
    from headwater.machine.java import find_java
    from headwater.runtime.replay import require_replayable

    project = context.project()
    require_replayable(project, table)
    find_java()
    arguments = {"table": table, "dry_run": dry_run}
    return done_here_or_handed_over(context, project, replay_task, "quarantine replay", arguments)


def replay_task(
    _context: Context, project: Project, arguments: Mapping[str, Any]
) -> tuple[CommandAnswer, None]:
    """Decode a quarantine again.

    Args:
        arguments: the ``table``; ``dry_run``.

    Returns:
        What was done; the definitions stay.
    """
    from headwater.runtime.replay import replay_quarantine

    dry_run = arguments["dry_run"]
    done = replay_quarantine(project, arguments["table"], dry_run=dry_run)
    row = (done.table, done.waiting, done.landed, done.refused, done.untouched)
    notes = list(_remarks(done, dry_run=dry_run))
    rows = [(*row, done.files, len(done.gone))]
    return CommandAnswer(columns=REPLAYED, rows=rows, notes=notes), None


def _remarks(done: Replayed, *, dry_run: bool) -> Iterator[str]:
    if not done.waiting:
        yield f'the quarantine of "{done.table}" is empty'
        return
    if done.gone:
        yield f"files that no longer exist: {', '.join(done.gone)}"
    if done.untouched > len(done.gone):
        yield "not decoded: long records, stored in part, or rows whose file header is gone"
    if dry_run:
        yield "nothing was changed (--dry-run)"
    elif done.landed:
        yield "views read the landed rows in the next: headwater run"
