"""A let: a value that is computed once, and the expression that uses it by name.

In: an expression, and a rewriting that writes an operand of it several times. Out: what the
rewriting makes, with a name in the place of each long operand. Otherwise the text of calls within
calls would be multiplied at each level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from typing import cast

from sqlglot import exp

from headwater.algebra.scalars import BOUND
from headwater.analyze.fallibility.bounds import bound_of
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions.arrays import LET
from headwater.dialect.meanings.templates import in_brackets

SHORT = 16
"""Nodes of an operand that is written as often as it is needed: engines compute it faster so."""

_PREFIX = "_let"
_OPEN = "_open"
_OPERAND = "operand"
"""Key of ``meta`` of an operand, which its copies have, too."""
_NUMBERS = count(1)
_OVER_ROWS = (exp.AggFunc, exp.Filter, exp.Window)
_NO_VALUE = (*_OVER_ROWS, exp.Query, exp.Tuple)
_FIRST_ONLY = (exp.Case, exp.Coalesce)
"""What computes its first operand always, and the others only if it needs them."""
_LAZY = (exp.If, exp.Connector)
_VALUES = (exp.Condition, exp.Filter)

Rewriting = Callable[[exp.Expr], exp.Expr]


def is_long(node: exp.Expr, nodes: int = SHORT) -> bool:
    """Return whether an expression has more than a number of nodes."""
    return sum(1 for _ in islice(node.walk(), nodes + 1)) > nodes


def once(node: exp.Expr, rewriting: Rewriting, printed: Rewriting = lambda let: let) -> exp.Expr:
    """Return what a rewriting makes of a node, each long operand computed once.

    Args:
        node: a typed expression.
        rewriting: what may write an operand of the node, or copies of it, several times.
        printed: writes a let in the SQL of an engine.
    """
    if isinstance(node, exp.UDTF):  # rows are no value that a name could stand for
        return rewriting(node)
    operands = {next(_NUMBERS): each for each in _strict(node) if is_long(each)}
    for number, operand in operands.items():
        operand.meta[_OPERAND] = number
    made = rewriting(node)
    if operands:
        if _repeated(made):  # what was changed in place still stands there
            made = _shared(made.copy() if made is node else made, type_of(node), printed)
        for each in (*operands.values(), *made.walk()):
            each.meta.pop(_OPERAND, None)
    return made


def let(name: exp.Expr, value: exp.Expr, body: exp.Expr) -> exp.Expr:
    """Return an expression in which a name stands for a value.

    Args:
        name: made by :func:`named`.
        value: typed; it becomes a part of the result.
        body: typed; likewise.
    """
    function = exp.Lambda(this=body, expressions=[name])
    made = LET(expressions=[value, function])
    function.type = made.type = body.type
    return made


def named(name: str, value: exp.Expr) -> exp.Identifier:
    """Return a name for a typed value."""
    made = exp.to_identifier(name)
    made.type = type_of(value).copy()
    if t.family(made.type) == "number":
        made.meta[BOUND] = bound_of(value)
    return made


def bound(value: exp.Expr, body: Callable[[exp.Expr], exp.Expr | None]) -> exp.Expr | None:
    """Return what a body makes of a value, in which a long value has a name if it is used again.

    Args:
        value: typed; it becomes a part of the result.
        body: makes an expression of the value or its name; None is returned as it is.
    """
    if not is_long(value):
        return body(value)
    name = named(f"{_OPEN}{next(_NUMBERS)}", value)
    made = body(name)
    if made is None:
        return None
    root = exp.Paren(this=made)
    uses = [each for each in root.find_all(exp.Identifier) if each.name == name.name]
    if len(uses) > 1 and not root.find(exp.Query) and not value.find(exp.Query):
        text = next(names_within(value, made))
        for each in (name, *uses):
            each.set("this", text)
        return let(name.copy(), value, made)
    for each in uses:
        each.replace(in_brackets(value))
    return cast(exp.Expr, root.this.pop())


def names_within(*expressions: exp.Expr) -> Iterator[str]:
    """Yield names that no let within expressions has: equal expressions get equal names."""
    taken = (
        int(each.name.removeprefix(_PREFIX))
        for expression in expressions
        for each in expression.find_all(exp.Identifier)
        if each.name.startswith(_PREFIX)
    )
    return (f"{_PREFIX}{number}" for number in count(max(taken, default=0) + 1))


def _strict(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the operands that are computed whenever a node is."""
    in_case = isinstance(node.parent, exp.Case) and isinstance(node, exp.If)
    if not isinstance(node, _VALUES) or isinstance(node, (*_NO_VALUE, *_LAZY)) or in_case:
        return
    if isinstance(node, _FIRST_ONLY):
        children = [node.this] if isinstance(node.this, exp.Expr) else []
    else:
        children = list(node.iter_expressions())
    for child in children:
        if isinstance(child, _VALUES):
            yield child.unnest() if isinstance(child, exp.Paren) else child


def _repeated(made: exp.Expr) -> list[list[exp.Expr]]:
    """Return the operands that an expression has several times, with all their copies."""
    uses: dict[int, list[exp.Expr]] = {}
    for each in made.walk(prune=lambda each: _OPERAND in each.meta):
        if number := each.meta.get(_OPERAND):
            uses.setdefault(number, []).append(each)
    return [found for found in uses.values() if len(found) > 1 and len(set(found)) == 1]


def _shared(made: exp.Expr, kind: exp.DataType, printed: Rewriting) -> exp.Expr:
    """Return an expression with a let around it for each operand that it has several times."""
    repeated = [found for found in _repeated(made) if not any(map(_is_over_rows, found))]
    if not repeated or made.find(exp.Query):  # no subquery can stand in a lambda or beside it
        return made
    root = exp.Paren(this=made)
    names = names_within(made)
    values = [_taken_out(found, next(names)) for found in repeated]
    # engines compute no rows within a lambda
    for each in list(root.walk(prune=lambda each: isinstance(each, _OVER_ROWS))):
        if isinstance(each, _OVER_ROWS):
            values.append(_taken_out([each], next(names)))
    for name, value in reversed(values):
        body = cast(exp.Expr, root.this)
        body.type = body.type or kind
        root.set("this", printed(let(name, value, body)))
        root.this.type = kind
    return cast(exp.Expr, root.this.pop())


def _taken_out(found: Sequence[exp.Expr], text: str) -> tuple[exp.Identifier, exp.Expr]:
    """Put a name in the place of equal values; return it and the value."""
    value = found[0].copy()
    name = named(text, value)
    for each in found:
        _outermost(each).replace(name.copy())
    return name, value


def _is_over_rows(node: exp.Expr) -> bool:
    """Return whether an expression stands within an aggregate or a window."""
    above = node.parent
    while above is not None and not isinstance(above, _OVER_ROWS):
        above = above.parent
    return above is not None


def _outermost(node: exp.Expr) -> exp.Expr:
    """Return the brackets around a node that its name can do without."""
    while isinstance(node.parent, exp.Paren) and not isinstance(node.parent.parent, exp.Dot):
        node = node.parent
    return node
