"""Which expressions can fail: divisions, casts, arithmetic that leaves its type.

In: typed nodes. Out: whether a node itself can fail, given operands that do not. What is known of
its operands counts: ``x / 2``, ``x / nullif(y, 0)`` and ``CAST(i AS BIGINT) + 1`` cannot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from sqlglot import exp

from headwater.analyze.failing.nonzero_divisors import PROVEN
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

LIMITS = {t.Type.INT: 2**31, t.Type.BIGINT: 2**63}
"""The first number above the range of an integer type; the least is its negative."""
EARLIEST, LATEST = -9_223_372_022_400, 9_223_372_036_854
"""The range of ``from_unixtime`` in seconds: times are microseconds in 64 bits."""

_SMALL: Mapping[type[exp.Expr], int] = {
    **dict.fromkeys((exp.Year, exp.Quarter, exp.Month, exp.Day, exp.DayOfYear), 1_000_000),
    **dict.fromkeys((exp.DayOfWeekIso, exp.Hour, exp.Minute, exp.Second, exp.Extract), 1_000_000),
    **dict.fromkeys((exp.Length, exp.StrPosition, exp.ArraySize), 2**31),
    **dict.fromkeys((exp.Count, exp.CountIf, exp.ApproxDistinct, exp.DateDiff), 2**50),
}
"""Functions whose value is bounded whatever they are given."""
_MEANINGLESS_IF_EMPTY = (exp.Sum, exp.Avg, exp.Min, exp.Max)


def can_fail(node: exp.Expr) -> bool:
    """Return whether a typed node can fail, given operands that do not."""
    kind = type_of(node)
    match node:
        case exp.TryCast():
            return False
        case exp.Cast():
            return _cast_fails(node, type_of(node.this), kind)
        case exp.Div() | exp.Mod():
            return divides_by_zero(node)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Neg() | exp.Abs():
            return _overflows(node, kind)
        case exp.UnixToTime():
            return (bound := _bound(node.this)) is None or bound > LATEST
    return False


def failing(expression: exp.Expr) -> Iterator[exp.Expr]:
    """Yield every node of a typed expression that can fail; subqueries have their own."""
    for node in expression.walk(prune=lambda node: isinstance(node, exp.Query)):
        if can_fail(node):
            yield node


def fails_on_ordinary_data(node: exp.Expr) -> bool:
    """Return whether a typed node divides by what can be 0, or casts text.

    Numbers that leave their type are not ordinary: no query is written against 2**63.
    """
    if isinstance(node, (exp.Div, exp.Mod)):
        return divides_by_zero(node)
    return isinstance(node, exp.Cast) and t.family(type_of(node.this)) == "text" and can_fail(node)


def divides_by_zero(node: exp.Expr) -> bool:
    """Return whether a division or modulo of numbers can have the divisor 0.

    Args:
        node: ``exp.Div`` or ``exp.Mod``.
    """
    if t.family(type_of(node)) != "number" or node.meta.get(PROVEN):
        return False
    if _never_zero(node.expression):
        return False
    return not any(_null_if_none(part, node.expression) for part in _factors(node.this))


def negates_least(node: exp.Expr) -> bool:
    """Return whether a division can be of the least integer by -1, which has no quotient.

    It is asked of divisions that can also be by 0; whoever excludes that is not bothered with it.

    Args:
        node: ``exp.Div`` or ``exp.Mod``.
    """
    kind, divisor = type_of(node), node.expression
    if not isinstance(node, exp.Div) or not t.is_integer(kind):
        return False
    while isinstance(divisor, (exp.Paren, exp.Cast)):
        divisor = divisor.this
    positive = isinstance(divisor, (exp.Literal, exp.Count, exp.CountIf, exp.Length))
    return not positive and _overflows(node, kind)


# -- casts


def _cast_fails(node: exp.Cast, source: exp.DataType, target: exp.DataType) -> bool:
    families = (t.family(source), t.family(target))
    if "unknown" in families or "null" in families:
        return False
    if families[0] == "text":
        return families[1] != "text" and not _good_literal(node.this, target)
    if families != ("number", "number") or t.is_float(target):
        return False
    if t.is_float(source):
        return True
    bound = _bound(node.this)
    if t.is_integer(target):
        return bound is None or bound >= LIMITS[target.this]
    precision, scale = t.digits(target)
    return bound is None or bound >= 10 ** (precision - scale)


def _good_literal(node: exp.Expr, target: exp.DataType) -> bool:
    """Return whether it is a literal that the binder has looked at, or a number."""
    if not node.is_string:
        return False
    if t.family(target) == "time":
        return True
    try:
        number = Decimal(node.name)
    except ArithmeticError:
        return False
    if t.is_integer(target):
        return node.name.strip().lstrip("+-").isdigit() and abs(number) < LIMITS[target.this]
    return t.is_float(target)


# -- ranges


def _overflows(node: exp.Expr, kind: exp.DataType) -> bool:
    if t.is_integer(kind):
        bound = _bound(node)
        return bound is None or bound >= LIMITS[kind.this]
    if kind.this is not t.Type.DECIMAL or not isinstance(node, (exp.Add, exp.Sub)):
        return False
    sizes = [type_of(node.this), type_of(node.expression)]
    wide = [t.digits(size)[0] for size in sizes if size.this is t.Type.DECIMAL]
    return max(wide, default=0) >= t.MAX_PRECISION


def _bound(node: exp.Expr) -> int | None:
    """What the absolute value of a number is at most, of a decimal its whole part; or None."""
    kind = type_of(node)
    match node:
        case exp.Literal():
            return None if node.is_string else int(Decimal(node.name).copy_abs()) + 1
        case exp.Paren() | exp.Neg() | exp.Abs() | exp.Floor() | exp.Ceil() | exp.Round():
            return _bound(node.this)
        case exp.Cast() if t.family(type_of(node.this)) == "number":
            return _least(_bound(node.this), _own_bound(kind))
        case exp.Add() | exp.Sub():
            left, right = _bound(node.this), _bound(node.expression)
            return None if left is None or right is None else left + right
        case exp.Mul():
            left, right = _bound(node.this), _bound(node.expression)
            return None if left is None or right is None else left * right
        case exp.Div() if t.is_integer(kind):
            return _bound(node.this)
        case exp.Mod():
            return _bound(node.expression)
    return _SMALL.get(type(node)) or _own_bound(kind)


def _own_bound(kind: exp.DataType) -> int | None:
    if kind.this is t.Type.DECIMAL:
        precision, scale = t.digits(kind)
        return int(10 ** (precision - scale))
    return LIMITS.get(kind.this)


def _least(left: int | None, right: int | None) -> int | None:
    return min((value for value in (left, right) if value is not None), default=None)


# -- divisors


def _never_zero(node: exp.Expr) -> bool:
    """Return whether a divisor cannot be 0 (NULL is fine)."""
    match node:
        case exp.Literal():
            return not node.is_string and float(node.name) != 0
        case exp.Paren() | exp.Neg() | exp.Abs():
            return _never_zero(node.this)
        case exp.Cast() if t.is_integer(type_of(node.this)) or t.is_float(type_of(node)):
            return _never_zero(node.this)
        case exp.Mul():
            return _never_zero(node.this) and _never_zero(node.expression)
        case exp.Coalesce():
            return all(map(_never_zero, (node.this, *node.expressions)))
        case exp.Greatest():
            return any(map(_is_positive, (node.this, *node.expressions)))
        case exp.Nullif():
            return _is_zero(node.expression) or _never_zero(node.this)
        case exp.Count():
            select = node.find_ancestor(exp.Select)
            star = isinstance(node.this, exp.Star) and not isinstance(node.parent, exp.Filter)
            return star and select is not None and bool(select.args.get("group"))
    return False


def _is_zero(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and float(node.name) == 0


def _is_positive(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and float(node.name) > 0


def _factors(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the parts of a dividend; it is NULL if one of them is."""
    while isinstance(node, (exp.Paren, exp.Cast, exp.Neg)):
        node = node.this
    if isinstance(node, (exp.Add, exp.Sub, exp.Mul, exp.Div)):
        yield from _factors(node.this)
        yield from _factors(node.expression)
    else:
        yield node


def _null_if_none(aggregate: exp.Expr, divisor: exp.Expr) -> bool:
    """Return whether an aggregate is NULL if the divisor counts no rows: ``sum(x) / count(x)``."""
    while isinstance(divisor, (exp.Paren, exp.Cast)):
        divisor = divisor.this
    filters = [
        item.expression.sql() if isinstance(item, exp.Filter) else ""
        for item in (aggregate, divisor)
    ]
    value = aggregate.this if isinstance(aggregate, exp.Filter) else aggregate
    counted = divisor.this if isinstance(divisor, exp.Filter) else divisor
    if not isinstance(value, _MEANINGLESS_IF_EMPTY) or not isinstance(counted, exp.Count):
        return False
    same = isinstance(counted.this, exp.Star) or counted.this == value.this
    return same and filters[0] == filters[1]
