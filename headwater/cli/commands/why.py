"""``headwater why``: the input rows behind a row of a view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from headwater.cli.context import NAME, Command, Context, pass_context, require_view
from headwater.errors import EXIT_NO, EXIT_OK, ConfigError

if TYPE_CHECKING:
    from headwater.cli.output import Output
    from headwater.serve.why.deciding import ExplainedRow
    from headwater.serve.why.missing import Missing

STEPS = ("step", "what", "rows_before", "rows_after")


@click.command(
    cls=Command,
    short_help="Show which input rows a row of a view comes from.",
    examples=(
        "headwater why product_totals product=apple",
        "headwater why busy_hours window_start='2026-01-01 10:00' --deep",
        "headwater why --not product_totals product=fig",
    ),
)
@click.argument("view", type=NAME)
@click.argument("key", nargs=-1, metavar="[COLUMN=VALUE]...")
@click.option("--not", "absent", is_flag=True, help="Show why no row has these values.")
@click.option("--deep", is_flag=True, help="Go on through views to landed rows.")
@click.option(
    "--rows",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    metavar="N",
    help="Show at most N rows of each input.",
)
@pass_context
def why(
    context: Context, view: str, key: tuple[str, ...], absent: bool, deep: bool, rows: int
) -> int:
    """Show the input rows that decide the rows of VIEW with these values.

    Removing the rows that are named changes the row, removing any others does not. NULL stands for
    a missing value. The newest commit of the view is explained, by the inputs that it has read. No
    JVM is started.

    Exits with 1 if no row of the view has these values.
    """
    from headwater.dialect.syntax import PatternRows
    from headwater.serve.why.conditions import read_pairs
    from headwater.serve.why.deciding import Deciding
    from headwater.serve.why.missing import Absent

    pairs = read_pairs(key)
    if absent and not pairs:
        raise ConfigError("USAGE", "--not needs values", hint="see: headwater why --help")
    project, plans = context.survey()
    require_view(project, view)
    if absent:
        return _report(context.output, Absent(project, plans, deep=deep).explain(view, pairs))
    found = Deciding(project, plans, rows=rows, deep=deep).explain(view, pairs)
    if context.output.for_people:
        for each in found.rows:
            _show(context.output, each)
    else:
        document = {
            "view": view,
            "matching": found.matching,
            "rows": list(map(_fields, found.rows)),
        }
        context.output.document(document, "")
    for each in found.rows:
        if not each.is_right:
            context.output.note(f"its SELECT does not return the row; run: headwater verify {view}")
        elif each.stays:
            context.output.note("without all of these rows, the row would be the same")
    if found.rows and plans[view].view.query.find(PatternRows):
        context.output.note("of a match its rows are named; others can make it another match")
    asked = " ".join(key)
    if not found.rows:
        context.output.note(
            f"no row of {view} has {asked}; ask: headwater why --not {view} {asked}"
        )
    elif found.matching > len(found.rows):
        context.output.note(f"{found.matching} rows match; name more columns")
    return EXIT_OK if found.rows else EXIT_NO


def _show(output: Output, found: ExplainedRow) -> None:
    _table(output, f"{found.view}, epoch {found.epoch}", [found.row])
    for each in found.inputs:
        shown = f", the first {len(each.shown)}" if each.rows > len(each.shown) else ""
        title = f"{found.view} <- {each.input}: {each.rows:,} of {each.of:,} rows{shown}"
        _table(output, title, each.shown)
        for below in each.because:
            _show(output, below)
        if each.unknown:
            output.note(each.unknown)


def _table(output: Output, title: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Write a table below a line of its own, which may be wider than the table."""
    output.out.write(f"{title}\n\n")
    output.rows(list(rows[0]), [list(row.values()) for row in rows])
    output.out.write("\n")


def _fields(found: ExplainedRow) -> dict[str, object]:
    return {
        "view": found.view,
        "epoch": found.epoch,
        "snapshot": found.snapshot,
        "row": found.row,
        "is_right": found.is_right,
        "stays": found.stays,
        "inputs": [
            {
                "input": each.input,
                "kind": each.kind,
                "rows": each.rows,
                "of": each.of,
                "shown": list(each.shown),
                "because": [_fields(below) for below in each.because],
                "unknown": each.unknown,
            }
            for each in found.inputs
        ],
    }


def _report(output: Output, found: Missing) -> int:
    """Say which step leaves none of the rows asked for."""
    if output.for_people:
        _show_missing(output, found)
    else:
        output.document(_missing(found), "")
    return EXIT_NO if found.present else EXIT_OK


def _show_missing(output: Output, found: Missing) -> None:
    for steps in found.branches:
        output.out.write(f"{found.view}, epoch {found.epoch}\n\n")
        rows = [(each.name, each.on, each.before, each.after) for each in steps]
        output.rows(STEPS, rows, null="-")
        output.out.write("\n")
        for each in steps:
            if each.examples:
                _table(output, f"removed by {each.name}", each.examples)
    asked = " ".join(f"{column}={value}" for column, value in found.values.items())
    if found.present:
        present = "1 row has" if found.present == 1 else f"{found.present} rows have"
        output.note(f"{present} {asked}; ask: headwater why {found.view} {asked}")
    for below in found.below:
        _show_missing(output, below)


def _missing(found: Missing) -> dict[str, object]:
    return {
        "view": found.view,
        "epoch": found.epoch,
        "snapshot": found.snapshot,
        "matching": found.present,
        "branches": [
            [
                {
                    **dict(zip(STEPS, (each.name, each.on, each.before, each.after), strict=True)),
                    "removed": list(each.examples),
                }
                for each in steps
            ]
            for steps in found.branches
        ],
        "below": [_missing(below) for below in found.below],
    }
