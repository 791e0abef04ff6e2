"""Calculations of numbers and times: additions, subtractions, multiplications, and casts of them.

In: a typed expression. Out: its operands in the order in which they are computed, each with what
is complete before it. A calculation is NULL exactly if an operand is NULL, or if it fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from headwater.analyze.fallibility.fallible import can_fail, failing
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_OPERATIONS = (exp.Add, exp.Sub, exp.Mul)


@dataclass(frozen=True, slots=True)
class OperandStep:
    """What is computed before an operand of a calculation.

    Attributes:
        operand: the operand; None at the end, when the whole calculation is complete.
        complete: the parts that are complete and can fail.
        failing: how many operations in these parts can fail.
    """

    operand: exp.Expr | None
    complete: tuple[exp.Expr, ...]
    failing: int


def is_calculation(node: exp.Expr) -> bool:
    """Return whether a node is an operation of numbers or times, and can fail or holds what can."""
    if isinstance(node, _OPERATIONS):
        return next(failing(node), None) is not None
    if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast):
        numbers = all(t.family(type_of(each)) == "number" for each in (node, node.this))
        return numbers and next(failing(node), None) is not None
    return False


def steps(root: exp.Expr) -> Iterator[OperandStep]:
    """Yield the operands of a calculation in order, and its end."""
    count = 0

    def visit(node: exp.Expr, before: tuple[exp.Expr, ...]) -> Iterator[OperandStep]:
        nonlocal count
        inner = _within_brackets(node)
        if inner is None:
            yield OperandStep(node, before, count)
            return
        start = count
        yield from visit(inner.this, before)
        if isinstance(inner, _OPERATIONS):
            left = (*before, inner.this) if count > start else before
            yield from visit(inner.expression, left)
        count += can_fail(inner)

    yield from visit(root, ())
    yield OperandStep(None, (root,), count)


def _within_brackets(node: exp.Expr) -> exp.Expr | None:
    """Return the calculation that a node is, None if it is an operand."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node if is_calculation(node) else None
