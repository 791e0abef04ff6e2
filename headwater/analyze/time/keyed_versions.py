"""The versions of a keyed table: the changes in its log, each until the next one of its key.

In: the bound right side of an as-of join that compares the key of a keyed table. Out: its log as a
relation that has the columns of the table, or why nothing tells its versions. The event time of the
log says when a change happened. A deletion is a version that meets no row.

A change may leave values out that did not change (:mod:`headwater.analyze.connectors.debezium`).
Such a column has the newest value that a change of its row gave it up to then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from headwater.analyze.connectors.event_time import dated, dates_deletions
from headwater.analyze.definitions import (
    CHANGE_COLUMN,
    UNCHANGED_COLUMN,
    UPSERTED,
    Catalog,
    Field,
    Source,
)
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.inference.infer import infer
from headwater.analyze.names.scope import Relation, as_fields, column_of, named_subquery
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import named

_SAID = "__said_"
_CHANGE = Field(CHANGE_COLUMN, t.VARCHAR, nullable=False)


def log_of(right: Relation, catalog: Catalog) -> Source | None:
    """Return the log of a keyed table that stands in FROM by its name; None for all else."""
    node = right.node
    plain = isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)
    view = catalog.views.get(node.name) if plain else None
    return catalog.sources[view.changes] if view is not None and view.changes else None


def untold(log: Source, table: str) -> tuple[str, str, str] | None:
    """Return why nothing tells when each row of a keyed table was changed.

    Args:
        table: its name.

    Returns:
        The condition, the message and a hint; None if the log tells it.
    """
    if log.truncates or log.replaces:
        option = "truncate = 'apply'" if log.truncates else "snapshot = 'replace'"
        message = f"not supported: an as-of join of a keyed table with {option}"
        return "NOT_YET", message, f"leave {option} out, or join the log {log.name}"
    if log.watermark is None:
        message = f'"{table}" does not say when its rows were changed'
        return "UNSUPPORTED_SYNTAX", message, dated(log)
    if not dates_deletions(log):
        message = f'a deletion in "{table}" may have no "{log.watermark.column}"'
        return "UNSUPPORTED_SYNTAX", message, dated(log)
    return None


def is_held(alias: str) -> exp.Expr:
    """Return the condition that a version is a row, and not that there is none any more."""
    return exp.EQ(this=column_of(alias, _CHANGE), expression=exp.Literal.string(UPSERTED))


def history(right: Relation, log: Source, report: Diagnostics) -> Relation:
    """Return the changes of a keyed table, with the columns of the table.

    Args:
        right: the table as it stands in FROM.
    """
    own = {field.name: field for field in log.fields}
    fields = [own[name] for name in right.fields]
    node = right.node.copy()
    node.set("this", exp.to_identifier(log.name))
    if log.left_out:
        node = _restored(right.alias, node, fields, log, report)
    return replace(right, fields=as_fields(fields), node=node)


def _restored(
    alias: str, node: exp.Expr, fields: Sequence[Field], log: Source, report: Diagnostics
) -> exp.Subquery:
    """The changes with the values that they leave out."""
    assert log.watermark is not None
    own = {field.name: field for field in log.fields}
    time = column_of(alias, own[log.watermark.column])
    keys = [column_of(alias, own[key]) for key in log.primary_key]
    order = [time, *(column_of(alias, field) for field in log.position)]
    passed = [column_of(alias, field) for field in (*fields, _CHANGE, *log.position)]
    numbers = [Field(_SAID + name, t.BIGINT, nullable=False) for name in log.left_out]
    counts = [
        named(_over(exp.Count(this=_says(alias, name, own)), keys, order, report), _SAID + name)
        for name in log.left_out
    ]
    there = exp.Where(this=time.copy().is_(exp.null()).not_())
    infer(there.this, report)
    counted = exp.Select(
        expressions=[*(named(column.copy(), column.name) for column in passed), *counts],
        from_=exp.From(this=node),
        where=there,
    )

    def value(column: exp.Column) -> exp.Expr:
        if column.name not in log.left_out:
            return column.copy()
        number = column_of(alias, numbers[log.left_out.index(column.name)])
        first = exp.FirstValue(this=column.copy())
        return _over(first, [*keys, number], order, report)

    restored = exp.Select(
        expressions=[named(value(column), column.name) for column in passed],
        from_=exp.From(this=named_subquery(counted, alias)),
    )
    return named_subquery(restored, alias)


def _says(alias: str, name: str, own: dict[str, Field]) -> exp.Expr:
    """1 for a change that gives a column a value, else NULL."""
    comma = exp.Literal.string(",")
    unchanged = column_of(alias, own[UNCHANGED_COLUMN])
    listed = exp.DPipe(this=comma, expression=unchanged, safe=True)
    listed = exp.DPipe(this=listed, expression=comma.copy(), safe=True)
    where = exp.StrPosition(this=listed, substr=exp.Literal.string(f",{name},"))
    given = exp.EQ(this=where, expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=given, true=exp.Literal.number(1))])


def _over(
    call: exp.Expr, keys: Sequence[exp.Expr], order: Sequence[exp.Expr], report: Diagnostics
) -> exp.Window:
    """A call over the changes of a row up to one of them."""
    by = exp.Order(
        expressions=[exp.Ordered(this=part.copy(), desc=False, nulls_first=False) for part in order]
    )
    window = exp.Window(this=call, partition_by=[key.copy() for key in keys], order=by, over="OVER")
    infer(window, report)
    return window
