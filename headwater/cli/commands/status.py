"""``headwater status``: how tables and views are doing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import click

from headwater.cli.context import Command, Context, pass_context
from headwater.errors import EXIT_NO, EXIT_OK
from headwater.errors.words import about, count, moment

if TYPE_CHECKING:
    from headwater.project import Project
    from headwater.serve.status import Status

COLUMNS = (
    *("name", "kind", "state", "epoch", "watermark", "held_by", "held_since", "lag", "age"),
    *("waiting_records", "lost_records", "changed_files", "building"),
    *("in", "out", "late", "quarantined", "unknown", "added", "rows", "cut", "problem"),
)
_SELDOM = (
    *("held_by", "held_since", "waiting_records", "lost_records", "changed_files", "building"),
    *("late", "quarantined", "unknown", "added", "problem"),
)
"""Columns that people see only where they say something."""
_BELOW = ("unknown", "added", "problem", "building", "held_since", "held_by")
"""Columns of long texts, the first to go below a table that is too wide first."""
_SPARE = ("cut", "out", "in", "kind", "epoch", "waiting_records", "changed_files")
"""Columns that a narrow screen has no room for, the least needed first."""
_SHOWN = 3
CLEAR = "\x1b[H\x1b[2J"


@click.command(
    cls=Command,
    short_help="Show state, watermark, lag and rows of every view.",
    examples=("headwater status", "headwater status --watch", "headwater status --output json"),
)
@click.option("--watch", is_flag=True, help="Refresh until Ctrl-C.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between two refreshes with --watch.",
)
@pass_context
def status(context: Context, watch: bool, interval: float) -> int:
    """Show every landed table, view and sink.

    Lag is the number of commits of its inputs that a view or sink has not read yet. Age is the time
    since its newest commit. Rows are counted over the commits that are retained.

    A view is as far in event time as the input that is least far. If that is not as far as another
    one, it stands in held_by, and held_since is when its watermark last moved.

    A table's watermark is the one that the rows of its newest epoch were judged by. A view has read
    these rows too, so its watermark can be further.

    Changed are files that were changed after they had been read; each file is read once.

    Waiting are records of Kafka or Redis that a table has not read yet; the partition with most of
    them is in brackets. Lost are records that were deleted before they were read.

    Building is how far a view is, or its next version, that reads all rows of its inputs.

    Unknown are fields that a table does not declare, with the number of records that had them.
    Added are new columns, with the first epoch that has them.

    The cut names the commits of landed tables that a view has read, as table@epoch. Views with the
    same cut agree.

    Starts no Java and asks nothing of a running process. JSON has all partitions and fields. Exits
    with 1 if a definition has an error or a table cannot be read.
    """
    from headwater.serve.status import status as read_status

    project, _ = context.survey()
    while True:
        found = read_status(project)
        rows = [_row(each, exact=not context.output.for_people) for each in found]
        if watch and context.output.out.isatty():
            context.output.out.write(CLEAR)
        columns = _telling(rows) if context.output.for_people else range(len(COLUMNS))
        chosen = [tuple(row[at] for at in columns) for row in rows]
        names = [COLUMNS[at] for at in columns]
        context.output.rows(names, chosen, null="-", below=_BELOW, spare=_SPARE)
        for text in _remarks(project, found):
            context.output.note(text)
        if not watch:
            sound = not project.errors and all(each.judged for each in found)
            return EXIT_OK if sound else EXIT_NO
        context.output.out.flush()
        time.sleep(interval)


def _telling(rows: Sequence[tuple[object, ...]]) -> list[int]:
    """Return the columns that say something of at least one row."""
    return [
        at
        for at, column in enumerate(COLUMNS)
        if column not in _SELDOM or any(row[at] not in (None, "0") for row in rows)
    ]


def _remarks(project: Project, found: Sequence[Status]) -> Iterator[str]:
    """Say what a person can do about what the table shows, or how to read it."""
    marks = {each.name: each.watermark for each in found}
    ahead = {
        read
        for each in found
        if each.watermark and each.lag == 0 and each.name in project.catalog.views
        for read in project.catalog.views[each.name].inputs
        if (mark := marks.get(read)) and mark < each.watermark
    }
    if ahead:
        yield (
            f"watermark of {', '.join(sorted(ahead))}: the one that its newest epoch was judged by;"
            " views that have read that epoch are further"
        )
    for each in found:
        if each.changed_files:
            yield (
                f"{each.name}: {count(each.changed_files, 'file')} changed after being read, and"
                " each file is read once\n  hint: write added lines into a new file"
            )


def _row(each: Status, exact: bool) -> tuple[object, ...]:
    age: object = None
    if each.age is not None:
        age = round(each.age.total_seconds(), 3) if exact else about(each.age)

    def at(time: datetime | None) -> object:
        return time if exact or time is None else moment(time)

    def number(value: int | None) -> object:
        return value if exact or value is None else f"{value:,}"

    changed = each.changed_files if exact else each.changed_files or None
    return (
        *(each.name, each.kind, each.state, each.epoch, at(each.watermark)),
        *((each.held_by.name, at(each.held_by.since)) if each.held_by else (None, None)),
        *(each.lag, age),
        each.waiting if exact else _most(each.waiting),
        *(
            number(each.lost),
            number(changed),
        ),
        each.building if exact or each.building is None else _built(each.building),
        *(
            *map(number, (each.rows_in, each.rows_out, each.late, each.quarantined)),
            (each.unknown if exact else _shortly(each.unknown, "{0} ({1})")) or None,
            (each.added if exact else _shortly(each.added, "{0}@{1}")) or None,
            number(each.rows),
            ", ".join(each.cut) or None,
            each.problem or None,
        ),
    )


def _most(waiting: Mapping[str, int] | None) -> object:
    """Return how many records wait, and where most of them do."""
    if waiting is None:
        return None
    partition = max(waiting, key=lambda name: waiting[name])
    total = sum(waiting.values())
    most = f" ({waiting[partition]:,} in {partition})" if total and len(waiting) > 1 else ""
    return f"{total:,}{most}"


def _built(building: Mapping[str, int | None]) -> str:
    """Return how far a view is that reads the history of its inputs."""
    done, total, left = building["done"] or 0, building["total"] or 1, building["seconds_left"]
    ends = "" if left is None else f", {about(left)} left"
    return f"{100 * done // total} % of {count(total, 'row')}{ends}"


def _shortly(numbers: Mapping[str, int], form: str) -> str:
    """Return the first names and their numbers, as a screen has room for."""
    shown = [form.format(*each) for each in numbers.items()]
    more = [f"{len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
    return ", ".join([*shown[:_SHOWN], *more])
