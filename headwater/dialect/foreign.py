"""A statement in another dialect → what its literals mean, in Headwater's own words.

In: the tree of a body in another dialect. Out: the same tree, changed in place: LIKE with the
escape character that the dialect has by default, and JSON paths as text.
"""

from __future__ import annotations

import re

from sqlglot import exp

_ESCAPES_BY_BACKSLASH = ("spark", "postgres", "bigquery")
_WORD = re.compile(r"\w+")


def translate_literals(statement: exp.Expr, dialect: str) -> None:
    """Say in Trino's words what literals mean in another dialect.

    Args:
        statement: a parsed statement; changed in place.
        dialect: the dialect of its body.
    """
    for path in list(statement.find_all(exp.JSONPath)):
        path.replace(exp.Literal.string("".join(map(_step, path.expressions))))
    if dialect not in _ESCAPES_BY_BACKSLASH:
        return
    for like in list(statement.find_all(exp.Like)):
        pattern = like.expression
        plain = pattern.is_string and "\\" not in pattern.name
        if not plain and not isinstance(like.parent, exp.Escape):
            escape = exp.Literal.string("\\")
            like.replace(exp.Escape(this=like.copy(), expression=escape))


def _step(part: exp.Expr) -> str:
    match part:
        case exp.JSONPathRoot():
            return "$"
        case exp.JSONPathKey() if isinstance(part.this, str):
            return f".{part.this}" if _WORD.fullmatch(part.this) else f'["{part.this}"]'
        case exp.JSONPathSubscript() if isinstance(part.this, int | str):
            return f"[{part.this}]"
    return "[*]"  # wildcards, filters and the like, which check refuses
