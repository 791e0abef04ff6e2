"""``percentile_cont`` and ``percentile_disc`` → elements of a sorted array of all values.

In: a query as parsed. Out: the same values, exactly::

    percentile_disc(0.5) WITHIN GROUP (ORDER BY x)
    element_at(array_agg(x ORDER BY x) FILTER (WHERE x IS NOT NULL),
               greatest(ceil(0.5 * cardinality(…)), 1))

``median(x)`` is ``percentile_cont(0.5)``. RisingWave's percentile near a fraction is Trino's::

    approx_percentile(0.9, 0.01) WITHIN GROUP (ORDER BY x)
    approx_percentile(CAST(x AS DOUBLE), 0.9)
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.dialect.parser import body_parser

_PLACE = "CAST(floor({fraction} * (cardinality(_a) - 1)) AS BIGINT) + 1"
_CONT = (
    "element_at(_a, {place}) + (element_at(_a, {place} + 1) - element_at(_a, {place}))"
    " * ({fraction} * (cardinality(_a) - 1) - floor({fraction} * (cardinality(_a) - 1)))"
)
_LAST = f"CASE WHEN {_PLACE} = cardinality(_a) THEN element_at(_a, -1) ELSE {_CONT} END"
_DISC = "element_at(_a, greatest(CAST(ceil({fraction} * cardinality(_a)) AS BIGINT), 1))"
_TEXTS: Mapping[type[exp.Expr], str] = {exp.PercentileCont: _LAST, exp.PercentileDisc: _DISC}


def without_percentiles(query: exp.Query, report: Diagnostics) -> None:
    """Replace exact percentiles, in place; report a fraction that is none."""
    for median in list(query.find_all(exp.Median)):
        half = exp.PercentileCont(this=exp.Literal.number("0.5"))
        order = exp.Order(expressions=[exp.Ordered(this=median.this.copy())])
        median.replace(exp.WithinGroup(this=half, expression=order))
    for node in list(query.find_all(exp.WithinGroup)):
        _approximate(node)
        around = node.parent if isinstance(node.parent, exp.Filter) else node
        order, call = node.expression, node.this
        items = order.expressions if isinstance(order, exp.Order) else []
        if type(call) not in _TEXTS or len(items) != 1 or isinstance(around.parent, exp.Window):
            continue
        if not isinstance(call.this, exp.Literal) or not 0 <= _number(call.this) <= 1:
            hint = "write it like percentile_cont(0.5)"
            message = "the fraction must be a number from 0 to 1"
            report.add("WRONG_ARGUMENTS", message, call.this, hint)
            continue
        values = _sorted(items[0], around, of_doubles=isinstance(call, exp.PercentileCont))
        around.replace(exp.paren(_over(_TEXTS[type(call)], _number(call.this), values), copy=False))


def _approximate(node: exp.WithinGroup) -> None:
    """Replace an approximate percentile over the values of one ascending order, in place."""
    call, items = node.this, node.expression.expressions
    named = isinstance(call, exp.Anonymous) and call.name.lower() == "approx_percentile"
    if not named or len(items) != 1 or items[0].args.get("desc"):
        return
    if not 1 <= len(call.expressions) <= 2 or not all(map(_is_number, call.expressions)):
        return
    value = exp.Cast(this=items[0].this.copy(), to=exp.DataType(this=exp.DType.DOUBLE))
    found = exp.ApproxQuantile(this=value, quantile=call.expressions[0].copy())
    found.meta.update(node.meta)
    node.replace(found)


def _is_number(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string


def _number(literal: exp.Literal) -> float:
    return -1 if literal.is_string else float(literal.name)


def _sorted(item: exp.Expr, around: exp.Expr, *, of_doubles: bool) -> exp.Expr:
    """All values of a group in their order."""
    value, double = item.this, exp.DataType(this=exp.DType.DOUBLE)
    shown = exp.Cast(this=value.copy(), to=double) if of_doubles else value.copy()
    ordered = item.copy()
    ordered.set("this", shown.copy())
    values = exp.ArrayAgg(this=exp.Order(this=shown, expressions=[ordered]))
    given: exp.Expr = exp.Not(this=exp.Is(this=exp.paren(value.copy()), expression=exp.null()))
    if isinstance(around, exp.Filter):
        given = exp.and_(exp.paren(around.expression.this.copy(), copy=False), given, copy=False)
    return exp.Filter(this=values, expression=exp.Where(this=given))


def _over(text: str, fraction: float, values: exp.Expr) -> exp.Expr:
    """An expression of the language over an array that stands for ``_a``."""
    number = f"{fraction!r}e0"
    place = f"({_PLACE.format(fraction=number)})"
    select = f"SELECT {text.format(fraction=number, place=place)}"
    root = exp.Paren(this=body_parser("trino").parse(select, 0, len(select)).expressions[0])
    for column in list(root.find_all(exp.Column)):
        column.replace(values.copy())
    found: exp.Expr = root.this
    return found.pop()
