"""When an expression fails on a row, as a condition; and the expression with NULL where it does.

In: typed expressions. Out: :func:`fails`, :func:`safe`, and :func:`is_certain`: whether Spark is
sure to raise where the condition holds. Conditions are true or false, never NULL.

Operands are looked at in Trino's order: a branch of CASE that is not taken, what stands behind
``false AND``, and what stands behind an operand that is NULL do not fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

from sqlglot import exp

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
from headwater.analyze.failing.guards import has_guard, when_it_fails, without_failure
from headwater.analyze.fallibility.bounds import LIMITS
from headwater.analyze.fallibility.fallible import (
    EARLIEST,
    LATEST,
    SAFE,
    can_fail,
    divides_by_zero,
    failing,
    negates_least,
)
from headwater.analyze.inference.lambdas import lambdas_of
from headwater.analyze.inference.nullable import nullable
from headwater.analyze.lets import bound, once
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions.lambdas import ANY_MATCH, ZIP_WITH
from headwater.dialect.meanings.templates import in_brackets

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_QUOTIENTS = (exp.Div, exp.Mod)
_LEFT_FIRST = (exp.Add, exp.Sub, exp.Mul, *_QUOTIENTS, *_COMPARISONS)
_CONDITIONAL = (exp.And, exp.Or, exp.Case, exp.If, exp.Coalesce)
_ONE_OPERAND = (exp.Paren, exp.Not, exp.Neg, exp.Abs, exp.Cast, exp.TryCast)
_MAY_SKIP = (exp.Count, exp.ArgMin, exp.ArgMax, exp.ArrayAgg, exp.GroupConcat)
_PARTS = (exp.Filter, exp.Where, exp.Distinct)

Then = Callable[[exp.Expr], exp.Expr | None]


def fails(expression: exp.Expr) -> exp.Expr | None:
    """Return the condition that an expression fails on a row, None if it cannot.

    Args:
        expression: a typed expression without aggregates.
    """
    return _look(expression, lambda value: None)


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
    return typed(once(node, _safely), type_of(node))


def _safely(node: exp.Expr) -> exp.Expr:
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
    """The condition that a node fails, though its operands do not."""
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


def _look(expression: exp.Expr, then: Then, present: Sequence[exp.Expr] = ()) -> exp.Expr | None:
    """Return the condition that an expression fails, or else what follows of its value.

    A value that is needed again has a name: so the condition is as long as the expression.

    Args:
        expression: typed.
        then: makes a further condition, or None for false, of the expression without failure.
        present: conditions without which the expression is not looked at.
    """
    if next(failing(expression), None) is None:
        return bound(expression.copy(), then)
    if isinstance(expression, _CONDITIONAL) and any(failing(_first(expression))):
        looked_at = cast(exp.Expr, expression.copy())

        def go_on(value: exp.Expr) -> exp.Expr | None:
            _replace(_first(looked_at), value)
            return _look(looked_at, then, present)

        return _look(_first(expression), go_on, present)
    if isinstance(expression, (*_CONDITIONAL, exp.Filter, exp.Lambda)) or lambdas_of(expression):
        failed = _after(present, _part_fails(expression))
        return any_of(failed, bound(safe(expression), then))
    if is_calculation(expression):
        return _look_at_calculation(expression, then, present)
    node, in_order = expression.copy(), isinstance(expression, _LEFT_FIRST)
    first = node.this
    operands = [
        each
        for each in node.iter_expressions()
        if any(failing(each)) or (in_order and each is first)
    ]

    def look_at(operands: Sequence[exp.Expr], present: Sequence[exp.Expr]) -> exp.Expr | None:
        if not operands:
            return _look_at_node(node, then, present) if can_fail(expression) else bound(node, then)
        operand, *others = operands

        def look_on(value: exp.Expr) -> exp.Expr | None:
            _replace(operand, value)
            there = given(value) if in_order and operand is first else None
            return look_at(others, _and_also(present, there))

        return _look(operand, look_on, present)

    return look_at(operands, present)


def _first(node: exp.Expr) -> exp.Expr:
    """Return what is computed whenever what does not compute all of its operands is."""
    first = node.this or node.args["ifs"][0].this
    assert isinstance(first, exp.Expr)
    return first


def _look_at_node(node: exp.Expr, then: Then, present: Sequence[exp.Expr]) -> exp.Expr | None:
    """Look at a node that can fail, whose operands cannot."""

    def look_on(own: exp.Expr) -> exp.Expr | None:
        tried = without_failure(node.copy(), own) if has_guard(node) else safely(node.copy())
        return any_of(_after(present, own), bound(typed(tried, type_of(node)), then))

    return bound(typed(_own(node.copy()), t.BOOLEAN), look_on)


def _replace(operand: exp.Expr, value: exp.Expr) -> None:
    plain = value.copy() if isinstance(value, exp.Identifier) else in_brackets(value)
    operand.replace(typed(plain, type_of(operand)))


def _part_fails(expression: exp.Expr) -> exp.Expr | None:
    """The condition for what does not compute all of its operands, or for each element."""
    match expression:
        case exp.And() | exp.Or():
            return _connected_fails(expression)
        case exp.Case():
            return _case_fails(expression)
        case exp.If():
            otherwise = expression.args.get("false")
            return _branches_fail([(expression.this, expression.args["true"])], otherwise)
        case exp.Filter():
            failed = fails(expression.this)
            return _look(
                expression.expression.this, lambda only: both(or_else(only, exp.false()), failed)
            )
        case exp.Coalesce():
            return _coalesce_fails([expression.this, *expression.expressions])
        case exp.Lambda():
            return None  # it fails for elements: the call knows them
    children = (fails(child) for child in expression.iter_expressions())
    failed = any_of(*children, _elements_fail(expression))
    return any_of(failed, _own(_with_safe_operands(expression)) if can_fail(expression) else None)


def _with_safe_operands(node: exp.Expr) -> exp.Expr:
    node = node.copy()
    for child in list(node.iter_expressions()):
        if next(failing(child), None) is not None:
            _replace(child, safe(child))
    return node


def _connected_fails(expression: exp.Connector) -> exp.Expr | None:
    """AND or OR: a term is looked at if none before it decides."""
    found: exp.Expr | None = None
    for term in reversed(list(expression.flatten(unnest=False))):
        found = _look(term, partial(_goes_on, expression, found))
    return found


def _goes_on(expression: exp.Connector, found: exp.Expr | None, term: exp.Expr) -> exp.Expr | None:
    if found is None:
        return None
    if isinstance(expression, exp.And):
        return all_of(or_else(term, exp.true()), found)
    return all_of(negated(or_else(term, exp.false())), found)


def _look_at_calculation(
    root: exp.Expr, then: Then, present: Sequence[exp.Expr]
) -> exp.Expr | None:
    """Look at the operands in order, and then at the calculation of what they are."""
    node = exp.Paren(this=root.copy())
    operands = [step.operand for step in steps(node.this) if step.operand is not None]

    def look_at(operands: Sequence[exp.Expr], before: Sequence[exp.Expr]) -> exp.Expr | None:
        if not operands:
            failed = _after(present, _calculation_fails(node.this))
            return any_of(failed, bound(safe(node.this), then))
        operand, *others = operands
        same = [operand, *(each for each in others if each == operand)]

        def look_on(value: exp.Expr) -> exp.Expr | None:
            for each in same:
                _replace(each, value)
            rest = [each for each in others if all(each is not one for one in same)]
            return look_at(rest, _and_also(before, given(value)))

        return _look(operand, look_on, before)

    return look_at(operands, present)


def _calculation_fails(root: exp.Expr) -> exp.Expr | None:
    """It fails if it is NULL though its operands, which cannot fail, are not.

    What is complete before an operand that can be NULL is looked at on its own. An operand that
    occurs again says nothing new: so the condition is as long as the calculation.
    """
    found: list[exp.Expr | None] = []
    present: list[exp.Expr] = []
    known: set[exp.Expr] = set()
    failing_before = 0
    for step in steps(root):
        there = None
        if step.operand is not None:
            if step.operand in known:
                continue
            known.add(step.operand)
            there = given(step.operand)
            if there is None:
                continue
        if step.failing > failing_before:
            lost = any_of(*(is_null(safe(each)) for each in step.complete))
            found.append(_after(present, lost))
            failing_before = step.failing
        present += [] if there is None else [there]
    return any_of(*found)


def _and_also(present: Sequence[exp.Expr], there: exp.Expr | None) -> Sequence[exp.Expr]:
    return present if there is None or there in present else (*present, there)


def _after(present: Sequence[exp.Expr], failed: exp.Expr | None) -> exp.Expr | None:
    return None if failed is None else all_of(*(each.copy() for each in present), failed)


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
        found = _look(condition, partial(_taken, fails(value), found))
    return found


def _taken(
    failed: exp.Expr | None, otherwise: exp.Expr | None, condition: exp.Expr
) -> exp.Expr | None:
    taken = or_else(condition, exp.false())
    return any_of(both(taken, failed), both(negated(taken.copy()), otherwise))


def _coalesce_fails(items: list[exp.Expr]) -> exp.Expr | None:
    found: exp.Expr | None = None
    for item in reversed(items):
        found = _look(item, partial(_if_null, found))
    return found


def _if_null(failed: exp.Expr | None, item: exp.Expr) -> exp.Expr | None:
    return both(is_null(item), failed)


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
