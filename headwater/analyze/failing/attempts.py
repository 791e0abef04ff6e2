"""``TRY(x)``: NULL instead of a failure, whatever x is.

In: typed expressions. Out: the same without ``TRY`` as people write it: operands that fail become
NULL, and where something above them could make a value of that NULL, a condition says when the
whole is NULL.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.failing.conditions import negated, typed
from headwater.analyze.failing.failing_rows import fails, safe
from headwater.analyze.fallibility.fallible import failing, sum_leaves_type
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.meanings.templates import in_brackets

_STRICT = (
    *(exp.Paren, exp.Neg, exp.Abs, exp.Cast, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Not),
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.DPipe, exp.Try),
)
"""What is NULL where an operand is."""


def settle_attempts(root: exp.Expr, report: Diagnostics) -> None:
    """Write what each TRY of an expression means, in place; subqueries have their own.

    Args:
        root: typed; not a TRY itself.
    """
    found = [
        node
        for node in root.walk(prune=lambda node: node is not root and isinstance(node, exp.Query))
        if isinstance(node, exp.Try)
    ]
    for node in reversed(found):
        node.replace(_settled(node, report))


def _settled(node: exp.Try, report: Diagnostics) -> exp.Expr:
    value = node.this
    if any(map(_has_own_rows, value.walk())):
        hint = "compute it in a subquery of FROM, and write TRY around what is made of its columns"
        report.not_yet("TRY of a subquery, or of an aggregate that can fail", node, hint)
    elif any(failing(value)):
        return _tried(value)
    return typed(in_brackets(value), type_of(value))


def _tried(value: exp.Expr) -> exp.Expr:
    """A value that can fail, or NULL."""
    tried = typed(safe(value), type_of(value))
    if all(_passes_null(each, value) for each in failing(value)):
        return typed(in_brackets(tried), type_of(value))
    failed = fails(value)
    assert failed is not None
    return typed(exp.Case(ifs=[exp.If(this=negated(failed), true=tried)]), type_of(value))


def _has_own_rows(node: exp.Expr) -> bool:
    """Return whether other rows than the one at hand can make a node fail."""
    if isinstance(node, (exp.AggFunc, exp.Window)):
        return sum_leaves_type(node) or any(failing(node))
    return isinstance(node, exp.Query)


def _passes_null(node: exp.Expr, root: exp.Expr) -> bool:
    """Return whether the root is NULL where a node below it is."""
    while node is not root:
        assert node.parent is not None
        node = node.parent
        if not isinstance(node, _STRICT):
            return False
    return True
