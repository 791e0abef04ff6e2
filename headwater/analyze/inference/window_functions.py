"""Functions with OVER: which there are, and their types."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.inference.lists import LISTS
from headwater.analyze.query_parts import is_over
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
OF_TIES: tuple[type[exp.Expr], ...] = (exp.RowNumber, exp.Ntile, *VALUES)
"""Functions that tell rows apart that tie."""
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
