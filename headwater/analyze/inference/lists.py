"""Lists that aggregates make: what is refused in a call of array_agg or listagg."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.names.ordering import COMPARABLE
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

LISTS: Mapping[type[exp.Expr], str] = {exp.ArrayAgg: "array_agg", exp.GroupConcat: "listagg"}
"""Aggregates that hold a value of every row, in an order."""


def check_list(call: exp.Expr, report: Diagnostics) -> bool:
    """Return whether a list is whole and in order; report what is missing.

    Args:
        call: of :data:`LISTS`, its arguments typed.
    """
    before = len(report.errors)
    if isinstance(call, exp.GroupConcat):
        _check_text(call, report)
    if isinstance(call.this, exp.Order):
        _check_order(call, call.this, report)
    value = call.this.this if isinstance(call.this, exp.Order) else call.this
    if isinstance(value, exp.Distinct) and type_of(value).this is t.Type.STRUCT:
        hint = "write array_agg(r) over a subquery with DISTINCT"
        report.not_yet(f"{LISTS[type(call)]}(DISTINCT …) of rows", call, hint)
    return len(report.errors) == before


def _check_text(call: exp.Expr, report: Diagnostics) -> None:
    if call.args.get("on_overflow"):
        report.not_yet("ON OVERFLOW", call, "leave it out")
    elif not call.args.get("separator"):
        hint = "write listagg(x, '') to join without a separator"
        report.add("WRONG_ARGUMENTS", "listagg needs a separator", call, hint)


def _check_order(call: exp.Expr, order: exp.Order, report: Diagnostics) -> None:
    name = LISTS[type(call)]
    for item in order.expressions:
        if isinstance(item.this, exp.Literal):
            message = f"the order of {name} is a constant"
            report.add("WRONG_ARGUMENTS", message, item.this, "order by a column")
        elif t.family(type_of(item)) not in (*COMPARABLE, "unknown"):
            message = f"{name} cannot be ordered by {t.sql_type(type_of(item))}"
            report.add("TYPE_CLASH", message, item.this, "order by one of its parts")
    keys = [item.this for item in order.expressions]
    if isinstance(order.this, exp.Distinct) and keys != order.this.expressions:
        message = f"{name}(DISTINCT x) can be ordered by x only"
        report.add("WRONG_ARGUMENTS", message, call, "order by x, or leave DISTINCT out")
