"""Keyed tables: ``CREATE TABLE … PRIMARY KEY … FORMAT {UPSERT | DEBEZIUM}`` as two definitions.

In: the statement. Out: the landed log of what happened, ``<name>__changes``, and the view of it
that is the table: of each key the newest row, unless it was deleted. So a keyed table is held to
the same law as any view, its history can be read, and every format of changes only has to say how
a record becomes a row of the log (:mod:`headwater.intake.envelope`).

The newest row is the one that stands last in the input, which is what a connector's coordinates
say. It does not depend on when a row arrived, so changes that are delivered twice, late or in
another order make no difference.
"""

from __future__ import annotations

from typing import TypeGuard

from sqlglot import exp

from headwater.analyze.connectors import CONNECTORS, FORMATS
from headwater.analyze.definitions import CHANGE_COLUMN, CHANGES, UPSERTED
from headwater.analyze.report import Report
from headwater.dialect import syntax

DEBEZIUM_FIELDS = ("before", "after", "op", "payload")
"""The parts of a change event that are read."""


def is_keyed(statement: exp.Expression) -> TypeGuard[syntax.CreateSource]:
    """Whether a statement defines a keyed table, or tries to."""
    return (
        isinstance(statement, syntax.CreateSource)
        and _format(statement) in FORMATS
        and FORMATS[_format(statement)].keyed
    )


def check_keyed(statement: syntax.CreateSource, report: Report) -> None:
    """Refuse what a keyed table cannot be.

    Args:
        statement: as parsed.
        report: where errors go.
    """
    words = f"FORMAT {_format(statement).upper()}"
    if not statement.args["kept"]:
        hint = "write CREATE TABLE: changes are kept, so that the newest of each key is known"
        report.add("MISPLACED_CLAUSE", f"a SOURCE takes no {words}", statement, hint)
    if not statement.args.get("primary_key"):
        hint = "say which columns identify a row: PRIMARY KEY (id)"
        report.add("MISSING_KEY", f"{words} needs a PRIMARY KEY", statement, hint)
    for column in statement.args.get("columns") or []:
        if _format(statement) == "debezium" and column.this.name in DEBEZIUM_FIELDS:
            hint = "leave it out: it has the name of a part of Debezium's events"
            report.not_yet(f'column "{column.this.name}" with {words}', column, hint)
    for option in statement.args.get("options") or []:
        if option.this == "order" and option.expression.name.lower() != "name":
            hint = "name the files in the order in which they were written, and leave order out"
            message = "a keyed table reads its files in the order of their names"
            report.add("INVALID_OPTION", message, option, hint)
    if watermark := statement.args.get("watermark"):
        hint = "remove it; a view can group the rows by date_trunc('hour', ts)"
        report.not_yet("a WATERMARK of rows that are corrected", watermark, hint)


def log_of(statement: syntax.CreateSource) -> syntax.CreateSource:
    """Return the definition of the log of a keyed table."""
    log = statement.copy()
    log.this.set("this", statement.this.name + CHANGES)
    assert isinstance(log, syntax.CreateSource)
    return log


def newest_rows(statement: syntax.CreateSource) -> syntax.CreateStreamingView:
    """Return the definition of the view that holds the newest row of each key."""
    name = statement.this.name
    keys = [exp.column(key.name) for key in statement.args["primary_key"]]
    place = exp.Window(
        this=exp.RowNumber(),
        partition_by=keys,
        order=exp.Order(
            expressions=[
                exp.Ordered(this=exp.column(column), desc=True, nulls_first=False)
                for column in position(statement)
            ]
        ),
    )
    kept = exp.column(CHANGE_COLUMN).eq(exp.Literal.string(UPSERTED))
    query = exp.select(*(exp.column(column.this.name) for column in statement.args["columns"]))
    query = query.from_(exp.to_table(name + CHANGES))
    query.set("qualify", exp.Qualify(this=exp.and_(place.eq(exp.Literal.number(1)), kept)))
    view = syntax.CreateStreamingView(
        this=statement.this.copy(),
        primary_key=[key.copy() for key in statement.args["primary_key"]],
        expression=query,
    )
    view.meta.update(statement.meta)
    return view


def position(statement: syntax.CreateSource) -> tuple[str, ...]:
    """Return the columns that order the changes of one key, as the connector says."""
    for option in statement.args.get("options") or []:
        if option.this == "connector" and option.expression.name.lower() in CONNECTORS:
            return tuple(CONNECTORS[option.expression.name.lower()].position)
    return ()


def _format(statement: exp.Expression) -> str:
    return str(statement.args.get("format") or "plain").lower()
