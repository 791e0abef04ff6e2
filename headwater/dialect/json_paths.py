"""What is read out of JSON, whatever the dialect of a statement makes of it.

In: the tree of a body. Out: the same tree, changed in place: a path is the literal that was there,
``x -> 'a' ->> 'b'`` has one path.
"""

from __future__ import annotations

import re

from sqlglot import exp

from headwater.dialect.syntax import JSONScalar

_WORD = re.compile(r"\w+")
_STEPS = re.compile(r"\{\s*\w+(\s*,\s*\w+)*\s*\}")
_READING = (exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtractScalar)
_JSON_TYPES = (exp.DType.JSON, exp.DType.JSONB, exp.DType.VARIANT)


def read_json(statement: exp.Expr) -> None:
    """Give one form to what a parsed statement reads out of JSON, in place."""
    found = list(statement.find_all(exp.JSONPath, *_READING))
    for path in found:
        if isinstance(path, exp.JSONPath):
            path.replace(exp.Literal.string("".join(map(_step, path.expressions))))
    scalars = [scalar for node in found if (scalar := _scalar(node)) is not None]
    for scalar in scalars:
        _join(scalar)


def failing_value(node: exp.Expr) -> exp.Expr:
    """Text out of JSON that stands for objects and arrays as well: these fail.

    Args:
        node: ``exp.JSONExtractScalar``.
    """
    return JSONScalar(this=node.this, path=node.expression)


def _scalar(node: exp.Expr) -> exp.Expr | None:
    """Return what reads a scalar, in place of what reads one otherwise."""
    path: exp.Expr = node.expression
    if isinstance(node, exp.JSONBExtractScalar) and _STEPS.fullmatch(path.name):
        keys = re.sub(r"\s*,\s*", ".", path.name.strip("{} "))
        path = exp.Literal.string(f"$.{keys}")
    elif type(node) is not exp.JSONExtract or not isinstance(_above(node), exp.Cast):
        return node if isinstance(node, exp.JSONExtractScalar) else None
    made = exp.JSONExtractScalar(this=node.this, expression=path)
    node.replace(made)
    return made


def _above(node: exp.Expr) -> exp.Expr | None:
    above = node.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    return above


def _join(scalar: exp.Expr) -> None:
    """Join the paths of ``a -> 'b' ->> 'c'``; what is cast to JSON is a text of JSON."""
    for key in ("only_json_types", "scalar_only"):
        scalar.set(key, None)
    inner = scalar.this.unnest()
    while isinstance(inner, exp.JSONExtract) and inner.expression.is_string:
        path = inner.expression.name + scalar.expression.name.removeprefix("$")
        scalar.set("expression", exp.Literal.string(path))
        inner = inner.this.unnest()
        scalar.set("this", inner)
    if isinstance(inner, exp.Cast) and inner.to.this in _JSON_TYPES:
        scalar.set("this", inner.this)


def _step(part: exp.Expr) -> str:
    match part:
        case exp.JSONPathRoot():
            return "$"
        case exp.JSONPathKey() if isinstance(part.this, str):
            return f".{part.this}" if _WORD.fullmatch(part.this) else f'["{part.this}"]'
        case exp.JSONPathSubscript() if isinstance(part.this, int | str):
            return f"[{part.this}]"
    return "[*]"  # wildcards, filters and the like, which check refuses
