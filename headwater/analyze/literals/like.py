"""LIKE patterns: ``%``, ``_`` and an escape character, which only ESCAPE names.

In: pattern and escape character as Trino reads them. Out: the pattern's parts, and the same for an
engine with a default escape character.
"""

from __future__ import annotations

from headwater.analyze.literals.mistake import Mistake

ANY, ONE = "%", "_"


def check_escape(escape: str) -> None:
    """Refuse an escape that is not one character.

    Raises:
        Mistake: it is empty or longer.
    """
    if len(escape) != 1 or ord(escape) > 0xFFFF:
        raise Mistake("the escape must be one character", "write ESCAPE '!'", 0, len(escape) or 1)


def check_pattern(pattern: str, escape: str) -> None:
    """Refuse a pattern in which the escape character stands before another character.

    Args:
        pattern: the pattern.
        escape: the escape character, empty if there is none.

    Raises:
        Mistake: the escape escapes nothing.
    """
    at = 0
    while escape and at < len(pattern):
        if pattern[at] == escape:
            if pattern[at + 1 : at + 2] not in (ANY, ONE, escape) or at + 1 == len(pattern):
                raise Mistake(
                    f"{escape} escapes nothing: only %, _ and {escape} can follow it",
                    f"write {escape}{escape} for the character itself",
                    at,
                )
            at += 1
        at += 1
