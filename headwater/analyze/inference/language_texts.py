"""Expressions of the language over the arguments of a call, without types.

In: SQL with ``_1``, ``_2`` for arguments. Out: its tree, with the arguments in their places.
"""

from __future__ import annotations

from functools import cache

from sqlglot import exp

from headwater.analyze.names.function_names import read_names
from headwater.dialect.meanings.templates import filled, template


def composed_untyped(text: str, given: list[exp.Expr]) -> exp.Expr:
    """Return an expression over arguments of which no type is known.

    Args:
        text: in the language.
        given: the arguments; they are copied. One that is not there is NULL.
    """
    return filled(exp.Paren(this=parsed(text).copy()), given)


@cache
def parsed(text: str) -> exp.Expr:
    """Return what a text in the language is parsed to; it is shared, so copy it before use."""
    statement = exp.Select(expressions=[template(text).copy()])
    read_names(statement, internal=True)
    found: exp.Expr = statement.expressions[0]
    return found
