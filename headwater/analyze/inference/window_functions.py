"""Functions with OVER: which there are, their types, and an order in which nothing ties.

In: a SELECT whose columns are resolved. Out: typed windows. What depends on the order of rows that
tie (row_number, lag, frames of ROWS) is ordered further by every column of FROM, or by the group
keys, and refused where rows without a key could still differ in an array, a map or a row that the
SELECT reads; rank and frames of RANGE treat rows that tie alike, and are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from headwater.analyze.connectors.registry import CONNECTORS
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.fallibility.fallible import failing
from headwater.analyze.inference.lists import LISTS
from headwater.analyze.names.ordering import (
    anchored,
    check_sortable,
    columns_of,
    has_no_order,
    is_comparable,
    key_of,
    refuse_ties,
)
from headwater.analyze.names.scope import Relation
from headwater.analyze.query_parts import (
    columns_of_one,
    is_aggregate,
    is_over,
    window_calls,
    windows_of,
)
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import cast_to, merge, type_of
from headwater.analyze.typing.frames import check_frame
from headwater.analyze.typing.functions import AGGREGATES, function_name

NUMBERED: Mapping[type[exp.Expr], str] = {
    exp.RowNumber: "row_number",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
    exp.Ntile: "ntile",
}
"""Functions whose value is a whole number that Spark keeps in 32 bits."""

SHARES: Mapping[type[exp.Expr], str] = {exp.PercentRank: "percent_rank", exp.CumeDist: "cume_dist"}

VALUES: Mapping[type[exp.Expr], str] = {
    exp.Lag: "lag",
    exp.Lead: "lead",
    exp.FirstValue: "first_value",
    exp.LastValue: "last_value",
    exp.NthValue: "nth_value",
}
"""Functions whose value is that of another row."""

WINDOW_FUNCTIONS: Mapping[type[exp.Expr], str] = {**NUMBERED, **SHARES, **VALUES}

_WITHOUT_FRAMES = (*NUMBERED, *SHARES, exp.Lag, exp.Lead)
_OF_TIES: tuple[type[exp.Expr], ...] = (exp.RowNumber, exp.Ntile, *VALUES)
_IN_WINDOWS = (exp.Order, exp.Ordered, exp.WindowSpec, exp.Where)
_WHOLE = (*t.SCALARS, "binary", "unknown")
"""Families of types whose values have no parts."""


def window_call(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Return the type of a function of :data:`WINDOW_FUNCTIONS`.

    Args:
        node: the call, its arguments typed.
    """
    name = WINDOW_FUNCTIONS[type(node)]
    if isinstance(node, (exp.Ntile, exp.NthValue, exp.Lag, exp.Lead)):
        count = node.this if isinstance(node, exp.Ntile) else node.args.get("offset")
        if count is not None and not (isinstance(count, exp.Literal) and count.is_int):
            message = f"the number of {name} must be a literal"
            report.add("WRONG_ARGUMENTS", message, node, "write the value itself")
        elif (
            isinstance(node, (exp.Ntile, exp.NthValue)) and count is not None and count.name == "0"
        ):
            message = f"the number of {name} must be 1 or more"
            report.add("WRONG_ARGUMENTS", message, count, "write 1 for the first")
    if type(node) in SHARES:
        return t.DOUBLE
    if type(node) in NUMBERED:
        return t.BIGINT
    if t.family(type_of(node.this)) not in _WHOLE:
        message = f"{name} needs a number, text, boolean, time or bytes"
        report.add("TYPE_CLASH", message, node.this, "take one of its parts")
    default = node.args.get("default")
    given = [node.this, *([default] if default is not None else [])]
    common = merge(given, f"arguments of {name}", report)
    for item in (
        node.this,
        node.args.get("default"),
    ):  # engines cast the default to the value's type
        if item is not None and type_of(item) not in (common, t.NULL, t.UNKNOWN):
            cast_to(item, common)
    return common


def over(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Return the type of a call with OVER.

    Args:
        node: ``exp.Window``, what stands in it typed.
    """
    call = _bare(node)
    if type(call) not in WINDOW_FUNCTIONS and type(call) not in AGGREGATES:
        message = f"{function_name(call)} does not stand before OVER"
        hint = f"before OVER stand aggregates and {', '.join(sorted(WINDOW_FUNCTIONS.values()))}"
        report.add("UNKNOWN_FUNCTION", message, node, hint)
    elif AGGREGATES.get(type(call)) and AGGREGATES[type(call)].approximate:
        report.not_yet("an approximate aggregate with OVER", node, "use an exact one")
    elif type(call) in LISTS:
        report.not_yet(f"{LISTS[type(call)]} with OVER", node, "join it with its own GROUP BY")
    elif call.find(exp.Distinct):
        report.not_yet("DISTINCT with OVER", node, "count in a subquery with GROUP BY")
    elif _asks_for_order(node, call) and not node.args.get("order"):
        hint = "say in which order: OVER (PARTITION BY k ORDER BY ts)"
        message = f"{function_name(call)} over rows without an order could take any"
        report.add("NON_DETERMINISTIC", message, node, hint)
    elif node.args.get("spec") is not None and type(call) in _WITHOUT_FRAMES:
        message = f"{function_name(call)} takes no frame"
        report.add("WRONG_ARGUMENTS", message, node, "remove ROWS or RANGE")
    else:
        if node.args.get("spec") is not None:
            check_frame(node, report)
        return type_of(node.this)
    return t.UNKNOWN


def ignore_nulls(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Return the type of a call that passes over NULLs.

    Args:
        node: ``exp.IgnoreNulls``, the call in it typed.
    """
    if type(node.this) not in VALUES or not is_over(node):
        message = f"IGNORE NULLS does not stand behind {function_name(node.this)}"
        report.add("UNSUPPORTED_SYNTAX", message, node, "filter them: FILTER (WHERE x IS NOT NULL)")
        return t.UNKNOWN
    return type_of(node.this)


def _bare(window: exp.Expr) -> exp.Expr:
    """The function before OVER."""
    call: exp.Expr = window.this
    return call.this if isinstance(call, (exp.Filter, exp.IgnoreNulls)) else call


def _asks_for_order(node: exp.Expr, call: exp.Expr) -> bool:
    return type(call) in WINDOW_FUNCTIONS or node.args.get("spec") is not None


def anchor_windows(select: exp.Select, relations: Sequence[Relation], report: Diagnostics) -> None:
    """Order windows further whose functions would tell rows apart that tie, in place."""
    ties, untold = _of_groups(select) if is_aggregate(select) else _of_rows(select, relations)
    for window in window_calls(select):
        spec, order = window.args.get("spec"), window.args.get("order")
        if order is None:
            continue
        for item in order.expressions:
            check_sortable(item, report)
        rows = spec is not None and str(spec.args.get("kind")).upper() == "ROWS"
        if _by_place(order, relations):
            continue
        if rows or isinstance(_bare(window), _OF_TIES):
            window.set("order", anchored(order, ties))
            named = [*(window.args.get("partition_by") or []), *(i.this for i in order.expressions)]
            for node in (each for each in untold if each not in named):
                hint = "use rank(), which treats them alike, or select what can be compared of it"
                refuse_ties(node, hint, report)


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
    """What tells groups apart, and the keys that no order tells apart."""
    group = select.args.get("group")
    keys = list(group.expressions) if group else []
    return keys, [key for key in keys if has_no_order(key)]


def _of_rows(
    select: exp.Select, relations: Sequence[Relation]
) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """Return what tells rows of FROM apart, and what the SELECT reads that no order tells apart."""
    # An array does not sort, but a value computed from it may: ``cardinality(a)`` tells rows apart.
    # Rows with one key are one row.
    aliases = {relation.alias for relation in relations if key_of(relation) is None}
    ties = columns_of(relations)
    untold: list[exp.Expr] = []
    qualify = select.args.get("qualify")
    heads = [*(item.unalias() for item in select.selects), *([qualify.this] if qualify else [])]
    for value in (value for head in heads for value in _values_of(head)):
        columns = [c for c in value.find_all(exp.Column) if c.table in aliases and has_no_order(c)]
        plain = is_comparable(value) and not value.find(exp.Query) and not any(failing(value))
        if columns and plain:
            ties.append(value.copy())
        else:
            untold += columns
    return ties, untold


def _values_of(expression: exp.Expr) -> Iterator[exp.Expr]:
    """The largest parts of an expression that are values of one row."""
    inside = isinstance(expression, _IN_WINDOWS) or is_over(expression)
    if not inside and not windows_of(expression):
        yield expression
        return
    for part in expression.iter_expressions():
        yield from _values_of(part)
