"""ORDER BY: what its items name, what can be sorted, and how an order goes on.

In: SELECTs with their relations. Out: the same with resolved items, in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from headwater.algebra.scalars import TIE
from headwater.analyze.definitions import Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.names.scope import (
    NULLABLE,
    Relation,
    column_of,
    named_subquery,
    output_named,
    resolve,
)
from headwater.analyze.query_parts import is_aggregate, is_distinct, is_limited
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import cast_to, type_of

COMPARABLE = (*t.SCALARS, "binary")
"""Families of types whose values every engine orders alike."""
_WITHOUT_VALUES = ("null", "unknown")


def limited_unions(query: exp.Query) -> exp.Query:
    """Return a query in which ORDER BY … LIMIT belongs to SELECTs only.

    Set operations and queries in brackets have such clauses, too: ``(SELECT …) LIMIT 1``.

    Args:
        query: a query as parsed; changed in place if possible.
    """
    root = exp.Paren(this=query)
    for node in list(root.find_all(exp.SetOperation, exp.Subquery)):
        clauses = {key: node.args.get(key) for key in ("order", "limit", "offset")}
        if not any(clauses.values()):
            continue
        for key in clauses:
            node.set(key, None)
        around = exp.Select(expressions=[exp.Star()])
        operand = isinstance(node.parent, exp.SetOperation)
        node.replace(exp.Subquery(this=around) if operand else around)
        body = node.this if isinstance(node, exp.Subquery) else node
        around.set("from_", exp.From(this=named_subquery(body, "_ordered")))
        for key, clause in clauses.items():
            around.set(key, clause)
    found = root.this
    assert isinstance(found, exp.Query)
    return found


def bind_order(select: exp.Select, relations: Sequence[Relation], report: Diagnostics) -> None:
    """Resolve ORDER BY of a SELECT: outputs by name or position, or columns of FROM.

    Without LIMIT it goes then: a table has no order.

    Args:
        select: a SELECT whose outputs are named; changed in place.
    """
    for key in ("limit", "offset"):
        clause = select.args.get(key)
        count = clause.expression if clause is not None else None
        if count is not None and not (isinstance(count, exp.Literal) and count.is_int):
            message = f"{key.upper()} must be a whole number"
            report.add("WRONG_ARGUMENTS", message, clause, "write it like LIMIT 10")
    order = select.args.get("order")
    limited = is_limited(select)
    for item in order.expressions if order is not None else []:
        if isinstance(item.this, exp.Paren) and isinstance(item.this.unnest(), exp.Column):
            item.set("this", item.this.unnest())
        value = item.this
        if isinstance(value, exp.Literal):
            at = int(value.name) if value.is_int else 0
            if not 1 <= at <= len(select.selects):
                hint = f"positions are 1 to {len(select.selects)}"
                message = f"ORDER BY position {value.name} does not exist"
                report.add("UNKNOWN_COLUMN", message, value, hint)
                continue
            item.set("this", exp.column(select.selects[at - 1].alias))
        elif isinstance(value, exp.Column) and not value.table and _output(value, select, report):
            continue
        elif limited and (is_distinct(select) or is_aggregate(select)):
            hint = "select it with a name, and order by the name"
            report.not_yet("ORDER BY a column that is not selected", value, hint)
        elif value.find(exp.Query) is not None:
            report.not_yet("a subquery in ORDER BY without LIMIT", value, "leave ORDER BY out")
        else:
            _resolve_item(item, select, relations, report)
    if not limited:
        select.set("order", None)


def _output(column: exp.Column, select: exp.Select, report: Diagnostics) -> exp.Expr | None:
    return None if column.table else output_named(select, column, report)


def _resolve_item(
    item: exp.Expr,
    select: exp.Select,
    relations: Sequence[Relation],
    report: Diagnostics,
) -> None:
    """Resolve an expression of ORDER BY, in which a plain name is an output if there is one."""
    for column in list(item.find_all(exp.Column)):
        output = _output(column, select, report)
        if output is None:
            resolve(column, relations, report)
        elif output.this.find(exp.Window, exp.Query):
            hint = "select the expression with a name, and order by the name"
            report.not_yet("ORDER BY an expression over OVER or a subquery", column, hint)
            column.type = t.UNKNOWN
        else:
            value = exp.Paren(this=output.this.copy())
            for inner in list(value.find_all(exp.Column)):
                resolve(inner, relations, report)
            whole = isinstance(value.this, (exp.Column, exp.Dot, exp.Func))
            column.replace(value.this if whole else value)


def cast_outputs(
    select: exp.Select, fields: Sequence[Field], kinds: Sequence[exp.DataType]
) -> None:
    """Cast the outputs of a bound SELECT, in place, after its ORDER BY has chosen the rows.

    ORDER BY reads outputs by their names, and would read what is cast. Integers cast to integers
    are ordered alike. Other casts stand in a query around.

    Args:
        fields: its columns.
    """
    changed = [field.type != kind for field, kind in zip(fields, kinds, strict=True)]
    lossy = any(
        differs and not t.is_integer(kind) for differs, kind in zip(changed, kinds, strict=True)
    )
    if lossy and select.args.get("order"):
        around = exp.Select(
            expressions=[
                exp.Alias(this=column_of("_limited", field), alias=exp.to_identifier(field.name))
                for field in fields
            ]
        )
        select.replace(around)
        around.set("from_", exp.From(this=named_subquery(select, "_limited")))
        select = around
    for item, kind, differs in zip(select.selects, kinds, changed, strict=True):
        if differs:
            cast_to(item.this, kind)


def is_comparable(node: exp.Expr) -> bool:
    """Return whether every engine sorts the values of a typed expression alike."""
    return t.family(type_of(node)) in COMPARABLE


def has_no_order(node: exp.Expr) -> bool:
    """Return whether values of a typed expression differ in ways that ORDER BY cannot tell."""
    return t.family(type_of(node)) not in (*COMPARABLE, *_WITHOUT_VALUES)


def check_sortable(item: exp.Expr, report: Diagnostics) -> None:
    """Report an item of ORDER BY whose values engines sort differently, or not at all.

    Args:
        item: ``exp.Ordered``, typed.
    """
    if has_no_order(item.this):
        message = f"ORDER BY cannot sort {t.sql_type(type_of(item.this))}"
        report.add("TYPE_CLASH", message, item.this, "order by one of its parts")


def anchored(order: exp.Order, columns: Iterable[exp.Expr]) -> exp.Order:
    """Return an order that goes on with other columns.

    Args:
        columns: typed expressions to go on with.
    """
    items = [item.copy() for item in order.expressions]
    known = {item.this.sql() for item in items}
    for column in columns:
        if column.sql() not in known and is_comparable(column):
            items.append(ascending(column.copy()))
    return exp.Order(expressions=items)


def columns_of(relations: Sequence[Relation]) -> list[exp.Expr]:
    """Return all columns of some relations, typed."""
    found: list[exp.Expr] = []
    for relation in relations:
        for field in relation.fields.values():
            column = exp.column(field.name, table=relation.alias)
            column.type = field.type.copy()
            column.meta[NULLABLE] = field.nullable
            found.append(column)
    return found


def ascending(column: exp.Expr) -> exp.Ordered:
    """Return an item that ORDER BY goes on with to break ties."""
    item = exp.Ordered(this=column, desc=False, nulls_first=False)
    item.meta[TIE] = True
    return item
