"""When an expression fails on a row, as a condition; and the expression with NULL where it does.

In: typed expressions. Out: :func:`fails`, :func:`safe`, and :func:`is_certain`: whether Spark is
sure to raise where the condition holds. Conditions are true or false, never NULL.

Operands are looked at in Trino's order: a branch of CASE that is not taken, what stands behind
``false AND``, and what stands behind an operand that is NULL do not fail.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from sqlglot import exp

from headwater.analyze.failing.bounds import LIMITS
from headwater.analyze.failing.calculations import is_calculation, steps
from headwater.analyze.failing.conditions import (
    all_of,
    any_of,
    both,
    given,
    is_null,
    is_true,
    negated,
    or_else,
    typed,
)
from headwater.analyze.failing.fallible import (
    EARLIEST,
    LATEST,
    SAFE,
    can_fail,
    divides_by_zero,
    failing,
    negates_least,
)
from headwater.analyze.failing.guards import has_guard, when_it_fails, without_failure
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions.lambdas import ANY_MATCH, ZIP_WITH
from headwater.analyze.typing.lambdas import lambdas_of
from headwater.analyze.typing.nullable import nullable
from headwater.dialect.meanings.templates import in_brackets

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_QUOTIENTS = (exp.Div, exp.Mod)
_LEFT_FIRST = (exp.Add, exp.Sub, exp.Mul, *_QUOTIENTS, *_COMPARISONS)
_CONDITIONAL = (exp.And, exp.Or, exp.Case, exp.If, exp.Coalesce)
_ONE_OPERAND = (exp.Paren, exp.Not, exp.Neg, exp.Abs, exp.Cast, exp.TryCast)
_MAY_SKIP = (exp.Count, exp.ArgMin, exp.ArgMax, exp.ArrayAgg, exp.GroupConcat)
_PARTS = (exp.Filter, exp.Where, exp.Distinct)


def fails(expression: exp.Expr) -> exp.Expr | None:
    """Return the condition that an expression fails on a row, None if it cannot.

    Args:
        expression: a typed expression without aggregates.
    """
    if next(failing(expression), None) is None:
        return None
    match expression:
        case exp.And() | exp.Or():
            return _connected_fails(expression)
        case exp.Case():
            return _case_fails(expression)
        case exp.If():
            otherwise = expression.args.get("false")
            return _branches_fail([(expression.this, expression.args["true"])], otherwise)
        case exp.Filter():
            only = expression.expression.this
            passes = or_else(safe(only), exp.false())
            return any_of(fails(only), both(passes, fails(expression.this)))
        case exp.Coalesce():
            return _coalesce_fails([expression.this, *expression.expressions])
        case exp.Lambda():
            return None  # it fails for elements: the call knows them
    if lambdas_of(expression):
        inner = any_of(
            *(fails(child) for child in expression.iter_expressions()), _elements_fail(expression)
        )
    elif is_calculation(expression):
        return _calculation_fails(expression)
    elif isinstance(expression, _LEFT_FIRST):
        inner = _in_order(expression.this, expression.expression)
    else:
        inner = any_of(*(fails(child) for child in expression.iter_expressions()))
    return any_of(inner, _own(expression) if can_fail(expression) else None)


def safe(expression: exp.Expr) -> exp.Expr:
    """Return a copy that gives NULL when the typed expression would fail."""
    root = exp.Paren(this=expression.copy())
    for node in reversed([node for node in root.this.walk(bfs=True) if can_fail(node)]):
        parent, key, index = node.parent, node.arg_key, node.index
        replaced = typed(safely(node.copy()), type_of(node))
        assert parent is not None and key is not None
        parent.set(key, replaced, index)
    return cast(exp.Expr, root.this.pop())


def is_certain(expression: exp.Expr) -> bool:
    """Return whether Spark raises on every row on which a typed expression fails.

    Spark leaves out what it can do without: of ``count(CAST(x AS BIGINT))`` the cast, if x is never
    NULL. True only for what is known to be computed.
    """
    if next(failing(expression), None) is None:
        return True
    children = list(expression.iter_expressions())
    if has_guard(expression):
        return False
    if isinstance(expression, exp.AggFunc):
        return not isinstance(expression, _MAY_SKIP) and all(map(is_certain, children))
    if isinstance(expression, (*_LEFT_FIRST, *_CONDITIONAL, *_ONE_OPERAND, *_PARTS)):
        parts = children
        if isinstance(expression, _QUOTIENTS) and nullable(expression.expression, grouped=False):
            # Spark computes the divisor first, and the dividend only if it is not NULL
            return not any(failing(expression.this)) and all(map(is_certain, children))
        if isinstance(expression, exp.Case):
            parts = [
                part for branch in expression.args["ifs"] for part in branch.iter_expressions()
            ]
            parts += [item for item in (expression.this, expression.args.get("default")) if item]
        return all(map(is_certain, parts))
    first = next(iter(children), None)
    rest = [child for child in children if child is not first]
    # the other arguments of a function are not looked at if one before them is NULL
    constant = all(isinstance(_unsigned(child), (exp.Literal, exp.Var)) for child in rest)
    return isinstance(expression, exp.Func) and constant and first is not None and is_certain(first)


def _unsigned(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Neg) else node


# -- without failing


def safely(node: exp.Expr) -> exp.Expr:
    """Return a node with NULL instead of a failure.

    Args:
        node: a typed node that can fail, its operands cannot; changed in place.
    """
    # A condition around the node would not do: Spark computes what occurs twice ahead of it.
    if has_guard(node):
        return without_failure(node)
    node.meta[SAFE] = True
    match node:
        case exp.Cast():
            return exp.TryCast(this=node.this, to=node.args["to"], safe=True)
        case exp.Div() | exp.Mod():
            if negates_least(node):
                least = exp.EQ(this=in_brackets(node.this), expression=_lowest(node))
                _avoid(node, "expression", _when(least, exp.Literal.number(-1)))
            if divides_by_zero(node):
                _avoid(node, "expression", exp.Literal.number(0))
            return node
        case exp.Neg() | exp.Abs():
            _avoid(node, "this", _lowest(node))
            return node
        case exp.UnixToTime():
            node.set("this", typed(_when(_in_time(node), node.this.copy()), type_of(node.this)))
            return node
        case exp.Escape():
            _make_null_unless(node.this, "expression", _is_pattern(node))
            return node
    return exp.Try(this=node)


def _make_null_unless(node: exp.Expr, operand: str, condition: exp.Expr) -> None:
    value = node.args[operand]
    node.set(operand, typed(_when(condition, value.copy()), type_of(value)))


def _is_pattern(node: exp.Escape) -> exp.Expr:
    """The condition that every escape in a pattern of LIKE stands before what it can escape."""
    sign = re.escape(node.expression.name)
    allowed = exp.Literal.string(f"^([^{sign}]|{sign}[{sign}%_])*$")
    return exp.RegexpLike(this=in_brackets(node.this.expression), expression=allowed)


def _avoid(node: exp.Expr, operand: str, value: exp.Expr) -> None:
    """Make an operand NULL where it has a value."""
    operated = node.args[operand]
    avoided = exp.Nullif(this=in_brackets(operated), expression=value)
    node.set(operand, typed(avoided, type_of(operated)))


def _own(node: exp.Expr) -> exp.Expr:
    """The condition that a node fails though its operands do not."""
    node = node.copy()
    for child in list(node.iter_expressions()):
        if next(failing(child), None) is not None:
            child.replace(fixed := in_brackets(safe(child)))
            fixed.type = type_of(child)
    if has_guard(node):
        return or_else(when_it_fails(node), exp.false())
    match node:
        case exp.Div() | exp.Mod():
            return _division_fails(node)
        case exp.Neg() | exp.Abs():
            return is_true(exp.EQ(this=in_brackets(node.this), expression=_lowest(node)), node.this)
        case exp.UnixToTime():
            return is_true(negated(_in_time(node)), node.this)
        case exp.Escape():
            malformed = is_true(negated(_is_pattern(node)), node.this.expression)
            return all_of(given(node.this.this), malformed)
        case exp.Cast() | exp.Add() | exp.Sub() | exp.Mul():
            present = [given(child) for child in _operands(node)]
            return all_of(*present, is_null(typed(safely(node), type_of(node))))
    return is_null(exp.Try(this=_evidence(node)))


def _operands(node: exp.Expr) -> list[exp.Expr]:
    return [child for child in node.iter_expressions() if not isinstance(child, exp.DataType)]


def _evidence(node: exp.Expr) -> exp.Expr:
    """Text that is there if a node has a value, or is NULL without failing."""
    kind = type_of(node)
    if t.family(kind) == "array":
        node = typed(exp.ArraySize(this=node), t.BIGINT)
    text = node if t.family(kind) == "text" else exp.Cast(this=node, to=t.VARCHAR.copy())
    found = exp.Coalesce(this=typed(text, t.VARCHAR), expressions=[exp.Literal.string("")])
    return typed(found, t.VARCHAR)


def _division_fails(node: exp.Expr) -> exp.Expr:
    left, right = node.this, node.expression
    found = None
    if divides_by_zero(node):
        zero = exp.EQ(this=in_brackets(right), expression=exp.Literal.number(0))
        found = all_of(given(left), is_true(zero, right))
    if negates_least(node):
        other = exp.EQ(this=in_brackets(right), expression=exp.Literal.number(-1))
        least = exp.EQ(this=in_brackets(left), expression=_lowest(node))
        found = any_of(found, exp.paren(all_of(is_true(least, left), is_true(other, right))))
    assert found is not None
    return found


def _in_time(node: exp.Expr) -> exp.Expr:
    low, high = exp.Literal.number(EARLIEST), exp.Literal.number(LATEST)
    return exp.Between(this=in_brackets(node.this), low=low, high=high)


def _lowest(node: exp.Expr) -> exp.Expr:
    """The least integer of a node's type; its number without the sign is too large a literal."""
    limit = exp.Literal.number(LIMITS[type_of(node).this] - 1)
    return exp.paren(exp.Sub(this=exp.Neg(this=limit), expression=exp.Literal.number(1)))


def _when(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=value)])


# -- when it fails


def _connected_fails(expression: exp.Connector) -> exp.Expr | None:
    """AND or OR: a term is looked at if none before it decides."""
    found: exp.Expr | None = None
    for term in reversed(list(expression.flatten(unnest=False))):
        failed = fails(term)
        if found is not None:
            if isinstance(expression, exp.And):
                goes_on = or_else(safe(term), exp.true())
            else:
                goes_on = negated(or_else(safe(term), exp.false()))
            found = all_of(goes_on, found)
        found = any_of(failed, found)
    return found


def _calculation_fails(root: exp.Expr) -> exp.Expr | None:
    """It fails if it is NULL though its operands are not.

    What is complete before an operand that can be NULL, or fail, is looked at on its own. An
    operand that occurs again says nothing new: so the condition is as long as the calculation.
    """
    found: list[exp.Expr | None] = []
    present: list[exp.Expr] = []
    known: set[exp.Expr] = set()
    failing_before = 0
    for step in steps(root):
        failed, there = None, None
        if step.operand is not None:
            if step.operand in known:
                continue
            known.add(step.operand)
            failed, there = fails(step.operand), given(safe(step.operand))
            if failed is None and there is None:
                continue
        if step.failing > failing_before:
            lost = any_of(*(is_null(safe(each)) for each in step.complete))
            found.append(_after(present, lost))
            failing_before = step.failing
        found.append(_after(present, failed))
        present += [] if there is None else [there]
    return any_of(*found)


def _after(present: Sequence[exp.Expr], failed: exp.Expr | None) -> exp.Expr | None:
    return None if failed is None else all_of(*(each.copy() for each in present), failed)


def _in_order(first: exp.Expr, second: exp.Expr) -> exp.Expr | None:
    """Two operands, of which the second is not looked at where the first is NULL."""
    later = fails(second)
    return any_of(fails(first), both(given(safe(first)), later) if later else None)


def _case_fails(case: exp.Case) -> exp.Expr | None:
    subject = case.this
    branches = [
        (
            exp.EQ(this=in_brackets(subject), expression=in_brackets(branch.this))
            if subject is not None
            else branch.this,
            branch.args["true"],
        )
        for branch in case.args["ifs"]
    ]
    return _branches_fail(branches, case.args.get("default"))


def _branches_fail(
    branches: list[tuple[exp.Expr, exp.Expr]], default: exp.Expr | None
) -> exp.Expr | None:
    found = fails(default) if default is not None else None
    for condition, value in reversed(branches):
        taken = or_else(safe(condition), exp.false())
        found = any_of(
            fails(condition), both(taken, fails(value)), both(negated(taken.copy()), found)
        )
    return found


def _coalesce_fails(items: list[exp.Expr]) -> exp.Expr | None:
    found: exp.Expr | None = None
    for item in reversed(items):
        found = any_of(fails(item), both(is_null(safe(item)), found))
    return found


def _elements_fail(call: exp.Expr) -> exp.Expr | None:
    """The condition that the lambda of a call fails for an element of its arrays."""
    function = lambdas_of(call)[0]
    inner = fails(function.this)
    if inner is None:
        return None
    arrays = [safe(each) for each in call.iter_expressions() if each is not function]
    test = _lambda(inner, function.expressions)
    if len(arrays) > 1:
        pairs = typed(ZIP_WITH(expressions=[*arrays, test]), t.array(t.BOOLEAN))
        failed = typed(exp.to_identifier("lambda_1"), t.BOOLEAN)
        arrays, test = [pairs], _lambda(failed, [failed])
    return or_else(typed(ANY_MATCH(expressions=[*arrays, test]), t.BOOLEAN), exp.false())


def _lambda(value: exp.Expr, parameters: Sequence[exp.Expr]) -> exp.Expr:
    copies = [each.copy() for each in parameters]
    return typed(exp.Lambda(this=value.copy(), expressions=copies), t.BOOLEAN)
