"""The replacement of ``regexp_replace``: text with references to groups.

In: the text as Trino reads it: ``$1``, ``${name}``, and a backslash before what means itself. Out:
its parts, and the text that Spark (Java) and DuckDB (RE2) read alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from headwater.analyze.literals.mistake import Mistake
from headwater.analyze.literals.regex_engines import Part
from headwater.analyze.literals.regex_tree import Regex

_NAME = re.compile(r"\$\{(\w+)\}")


def parse(text: str, pattern: Regex) -> tuple[Part, ...]:
    """Return the parts of a replacement.

    Args:
        text: the replacement.
        pattern: the pattern, which has the groups.

    Raises:
        Mistake: it refers to no group, or a ``$`` or backslash stands alone.
    """
    parts: list[Part] = []
    at = 0
    while at < len(text):
        if text[at] == "\\":
            if at + 1 == len(text):
                raise Mistake("a backslash at the end of a replacement", "write \\\\ for one", at)
            parts.append(text[at + 1])
            at += 2
        elif text[at] == "$":
            number, at = _reference(text, at, pattern)
            parts.append(number)
        else:
            parts.append(text[at])
            at += 1
    return tuple(parts)


def java(parts: Sequence[Part]) -> str:
    """Return a replacement for Spark."""
    written = ""
    after_group = False
    for part in parts:
        if isinstance(part, int):
            written += f"${part}"
        elif part in "\\$" or (after_group and part.isdigit()):
            written += "\\" + part
        else:
            written += part
        after_group = isinstance(part, int)
    return written


def re2(parts: Sequence[Part], numbers: Mapping[int, tuple[int, ...]]) -> str:
    """Return a replacement for DuckDB.

    Args:
        parts: the parts of a replacement.
        numbers: the new numbers of groups.
    """
    return "".join(
        "".join(f"\\{number}" for number in numbers[part])
        if isinstance(part, int)
        else part.replace("\\", "\\\\")
        for part in parts
    )


def _reference(text: str, at: int, pattern: Regex) -> tuple[int, int]:
    """Read a reference; return the group's number and the offset behind it."""
    if found := _NAME.match(text, at):
        number = pattern.names.get(found[1])
        if number is None:
            known = ", ".join(pattern.names) or "it has no names"
            raise Mistake(
                f"the pattern has no group {found[1]}",
                f"name a group of the pattern: {known}",
                at,
                len(found[0]),
            )
        return number, found.end()
    digits = re.match(r"[0-9]+", text[at + 1 :])
    if digits is None:
        raise Mistake("$ without the number of a group", "write \\$ for a dollar sign", at)
    number, length = int(digits[0][0]), 1
    while length < len(digits[0]) and int(digits[0][: length + 1]) <= pattern.groups:
        length += 1
        number = int(digits[0][:length])
    if number > pattern.groups:
        raise Mistake(
            f"the pattern has {pattern.groups} groups",
            "put what you refer to in brackets",
            at,
            2,
        )
    return number, at + 1 + length
