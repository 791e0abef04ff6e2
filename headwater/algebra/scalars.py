"""Scalars: the small expressions that trees are made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from headwater.algebra.nodes import Column, Computed

BOOLEAN = exp.DataType.build("boolean")
NULLABLE = "nullable"
"""Key of ``Column.meta``: whether a column can be NULL."""
BOUND = "bound"
"""Key of ``Column.meta``: what the absolute value of a decimal is at most, if that is known."""
TIE = "breaks ties"
"""Key of ``Ordered.meta``: nobody wrote the item, which gives rows that tie one order."""


def is_floating(kind: object) -> bool:
    """Return whether a type holds floating-point numbers."""
    return isinstance(kind, exp.DataType) and any(
        each.this in (exp.DType.FLOAT, exp.DType.DOUBLE) for each in kind.find_all(exp.DataType)
    )


def column(name: str, like: Column) -> exp.Column:
    """Return a scalar that is a column of the input."""
    found = exp.Column(this=exp.to_identifier(name))
    found.type = like.type
    found.meta[NULLABLE] = like.nullable
    return found


def passed_on(like: Column, name: str | None = None) -> Computed:
    """Return a column of the input as one of a node above, under its own name or another one."""
    return Computed(replace(like, name=name or like.name), column(like.name, like))


def nothing(kind: exp.DataType) -> exp.Expr:
    """Return a NULL of a type."""
    found = exp.cast(exp.null(), kind.copy())
    found.type = kind
    return found


def names_in(scalars: Iterable[exp.Expr]) -> set[str]:
    """Return the names of the columns that scalars read."""
    return {each.name for scalar in scalars for each in scalar.find_all(exp.Column)}


def fresh(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: the name itself, or with the first number that is free."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found


def mapped(node: exp.Expr, of: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """Return a copy of a node whose operands are what a function makes of them."""
    made = type(node)(**{key: _argument(value, of) for key, value in node.args.items()})
    made.comments = list(node.comments) if node.comments else None
    made.type = node.type
    made.meta.update(node.meta)
    return made


def replaced(scalar: exp.Expr, values: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return a copy of a scalar with values in place of its columns; others stay as they are."""
    holder = exp.Paren(this=scalar.copy())
    for node in list(holder.find_all(exp.Column)):
        if node.name not in values:
            continue
        value = values[node.name].copy()
        inner = isinstance(value, exp.Column)
        if inner:
            value.meta.update({k: v for k, v in node.meta.items() if k not in (NULLABLE, BOUND)})
        alone = node.parent is holder
        node.replace(value if inner or alone else operand(value))
    found: exp.Expr = holder.this
    return found.pop()


def operand(value: exp.Expr) -> exp.Expr:
    """Return a value as part of another one: in brackets where it could be read otherwise."""
    compound = (exp.Binary, exp.Unary, exp.Between, exp.In)
    if not isinstance(value, compound) or isinstance(value, (exp.Paren, exp.Dot)):
        return value
    found = exp.Paren(this=value)
    found.type = value.type
    return found


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """Return the parts of a condition joined by AND, brackets removed."""
    stack, found = [condition] if condition is not None else [], []
    while stack:
        node = stack.pop()
        if isinstance(node, exp.And):
            stack += [node.expression, node.this]
        elif isinstance(node, exp.Paren):
            stack.append(node.this)
        else:
            found.append(node)
    return found


def conjunction(parts: Sequence[exp.Expr]) -> exp.Expr:
    """Return conditions joined by AND, typed; one that is an OR gets brackets.

    Args:
        parts: at least one condition.
    """
    result: exp.Expr | None = None
    for part in parts:
        node = exp.paren(part, copy=False) if isinstance(part, (exp.Or, exp.Xor)) else part
        node.type = BOOLEAN
        result = node if result is None else exp.And(this=result, expression=node)
        result.type = BOOLEAN
    assert result is not None
    return result


def ties_left_out(node: exp.Expr) -> exp.Expr:
    """Return a copy of a node, for a person: in the place of what breaks ties stands ``…``."""
    found = node.copy()
    for order in found.find_all(exp.Order):
        own = [item for item in order.expressions if TIE not in item.meta]
        if 0 < len(own) < len(order.expressions):
            order.set("expressions", [*own, exp.var("…")])
    return found


def _argument(value: object, of: Callable[[exp.Expr], exp.Expr]) -> object:
    if isinstance(value, exp.Expr):
        return of(value)
    if isinstance(value, list):
        return [of(each) if isinstance(each, exp.Expr) else each for each in value]
    return value
