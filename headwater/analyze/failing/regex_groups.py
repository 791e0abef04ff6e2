"""The groups of a regular expression: which of them take part in every match.

In: the text of a pattern. Out: for each group whether it is part of whatever the pattern matches.
One that need not be is NULL in Trino and empty in Spark and DuckDB.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\\Q.*?(?:\\E|$)|\\."  # what is quoted
    r"|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]"  # a class of characters
    r"|\((?P<counted>\?P?<(?![=!])|(?!\?))?"
    r"|\)(?P<optional>\?|\*|\{0)?|\|",
    re.DOTALL,
)


@dataclass(slots=True)
class _Group:
    """A bracket that is open, or the whole pattern."""

    number: int | None
    first_inside: int
    branches: bool = False


def certain_groups(pattern: str) -> tuple[bool, ...]:
    """Return for each group of a pattern, the whole match first, whether every match has it.

    Args:
        pattern: a regular expression that Java and RE2 read alike.
    """
    certain, around = [True], [_Group(0, 1)]
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        if text == "|":
            around[-1].branches = True
        elif text.startswith("("):
            counted = token["counted"] is not None
            around.append(_Group(len(certain) if counted else None, len(certain) + counted))
            certain += [True] * counted
        elif text.startswith(")") and len(around) > 1:
            closed = around.pop()
            first = closed.first_inside if closed.number is None else closed.number
            if token["optional"]:
                certain[first:] = [False] * len(certain[first:])
            elif closed.branches:
                certain[closed.first_inside :] = [False] * len(certain[closed.first_inside :])
    if around[0].branches:
        certain[1:] = [False] * len(certain[1:])
    return tuple(certain)
