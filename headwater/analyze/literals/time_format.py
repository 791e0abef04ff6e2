"""Patterns of ``date_format``, in the letters of ``strftime``.

In: a pattern as the tree has it, and as it was written if that was in Trino's letters. Out:
nothing, or what the engines do not write alike. Trino rounds to milliseconds before it writes;
:mod:`headwater.analyze.portable.times` does so for the others.
"""

from __future__ import annotations

import re

from headwater.analyze.literals.mistake import Mistake
from headwater.dialect.time_patterns import LETTERS, pattern_parts

_SHARED = re.compile(r"(?:%-?[mdHI]|%[YyMSpaAbB]|%T|[ \-/:.,_0-9])*")
_TEXT = re.compile(r"[^\W_]|[ \-/:.,_()]")
_HINT = (
    "use %Y %y %m %c %M %b %d %e %W %a %H %k %h %l %i %s %p %T, letters, digits"
    " and - / : . , _ ( ); the rest with ||"
)
_SHARED_HINT = "use years, months, days, weekdays, hours, minutes, seconds; the rest with ||"


def check(pattern: str, written: str | None, call: str) -> None:
    """Refuse a pattern that engines do not write alike.

    Args:
        pattern: in the letters of ``strftime``.
        written: in the letters of Trino; None if it was written in those of another engine.
        call: the function as written.

    Raises:
        Mistake: it names what was written.
    """
    if not pattern:
        raise Mistake("the pattern of date_format is empty", _HINT, 0)
    if written is None:
        if not _SHARED.fullmatch(pattern):
            message = f"the pattern of {call} does not mean the same in every engine"
            raise Mistake(message, _SHARED_HINT, 0, condition="NOT_PORTABLE")
        return
    at = 0
    for part, _ in pattern_parts(written):
        letter = part.removeprefix("%")
        if not (letter in LETTERS if part != letter else _TEXT.fullmatch(part)):
            message = f"{part} in date_format does not mean the same in every engine"
            raise Mistake(message, _HINT, at, len(part), condition="NOT_PORTABLE")
        at += len(part)
