"""Expressions of Trino's SQL with holes for arguments, ``_1`` and so on.

In: such a text, and arguments. Out: its tree, with the arguments in the holes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import cast

from sqlglot import exp

from headwater.dialect.parser import body_parser

_HOLE = re.compile(r"_(\d)")


@cache
def template(text: str) -> exp.Expr:
    """Return what a text is parsed to; it is shared, so copy it before it is filled."""
    select = f"SELECT {text}"
    found: exp.Expr = body_parser("trino").parse(select, 0, len(select)).expressions[0]
    for node in found.walk():
        node.meta.clear()  # places in a text that nobody has written
    return found


def hole(column: exp.Expr) -> int:
    """Return the number of the argument that a column of a template stands for."""
    found = _HOLE.fullmatch(column.name)
    assert found, column
    return int(found[1])


def filled(root: exp.Paren, given: Sequence[exp.Expr]) -> exp.Expr:
    """Return what stands in brackets, with copies of arguments, or NULL, in its holes.

    Args:
        root: a copy of a template in brackets, whose columns are all holes.
        given: the arguments.
    """
    for column in list(root.find_all(exp.Column)):
        place = hole(column)
        column.replace(in_brackets(given[place - 1]) if place <= len(given) else exp.Null())
    return cast(exp.Expr, root.this.pop())


def in_brackets(node: exp.Expr) -> exp.Expr:
    """Return a copy of a node that can stand as an operand."""
    simple = isinstance(node, (exp.Column, exp.Literal, exp.Paren, exp.Func, exp.Try))
    if simple and not isinstance(node, exp.Connector):
        return node.copy()
    inner = exp.Paren(this=node.copy())
    inner.type = node.type
    return inner
