"""``headwater check``: parse, bind, type and plan; nothing starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.context import Command, Context, pass_context
from headwater.errors import EXIT_NO, EXIT_OK, HeadwaterError
from headwater.errors.words import count, counts

if TYPE_CHECKING:
    from headwater.plan.view_plan import ViewPlan
    from headwater.project import Project

KINDS = ("source", "table", "view", "sink", "function")
COLUMNS = ("view", "engine", "emission", "key", "state")


@click.command(
    cls=Command,
    short_help="Report every error of every file; start nothing.",
    examples=("headwater check", "headwater check views/orders.sql --output json"),
)
@click.argument(
    "paths", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[PATH]..."
)
@pass_context
def check(context: Context, paths: tuple[Path, ...]) -> int:
    """Parse, bind, type and plan the project.

    Prints how Headwater would maintain every sound view, every error of every file, and what each
    error blocks. With PATH, only what those files define, and only their errors. Starts no Java.

    After a first run, it also says which tables and views the next run will stop: their definition
    is not the one that the lake was written with. Exits with 1 in both cases.
    """
    from headwater.dialect.vocabulary import is_unnamed
    from headwater.plan.explain import state

    project, plans = context.survey(paths)
    rows = [
        (
            name,
            plan.decision.words,
            "final" if plan.final else plan.mode.value,
            ", ".join(plan.stream_key) or None,
            state(plan) or "none",
        )
        for name, plan in plans.items()
        if name in project.definitions
    ]
    if rows:
        context.output.rows(COLUMNS, rows, null="-", below=("state", "key"))
    if own := [name for name, each in project.broken.items() if each.error]:
        context.output.note(f"left out: {', '.join(own)}")
    for each in project.broken.values():
        if each.error is None:
            context.output.note(f'{each.kind} "{each.name}" is {each.reason}')
    for name, plan in plans.items():
        if unnamed := [f.name for f in plan.view.fields if is_unnamed(f.name)]:
            context.output.note(
                f"{name}: columns without a name are called by their position:"
                f" {', '.join(unnamed)}\n  hint: give each one a name with AS"
            )
        if plan.view.ordered:
            context.output.note(
                f"{name}: a table has no order, so ORDER BY has no effect\n  hint: order the rows"
                " when you read the view, or write LIMIT too"
            )
    for name, definition in project.definitions.items():
        if definition.folded:
            kept = ", ".join(found.lower() for found in definition.folded)
            written = ", ".join(f'"{found}"' for found in definition.folded)
            context.output.note(
                f"{name}: names keep no capitals, also in double quotes: {written} becomes {kept}\n"
                "  hint: write names in any case; readers of the table see lower case"
            )
    stops = _will_stop(project, plans)
    for name in (each for each in stops if each in project.definitions):
        context.output.note(
            f"the next run will stop {name}: {stops[name]}\n  hint: {_remedy(name, plans)}"
        )
    numbers = Counter(
        each.kind for name, each in project.definitions.items() if name not in project.broken
    )
    found = {"file": len(project.files), **{kind: numbers[kind] for kind in KINDS}}
    if project.errors or project.broken:
        context.output.note(f"sound: {counts(found)}; {_many(project)}")
        return EXIT_NO
    if stops:
        context.output.note(f"{counts(found)}; {len(stops)} will stop")
        return EXIT_NO
    context.output.note(f"ok: {counts(found)}")
    return EXIT_OK


def _will_stop(project: Project, plans: dict[str, ViewPlan]) -> dict[str, str]:
    """Ask the lake what of the project it contradicts, if the project has run on this machine."""
    if not (project.config.state / "run.json").exists():
        return {}
    from headwater.serve.forecast import will_stop

    try:
        return will_stop(project, plans)
    except HeadwaterError:
        return {}  # `headwater status` says why the lake cannot be read


def _remedy(name: str, plans: Mapping[str, ViewPlan]) -> str:
    """What goes on with a definition that the lake contradicts; `headwater plan` says the same."""
    if name in plans and not plans[name].view.changes:
        return "build it anew with: headwater apply, which headwater plan shows; or undo the change"
    return "undo the change, or give it a new name"


def _many(project: Project) -> str:
    errors = len(project.errors)
    blocked = sum(each.error is None for each in project.broken.values())
    text = count(errors, "error")
    return f"{text}, {blocked} blocked" if blocked else text
