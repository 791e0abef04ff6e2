"""Conditions that are true or false, never NULL, and the operators that join them.

In: typed expressions. Out: conditions on them. Joining takes fresh conditions, and does not copy
them: each copy of a condition within a condition would cost the square of its size.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.inference.nullable import nullable
from headwater.dialect.meanings.templates import in_brackets


def any_of(*conditions: exp.Expr | None) -> exp.Expr | None:
    """Return the conditions joined by OR, None if there are none.

    Args:
        conditions: fresh conditions, or None for false; they become parts of the result.
    """
    found: list[exp.Expr] = []
    for each in conditions:
        if each is not None and each not in found:
            found.append(each)
    return exp.or_(*found, copy=False) if found else None


def or_else(condition: exp.Expr, otherwise: exp.Expr) -> exp.Expr:
    """Return a condition with a value for NULL."""
    return exp.Coalesce(this=in_brackets(condition), expressions=[otherwise])


def is_true(condition: exp.Expr, operand: exp.Expr) -> exp.Expr:
    """Return a comparison of one operand, false where the operand is NULL."""
    return or_else(condition, exp.false()) if can_be_null(operand) else condition


def given(node: exp.Expr) -> exp.Expr | None:
    """Return the condition that a value is not NULL, None if it never is."""
    return exp.Not(this=is_null(node)) if can_be_null(node) else None


def can_be_null(node: exp.Expr) -> bool:
    """Return whether a value can be NULL, also instead of a failure."""
    made = node.find(exp.TryCast, exp.Try, exp.Case, exp.Nullif)
    return made is not None or nullable(node, grouped=False)


def is_null(node: exp.Expr) -> exp.Expr:
    """Return the condition that a value is NULL."""
    return exp.Is(this=in_brackets(node), expression=exp.Null())


def negated(node: exp.Expr) -> exp.Expr:
    """Return NOT of a condition.

    Args:
        node: the condition; it becomes a part of the result.
    """
    return exp.Not(this=exp.paren(node))


def all_of(*conditions: exp.Expr | None) -> exp.Expr:
    """Return conditions joined by AND.

    Args:
        conditions: fresh conditions, or None for true; one at least is not None.
    """
    found = [condition for condition in conditions if condition is not None]
    return found[0] if len(found) == 1 else exp.and_(*found, copy=False)


def both(left: exp.Expr | None, right: exp.Expr | None) -> exp.Expr | None:
    """Return two fresh conditions joined by AND; None, which is false, if the second is None."""
    return None if right is None else all_of(left, right)


def typed(node: exp.Expr, kind: exp.DataType) -> exp.Expr:
    """Return a node that now has a copy of a type."""
    node.type = kind.copy()
    return node
