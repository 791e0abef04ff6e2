"""Lambdas: ``x -> x + 1`` as an argument of a function over arrays.

In: a call whose other arguments are typed. Out: lambdas whose parameters have types and names that
no relation has, and whose body is typed; the type of a lambda is that of its value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.fallibility.fallible import can_fail
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import cast_to, expect_boolean, type_of
from headwater.analyze.typing.functions import FUNCTIONS

Infer = Callable[[exp.Expr, Diagnostics], exp.DataType]

_CONDITIONS = ("filter", "any_match", "all_match", "none_match")
_OF_EVERY_ELEMENT = ("transform", "filter", "zip_with")
"""What computes its lambda of every element, whatever it is of the others."""


def lambdas_of(node: exp.Expr) -> list[exp.Lambda]:
    """Return the lambdas among the arguments of a call."""
    return [each for each in node.iter_expressions() if isinstance(each, exp.Lambda)]


def lambdas_typed(node: exp.Expr, infer: Infer, report: Diagnostics) -> bool:
    """Give types to the lambdas of a call; return False after an error.

    Args:
        node: the call; its other arguments are typed.
        infer: gives types to a body.
        report: where errors go.
    """
    lambdas, function = lambdas_of(node), FUNCTIONS.get(type(node))
    if not lambdas or function is None or "lambda" not in function.params:
        return True
    if not _type_all(node, function.name, infer, report):
        return False
    failing = next((each for each in lambdas if any(map(can_fail, each.walk()))), None)
    if failing is not None and function.name not in _OF_EVERY_ELEMENT:
        hint = "use TRY_CAST, nullif(x, 0) or DOUBLE, so that it cannot fail"
        report.not_yet(f"a lambda of {function.name} that can fail", failing.this, hint)
        return False
    return True


def waiting_lambda(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Return no type: the function says what the parameters are. Report one that takes no lambda.

    Args:
        node: a lambda.
    """
    function = FUNCTIONS.get(type(node.parent)) if node.parent is not None else None
    if isinstance(node.parent, (exp.Anonymous, exp.Exists)) and function is None:
        return t.UNKNOWN  # the function itself is refused
    if function is None or "lambda" not in function.params:
        report.not_yet("a lambda here", node.this, "filter(x, …), transform(x, …) take one")
    return t.UNKNOWN


def _type_all(node: exp.Expr, name: str, infer: Infer, report: Diagnostics) -> bool:
    arrays = [each for each in node.iter_expressions() if not isinstance(each, exp.Lambda)]
    kinds = [type_of(each) for each in arrays]
    if any(map(t.is_unknown, kinds)):
        return False
    elements = [t.elements(kind)[0] for kind in kinds if kind.this is t.Type.ARRAY]
    for at, each in enumerate(lambdas_of(node)):
        parameters = elements if name == "zip_with" else elements[:1]
        if name == "reduce":
            parameters = [kinds[1]] if at else [kinds[1], *elements[:1]]
        if not _type_one(each, parameters, infer, report):
            return False
        if name in _CONDITIONS:
            expect_boolean(each.this, name, report)
        elif name == "reduce" and not at and not _keeps_state(each, kinds[1], report):
            return False
    return True


def _type_one(
    node: exp.Lambda, parameters: Sequence[exp.DataType], infer: Infer, report: Diagnostics
) -> bool:
    if len(node.expressions) != len(parameters):
        count = len(parameters)
        message = f"the lambda has {len(node.expressions)} parameters, not {count}"
        hint = "write x -> …" if count == 1 else "write (x, y) -> …"
        report.add("WRONG_ARGUMENTS", message, node.this, hint)
        return False
    if found := node.find(exp.Query, exp.AggFunc, exp.Window):
        hint = "compute it in a subquery in FROM"
        report.not_yet("a subquery or an aggregate within a lambda", found, hint)
        return False
    depth = sum(1 for each in _ancestors(node) if isinstance(each, exp.Lambda))
    for at, (parameter, kind) in enumerate(zip(node.expressions, parameters, strict=True)):
        name = f"lambda_{depth * 2 + at + 1}"
        for each in (parameter, *_uses(node.this, parameter.name)):
            each.set("this", name)
            each.type = kind.copy()
    infer(node.this, report)
    node.type = type_of(node.this)
    return not t.is_unknown(node.type)


def _keeps_state(node: exp.Lambda, state: exp.DataType, report: Diagnostics) -> bool:
    """Bring the value of the lambda that merges to the type of the first value."""
    kind = type_of(node.this)
    if t.common_type([kind, state]) != state:
        message = f"reduce begins with {t.sql_type(state)} and goes on with {t.sql_type(kind)}"
        hint = f"cast the first value: CAST(x AS {t.sql_type(kind)})"
        report.add("TYPE_CLASH", message, node.this, hint)
        return False
    if kind != state:
        cast_to(node.this, state)
    return True


def _uses(body: exp.Expr, name: str) -> Iterator[exp.Identifier]:
    """Yield where a body names a parameter; a lambda within may have one of the same name."""
    hidden = (exp.Column, exp.DataType)
    shadows = {
        id(inner)
        for each in body.find_all(exp.Lambda)
        if any(other.name == name for other in each.expressions)
        for inner in each.walk()
    }
    for node in body.walk(prune=lambda node: isinstance(node, hidden)):
        field = isinstance(node.parent, exp.Dot) and node.arg_key == "expression"
        if not isinstance(node, exp.Identifier) or field or id(node) in shadows:
            continue
        if node.name == name:
            yield node


def _ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    inner = node.parent
    while inner is not None:
        yield inner
        inner = inner.parent
