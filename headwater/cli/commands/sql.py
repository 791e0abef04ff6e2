"""``headwater sql``: a query over the tables of the project."""

from __future__ import annotations

import click

from headwater.cli.context import Command, Context, pass_context
from headwater.errors import EXIT_NO, EXIT_OK, ConfigError


@click.command(
    cls=Command,
    short_help="Run a SELECT over the tables.",
    examples=(
        'headwater sql "SELECT * FROM departures_per_hour ORDER BY departures DESC LIMIT 10"',
        "headwater sql 'SELECT epoch, watermark, counts FROM \"departures$snapshots\"'",
        'headwater sql "SELECT count(*) FROM departures FOR VERSION AS OF 8729502340" --output csv',
        'headwater sql "SELECT * FROM commits ORDER BY committed_at DESC LIMIT 20" --engine trino',
    ),
)
@click.argument("query")
@click.option(
    "--engine",
    type=click.Choice(["embedded", "trino", "spark"]),
    default="embedded",
    show_default=True,
    help="Engine that runs the query.",
)
@click.option("--cut", default="", metavar="NAME", help="Read the tables at this cut.")
@pass_context
def sql(context: Context, query: str, engine: str, cut: str) -> int:
    """Run one SELECT in Trino SQL over tables, views and side tables.

    The query reads the tables as they are when it starts, also while a run writes. The table
    "NAME$snapshots" lists the commits of a table, and the table commits those of all tables.
    Columns that begin with _ appear if the query names them; with Trino they always appear.

    Errors in the SQL files are written, and end nothing that the query does not read. Exits with 1
    if the table commits lacks a table that cannot be read.
    """
    project, _ = context.survey()
    if engine == "spark":
        raise ConfigError(
            "NOT_YET",
            "engine spark is not supported yet",
            hint="use: --engine embedded, or --engine trino",
        )
    if engine == "trino":
        from headwater.serve.trino.client import trino_query

        answer = trino_query(project.config, query)
    else:
        from headwater.serve.embedded import Embedded

        answer = Embedded(project, cut).query(query)
    with answer as result:
        context.output.rows(result.columns, result.rows)
        for name, reason in result.unread.items():
            context.output.note(f'left out: "{name}": {reason}')
        return EXIT_NO if result.unread else EXIT_OK
