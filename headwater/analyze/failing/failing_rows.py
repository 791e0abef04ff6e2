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
            left, right = expression.this, expression.expression
            if isinstance(expression, exp.And):
                goes_on = _or_else(safe(left), exp.true())
            else:
                goes_on = negated(_or_else(safe(left), exp.false()))
            return any_of(fails(left), _both(goes_on, fails(right)))
        case exp.Case():
            return _case_fails(expression)
        case exp.If():
            otherwise = expression.args.get("false")
            return _branches_fail([(expression.this, expression.args["true"])], otherwise)
        case exp.Filter():
            only = expression.expression.this
            passes = _or_else(safe(only), exp.false())
            return any_of(fails(only), _both(passes, fails(expression.this)))
        case exp.Coalesce():
            return _coalesce_fails([expression.this, *expression.expressions])
        case exp.Lambda():
            return None  # it fails for elements: the call knows them
    if lambdas_of(expression):
        inner = any_of(
            *(fails(child) for child in expression.iter_expressions()), _elements_fail(expression)
        )
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
        replaced = _typed(safely(node.copy()), type_of(node))
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


def any_of(*conditions: exp.Expr | None) -> exp.Expr | None:
    """Return the conditions joined by OR, None if there are none.

    Args:
        conditions: conditions, or None for false.
    """
    found = list({each.sql(): each for each in conditions if each is not None}.values())
    return exp.or_(*found) if found else None


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
                least = exp.EQ(this=_in_brackets(node.this), expression=_lowest(node))
                _avoid(node, "expression", _when(least, exp.Literal.number(-1)))
            if divides_by_zero(node):
                _avoid(node, "expression", exp.Literal.number(0))
            return node
        case exp.Neg() | exp.Abs():
            _avoid(node, "this", _lowest(node))
            return node
        case exp.UnixToTime():
            node.set("this", _typed(_when(_in_time(node), node.this.copy()), type_of(node.this)))
            return node
        case exp.Escape():
            _make_null_unless(node.this, "expression", _is_pattern(node))
            return node
    return exp.Try(this=node)


def _make_null_unless(node: exp.Expr, operand: str, condition: exp.Expr) -> None:
    given = node.args[operand]
    node.set(operand, _typed(_when(condition, given.copy()), type_of(given)))


def _is_pattern(node: exp.Escape) -> exp.Expr:
    """The condition that every escape in a pattern of LIKE stands before what it can escape."""
    sign = re.escape(node.expression.name)
    allowed = exp.Literal.string(f"^([^{sign}]|{sign}[{sign}%_])*$")
    return exp.RegexpLike(this=_in_brackets(node.this.expression), expression=allowed)


def _avoid(node: exp.Expr, operand: str, value: exp.Expr) -> None:
    """Make an operand NULL where it has a value."""
    given = node.args[operand]
    avoided = exp.Nullif(this=_in_brackets(given), expression=value)
    node.set(operand, _typed(avoided, type_of(given)))


def _own(node: exp.Expr) -> exp.Expr:
    """The condition that a node fails though its operands do not."""
    node = node.copy()
    for child in list(node.iter_expressions()):
        if next(failing(child), None) is not None:
            child.replace(fixed := _in_brackets(safe(child)))
            fixed.type = type_of(child)
    if has_guard(node):
        return _or_else(when_it_fails(node), exp.false())
    match node:
        case exp.Div() | exp.Mod():
            return _division_fails(node)
        case exp.Neg() | exp.Abs():
            return _is_true(
                exp.EQ(this=_in_brackets(node.this), expression=_lowest(node)), node.this
            )
        case exp.UnixToTime():
            return _is_true(negated(_in_time(node)), node.this)
        case exp.Escape():
            malformed = _is_true(negated(_is_pattern(node)), node.this.expression)
            return _all(_given(node.this.this), malformed)
        case exp.Cast() | exp.Add() | exp.Sub() | exp.Mul():
            given = [_given(child) for child in _operands(node)]
            return _all(*given, _is_null(_typed(safely(node), type_of(node))))
    return _is_null(exp.Try(this=_evidence(node)))


def _operands(node: exp.Expr) -> list[exp.Expr]:
    return [child for child in node.iter_expressions() if not isinstance(child, exp.DataType)]


def _evidence(node: exp.Expr) -> exp.Expr:
    """Text that is there if a node has a value, or is NULL without failing."""
    kind = type_of(node)
    if t.family(kind) == "array":
        node = _typed(exp.ArraySize(this=node), t.BIGINT)
    text = node if t.family(kind) == "text" else exp.Cast(this=node, to=t.VARCHAR.copy())
    found = exp.Coalesce(this=_typed(text, t.VARCHAR), expressions=[exp.Literal.string("")])
    return _typed(found, t.VARCHAR)


def _division_fails(node: exp.Expr) -> exp.Expr:
    left, right = node.this, node.expression
    found = None
    if divides_by_zero(node):
        zero = exp.EQ(this=_in_brackets(right), expression=exp.Literal.number(0))
        found = _all(_given(left), _is_true(zero, right))
    if negates_least(node):
        other = exp.EQ(this=_in_brackets(right), expression=exp.Literal.number(-1))
        least = exp.EQ(this=_in_brackets(left), expression=_lowest(node))
        found = any_of(found, exp.paren(_all(_is_true(least, left), _is_true(other, right))))
    assert found is not None
    return found


def _in_time(node: exp.Expr) -> exp.Expr:
    low, high = exp.Literal.number(EARLIEST), exp.Literal.number(LATEST)
    return exp.Between(this=_in_brackets(node.this), low=low, high=high)


def _lowest(node: exp.Expr) -> exp.Expr:
    """The least integer of a node's type; its number without the sign is too large a literal."""
    limit = exp.Literal.number(LIMITS[type_of(node).this] - 1)
    return exp.paren(exp.Sub(this=exp.Neg(this=limit), expression=exp.Literal.number(1)))


def _when(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=value)])


# -- when it fails


def _in_order(first: exp.Expr, second: exp.Expr) -> exp.Expr | None:
    """Two operands, of which the second is not looked at where the first is NULL."""
    later = fails(second)
    return any_of(fails(first), _both(_given(safe(first)), later) if later else None)


def _case_fails(case: exp.Case) -> exp.Expr | None:
    subject = case.this
    branches = [
        (
            exp.EQ(this=_in_brackets(subject), expression=_in_brackets(branch.this))
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
        taken = _or_else(safe(condition), exp.false())
        found = any_of(
            fails(condition), _both(taken, fails(value)), _both(negated(taken.copy()), found)
        )
    return found


def _coalesce_fails(items: list[exp.Expr]) -> exp.Expr | None:
    found: exp.Expr | None = None
    for item in reversed(items):
        found = any_of(fails(item), _both(_is_null(safe(item)), found))
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
        pairs = _typed(ZIP_WITH(expressions=[*arrays, test]), t.array(t.BOOLEAN))
        failed = _typed(exp.to_identifier("lambda_1"), t.BOOLEAN)
        arrays, test = [pairs], _lambda(failed, [failed])
    return _or_else(_typed(ANY_MATCH(expressions=[*arrays, test]), t.BOOLEAN), exp.false())


def _lambda(value: exp.Expr, parameters: Sequence[exp.Expr]) -> exp.Expr:
    copies = [each.copy() for each in parameters]
    return _typed(exp.Lambda(this=value.copy(), expressions=copies), t.BOOLEAN)


def _or_else(condition: exp.Expr, otherwise: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=_in_brackets(condition), expressions=[otherwise])


def _is_true(condition: exp.Expr, operand: exp.Expr) -> exp.Expr:
    """A comparison of one operand, false where it is NULL."""
    return _or_else(condition, exp.false()) if _nullable(operand) else condition


def _given(node: exp.Expr) -> exp.Expr | None:
    return exp.Not(this=_is_null(node)) if _nullable(node) else None


def _nullable(node: exp.Expr) -> bool:
    made = node.find(exp.TryCast, exp.Try, exp.Case, exp.Nullif)
    return made is not None or nullable(node, grouped=False)


def _is_null(node: exp.Expr) -> exp.Expr:
    return exp.Is(this=_in_brackets(node), expression=exp.Null())


def negated(node: exp.Expr) -> exp.Expr:
    """Return NOT of a condition.

    Args:
        node: the condition; it becomes a part of the result.
    """
    return exp.Not(this=exp.paren(node))


def _all(*conditions: exp.Expr | None) -> exp.Expr:
    found = [condition for condition in conditions if condition is not None]
    return found[0] if len(found) == 1 else exp.and_(*found)


def _both(left: exp.Expr | None, right: exp.Expr | None) -> exp.Expr | None:
    return None if right is None else _all(left, right)


def _in_brackets(node: exp.Expr) -> exp.Expr:
    simple = isinstance(node, (exp.Column, exp.Literal, exp.Paren, exp.Func, exp.Try))
    simple = simple and not isinstance(node, exp.Connector)
    return node.copy() if simple else _typed(exp.Paren(this=node.copy()), type_of(node))


def _typed(node: exp.Expr, kind: exp.DataType) -> exp.Expr:
    node.type = kind.copy()
    return node
