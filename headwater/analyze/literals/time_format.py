"""Patterns of ``date_format``: MySQL's letters behind ``%``, as Trino reads them.

In: a pattern as sqlglot keeps it, in the letters of ``strftime``. Out: nothing, or what the engines
do not write alike. Trino rounds to milliseconds before it writes;
:mod:`headwater.analyze.portable.times` does so for the others.
"""

from __future__ import annotations

import re

from headwater.analyze.literals.mistake import Mistake

_WRITTEN = {
    "%M": "%i",
    "%S": "%s",
    "%B": "%M",
    "%A": "%W",
    "%I": "%h",
    "%-m": "%c",
    "%-d": "%e",
    "%-H": "%k",
    "%-I": "%l",
}
"""How Trino writes a letter of ``strftime``, where it is another one."""
_SHARED = re.compile(r"%-?[mdHI]|%[YyMSpaAbB]|%T|[ \-/:.,_0-9]")
_LETTER = re.compile(r"%-?.?|.", re.DOTALL)
_HINT = (
    "use %Y %y %m %c %M %b %d %e %W %a %H %k %h %l %i %s %p %T and - / : . , _; the rest with ||"
)


def check(pattern: str) -> None:
    """Refuse a pattern that engines do not write alike.

    Raises:
        Mistake: without a place, since sqlglot has rewritten the text.
    """
    if not pattern:
        raise Mistake("the pattern of date_format is empty", _HINT, 0)
    at = 0
    while at < len(pattern):
        found = _SHARED.match(pattern, at)
        if found is None:
            wrong = _LETTER.match(pattern, at)
            letter = wrong[0] if wrong else pattern[at]
            shown = _WRITTEN.get(letter, letter)
            message = f"{shown} in date_format does not mean the same in every engine"
            raise Mistake(message, _HINT, 0, len(pattern), condition="NOT_PORTABLE")
        at = found.end()
