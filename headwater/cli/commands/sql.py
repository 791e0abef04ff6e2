"""``headwater sql``: queries over the tables of the project."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from headwater.cli.context import Command, Context, pass_context
from headwater.errors import ConfigError

if TYPE_CHECKING:
    from headwater.cli.shell.completion import Words
    from headwater.cli.shell.statements import QueryEngine
    from headwater.project import Project


@click.command(
    cls=Command,
    short_help="Run SELECTs over the tables; without one, a shell.",
    examples=(
        "headwater sql",
        'headwater sql "SELECT * FROM departures_per_hour ORDER BY departures DESC LIMIT 10"',
        "headwater sql 'SHOW TABLES; DESCRIBE departures'",
        "headwater sql --output csv < report.sql",
        "headwater sql 'SELECT epoch, watermark, counts FROM \"departures$snapshots\"'",
        'headwater sql "SELECT count(*) FROM departures FOR VERSION AS OF 8729502340" --output csv',
        'headwater sql "SELECT * FROM commits ORDER BY committed_at DESC LIMIT 20" --engine trino',
    ),
)
@click.argument("query", required=False)
@click.option(
    "--engine",
    type=click.Choice(["embedded", "trino", "spark"]),
    default="embedded",
    show_default=True,
    help="Engine that runs the query.",
)
@click.option("--cut", default="", metavar="NAME", help="Read the tables at this cut.")
@pass_context
def sql(context: Context, query: str | None, engine: str, cut: str) -> int:
    """Run SELECTs in Trino SQL over tables, views and side tables.

    Without QUERY, a terminal gets a shell: statements end with a semicolon, Tab completes names,
    and help lists what else there is. Without a terminal, standard input has the statements.

    SHOW TABLES, SHOW VIEWS, SHOW CREATE, SHOW FUNCTIONS and DESCRIBE say what there is, and so does
    the schema information_schema. EXPLAIN and EXPLAIN ANALYZE show how the engine runs a query.

    A query reads the tables as they are when it starts, also while a run writes. The table
    "NAME$snapshots" lists the commits of a table, and the table commits those of all tables.
    Columns that begin with _ appear if the query names them; with Trino they always appear.

    An error ends its statement, not those after it; the exit code is that of the first error.
    Errors in the SQL files are written, and end nothing that the query does not read. Exits with 1
    if the table commits lacks a table that cannot be read.
    """
    from headwater.cli.shell.statements import run_all
    from headwater.dialect.splitter import cut as cut_statements

    project, _ = context.survey()
    if engine == "spark":
        raise ConfigError(
            "NOT_YET",
            "engine spark is not supported yet",
            hint="use: --engine embedded, or --engine trino",
        )
    if query is None and sys.stdin.isatty():
        return _shell(context, project, engine, cut)
    text = sys.stdin.read() if query is None else query
    statements, rest = cut_statements(text)
    if rest.strip() or not (statements or query is None):
        statements.append(rest)
    return run_all(_engine(project, engine, cut), statements, context.output)


def _engine(project: Project, name: str, cut: str) -> QueryEngine:
    from headwater.cli.shell.statements import QueryEngine

    if name == "trino":
        from headwater.serve.trino.client import trino_query

        return QueryEngine(lambda text: trino_query(project.config, text))
    from headwater.serve.embedded import Embedded

    embedded = Embedded(project, cut)
    return QueryEngine(embedded.query, embedded.interrupt)


def _shell(context: Context, project: Project, engine: str, cut: str) -> int:
    from headwater.cli.shell.prompt import run_shell

    greeting = (
        f'project "{project.config.name}": statements end with ;\n'
        "help lists what there is, Ctrl-D leaves"
    )
    return run_shell(_followed(context, project, engine, cut), context.output, greeting)


def _followed(
    context: Context, project: Project, engine: str, cut: str
) -> Callable[[], tuple[QueryEngine, Words]]:
    """Return what gives the engine over the files as they are now."""
    from headwater.cli.shell.completion import Words
    from headwater.project import state_of

    state = state_of(project.root)
    current = _engine(project, engine, cut), Words.of(project)

    def now() -> tuple[QueryEngine, Words]:
        nonlocal state, current
        if (found := state_of(project.root)) != state:
            state, (changed, _) = found, context.survey()
            current = _engine(changed, engine, cut), Words.of(changed)
        return current

    return now
