"""``headwater plan``: what of the files is not in the lake yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from headwater.cli.context import Command, Context, pass_context, plans_of
from headwater.errors import EXIT_NO, EXIT_OK

if TYPE_CHECKING:
    from headwater.cli.output import Output
    from headwater.deploy.changes import Changes, ViewChange
    from headwater.deploy.preview import RowChanges

COLUMNS = (
    *("view", "change", "reason", "was", "is", "reads_rows", "reads_bytes", "seconds"),
    *("behind", "breaks"),
)
_SELDOM = ("reads_rows", "reads_bytes", "seconds", "breaks")
"""Columns that people see only where they say something."""
_BELOW = ("behind", "breaks", "was", "is", "reason")
"""Columns of long texts, the first to go below a table that is too wide first."""


@click.command(
    cls=Command,
    short_help="Show what apply would change.",
    examples=(
        "headwater plan",
        "headwater plan --diff",
        "headwater plan --against main",
        "headwater plan --output json",
    ),
)
@click.option(
    "--against",
    "state",
    metavar="DIR|COMMIT",
    help="Compare with a folder, or with a commit of git, instead of the lake.",
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
def plan(context: Context, state: str | None, diff: bool, limit: int) -> int:
    """Compare the files with the lake: what is new, changed or gone, and why.

    A changed view is built anew beside the old one, which serves until then. The plan says what it
    has to read for that, and how long that takes, by what its own commits took. Behind it are the
    views and sinks that read it, its charts, and the tests that name it. What reads a column that
    is gone breaks. Starts no Java and changes nothing.

    With --diff, DuckDB computes the new SELECT over what the newest commit of the view has read.
    Shown is in what its rows differ from those of now.

    With --against, the files are compared with another state of them, so no lake is needed.

    Exits with 0 if there is nothing to do, with 1 if there is.
    """
    from headwater.deploy.changes import ProjectChanges

    if diff and state is not None:
        raise click.UsageError("--diff needs a lake, --against reads none")
    project = context.project()
    plans = plans_of(project, thoroughly=False)
    if state is not None:
        from headwater.deploy.against import against

        found: Changes = against(project, plans, state)
    else:
        found = changes = ProjectChanges(project, plans)
    due = found.due
    if diff:
        from headwater.deploy.preview import preview

        _show_rows(context.output, due, preview(changes, limit))
    elif due or not context.output.for_people:
        show(context.output, due)
    same = len(found.changes) - len(due)
    context.output.note(f"{len(due)} to change, {same} unchanged" if due else "nothing to change")
    return EXIT_NO if due else EXIT_OK


def _show_rows(output: Output, changes: Sequence[ViewChange], found: Iterable[RowChanges]) -> None:
    """Write the changes, then the rows of each view."""
    if output.for_people:
        show(output, changes)
        for each in found:
            output.out.write("\n")
            title = "; ".join(_in_words(each))
            if each.rows:
                output.rows(("±", *each.columns), _without_absent(each), title=title)
            else:
                output.document({}, title, prose=True)
        return
    rows = {each.view: each for each in found}
    output.rows(
        ("view", "change", "reason", "appear", "vanish", "changed", "rows", "renamed"),
        (
            (change.name, change.kind.value, change.reason or None, *_counted(rows, change.name))
            for change in changes
        ),
    )


def _in_words(found: RowChanges) -> Iterator[str]:
    """What becomes of the rows and columns of a view."""
    numbers = {"appear": found.appear, "vanish": found.vanish, "change": found.change}
    said = ", ".join(f"{number:,} {word}" for word, number in numbers.items() if number)
    yield f"{found.view}: {said or 'the same rows'}"
    for name, was in found.renamed.items():
        yield f"column {was} is named {name} now, and its values are compared"
    for word, names in (("new", found.added), ("gone", found.gone)):
        if shown := [name for name in names if name not in found.left_out]:
            yield f"{word}: column {', '.join(shown)}"
    if found.left_out:
        yield f"approximate, so its values are not compared: {', '.join(found.left_out)}"


def _without_absent(found: RowChanges) -> list[Sequence[object]]:
    """The rows, empty where one side has no such column: NULL would be a value."""
    absent = {"+": found.gone, "-": found.added}
    return [
        (
            sign,
            *("" if name in absent[str(sign)] else value
              for name, value in zip(found.columns, row, strict=True)),
        )
        for sign, *row in found.rows
    ]  # fmt: skip


def _counted(rows: Mapping[str, RowChanges], name: str) -> tuple[object, ...]:
    found = rows.get(name)
    if found is None:
        return (None, None, None, [], {})
    shown = [dict(zip(("±", *found.columns), row, strict=True)) for row in found.rows]
    return (found.appear, found.vanish, found.change, shown, dict(found.renamed))


def show(output: Output, changes: Iterable[ViewChange]) -> None:
    """Write one row per change.

    Args:
        changes: in the order in which they are applied.
    """
    rows = [_row(change, exact=not output.for_people) for change in changes]
    chosen = [
        at
        for at, column in enumerate(COLUMNS)
        if not output.for_people or column not in _SELDOM or any(row[at] for row in rows)
    ]
    names = [COLUMNS[at] for at in chosen]
    shown = [tuple(row[at] for at in chosen) for row in rows]
    output.rows(names, shown, null="-", below=_BELOW)


def _row(change: ViewChange, exact: bool) -> tuple[object, ...]:
    seconds = None if change.seconds is None else max(round(change.seconds), 1)
    reads = (change.reads.rows or None, change.reads.bytes or None, seconds)
    return (
        *(change.name, change.kind.value),
        *(text or None for text in (change.reason, change.old, change.new)),
        *(reads if exact else (f"{each:,}" if each else None for each in reads)),
        *(", ".join(each) or None for each in (change.behind, change.breaks)),
    )
