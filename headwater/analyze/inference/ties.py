"""Rows that tie in an order: what tells them apart, so that every run and engine takes the same.

In: a SELECT whose columns are resolved and typed. Out: its ORDER BY … LIMIT and its windows, which
order further. What depends on the order of rows that tie (``row_number``, ``lag``, frames of ROWS,
the first rows) goes on with every other column that can be compared, and of what is read with the
fields of rows and with texts of arrays and maps. ``rank`` and frames of RANGE treat rows that tie
alike, and are left as they are. Rows of one key are one row. What could still differ is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from headwater.analyze.connectors.registry import CONNECTORS
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.fallibility.fallible import failing
from headwater.analyze.inference.compositions import composed
from headwater.analyze.inference.window_functions import OF_TIES
from headwater.analyze.names.ordering import (
    anchored,
    ascending,
    check_sortable,
    columns_of,
    has_no_order,
    is_comparable,
)
from headwater.analyze.names.scope import Relation, column_of
from headwater.analyze.query_parts import (
    bare_call,
    columns_of_one,
    is_aggregate,
    is_distinct,
    is_over,
    window_calls,
    windows_of,
)
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.meanings.templates import in_brackets

_IN_WINDOWS = (exp.Order, exp.Ordered, exp.WindowSpec, exp.Where)
_TEXT = (
    "array_join(transform({}, x -> coalesce(CAST(length(CAST(x AS VARCHAR)) AS VARCHAR) || ':'"
    " || CAST(x AS VARCHAR), '-')), ',')"
)
"""Each element behind its length, so that no two arrays have one text."""
_OF_ARRAY = _TEXT.format("_1")
_OF_MAP = f"concat({_TEXT.format('map_keys(_1)')}, ';', {_TEXT.format('map_values(_1)')})"


def anchor_windows(select: exp.Select, relations: Sequence[Relation], report: Diagnostics) -> None:
    """Order windows further whose functions would tell rows apart that tie, in place.

    Args:
        relations: what its FROM gives.
    """
    ties, unordered = _of_groups(select) if is_aggregate(select) else _of_rows(select, relations)
    for window in window_calls(select):
        spec, order = window.args.get("spec"), window.args.get("order")
        if order is None:
            continue
        for item in order.expressions:
            check_sortable(item, report)
        rows = spec is not None and str(spec.args.get("kind")).upper() == "ROWS"
        if _by_place(order, relations) or not (rows or isinstance(bare_call(window), OF_TIES)):
            continue
        partition = window.args.get("partition_by") or []
        parts = list(ties)
        for value in (each for each in unordered if each not in partition):
            if found := _parts_of(value):
                parts += found
            else:
                hint = "use rank(), which treats them alike, or select what can be compared of it"
                _refuse(value, hint, report)
        window.set("order", anchored(order, parts))


def break_ties(select: exp.Select, relations: Sequence[Relation], report: Diagnostics) -> None:
    """Let ORDER BY … LIMIT go on with the outputs that are not in it, in place.

    Args:
        relations: what its FROM gives.
    """
    order = select.args.get("order")
    if order is None:
        return
    outputs = {item.alias: item.this for item in select.selects}
    for item in order.expressions:
        if isinstance(item.this, exp.Column) and item.this.name in outputs and not item.this.table:
            item.this.type = type_of(outputs[item.this.name])
        check_sortable(item, report)
    named = {item.this.name for item in order.expressions if not item.this.args.get("table")}
    for name, value in outputs.items():
        if name not in named and is_comparable(value):
            column = exp.column(name)
            column.type = type_of(value)
            order.append("expressions", ascending(column))
    known = [*filter(is_comparable, outputs.values()), *(item.this for item in order.expressions)]
    for name, value in outputs.items():
        if name in named or not has_no_order(value) or _follows(value, known):
            continue
        told = _told_by(value, select, relations)
        if told is None:
            _refuse(value, "leave it out, or select the parts that can be compared", report)
            continue
        for each in (each for each in told if each not in known):
            order.append("expressions", ascending(each))
            known.append(each)


def _told_by(
    value: exp.Expr, select: exp.Select, relations: Sequence[Relation]
) -> Sequence[exp.Expr] | None:
    """What tells rows apart that differ in an output without an order; None if nothing does."""
    if is_aggregate(select):
        keys, unordered = _of_groups(select)
        return None if unordered else keys
    if is_distinct(select) or value.find(exp.Window, exp.Query):
        return None
    read = {column.table for column in value.find_all(exp.Column)}
    keyed = [key for each in relations if each.alias in read and (key := _key_of(each)) is not None]
    if len(keyed) == len(read):
        return [column for key in keyed for column in key]
    return _parts_of(value)


def _key_of(relation: Relation) -> list[exp.Column] | None:
    """The key of a relation, typed; None if none is known whose values can be compared."""
    if relation.key is None:
        return None
    columns = [column_of(relation.alias, relation.fields[name]) for name in relation.key]
    return columns if all(map(is_comparable, columns)) else None


def _parts_of(value: exp.Expr) -> Sequence[exp.Expr] | None:
    """What can be compared and differs where a value does; None if nothing is known of that.

    Of arrays and maps of plain values it is a text, of rows it is their fields.
    """
    kind = type_of(value)
    if is_comparable(value):
        return [value]
    if any(failing(value)):
        return None
    if kind.this is t.Type.STRUCT:
        found = [_parts_of(_field(value, at)) for at in range(len(kind.expressions))]
        known = [part for parts in found if parts is not None for part in parts]
        return None if None in found else [composed("_1 IS NULL", [value]), *known]
    if not all(map(_is_written_alike, t.elements(kind))):
        return None
    text = {t.Type.ARRAY: _OF_ARRAY, t.Type.MAP: _OF_MAP}.get(kind.this)
    return None if text is None else [composed(text, [value])]


def _is_written_alike(kind: exp.DataType) -> bool:
    """Whether every engine casts the values of a type to the same texts."""
    return t.is_exact(kind) or kind == t.DATE or t.family(kind) in ("text", "boolean", "uuid")


def _field(value: exp.Expr, at: int) -> exp.Expr:
    kind = type_of(value)
    name = exp.to_identifier(kind.expressions[at].name, quoted=True)
    field = exp.Dot(this=in_brackets(value), expression=name)
    field.type = t.elements(kind)[at].copy()
    return field


def _follows(value: exp.Expr, known: Sequence[exp.Expr]) -> bool:
    """Return whether a value is the same wherever some others are."""
    if value in known:
        return True
    if isinstance(value, (exp.Column, exp.AggFunc, exp.Window, exp.Query)):
        return False
    return all(_follows(part, known) for part in value.iter_expressions())


def _by_place(order: exp.Order, relations: Sequence[Relation]) -> bool:
    """Return whether rows are ordered by their place in the input, unique in a log."""
    if len(relations) > 1:
        return False
    named = {item.this.name for item in order.expressions if isinstance(item.this, exp.Column)}
    places = (set(each.position) for each in CONNECTORS.loaded.values() if each.position)
    return any(place <= named and _of_one_table(relations[0].node, place) for place in places)


def _of_one_table(node: exp.Expr, columns: set[str]) -> bool:
    """Return whether rows are distinct rows of one table, with some columns unchanged."""
    if isinstance(node, exp.Table):
        return True
    kept = columns_of_one(node.this) if isinstance(node, exp.Subquery) else {}
    same = all(kept.get(each) == each for each in columns)
    return same and isinstance(node.this.args["from_"].this, exp.Table)


def _of_groups(select: exp.Select) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """The keys that tell groups apart, and those that have no order."""
    group = select.args.get("group")
    keys = list(group.expressions) if group else []
    return keys, [key for key in keys if has_no_order(key)]


def _of_rows(
    select: exp.Select, relations: Sequence[Relation]
) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """What tells rows of FROM apart, and what the SELECT reads that has no order."""
    # An array does not sort, but a value computed from it may: ``cardinality(a)`` tells rows apart.
    aliases = {relation.alias for relation in relations if _key_of(relation) is None}
    ties = columns_of(relations)
    unordered: list[exp.Expr] = []
    qualify = select.args.get("qualify")
    heads = [*(item.unalias() for item in select.selects), *([qualify.this] if qualify else [])]
    for value in (value for head in heads for value in _values_of(head)):
        columns = [c for c in value.find_all(exp.Column) if c.table in aliases and has_no_order(c)]
        plain = is_comparable(value) and not value.find(exp.Query) and not any(failing(value))
        if columns and plain:
            ties.append(value.copy())
        else:
            unordered += columns
    return ties, unordered


def _values_of(expression: exp.Expr) -> Iterator[exp.Expr]:
    """The largest parts of an expression that are values of one row."""
    inside = isinstance(expression, _IN_WINDOWS) or is_over(expression)
    if not inside and not windows_of(expression):
        yield expression
        return
    for part in expression.iter_expressions():
        yield from _values_of(part)


def _refuse(node: exp.Expr, hint: str, report: Diagnostics) -> None:
    """Report what rows can differ in that tie in everything that can be compared."""
    what = f'"{node.name}"' if isinstance(node, exp.Column) else "this"
    kind = t.sql_type(type_of(node))
    message = f"rows that tie can differ in {what}, and {kind} cannot be compared"
    report.add("NON_DETERMINISTIC", message, node, hint)
