"""Texts of SQL with places for arguments: ``_1``, ``_2`` and so on.

In: a text in the SQL of an engine, and expressions. Out: a tree in which they stand in its places.
"""

from __future__ import annotations

import re
from functools import cache
from typing import cast

import sqlglot
from sqlglot import exp

ARGUMENT = re.compile(r"_(\d)")
"""A place."""
_WHOLE = (exp.Column, exp.Literal, exp.Paren, exp.Func, exp.Null, exp.Lambda, exp.Identifier)


def filled(text: str, given: list[exp.Expr], dialect: str) -> exp.Expr:
    """Return SQL as a tree, with arguments in the places of ``_1``, ``_2`` and so on.

    Args:
        text: an expression in the SQL of an engine.
        given: the arguments; they are copied.
        dialect: of the text.
    """
    root = exp.Paren(this=_parsed(text, dialect).copy())
    for column in list(root.find_all(exp.Column)):
        if found := ARGUMENT.fullmatch(column.name):
            value = given[int(found[1]) - 1].copy()
            simple = isinstance(value, _WHOLE)
            simple = simple and not isinstance(value, exp.Connector)
            column.replace(value if simple else exp.paren(value, copy=False))
    return cast(exp.Expr, root.this.pop())


@cache
def _parsed(text: str, dialect: str) -> exp.Expr:
    return sqlglot.parse_one(text, dialect=dialect)
