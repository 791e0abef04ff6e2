"""What a table that somebody else writes must be declared as, since it is read in place.

In: a bound source and its statement. Out: errors for what only landing could give it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

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


def check_external(statement: syntax.CreateSource, source: Source, report: Diagnostics) -> None:
    """Refuse what a table that is read in place cannot have.

    Args:
        statement: as parsed.
        source: as bound so far.
        report: where errors go.
    """
    if not source.external:
        return
    if not source.kept:
        hint = "write CREATE TABLE: it is a table already"
        kind = source.connector.capitalize()
        report.not_yet(f"a SOURCE over a table of {kind}", statement, hint)
    if source.connector == "iceberg":
        check_table_name(statement, source.options, report)
    elif "://" in source.external:
        hint = "choose a folder on this machine"
        report.not_yet("a Delta table in an object store", statement, hint)
    for clause, (words, why) in _CLAUSES.items():
        if statement.args.get(clause):
            message = f'{words} of "{source.name}", which is read in place: {why}'
            report.add("MISPLACED_CLAUSE", message, statement, "remove it")
    for node in statement.args.get("columns") or []:
        if node.args.get("computed") is not None:
            message = f'column "{node.this.name}" is computed, but "{source.name}" is read in place'
            report.add("MISPLACED_CLAUSE", message, node, "compute it in a view")


def check_table_name(at: exp.Expr, options: Mapping[str, str], report: Diagnostics) -> None:
    """Refuse what is no name of a table with its namespace.

    Args:
        at: where it stands.
        options: those of a source or sink, which may lack ``table``.
        report: where errors go.
    """
    if not _TABLE.fullmatch(options.get("table", "a.b")):
        hint = "write it with its namespace: table = 'shop.orders'"
        report.add("INVALID_OPTION", f'"{options["table"]}" is not a valid table name', at, hint)
