"""``CREATE STREAMING VIEW v (a, b) AS …``: names of the columns, and comments on them.

In: the list of a view and its query. Out: the bound query with these names, and its columns. A list
in which every column has a comment names no column anew: it comments on those of the SELECT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from headwater.analyze.definitions import Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import rename_outputs, union_branches
from headwater.dialect import syntax
from headwater.errors.nearest import did_you_mean


def name_columns(
    statement: syntax.CreateStreamingView,
    query: exp.Query,
    fields: Sequence[Field],
    report: Diagnostics,
) -> tuple[Field, ...]:
    """Give the columns of a bound query the names and the comments of the list.

    Args:
        query: changed in place.
        fields: its columns.
    """
    names = _names(statement)
    if names and len(names) != len(fields):
        message = f"{len(names)} names for {len(fields)} columns"
        hint = "give as many names as the SELECT has columns"
        report.add("WRONG_ARGUMENTS", message, names[-1], hint)
    elif names:
        fields = _renamed(query, fields, [column.name for column in names])
    return _commented(statement, fields, report)


def without_comments(columns: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Return what a list says about rows: its names if it gives any, and no comment."""
    if not _gives_names(columns):
        return []
    return [syntax.ViewColumn(this=column.this.copy()) for column in columns]


def _names(statement: syntax.CreateStreamingView) -> list[exp.Expr]:
    columns = statement.args.get("columns") or []
    return [column.this for column in columns] if _gives_names(columns) else []


def _gives_names(columns: Sequence[exp.Expr]) -> bool:
    return any(column.args.get("comment") is None for column in columns)


def _renamed(query: exp.Query, fields: Sequence[Field], names: Sequence[str]) -> tuple[Field, ...]:
    for branch in union_branches(query):
        rename_outputs(branch, names)
    return tuple(replace(field, name=name) for field, name in zip(fields, names, strict=True))


def _commented(
    statement: syntax.CreateStreamingView, fields: Sequence[Field], report: Diagnostics
) -> tuple[Field, ...]:
    """Give columns the comments that the view itself has for them."""
    names = [field.name for field in fields]
    own: dict[str, str] = {}
    for column in statement.args.get("columns") or []:
        if column.name in own:
            message = f'column "{column.name}" is listed twice'
            hint = "rename one of them" if _names(statement) else "remove one of them"
            report.add("DUPLICATE_COLUMN", message, column.this, hint)
        elif column.name not in names and not _names(statement):
            hint = did_you_mean(column.name, names, "columns")
            message = f'column "{column.name}" is not in the SELECT'
            report.add("UNKNOWN_COLUMN", message, column.this, hint)
        own[column.name] = column.text("comment")
    given = {name for name, comment in own.items() if comment or not _names(statement)}
    return tuple(
        replace(each, comment=own[each.name] if each.name in given else each.comment)
        for each in fields
    )
