"""What Trino means otherwise: the corrections of :mod:`headwater.analyze.portable.rewrites` for it.

In: a typed expression. Out: one that means in Trino what it means in Headwater's language, where
NaN is equal to itself and larger than every other number, as it is in Spark and DuckDB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

from sqlglot import exp

from headwater.analyze.portable import collecting_aggregates, json_values, spans
from headwater.analyze.portable.text_casts import trino_cast
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions.others import JSON_FAULT
from headwater.dialect.syntax import JSONScalar
from headwater.dialect.vocabulary import LENGTHS


def in_micros(node: exp.Expr) -> exp.Expr:
    """Return a type that keeps microseconds; a plain TIMESTAMP of Trino has milliseconds only."""
    if node.this in (t.Type.TIMESTAMPNTZ, t.Type.TIMESTAMPTZ) and not node.expressions:
        precision = exp.DataTypeParam(this=exp.Literal.number(6))
        this = t.Type.TIMESTAMP if node.this is t.Type.TIMESTAMPNTZ else t.Type.TIMESTAMPTZ
        return exp.DataType(this=this, expressions=[precision])
    return spans.carrier(node)


def _interval(node: exp.Expr) -> exp.Expr:
    """Trino has no unit below a second, and no parts of a minute or of an hour."""
    if (value := spans.length(node)) is not node:
        return value
    unit, amount = node.text("unit").upper(), node.this
    if not isinstance(amount, exp.Literal) or unit not in LENGTHS:
        return node
    whole = amount.name.removeprefix("-").isdigit()
    if unit != "MILLISECOND" and (whole or unit in ("SECOND", "MICROSECOND")):
        return node
    seconds = Decimal(amount.name) * int(LENGTHS[unit] / LENGTHS["MILLISECOND"]) / 1000
    text = f"{seconds.normalize():f}"
    return exp.Interval(this=exp.Literal.string(text), unit=exp.var("SECOND"))


def _equal(node: exp.Expr) -> exp.Expr:
    sides = _may_be_nan(node)
    if len(sides) < 2:
        return _with_both_zeros(node)
    return _also(node, exp.and_(*map(_is_nan, sides)))


def _with_both_zeros(node: exp.Expr) -> exp.Expr:
    """Keep Trino 476 from skipping files by a number: in their bounds -0.0 is below 0.0."""
    if isinstance(node, exp.EQ):
        for name in ("this", "expression"):
            node.set(name, _calculated(node.args[name]))
    else:
        node.set("this", _calculated(node.this))
    return node


def _calculated(side: exp.Expr) -> exp.Expr:
    if not isinstance(side, exp.Column) or not t.is_float(type_of(side)):
        return side
    return exp.paren(exp.Add(this=side.copy(), expression=exp.Literal.number("0e0")))


def _unequal(node: exp.Expr) -> exp.Expr:
    same = _equal(exp.EQ(this=node.this.copy(), expression=node.expression.copy()))
    return exp.Not(this=same) if isinstance(same, exp.Paren) else node


def _ordered(node: exp.Expr) -> exp.Expr:
    """``a < b``, or one of its like: true also where only the larger side is NaN."""
    less, strict = isinstance(node, exp.LT | exp.LTE), isinstance(node, exp.LT | exp.GT)
    small, large = (node.this, node.expression) if less else (node.expression, node.this)
    sides = _may_be_nan(node)
    if not any(side is large for side in sides):
        return node
    terms = [_is_nan(large)]
    if any(side is small for side in sides):
        terms.append(exp.Not(this=_is_nan(small) if strict else _is_null(small)))
    elif not isinstance(small, exp.Literal):
        terms.append(exp.Not(this=_is_null(small)))
    return _also(node, exp.and_(*terms))


def _also(node: exp.Expr, term: exp.Expr) -> exp.Expr:
    """True also where a term is; a comparison that has it already is left as it is."""
    around = node.parent
    has_it = isinstance(around, exp.Or) and around.this is node and around.expression == term
    return node if has_it else exp.Paren(this=exp.or_(node.copy(), term))


def _may_be_nan(node: exp.Expr) -> list[exp.Expr]:
    """The sides of a comparison that are floating point and were not an exact number before."""
    sides = (node.this, node.expression)
    return [
        side
        for side in sides
        if t.is_float(type_of(side)) and not _written(side) and not _was_exact(side)
    ]


def _was_exact(side: exp.Expr) -> bool:
    """Return whether it is a cast of an integer or a decimal, which is never NaN."""
    return isinstance(side, exp.Cast) and t.is_exact(type_of(side.this))


def _written(side: exp.Expr) -> bool:
    value = side.unnest()
    while isinstance(value, exp.Neg | exp.Cast | exp.Paren):
        value = value.this
    return isinstance(value, exp.Literal) and not value.is_string


def _is_nan(side: exp.Expr) -> exp.Expr:
    return exp.IsNan(this=side.copy())


def _is_null(side: exp.Expr) -> exp.Expr:
    return exp.Is(this=side.copy(), expression=exp.Null())


def _is_truth(node: exp.Expr) -> exp.Expr:
    """``x IS TRUE`` and ``x IS FALSE``, which Trino does not have, and which are never NULL."""
    if not isinstance(node.expression, exp.Boolean):
        return node
    value = exp.paren(node.this.copy(), copy=False)
    said = value if node.expression.this else exp.Not(this=value)
    return exp.Coalesce(this=said, expressions=[exp.false()])


def _greatest(node: exp.Expr) -> exp.Expr:
    """Trino leaves NaN out of ``greatest``, unless all are NaN."""
    values = [node.this, *node.expressions]
    if not t.is_float(type_of(node)):
        return node
    floats = [
        each
        for each in values
        if t.is_float(type_of(each)) and not _written(each) and not _was_exact(each)
    ]
    if not floats:
        return node
    given = [exp.Not(this=_is_null(each)) for each in values if not _written(each)]
    found = exp.and_(exp.or_(*map(_is_nan, floats)), *given)
    nan = exp.Anonymous(this="NAN")
    return exp.Case(ifs=[exp.If(this=found, true=nan)], default=node.copy())


def window(node: exp.Expr) -> exp.Expr:
    """Trino has no FILTER before OVER: what does not count is NULL instead."""
    if not isinstance(node.this, exp.Filter) or isinstance(node.this.this, exp.ArrayAgg):
        return node
    call, condition = node.this.this, node.this.expression.this
    by = isinstance(call, exp.ArgMax | exp.ArgMin)
    value = call.expression if by else call.this
    kept = exp.Literal.number(1) if isinstance(value, exp.Star) else value.copy()
    chosen = exp.Case(ifs=[exp.If(this=condition.copy(), true=kept)])
    call.set("expression" if by else "this", chosen)
    node.set("this", call.copy())
    return node


def _row(node: exp.Expr) -> exp.Expr:
    """Trino's row has no names of fields but those of a type."""
    values = [each.expression.copy() for each in node.expressions]
    row = exp.Anonymous(this="ROW", expressions=values)
    return exp.Cast(this=row, to=type_of(node).copy().transform(in_micros))


FIXES: Mapping[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Cast: trino_cast,
    exp.TryCast: trino_cast,
    exp.DataType: in_micros,
    exp.Interval: _interval,
    exp.ArgMin: collecting_aggregates.trino_by,
    exp.ArgMax: collecting_aggregates.trino_by,
    **dict.fromkeys((exp.JSONExtractScalar, JSONScalar), json_values.trino_scalar),
    JSON_FAULT: json_values.trino_fault,
    exp.Struct: _row,
    exp.EQ: _equal,
    exp.NEQ: _unequal,
    **dict.fromkeys((exp.LT, exp.LTE, exp.GT, exp.GTE), _ordered),
    **dict.fromkeys((exp.In, exp.Between), _with_both_zeros),
    exp.Greatest: _greatest,
    exp.Is: _is_truth,
}
"""The corrections by node class."""
