"""Aggregates with ORDER BY → the same without, or elements of an ordered array.

In: a query as parsed. Out: the same values::

    first_value(x ORDER BY y)    element_at(array_agg(x ORDER BY y), 1)
    last_value(x ORDER BY y)     element_at(array_agg(x ORDER BY y), -1)
    sum(x ORDER BY y)            sum(x)
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

_PLACES: Mapping[type[exp.Expr], int] = {
    **dict.fromkeys((exp.FirstValue, exp.First), 1),
    **dict.fromkeys((exp.LastValue, exp.Last), -1),
}
_IN_ANY_ORDER = (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Count, exp.LogicalAnd, exp.LogicalOr)


def without_orders(query: exp.Query) -> None:
    """Replace aggregates with ORDER BY that need none, in place."""
    for call in list(query.find_all(*_PLACES, *_IN_ANY_ORDER)):
        around = call.parent if isinstance(call.parent, exp.Filter) else call
        if not isinstance(call.this, exp.Order) or isinstance(around.parent, exp.Window):
            continue
        if isinstance(call, _IN_ANY_ORDER):
            call.set("this", call.this.this)
        else:
            _take(call, around)


def _take(call: exp.Expr, around: exp.Expr) -> None:
    """Replace an aggregate, and its FILTER, by an element of all values."""
    place = _PLACES[type(call)]
    values: exp.Expr = exp.ArrayAgg(this=call.this.copy())
    if isinstance(around, exp.Filter):
        values = exp.Filter(this=values, expression=around.expression.copy())
    at = exp.Literal.number(place) if place > 0 else exp.Neg(this=exp.Literal.number(-place))
    found = exp.Bracket(this=values, expressions=[at], offset=1, safe=True)  # element_at
    found.meta.update(call.meta)
    around.replace(found)
