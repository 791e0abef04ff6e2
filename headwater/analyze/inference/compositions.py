"""Expressions of the language over the arguments of a call, as the table of functions has them.

In: SQL with ``_1``, ``_2`` for arguments, and typed arguments. Out: a typed tree.
"""

from __future__ import annotations

from functools import partial
from typing import cast

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.fallibility.fallible import SAFE
from headwater.analyze.inference.infer import infer
from headwater.analyze.inference.language_texts import parsed
from headwater.analyze.lets import once
from headwater.analyze.typing import functions as f
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.meanings.templates import filled, hole

LANGUAGE = "language"
"""Key of the texts of a function, beside those of engines: what it is made of in the language."""


def composed(text: str, given: list[exp.Expr]) -> exp.Expr:
    """Return an expression over arguments, typed; what could fail in it has no guard of its own.

    Args:
        text: in the language.
        given: typed arguments; they are copied. One that is not there is NULL.
    """
    root = exp.Paren(this=parsed(text).copy())
    for column in list(root.find_all(exp.Column)):
        place = hole(column)
        column.type = type_of(given[place - 1]) if place <= len(given) else t.NULL
    report = Diagnostics(root)
    for inner in root.walk():
        inner.meta[SAFE] = True
    infer(root, report)
    assert not report.errors, (text, report.errors[0])
    return filled(root, given)


def compose_calls(root: exp.Expr) -> None:
    """Replace the calls of functions that engines lack by what they are made of, in place.

    Args:
        root: a typed tree.
    """
    for node in reversed(list(root.walk(bfs=True))):
        function = f.FUNCTIONS.get(type(node))
        text = function.texts.get(LANGUAGE) if function is not None and function.texts else None
        if text is None:
            continue
        made = once(node, partial(_composed_call, text))
        whole = exp.Paren(this=made)
        whole.type = type_of(node)
        node.replace(whole)


def _composed_call(text: str, node: exp.Expr) -> exp.Expr:
    return composed(text, f.arguments(cast(exp.Func, node)))
