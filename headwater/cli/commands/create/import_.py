"""``headwater import``: another system's files become a project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.context import Command, Context, pass_context
from headwater.cli.output import JsonOutput
from headwater.errors import EXIT_NO, EXIT_OK, ConfigError
from headwater.errors.words import counts

if TYPE_CHECKING:
    from headwater.importing import Imported

COLUMNS = ("place", "what", "result", "reason", "remedy")
FROM = ("flink", "risingwave", "ksqldb", "materialize", "dbt")


@click.command(
    name="import",
    cls=Command,
    short_help="Turn another system's files into a project.",
    examples=(
        "headwater import nexmark.sql --from flink",
        "headwater import ddl.sql queries.sql --from ksqldb --to rides",
        "headwater import jaffle_shop --from dbt --output json",
    ),
)
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE...",
)
@click.option(
    "--from",
    "system",
    type=click.Choice(FROM),
    help="System that the files are written for. [required]",
)
@click.option(
    "--to",
    "directory",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the project, new or empty. [default: named after the first FILE or folder]",
)
@click.option(
    "--set",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="Value of ${NAME} in the files; repeatable.",
)
@pass_context
def import_(
    context: Context,
    files: tuple[Path, ...],
    system: str | None,
    directory: Path | None,
    variables: tuple[str, ...],
) -> int:
    """Turn each FILE of DDL and views into a Headwater project, and check it.

    Writes headwater.toml, sources.sql, views.sql and, if rows go elsewhere, sinks.sql. A comment
    stands wherever the meaning differs. Reports what was not turned, with place, reason and remedy.
    Starts no Java. Exits with 1 if a statement was left out or refused.
    """
    from headwater.importing import SYSTEMS, import_files

    if system is None:
        hint = f"write --from with one of {', '.join(FROM)}"
        raise ConfigError("USAGE", 'missing option "--from"', hint=hint)
    first = files[0].resolve()
    target = directory or Path(f"{first.name}_headwater" if first.is_dir() else first.stem)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        message = f'"{target}" exists and is not an empty folder'
        raise ConfigError("NOT_EMPTY", message, hint="name a new folder with --to DIR")
    found = import_files(files, SYSTEMS[system], target, _variables(variables))
    _show(context, found, target)
    return EXIT_NO if found.lost else EXIT_OK


def _variables(given: tuple[str, ...]) -> dict[str, str]:
    pairs = [each.partition("=") for each in given]
    for name, equal, _ in pairs:
        if not equal:
            message = f'"{name}" is not NAME=VALUE'
            raise ConfigError("USAGE", message, hint="see: headwater import --help")
    return {name: value for name, _, value in pairs}


def _show(context: Context, found: Imported, directory: Path) -> None:
    rows = [[str(getattr(each, column)) for column in COLUMNS] for each in found.findings]
    if isinstance(context.output, JsonOutput):
        document = {
            "directory": str(directory),
            "files": [str(path) for path in found.files],
            "statements": found.statements,
            "turned": found.statements - found.lost,
            "skipped": dict(found.skipped),
            "parts": dict(found.parts),
            "report": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
        }
        context.output.document(document, "")
        return
    if rows or not context.output.for_people:
        context.output.rows(COLUMNS, rows, null="")
    parts = counts(dict(found.parts))
    turned = found.statements - found.lost
    context.output.note(f"turned {turned} of {found.statements} statements: {parts or 'nothing'}")
    if found.skipped:
        words = ", ".join(f"{word} ({n})" for word, n in found.skipped.items())
        context.output.note(f"passed over statements that define nothing: {words}")
    context.output.note(f"next:\n  cd {directory}\n  headwater check")
