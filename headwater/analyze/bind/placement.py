"""Where aggregates and window functions may stand.

In: a bound SELECT. Out: errors in the report.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import (
    aggregates,
    is_aggregate,
    is_over,
    window_calls,
    windows_of,
)


def check_windows(select: exp.Select, report: Diagnostics) -> None:
    """Report OVER outside the SELECT list and QUALIFY, and QUALIFY without OVER."""
    group = select.args.get("group")
    places = [select.args.get("where"), select.args.get("having"), group]
    for place in filter(None, places):
        for found in windows_of(place):
            message = f"OVER cannot stand in {place.key.upper()}"
            hint = "filter with QUALIFY, or in the query around"
            report.add("MISPLACED_WINDOW", message, found, hint)
    if select.args.get("qualify") and not window_calls(select):
        message = "QUALIFY filters by the result of OVER, and the query has no OVER"
        report.add("MISPLACED_WINDOW", message, select.args["qualify"], "use WHERE")


def check_aggregates(select: exp.Select, report: Diagnostics) -> None:
    """Report aggregates in WHERE, and columns that are neither grouped nor aggregated."""
    for found in aggregates(select.args.get("where")):
        message = "aggregates cannot stand in WHERE"
        report.add("MISPLACED_AGGREGATE", message, found, "filter groups with HAVING")
    group = select.args.get("group")
    having = select.args.get("having")
    qualify = select.args.get("qualify")
    heads = [*select.selects, *(node.this for node in (having, qualify) if node)]
    if not is_aggregate(select):
        if having:
            report.add("MISPLACED_AGGREGATE", "HAVING needs GROUP BY", having, "use WHERE")
        return
    keys = set(group.expressions) if group else set()
    for head in heads:
        for column in _ungrouped(head, keys):
            report.add(
                "NOT_GROUPED",
                f'column "{column.name}" is neither a group key nor in an aggregate',
                column,
                f"add {column.name} to GROUP BY, or aggregate it: max({column.name})",
            )


def _ungrouped(head: exp.Expr, keys: Collection[exp.Expr]) -> list[exp.Column]:
    """Return the columns of an output that are neither below an aggregate nor in a group key."""
    found: list[exp.Column] = []
    stack: list[exp.Expr] = [head]
    while stack:
        node = stack.pop()
        aggregate = isinstance(node, (exp.AggFunc, exp.Filter)) and not is_over(node)
        # a call that was refused, as Anonymous ones are, may have been of an aggregate
        covers = (exp.Query, exp.WithinGroup, exp.Anonymous)
        if aggregate or isinstance(node, covers) or node in keys:
            continue
        if isinstance(node, exp.Column):
            found.append(node)
        else:
            stack.extend(node.iter_expressions())
    return found
