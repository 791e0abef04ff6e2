"""What a table that somebody else writes must be declared as, since it is read in place.

In: a bound source and its statement. Out: errors for what only landing could give it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from headwater.analyze.connectors.contract import ConnectorOptions, Option, Options
from headwater.analyze.definitions import Source
from headwater.analyze.diagnostics import Diagnostics
from headwater.dialect import syntax

_TABLE = re.compile(r"\w+\.\w+", re.ASCII)
_CLAUSES = {
    "watermark": ("WATERMARK", "rows that others write and correct have no order of arrival"),
    "primary_key": ("PRIMARY KEY", "nobody checks that others keep to it"),
    "on_error": ("ON ERROR", "nothing is decoded, so no row is bad"),
    "start_from": ("START FROM", "a view reads all that the table holds"),
}


def check_iceberg(statement: syntax.CreateSource, source: Source, report: Diagnostics) -> None:
    """Refuse what an Iceberg table that is read in place cannot have."""
    if source.external:
        _check_kept(statement, source, "Iceberg", report)
        check_table_name(statement, source.options, report)
        _check_clauses(statement, source, report)


def check_delta(statement: syntax.CreateSource, source: Source, report: Diagnostics) -> None:
    """Refuse what a Delta table that is read in place cannot have."""
    _check_kept(statement, source, "Delta", report)
    if "://" in source.external:
        hint = "choose a folder on this machine"
        report.not_yet("a Delta table in an object store", statement, hint)
    _check_clauses(statement, source, report)


def _check_kept(
    statement: syntax.CreateSource, source: Source, kind: str, report: Diagnostics
) -> None:
    if not source.kept:
        hint = "write CREATE TABLE: it is a table already"
        report.not_yet(f"a SOURCE over a table of {kind}", statement, hint)


def _check_clauses(statement: syntax.CreateSource, source: Source, report: Diagnostics) -> None:
    for clause, (words, why) in _CLAUSES.items():
        if statement.args.get(clause):
            message = f'{words} of "{source.name}", which is read in place: {why}'
            report.add("MISPLACED_CLAUSE", message, statement, "remove it")
    for node in statement.args.get("columns") or []:
        if node.args.get("computed") is not None:
            message = f'column "{node.this.name}" is computed, but "{source.name}" is read in place'
            report.add("MISPLACED_CLAUSE", message, node, "compute it in a view")


def check_table_name(at: exp.Expr, options: Mapping[str, str], report: Diagnostics) -> None:
    """Refuse what is not a valid table name with its namespace.

    Args:
        options: those of a source or sink, which may lack ``table``.
    """
    if not _TABLE.fullmatch(options.get("table", "a.b")):
        hint = "write it with its namespace: table = 'shop.orders'"
        report.add("INVALID_OPTION", f'"{options["table"]}" is not a valid table name', at, hint)


def _folder(options: Options) -> str:
    """The folder of a Delta table, in which there is a slash: a table of Iceberg has none."""
    path = options.get("path", "")
    return path if "/" in path else f"./{path}"


ICEBERG = ConnectorOptions(
    options={
        "table": Option(
            "text",
            "table of the project's catalog that another system writes, as namespace.table",
            required=True,
        ),
    },
    check=check_iceberg,
    in_place=lambda options: options.get("table", ""),
)
"""Nothing is copied: views read the table where it is, snapshot by snapshot."""

DELTA = ConnectorOptions(
    options={
        "path": Option(
            "text",
            "folder of a Delta table that another system writes, absolute or relative to "
            "the project",
            required=True,
        ),
    },
    check=check_delta,
    in_place=_folder,
)
"""Likewise, version by version."""
