"""``WITH RECURSIVE`` in FROM → a relation, typed.

In: the :class:`~headwater.dialect.syntax.RecursiveRows` of a query as parsed. Out: the same node
with anchor and step bound, each cast to the types that the two have in common.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import replace

from sqlglot import exp

from headwater.analyze.definitions import Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.names.scope import Relation, as_fields
from headwater.analyze.query_parts import (
    first_aggregate,
    is_aggregate,
    is_distinct,
    is_limited,
    union_branches,
    window_calls,
)
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import cast_to
from headwater.dialect.syntax import RecursiveRows, WorkingTable
from headwater.dialect.vocabulary import told_apart

Bind = Callable[[exp.Expr], Sequence[Field]]


def bind_recursive_rows(
    node: RecursiveRows,
    alias: str,
    bind: Bind,
    working: MutableMapping[str, Sequence[Field]],
    report: Diagnostics,
) -> Relation | None:
    """Return what a recursive query gives as a FROM item; None after an error.

    Args:
        node: changed in place.
        alias: its name in FROM.
        bind: binds a query in place, and returns its columns.
        working: the columns of working tables by name; filled before the step is bound.
        report: where errors go.
    """
    union, before = node.this, len(report.errors)
    fields = bind(union.this)
    named = _named(node, fields, report)
    if named is None or len(report.errors) > before:
        return None
    named = _with_step(node, named, bind, working, report)
    if named is None or len(report.errors) > before:
        return None
    for branch in (*union_branches(union.this), union.expression):
        _cast(branch, named)
    node.set("fields", tuple((field.name, field.type) for field in named))
    node.set("columns", None)
    node.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    return Relation(alias, as_fields(named), node)


def _with_step(
    node: RecursiveRows,
    anchor: tuple[Field, ...],
    bind: Bind,
    working: MutableMapping[str, Sequence[Field]],
    report: Diagnostics,
) -> tuple[Field, ...] | None:
    """Bind the step, and return the columns of both; None after an error."""
    union, before, name = node.this, len(report.errors), node.args["name"]
    unbound, fields = union.expression.copy(), anchor
    working[name] = anchor
    step = first = bind(union.expression)
    for _ in anchor:  # a column can take its type from another one of the round before
        wider = _widened(fields, step)
        if len(report.errors) > before or wider is None:
            break
        fields = working[name] = wider
        union.set("expression", unbound.copy())
        step = bind(union.expression)
    if len(report.errors) > before:
        return None
    _check_step(union.expression, report)
    settled = len(fields) == len(step) and not _widened(fields, step)
    if not settled or any(t.is_unknown(field.type) for field in fields):
        _refuse_columns(union, anchor, first, report)
    return fields


def _named(
    node: RecursiveRows, fields: Sequence[Field], report: Diagnostics
) -> tuple[Field, ...] | None:
    """The columns of the anchor with the names of the list, if there is one."""
    names = [column.name for column in node.args.get("columns") or []]
    if names and len(names) != len(fields):
        message = f"{len(names)} names for {len(fields)} columns"
        hint = "give as many names as the anchor has columns"
        report.add("WRONG_ARGUMENTS", message, node, hint)
        return None
    names = told_apart(names) or [field.name for field in fields]
    return tuple(
        # what the step adds can be NULL, and larger than what the anchor has
        Field(name, field.type, nullable=True, comment=field.comment)
        for name, field in zip(names, fields, strict=True)
    )


def _check_step(step: exp.Select, report: Diagnostics) -> None:
    """Refuse steps in which a row depends on more than one row of the round before."""
    name = _working_table(step).args["alias"].name
    windows = window_calls(step)
    if is_aggregate(step):
        _refuse(f'an aggregate over "{name}"', first_aggregate(step), "aggregate", report)
    elif windows or step.args.get("qualify"):
        at = windows[0] if windows else step
        _refuse(f'a function with OVER over "{name}"', at, "rank", report)
    elif is_distinct(step):
        hint = "write UNION without ALL before the step: it leaves out rows that are there already"
        report.add("INVALID_RECURSION", "the step has DISTINCT", step.args["distinct"], hint)
    elif is_limited(step):
        limit = step.args.get("limit") or step.args["offset"]
        _refuse(f'a LIMIT over "{name}"', limit, "take rows", report)


def _working_table(step: exp.Select) -> WorkingTable:
    found = step.find(WorkingTable)
    assert found is not None
    return found


def _refuse(what: str, at: exp.Expr, verb: str, report: Diagnostics) -> None:
    message = f"the step has {what}, which sees one round only"
    hint = f"{verb} in the query that reads the recursion, or in another view"
    report.add("INVALID_RECURSION", message, at, hint)


def _refuse_columns(
    union: exp.Union, anchor: Sequence[Field], step: Sequence[Field], report: Diagnostics
) -> None:
    branch = union.expression
    if len(anchor) != len(step):
        message = f"the anchor has {len(anchor)} columns, the step has {len(step)}"
        hint = "select the same columns in the same order"
        report.add("TYPE_CLASH", message, branch, hint)
        return
    for own, found, item in zip(anchor, step, branch.selects, strict=True):
        if own.type != found.type and own.type.this is not t.Type.NULL:
            names = f"{t.sql_type(own.type)} in the anchor and {t.sql_type(found.type)} in the step"
            hint = f"cast the step: CAST(x AS {t.sql_type(own.type)})"
            report.add("TYPE_CLASH", f'column "{own.name}" is {names}', item, hint)


def _widened(anchor: Sequence[Field], step: Sequence[Field]) -> tuple[Field, ...] | None:
    """The columns with the types that anchor and step have in common; None if all have them."""
    if len(anchor) != len(step):
        return None
    pairs = [*zip(anchor, step, strict=True)]
    kinds = [t.common_type([own.type, found.type]) or t.UNKNOWN for own, found in pairs]
    if all(kind == own.type for kind, own in zip(kinds, anchor, strict=True)):
        return None
    return tuple(replace(own, type=kind) for kind, own in zip(kinds, anchor, strict=True))


def _cast(branch: exp.Select, fields: Sequence[Field]) -> None:
    """Give the outputs of a branch the names and the types of the columns.

    An engine may have another type for what is computed than for the column, and would keep that.
    """
    for item, field in zip(branch.selects, fields, strict=True):
        kept = isinstance(item.this, (exp.Column, exp.Cast)) and item.this.type == field.type
        if not kept:
            cast_to(item.this, field.type)
        item.set("alias", exp.to_identifier(field.name))


def working_relation(node: WorkingTable, fields: Sequence[Field], report: Diagnostics) -> Relation:
    """Return the working table of a step as a FROM item.

    Args:
        node: changed in place.
        fields: its columns.
        report: where errors go.
    """
    alias, names = node.args["alias"].name, [each.name for each in node.args["alias"].columns]
    if names:
        hint = "name them in the list of WITH RECURSIVE"
        report.not_yet(f'new names for the columns of "{alias}" in its step', node, hint)
    node.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    return Relation(alias, as_fields(fields), node)
