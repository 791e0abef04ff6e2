"""``headwater verify``: the law, checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from headwater.cli.context import NAME, Command, Context, pass_context, require_view
from headwater.errors import EXIT_NO, EXIT_OK
from headwater.errors.words import count

if TYPE_CHECKING:
    from headwater.cli.output import Output
    from headwater.project import Project
    from headwater.serve.verify import Comparer, VerifyResult

COLUMNS = ("view", "result", "rows", "epoch", "snapshot", "cut")
DIFFERENCES = ("reason", "surplus", "missing", "surplus_rows", "missing_rows")


@click.command(
    cls=Command,
    short_help="Check that views equal their SELECT at rest.",
    examples=(
        "headwater verify",
        "headwater verify departures_per_hour --snapshot 8729502340",
        "headwater verify --engine trino",
    ),
)
@click.argument("views", type=NAME, nargs=-1, metavar="[VIEW]...")
@click.option(
    "--engine",
    type=click.Choice(["embedded", "trino"]),
    default="embedded",
    show_default=True,
    help="Engine that runs the SELECT at rest.",
)
@click.option("--snapshot", type=int, metavar="ID", help="Check this snapshot of one view.")
@pass_context
def verify(context: Context, views: tuple[str, ...], engine: str, snapshot: int | None) -> int:
    """Check that every view, or each VIEW, holds exactly the rows of its SELECT.

    Another engine runs the SELECT over the inputs that the newest commit of the view has read. A
    view that DuckDB cannot run is compared by Trino if the project names one, else by Spark. A view
    whose file has changed since it was applied is judged by the definition that is applied.

    Exits with 1 and shows the rows that differ. A view that cannot be checked is named with the
    reason, the other views are checked, and the command exits with 1. So does an error in the SQL
    files, unless each VIEW is named.
    """
    from headwater.serve.trino.verify import compare_in_trino
    from headwater.serve.verify import verify as verify_views
    from headwater.serve.verify_applied import judge_applied

    project, plans = context.survey()
    for name in views:
        if name not in project.broken:
            require_view(project, name)
    known = [name for name in views if name not in project.broken]
    if views and not known:
        plans = {}
    compare = compare_in_trino if engine == "trino" else None
    with _others(project, engine) as others:
        check = partial(verify_views, snapshot=snapshot, compare=compare, others=others)
        found = check(project, plans, views if plans else ())
        results = judge_applied(project, found, check)
    show_results(context.output, results)
    broken = [result for result in results if result.broken]
    for text, judged in (("not equal to the SELECT at rest", True), ("not checked", False)):
        if names := [each.view for each in broken if each.judged is judged]:
            context.output.note(f"{text}: {', '.join(names)}")
    return EXIT_NO if broken or (project.errors and not views) else EXIT_OK


def show_results(output: Output, results: Sequence[VerifyResult]) -> None:
    """Write what was found for each view, and the rows that differ."""
    if output.for_people:
        found = [_row(result) for result in results]
        output.rows(COLUMNS, found, null="-", below=("cut",), spare=("snapshot", "epoch"))
        for result in results:
            _explain(output, result)
    else:
        rows = [(*_row(result), *_differences(result)) for result in results]
        output.rows((*COLUMNS, *DIFFERENCES), rows)


@contextmanager
def _others(project: Project, engine: str) -> Iterator[dict[str, Comparer]]:
    """Lend the engines to ask for a view that DuckDB cannot run; Spark starts when it is asked."""
    if engine != "embedded":
        yield {}
        return
    from headwater.serve.trino.verify import compare_in_trino
    from headwater.testing.spark_judge import SparkJudge

    trino = {"Trino": compare_in_trino} if project.config.trino.url else {}
    with closing(SparkJudge(project.config)) as judge:
        yield {**trino, "Spark": judge.compare}


def _row(result: VerifyResult) -> tuple[object, ...]:
    commit = result.commit
    cut = dict(commit.marker.cut_to) if commit else {}
    return (
        result.view,
        result.verdict.value,
        result.difference.rows if result.difference else None,
        commit.marker.epoch if commit else None,
        commit.snapshot_id if commit else None,
        ", ".join(f"{name}={position}" for name, position in cut.items()) or None,
    )


def _differences(result: VerifyResult) -> tuple[object, ...]:
    found = result.difference
    if found is None:
        return (result.reason, None, None, [], [])
    surplus, missing = (
        [dict(zip(result.columns, row, strict=True)) for row in rows]
        for rows in (found.surplus_rows, found.missing_rows)
    )
    return (result.reason, found.surplus, found.missing, surplus, missing)


def _explain(output: Output, result: VerifyResult) -> None:
    if result.reason:
        output.note(f"{result.view}: {result.verdict.value}: {result.reason}")
    found = result.difference
    if found is None:
        return
    for number, rows, where in (
        (found.surplus, found.surplus_rows, "in the table, not in the SELECT"),
        (found.missing, found.missing_rows, "in the SELECT, not in the table"),
    ):
        if number:
            shown = f", the first {len(rows)}" if number > len(rows) else ""
            output.out.write("\n")
            title = f"{result.view}: {count(number, 'row')} {where}{shown}"
            output.rows(result.columns, rows, title=title)
