"""``headwater explain``: how a view is kept, and why."""

from __future__ import annotations

import click

from headwater.cli.context import NAME, Command, Context, pass_context, require_view
from headwater.errors import EXIT_OK


@click.command(
    cls=Command,
    short_help="Show how a view is maintained, and why.",
    examples=(
        "headwater explain departures_per_hour",
        "headwater explain departures_per_hour --sql",
        "headwater explain departures_per_hour --at-rest trino",
    ),
)
@click.argument("view", type=NAME)
@click.option("--sql", "show_sql", is_flag=True, help="Show the Spark SQL that runs.")
@click.option(
    "--at-rest",
    "dialect",
    type=click.Choice(["trino", "duckdb", "spark"]),
    help="Show the SELECT that returns the same rows in another engine, once all windows closed.",
)
@pass_context
def explain(context: Context, view: str, show_sql: bool, dialect: str | None) -> int:
    """Show the engine of VIEW and the reason, its key, watermark and state, and its algebra."""
    from headwater.plan import explain as explained
    from headwater.plan.at_rest import at_rest

    project, plans = context.survey()
    require_view(project, view)
    plan = plans[view]
    document: dict[str, object] = {"view": view}
    if show_sql:
        steps = explained.program_sql(plan.program)
        document["sql"] = steps
        text = "\n\n".join(f"-- {step}\n{sql};" for step, sql in steps.items())
    elif dialect:
        text = at_rest(plan, project.catalog, dialect, final=False).text()
        document |= {"dialect": dialect, "at_rest": text}
        text += ";"
    else:
        document |= explained.facts(plan)
        document["plan"] = explained.tree(plan)
        text = explained.explain(plan)
    context.output.document(document, text, prose=not show_sql and not dialect)
    return EXIT_OK
