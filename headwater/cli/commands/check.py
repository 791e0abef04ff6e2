"""``headwater check``: parse, bind, type and plan; nothing starts."""

from __future__ import annotations

from pathlib import Path

import click

from headwater.cli.context import Command, Context, pass_context, plans_of

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
def check(context: Context, paths: tuple[Path, ...]) -> None:
    """Parse, bind, type and plan the project, or the given files.

    Prints how Headwater would maintain every view, or every error of every file. Exits with 2 if
    there are errors. Starts no Java.
    """
    from headwater.plan.explain import state_bound

    project = context.project(paths or None)
    plans = plans_of(project)
    rows = [
        (
            name,
            f"{plan.decision.engine}: {plan.decision.rule.name}",
            "final" if plan.final else plan.mode.value,
            ", ".join(plan.stream_key) or None,
            state_bound(plan.root) or "none",
        )
        for name, plan in plans.items()
    ]
    if rows:
        context.output.rows(COLUMNS, rows, null="-")
    kept = sum(source.kept for source in project.catalog.sources.values())
    keyed = sum(bool(plan.view.changes) for plan in plans.values())
    found = {
        "file": len(project.files),
        "source": len(project.catalog.sources) - kept,
        "table": kept,
        "view": len(plans) - keyed,
        "sink": len(project.catalog.sinks),
    }
    counts = (f"{number} {what}{'s' * (number != 1)}" for what, number in found.items() if number)
    context.output.note(f"ok: {', '.join(counts)}")
