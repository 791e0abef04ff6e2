"""JSON paths as text, whatever the dialect of a statement makes of them.

In: the tree of a body. Out: the same tree, changed in place: a path is the literal that was there.
"""

from __future__ import annotations

import re

from sqlglot import exp

_WORD = re.compile(r"\w+")


def paths_as_text(statement: exp.Expr) -> None:
    """Write the paths of a parsed statement as literals."""
    for path in list(statement.find_all(exp.JSONPath)):
        path.replace(exp.Literal.string("".join(map(_step, path.expressions))))


def _step(part: exp.Expr) -> str:
    match part:
        case exp.JSONPathRoot():
            return "$"
        case exp.JSONPathKey() if isinstance(part.this, str):
            return f".{part.this}" if _WORD.fullmatch(part.this) else f'["{part.this}"]'
        case exp.JSONPathSubscript() if isinstance(part.this, int | str):
            return f"[{part.this}]"
    return "[*]"  # wildcards, filters and the like, which check refuses
