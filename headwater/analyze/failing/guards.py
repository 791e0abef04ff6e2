"""Functions whose line in the table says under which condition they fail.

In: typed calls. Out: the condition, typed; the call with NULL where it would fail; and in a whole
query a CASE around each call, which raises an error there, since engines go on where Trino fails.
"""

from __future__ import annotations

from typing import cast

from sqlglot import exp

from headwater.analyze.fallibility.fallible import SAFE, condition_of
from headwater.analyze.inference.compositions import composed
from headwater.analyze.inference.nullable import nullable
from headwater.analyze.lets import once
from headwater.analyze.typing import functions as f
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.meanings.templates import in_brackets
from headwater.dialect.syntax import SHOWN

RAISES = "headwater_raises"
"""Name of the function that each engine has under another name: it raises an error."""


def has_guard(node: exp.Expr) -> bool:
    """Return whether a call can fail as its line says, and nothing keeps it from that."""
    return not node.meta.get(SAFE) and bool(condition_of(node))


def when_it_fails(node: exp.Expr) -> exp.Expr:
    """Return the condition that a call fails, NULL if an argument is.

    Args:
        node: a typed call that :func:`has_guard`.
    """
    given = f.arguments(cast(exp.Func, node))
    condition = composed(condition_of(node), given)
    present = [
        exp.Not(this=exp.Is(this=in_brackets(each), expression=exp.Null()))
        for each in given
        if not isinstance(each, exp.Literal) and nullable(each, grouped=False)
    ]
    if len(given) > 1 and present:
        return exp.and_(*present, exp.paren(condition, copy=False), copy=False)
    return condition


def without_failure(node: exp.Expr, failed: exp.Expr | None = None) -> exp.Expr:
    """Return a call that is NULL where it would fail.

    Args:
        node: a typed call that :func:`has_guard`; changed in place.
        failed: the condition that it fails, if something else knows it already.
    """
    first = f.arguments(cast(exp.Func, node))[0]
    condition = when_it_fails(node) if failed is None else failed.copy()
    node.meta[SAFE] = True
    kept = exp.Case(ifs=[exp.If(this=condition, true=exp.Null())], default=first.copy())
    kept.type = type_of(first)
    first.replace(kept)
    return node


def raise_where_it_fails(root: exp.Expr) -> None:
    """Put a CASE around every call that can fail, in place.

    Args:
        root: a typed tree.
    """
    for node in reversed([each for each in root.walk(bfs=True) if has_guard(each)]):
        parent, key, index = node.parent, node.arg_key, node.index
        assert parent is not None and key is not None
        parent.set(key, once(node, _raising), index)


def _raising(node: exp.Expr) -> exp.Expr:
    error = exp.Anonymous(this=RAISES, expressions=[exp.Literal.string(_message(node))])
    case = exp.Case(ifs=[exp.If(this=when_it_fails(node), true=error)], default=node.copy())
    case.type = type_of(node)
    case.args["default"].meta[SAFE] = True
    return case


def _message(node: exp.Expr) -> str:
    return f"{node.meta.get(SHOWN) or f.FUNCTIONS[type(node)].name} failed"
