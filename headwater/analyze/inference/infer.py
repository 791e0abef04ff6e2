"""The type of every expression, and the clashes between them.

In: an expression whose columns are resolved (``.type`` set). Out: ``.type`` on every node,
canonical, and an error for every clash, with the place. Nodes are visited from the leaves up
without recursion; a node class that has no rule here and is no function is not part of the
language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import inf, isfinite
from typing import cast

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.inference.arithmetic import arithmetic, negative
from headwater.analyze.inference.calls import call
from headwater.analyze.inference.carried import carried_call, check_values, read_literals
from headwater.analyze.inference.casts import bind_cast
from headwater.analyze.inference.lambdas import lambdas_typed, waiting_lambda
from headwater.analyze.inference.lists import LISTS
from headwater.analyze.inference.time_sequences import is_time_sequence, time_sequence
from headwater.analyze.inference.window_functions import (
    WINDOW_FUNCTIONS,
    ignore_nulls,
    over,
    window_call,
)
from headwater.analyze.query_parts import is_over, is_union_all, union_branches
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import (
    align,
    cast_to,
    coerce,
    expect_boolean,
    merge,
    type_of,
)
from headwater.analyze.typing.determinism import NODES
from headwater.analyze.typing.elements import array, element
from headwater.analyze.typing.functions import FUNCTIONS
from headwater.analyze.typing.rows import row
from headwater.analyze.typing.zones import at_time_zone
from headwater.dialect.syntax import DIALECT, OneColumn, ViewWatermark
from headwater.errors.nearest import did_you_mean

Rule = Callable[[exp.Expr, Diagnostics], exp.DataType]

_JOIN_ANY = ("duckdb", "postgres", "snowflake", "spark")
"""Dialects whose ``||`` takes a number beside a text."""


_APART = (exp.Query, exp.Lambda, exp.WithinGroup)
"""What is typed with what is around it, or refused as a whole."""
_SILENT = (
    *(exp.Identifier, exp.DataType, exp.DataTypeParam, exp.Var, exp.JSONPath, exp.JSONPathPart),
    *(exp.WindowSpec, exp.OverflowTruncateBehavior),
)
_KNOWN = (exp.Column, ViewWatermark)
_EQUALITIES = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ)
_HELD = (t.Type.ARRAY, t.Type.STRUCT)
_OF_DISTINCT: tuple[type[exp.Expr], ...] = (exp.Count, exp.Sum, exp.Avg, *LISTS)


def infer(expression: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Set the type of an expression and of everything in it; report what does not fit.

    Args:
        expression: resolved columns and literals below operators and functions.

    Returns:
        The expression's type; :data:`~headwater.analyze.typing.types.UNKNOWN` after an error.
    """
    nodes = list(
        expression.walk(
            prune=lambda node: isinstance(node, (*_SILENT, exp.Column, exp.Interval, *_APART))
        )
    )
    for node in reversed(nodes):
        if isinstance(node, _SILENT) or (isinstance(node, _KNOWN) and node.type):
            continue
        node.type = _rule(node)(node, report)
    check_values(nodes, report)
    return type_of(expression)


def _rule(node: exp.Expr) -> Rule:
    if type(node) in WINDOW_FUNCTIONS and is_over(node):
        return window_call
    if rule := RULES.get(type(node)):
        return rule
    if isinstance(node, exp.Connector):
        return _logic
    if isinstance(node, exp.Func) or type(node) in FUNCTIONS or type(node) in NODES:
        return _call
    return _unsupported


def _call(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    if is_time_sequence(node):
        other = time_sequence(node, report)
        if other is None:
            return t.UNKNOWN
    else:
        other = carried_call(node) or _joined_arrays(node)
    if other is not None:
        node.replace(other)
        return infer(other, report)
    return call(node, report) if lambdas_typed(node, infer, report) else t.UNKNOWN


def _one_column(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Refuse what UNNEST gives several columns of; otherwise the node has said what it has to."""
    kind = type_of(node.this)
    if kind.this is t.Type.ARRAY and t.family(t.elements(kind)[0]) != "struct":
        node.replace(node.this)
    elif not t.is_unknown(kind):
        message = f"UNNEST of {t.sql_type(kind)} has one name for its columns"
        hint = "name each of them, and read them by LEFT JOIN UNNEST(x) AS u (a, b) ON true"
        report.add("WRONG_ARGUMENTS", message, node.this, hint)
        return t.UNKNOWN
    return kind


def _unsupported(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    if isinstance(node, exp.Star) and isinstance(node.parent, exp.Anonymous):
        return t.UNKNOWN  # the function is not known
    if isinstance(node, exp.WithinGroup):
        report.not_yet("WITHIN GROUP", node, "use approx_percentile(x, 0.5)")
    else:
        hint = "write it with the operators and functions of Trino SQL"
        if isinstance(node, exp.Any):
            hint = "write bool_or(x), or a comparison: x = ANY (…)"
        message = f"{report.excerpt(node)} is not part of the language"
        report.add("UNSUPPORTED_SYNTAX", message, node, hint)
    return t.UNKNOWN


def _literal(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    if node.is_string:
        return t.VARCHAR
    text = node.name
    if "e" in text.lower() and isfinite(float(text)):
        return t.DOUBLE
    if "." in text:
        whole, _, fraction = text.partition(".")
        digits = max(len(whole.lstrip("0")) + len(fraction), 1)
        if digits <= t.MAX_PRECISION:
            return t.decimal(digits, len(fraction))
    value = int(text) if text.isdigit() else inf
    if value >= 2**63:
        report.add("TYPE_CLASH", f"number {text} is too large", node, "write it as 1e0 or DECIMAL")
        return t.UNKNOWN
    return t.INTEGER if value < 2**31 else t.BIGINT


def _bytes(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    if not re.fullmatch(r"([0-9A-Fa-f]{2})*", node.name):
        hint = "write two hexadecimal digits for each byte: X'00ff'"
        report.add("WRONG_ARGUMENTS", "the literal of bytes is malformed", node, hint)
    return t.VARBINARY


def _same(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    return type_of(node.this)


def _comparison(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    operands = [node.this, node.args.get("expression"), node.args.get("low"), node.args.get("high")]
    align([item for item in operands if item is not None], node, report)
    read_literals(node, report)
    if not isinstance(node, _EQUALITIES) and type_of(node.this).this in _HELD:
        # Trino fails if an element that decides is NULL
        report.not_yet("an order of arrays or rows", node, "compare their elements")
    return t.BOOLEAN


def _in(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    if query := node.args.get("query"):
        _compare_with(node, query, report)
        return t.BOOLEAN
    if node.args.get("unnest") or node.args.get("field"):
        return _unsupported(node, report)
    else:
        align([node.this, *node.expressions], node, report)
        read_literals(node, report)
    return t.BOOLEAN


def _output_type(query: exp.Expr) -> exp.DataType:
    """The type of the first column of a bound query; unknown if its FROM is refused."""
    first = next(iter(union_branches(query)[0].selects), None)
    return t.UNKNOWN if first is None else type_of(first.unalias())


def _exists(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    # sqlglot 30 reads exists(array, lambda) of Spark as the same node
    return t.BOOLEAN if isinstance(node.this, exp.Query) else _call(node, report)


def _compare_with(node: exp.Expr, query: exp.Expr, report: Diagnostics) -> None:
    """Bring the value before IN and the column of its subquery to one type."""
    left, kind = type_of(node.this), _output_type(query)
    if any(not branch.selects for branch in union_branches(query)):
        return  # its FROM is refused
    common = t.common_type([left, kind])
    members = [branch.selects[0].unalias() for branch in union_branches(query)]
    if common is None or (not t.is_read_alike(kind, common) and not is_union_all(query)):
        message = f"cannot compare {t.sql_type(left)} and {t.sql_type(kind)}"
        report.add("TYPE_CLASH", message, node, "cast one side: CAST(x AS type)")
    else:
        coerce([node.this, *members], common)


def _logic(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    for side in (node.this, node.args.get("expression")):
        if side is not None:
            expect_boolean(side, node.key.upper(), report)
    return t.BOOLEAN


def _is(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    if isinstance(node.expression, exp.Boolean):
        expect_boolean(node.this, "IS TRUE", report)
    return t.BOOLEAN


def _expect_text(node: exp.Expr, operator: str, report: Diagnostics) -> None:
    for side in (node.this, node.args["expression"]):
        if t.family(type_of(side)) not in ("text", "null", "unknown"):
            message = f"{operator} needs text, not {t.sql_type(type_of(side))}"
            hint = "cast it: CAST(x AS VARCHAR)"
            if isinstance(node, exp.DPipe):
                hint += "; between conditions, write OR"
            report.add("TYPE_CLASH", message, side, hint)


def _like(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    _expect_text(node, "LIKE", report)
    return t.BOOLEAN


def _escape(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    return t.BOOLEAN


def _concat(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    sides = [node.this, node.args["expression"]]
    kinds = [type_of(side) for side in sides]
    if t.common_type(kinds) is None:
        _take_for_array(sides, kinds, report)
        sides = [node.this, node.args["expression"]]
    if [t.family(type_of(side)) for side in sides] == ["array", "array"]:
        return merge(sides, "operands of ||", report)
    if node.meta.get(DIALECT) in _JOIN_ANY and "text" in map(t.family, map(type_of, sides)):
        for side in sides:
            kind = type_of(side)
            if kind == t.DATE or t.family(kind) == "boolean" or t.is_exact(kind):
                cast_to(side, t.VARCHAR)
    _expect_text(node, "||", report)
    return t.VARCHAR


def _take_for_array(
    sides: Sequence[exp.Expr], kinds: Sequence[exp.DataType], report: Diagnostics
) -> None:
    """Write an element before or behind an array as an array of it."""
    for side, kind, other in zip(sides, kinds, reversed(kinds), strict=True):
        if other.this is t.Type.ARRAY and t.common_type([*t.elements(other), kind]) is not None:
            side.replace(wrapped := exp.Array(expressions=[side.copy()]))
            infer(wrapped, report)


def _joined_arrays(node: exp.Expr) -> exp.Expr | None:
    """Return a call of concat over arrays by the operator; None for any other call."""
    parts = node.expressions if type(node) is exp.Concat else []
    if not any(type_of(each).this is t.Type.ARRAY for each in parts):
        return None
    first, *others = (each.copy() for each in parts)
    for each in others:
        first = exp.DPipe(this=first, expression=each)
    return cast(exp.Expr, first)


def _case(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    branches = [branch.args["true"] for branch in node.args["ifs"]]
    tests = [branch.this for branch in node.args["ifs"]]
    if node.this is not None:
        align([node.this, *tests], node, report)
    else:
        for test in tests:
            expect_boolean(test, "WHEN", report)
    if default := node.args.get("default"):
        branches.append(default)
    return merge(branches, "branches of CASE", report)


def _if(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    if isinstance(node.parent, exp.Case) and node.arg_key == "ifs":
        return t.UNKNOWN  # typed by its CASE
    expect_boolean(node.this, "IF", report)
    branches = [node.args["true"]]
    if default := node.args.get("false"):
        branches.append(default)
    return merge(branches, "branches of IF", report)


def _interval(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    return t.INTERVAL


def _distinct(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    around = node.parent.parent if isinstance(node.parent, exp.Order) else node.parent
    if not isinstance(around, _OF_DISTINCT) or len(node.expressions) != 1:
        report.not_yet("DISTINCT here", node, "write count(DISTINCT x) with one expression")
        return t.UNKNOWN
    return type_of(node.expressions[0])


def _filter(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    where = node.args["expression"]
    expect_boolean(where.this, "FILTER", report)
    return type_of(node.this)


def _star(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    if not isinstance(node.parent, exp.Count):
        return _unsupported(node, report)
    return t.UNKNOWN


def _dot(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    kind, name = type_of(node.this), node.expression.name.lower()
    fields = (
        {field.name: inner for field, inner in zip(kind.expressions, t.elements(kind), strict=True)}
        if kind.this is t.Type.STRUCT
        else {}
    )
    if name not in fields:
        report.add(
            "UNKNOWN_COLUMN",
            f'field "{name}" does not exist',
            node,
            did_you_mean(name, fields, "fields"),
        )
        return t.UNKNOWN
    return fields[name]


RULES: dict[type[exp.Expr], Rule] = {
    exp.Literal: _literal,
    exp.Boolean: lambda node, report: t.BOOLEAN,
    exp.HexString: _bytes,
    exp.Null: lambda node, report: t.NULL,
    exp.Paren: _same,
    exp.Alias: _same,
    exp.Where: _same,
    exp.Having: _same,
    exp.Qualify: _same,
    exp.Ordered: _same,
    exp.Order: _same,
    exp.IgnoreNulls: ignore_nulls,
    exp.Window: over,
    exp.Exists: _exists,
    exp.Select: lambda node, report: _output_type(node),
    exp.Subquery: lambda node, report: _output_type(node),
    exp.Neg: negative,
    exp.Add: arithmetic,
    exp.Sub: arithmetic,
    exp.Mul: arithmetic,
    exp.Div: arithmetic,
    exp.Mod: arithmetic,
    exp.Not: _logic,
    exp.Is: _is,
    exp.Like: _like,
    exp.Escape: _escape,
    exp.DPipe: _concat,
    exp.In: _in,
    exp.Case: _case,
    exp.If: _if,
    exp.Cast: bind_cast,
    exp.TryCast: bind_cast,
    OneColumn: _one_column,
    exp.Try: _same,
    exp.Interval: _interval,
    exp.Array: array,
    exp.Struct: row,
    exp.PropertyEQ: lambda node, report: type_of(node.expression),
    exp.Bracket: element,
    exp.Lambda: waiting_lambda,
    exp.AtTimeZone: at_time_zone,
    exp.Distinct: _distinct,
    exp.Filter: _filter,
    exp.Star: _star,
    exp.Dot: _dot,
    exp.Column: lambda node, report: t.UNKNOWN,
    **dict.fromkeys(
        (
            exp.EQ,
            exp.NEQ,
            exp.LT,
            exp.LTE,
            exp.GT,
            exp.GTE,
            exp.NullSafeEQ,
            exp.NullSafeNEQ,
            exp.Between,
        ),
        _comparison,
    ),
}
