"""Divisions whose divisor was asked about before: ``CASE WHEN b <> 0 THEN a / b END``.

In: a typed expression, and conditions that hold wherever it is computed. Out: its divisions by what
is known not to be 0 are marked, so that :mod:`headwater.analyze.fallibility.fallible` lets them
pass.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

PROVEN = "divisor_is_not_zero"
"""Key of ``meta`` of a division that cannot be by 0."""

Facts = frozenset[str]
"""Texts of expressions that are not 0; they may be NULL, by which division gives NULL."""

_FLIPPED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.GT: exp.LT,
    exp.LT: exp.GT,
    exp.GTE: exp.LTE,
    exp.LTE: exp.GTE,
}
_EXCLUDES_ZERO: dict[type[exp.Expr], Callable[[float], bool]] = {
    exp.NEQ: lambda limit: limit == 0,
    exp.EQ: lambda limit: limit != 0,
    exp.GT: lambda limit: limit >= 0,
    exp.GTE: lambda limit: limit > 0,
    exp.LT: lambda limit: limit <= 0,
    exp.LTE: lambda limit: limit < 0,
}
_PAIRS: tuple[tuple[type[exp.Binary], type[exp.Binary]], ...] = (
    (exp.EQ, exp.NEQ),
    (exp.GT, exp.LTE),
    (exp.LT, exp.GTE),
)
_OPPOSITE: dict[type[exp.Expr], type[exp.Binary]] = {
    **dict(_PAIRS),
    **{right: left for left, right in _PAIRS},
}


def mark_proven(expression: exp.Expr, facts: Facts = frozenset()) -> None:
    """Mark the divisions of an expression that cannot be by 0.

    Args:
        expression: a typed expression; its nodes are marked in place.
        facts: what is not 0 wherever it is computed.
    """
    match expression:
        case exp.Query():
            return
        case exp.And() | exp.Or():
            holds = isinstance(expression, exp.And)
            for term in expression.flatten(unnest=False):
                mark_proven(term, facts)
                facts |= facts_of(term, holds=holds)
        case exp.Case() if expression.this is None:
            _mark_branches(expression.args["ifs"], expression.args.get("default"), facts)
        case exp.If():
            _mark_branches([expression], expression.args.get("false"), facts)
        case exp.Filter():
            mark_proven(expression.expression, facts)
            mark_proven(expression.this, facts | facts_of(expression.expression.this))
        case _:
            if isinstance(expression, (exp.Div, exp.Mod)) and _text(expression.expression) in facts:
                expression.meta[PROVEN] = True
            for child in expression.iter_expressions():
                mark_proven(child, facts)


def facts_of(condition: exp.Expr | None, *, holds: bool = True) -> Facts:
    """Return what is not 0 where a condition holds, or where it does not.

    Args:
        condition: a typed condition, None for none.
        holds: whether it is true; otherwise it is false or NULL.
    """
    if holds:
        found = [_not_zero(term) for term in conjuncts(condition)]
        return frozenset(text for text in found if text)
    if condition is None:
        return frozenset()
    while isinstance(condition, exp.Paren):
        condition = condition.this
    if isinstance(condition, exp.Or):
        return facts_of(condition.this, holds=False) | facts_of(condition.expression, holds=False)
    opposite = _OPPOSITE.get(type(condition))
    if opposite is None:
        return frozenset()
    return facts_of(opposite(this=condition.this.copy(), expression=condition.expression.copy()))


def _mark_branches(branches: list[exp.Expr], default: exp.Expr | None, facts: Facts) -> None:
    for branch in branches:
        mark_proven(branch.this, facts)
        mark_proven(branch.args["true"], facts | facts_of(branch.this))
        facts |= facts_of(branch.this, holds=False)
    if default is not None:
        mark_proven(default, facts)


def _not_zero(term: exp.Expr) -> str | None:
    kind = type(term)
    excludes = _EXCLUDES_ZERO.get(kind)
    if excludes is None:
        return None
    value, limit = _number(term.expression), term.this
    if value is None:
        value, limit = _number(term.this), term.expression
        excludes = _EXCLUDES_ZERO[_FLIPPED.get(kind, kind)]
    return _text(limit) if value is not None and excludes(value) else None


def _number(node: exp.Expr) -> float | None:
    while isinstance(node, (exp.Paren, exp.Cast)):
        node = node.this
    if isinstance(node, exp.Neg):
        inner = _number(node.this)
        return None if inner is None else -inner
    return float(node.name) if isinstance(node, exp.Literal) and not node.is_string else None


def _text(node: exp.Expr) -> str:
    """What it is; as a number of another type it is 0 too, or not."""
    while isinstance(node, (exp.Paren, exp.Neg, exp.Abs)):
        node = node.this
    return _text(node.this) if _keeps_zero(node) else str(node.sql())


def _keeps_zero(node: exp.Expr) -> bool:
    if not isinstance(node, exp.Cast) or not t.is_integer(type_of(node.this)):
        return False
    return t.is_integer(type_of(node)) or t.is_float(type_of(node))
