"""Where values that hold a map cannot stand: engines compare, sort and group them differently.

In: a bound view. Out: errors for comparisons and groups of maps other than ``=`` and ``<>`` of two
maps, whose keys and values have no parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from headwater.analyze.query_parts import is_distinct, union_branches
from headwater.analyze.rules.contract import Checked
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_NESTED = (t.Type.ARRAY, t.Type.MAP, t.Type.STRUCT)
_EQUALITIES = (exp.EQ, exp.NEQ)
_COMPARISONS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_SEARCHES = (exp.Between, exp.In, exp.ArrayContains)


def rows_in_subqueries(checked: Checked) -> None:
    """Refuse a row before IN (SELECT …), which Trino takes for a list of its fields."""
    for node in checked.view.query.find_all(exp.In):
        if node.args.get("query") is not None and type_of(node.this).this is t.Type.STRUCT:
            hint = "compare its fields: EXISTS (SELECT 1 FROM … WHERE a = b AND …)"
            message = f"IN of a subquery cannot take {t.sql_type(type_of(node.this))}"
            checked.report.add("TYPE_CLASH", message, node.this, hint)


def comparable_maps(checked: Checked) -> None:
    """Refuse maps, and what holds them, where an engine would have to compare or group them."""
    for node in checked.view.query.walk():
        for value, what in _uses(node):
            if _holds_map(type_of(value)):
                message = f"{what} cannot take {t.sql_type(type_of(value))}"
                hint = "take values by key: element_at(m, 'a'), or unnest the map"
                checked.report.add("TYPE_CLASH", message, value, hint)
                break


def _uses(node: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    """Yield the values that a node compares or groups, and what it is."""
    if isinstance(node, _EQUALITIES):
        if not all(map(_is_plain_map, (node.this, node.expression))):
            yield from ((side, "=") for side in (node.this, node.expression))
    elif isinstance(node, _COMPARISONS):
        yield from ((side, "a comparison") for side in (node.this, node.expression))
    elif isinstance(node, _SEARCHES):
        yield node.this, node.key.upper()
    elif isinstance(node, exp.Case) and node.this is not None:
        yield node.this, "CASE x WHEN"
    elif isinstance(node, exp.Distinct) and node.expressions:
        yield from ((each, "DISTINCT") for each in node.expressions)
    elif isinstance(node, exp.Select):
        group = node.args.get("group")
        yield from ((key, "GROUP BY") for key in (group.expressions if group is not None else []))
        if is_distinct(node):
            yield from ((item.unalias(), "DISTINCT") for item in node.selects)
    elif isinstance(node, exp.Window):
        yield from ((key, "PARTITION BY") for key in node.args.get("partition_by") or [])
    elif isinstance(node, exp.SetOperation) and not _is_union_all(node):
        heads = union_branches(node)[0].selects
        yield from ((item.unalias(), node.key.upper()) for item in heads)


def _is_union_all(node: exp.SetOperation) -> bool:
    return isinstance(node, exp.Union) and not node.args.get("distinct")


def _is_plain_map(value: exp.Expr) -> bool:
    kind = type_of(value)
    return kind.this is t.Type.MAP and not any(each.this in _NESTED for each in t.elements(kind))


def _holds_map(kind: exp.DataType) -> bool:
    return kind.this is t.Type.MAP or any(map(_holds_map, t.elements(kind)))
