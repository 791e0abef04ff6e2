"""Keyed tables: ``CREATE TABLE … PRIMARY KEY … FORMAT {UPSERT | DEBEZIUM}`` as two definitions.

In: the statement. Out: the landed log of what happened, ``<name>__changes``, and the view of it
that is the table: of each key the newest row, unless it was deleted. So a keyed table is held to
the same law as any view, its history can be read, and every format of changes only has to say how
a record becomes a row of the log (:mod:`headwater.formats.envelopes`).

A record may leave values out that did not change (``left_out`` of
:mod:`headwater.analyze.connectors.debezium`): such a column has the newest value that a change of
its row gave it, NULL if none since the row was last deleted.

The newest row is the one that stands last in the input, which is what a connector's coordinates
say. It does not depend on when a row arrived, so changes that are delivered twice, late or in
another order make no difference. A TRUNCATE, where it is applied, ends all rows that stand before
it; the last row of a snapshot, where it replaces, those before it that are not of the snapshot.
"""

from __future__ import annotations

from typing import TypeGuard

from sqlglot import exp

from headwater.analyze.connectors.debezium import check_debezium, given_option, left_out
from headwater.analyze.connectors.encodings import FORMATS, record_format
from headwater.analyze.connectors.registry import CONNECTORS
from headwater.analyze.definitions import (
    CHANGE_COLUMN,
    CHANGES,
    SNAPSHOT_COLUMN,
    SNAPSHOT_END_COLUMN,
    TRUNCATED,
    UNCHANGED_COLUMN,
    UPSERTED,
    RecordFormat,
)
from headwater.analyze.diagnostics import Diagnostics
from headwater.dialect import syntax


def is_keyed(statement: exp.Expression) -> TypeGuard[syntax.CreateSource]:
    """Return whether a statement defines a keyed table, or tries to."""
    return isinstance(statement, syntax.CreateSource) and FORMATS[record_format(statement)].keyed


def check_keyed(statement: syntax.CreateSource, report: Diagnostics) -> None:
    """Refuse what a keyed table cannot be."""
    words = f"FORMAT {record_format(statement).upper()}"
    if not statement.args["kept"]:
        hint = "write CREATE TABLE, which lands the changes"
        report.add("MISPLACED_CLAUSE", f"a SOURCE takes no {words}", statement, hint)
    if not statement.args.get("primary_key"):
        hint = "declare the columns that identify a row: PRIMARY KEY (id)"
        report.add("MISSING_KEY", f"{words} needs a PRIMARY KEY", statement, hint)
    if record_format(statement) is RecordFormat.DEBEZIUM:
        check_debezium(statement, report)
    for option in statement.args.get("options") or []:
        if option.this == "order" and option.expression.name.lower() != "name":
            hint = "name the files in the order in which they were written, and leave order out"
            message = "a keyed table reads its files in the order of their names"
            report.add("INVALID_OPTION", message, option, hint)


def log_of(statement: syntax.CreateSource) -> syntax.CreateSource:
    """Return the definition of the log of a keyed table."""
    log = statement.copy()
    log.this.set("this", statement.this.name + CHANGES)
    log.set("comment", f"changes of {statement.this.name}")
    assert isinstance(log, syntax.CreateSource)
    return log


def newest_rows(statement: syntax.CreateSource) -> syntax.CreateStreamingView:
    """Return the definition of the view that holds the newest row of each key."""
    name = statement.this.name
    keys = [exp.column(key.name) for key in statement.args["primary_key"]]
    latest_first = [
        exp.Ordered(this=exp.column(column), desc=True, nulls_first=False)
        for column in position(statement)
    ]
    place = _over(exp.RowNumber(), keys, latest_first)
    kept = exp.column(CHANGE_COLUMN).eq(exp.Literal.string(UPSERTED))
    unchanged = left_out(statement)
    query = exp.select(
        *(
            _last_said(column.this.name, keys, latest_first)
            if column.this.name in unchanged
            else exp.column(column.this.name)
            for column in statement.args["columns"]
        )
    )
    query = query.from_(_standing(statement) or exp.to_table(name + CHANGES))
    query.set("qualify", exp.Qualify(this=exp.and_(place.eq(exp.Literal.number(1)), kept)))
    view = syntax.CreateStreamingView(
        this=statement.this.copy(),
        columns=[
            syntax.ViewColumn(this=column.this.copy(), comment=column.text("comment"))
            for column in statement.args["columns"]
            if column.this.name in unchanged
        ],
        comment=statement.args.get("comment"),
        primary_key=[key.copy() for key in statement.args["primary_key"]],
        expression=query,
    )
    view.meta.update(statement.meta)
    return view


def _standing(statement: syntax.CreateSource) -> exp.Subquery | None:
    """The changes that no TRUNCATE or snapshot has ended; None if the table takes in neither."""
    latest_first = [exp.Ordered(this=exp.column(each), desc=True) for each in position(statement)]
    conditions: list[exp.Expr] = []
    if given_option(statement, "truncate") == "apply":
        emptied = exp.column(CHANGE_COLUMN).eq(exp.Literal.string(TRUNCATED))
        later = exp.Max(this=exp.Case().when(emptied, exp.Literal.number(1)))
        conditions.append(exp.Is(this=_over(later, [], latest_first), expression=exp.null()))
    if given_option(statement, "snapshot") == "replace":
        ended = exp.IgnoreNulls(this=exp.FirstValue(this=exp.column(SNAPSHOT_END_COLUMN)))
        newest = _over(ended, [], latest_first)
        none = exp.Is(this=newest.copy(), expression=exp.null())
        of_it = exp.EQ(this=newest, expression=exp.column(SNAPSHOT_COLUMN))
        conditions.append(exp.Coalesce(this=of_it, expressions=[none]))
    if not conditions:
        return None
    hidden = (UNCHANGED_COLUMN,) if left_out(statement) else ()
    own = (column.this.name for column in statement.args["columns"])
    names = (*own, CHANGE_COLUMN, *hidden, *position(statement))
    query = exp.select(*map(exp.column, names)).from_(exp.to_table(statement.this.name + CHANGES))
    query.set("qualify", exp.Qualify(this=exp.and_(*conditions)))
    return query.subquery("standing")


def _last_said(name: str, keys: list[exp.Column], latest_first: list[exp.Ordered]) -> exp.Expr:
    """The newest value that a change gives a column; a deletion says that there is none."""
    comma = exp.Literal.string(",")
    listed = exp.DPipe(this=comma, expression=exp.column(UNCHANGED_COLUMN), safe=True)
    listed = exp.DPipe(this=listed, expression=comma.copy(), safe=True)
    where = exp.StrPosition(this=listed, substr=exp.Literal.string(f",{name},"))
    said_first = exp.Ordered(this=exp.GT(this=where, expression=exp.Literal.number(0)))
    value = exp.FirstValue(this=exp.column(name))
    return exp.alias_(_over(value, keys, [said_first, *latest_first]), name)


def _over(call: exp.Expr, keys: list[exp.Column], order: list[exp.Ordered]) -> exp.Window:
    return exp.Window(
        this=call,
        partition_by=[key.copy() for key in keys],
        order=exp.Order(expressions=[part.copy() for part in order]),
    )


def position(statement: syntax.CreateSource) -> tuple[str, ...]:
    """Return the columns that order the changes of one key, as the connector says."""
    for option in statement.args.get("options") or []:
        if option.this == "connector" and option.expression.name.lower() in CONNECTORS:
            return tuple(CONNECTORS[option.expression.name.lower()].position)
    return ()
