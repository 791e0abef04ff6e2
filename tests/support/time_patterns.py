"""Patterns of ``date_format`` of every letter, and what Trino writes by them.

In: nothing. Out: patterns as a user may write them: each letter alone, doubled, beside text and
beside each other letter. What Trino writes is computed here, letter by letter.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import product
from string import ascii_letters

MOMENTS = (
    datetime(2026, 11, 5, 7, 3, 9),  # noqa: DTZ001  as a wall shows it
    datetime(1999, 2, 28, 23, 59, 58),  # noqa: DTZ001
    datetime(2024, 2, 29, 0, 0, 0),  # noqa: DTZ001
    datetime(2030, 12, 31, 12, 30, 45),  # noqa: DTZ001
    datetime(1, 1, 1, 11, 11, 11),  # noqa: DTZ001
)
_HALF = 12

TRINO: Mapping[str, str] = {
    "Y": "{0:%Y}",
    "y": "{0:%y}",
    "m": "{0:%m}",
    "c": "{0.month}",
    "M": "{0:%B}",
    "b": "{0:%b}",
    "d": "{0:%d}",
    "e": "{0.day}",
    "W": "{0:%A}",
    "a": "{0:%a}",
    "H": "{0:%H}",
    "k": "{0.hour}",
    "h": "{0:%I}",
    "I": "{0:%I}",
    "l": "{1}",
    "i": "{0:%M}",
    "s": "{0:%S}",
    "S": "{0:%S}",
    "p": "{0:%p}",
    "T": "{0:%H:%M:%S}",
    "r": "{0:%I:%M:%S %p}",
}
"""What is written for a letter behind ``%``; :mod:`headwater` refuses all others."""


def patterns() -> list[str]:
    """Return patterns of every letter, sound and not."""
    alone = [f"%{letter}" for letter in (*ascii_letters, "%", "-", "1", "é")]
    doubled = [part + part for part in alone]
    beside = [text.format(part) for part in alone for text in ("{}h", "M{}", "{} of y", "a-{}/Z.")]
    pairs = [f"%{one}%{other}" for one, other in product(TRINO, repeat=2)]
    tails = ["%", "x%", "%-m", "%%Y", "Q", "yyyy", "%Y年%m月", "strict%mstrict", "'%Y'", "[%Y]"]
    return [*dict.fromkeys([*alone, *doubled, *beside, *pairs, *tails])]


def written(pattern: str, moment: datetime) -> str | None:
    """Return what Trino writes of a time; None if not every engine can.

    Args:
        pattern: as written.
        moment: the time.
    """
    found, at = "", 0
    while at < len(pattern):
        if pattern[at] == "%":
            form = TRINO.get(pattern[at + 1 : at + 2])
            if form is None:
                return None
            text = form.format(moment, (moment.hour + _HALF - 1) % _HALF + 1)
            found += text.rjust(4, "0") if pattern[at + 1] == "Y" else text
            at += 2
        elif pattern[at].isalnum() or pattern[at] in " -/:.,_()":
            found, at = found + pattern[at], at + 1
        else:
            return None
    return found


def wrong_part(pattern: str) -> str:
    """Return the first part of a pattern that not every engine has."""
    at = 0
    while written(pattern[: at + 1 + (pattern[at] == "%")], MOMENTS[0]) is not None:
        at += 1 + (pattern[at] == "%")
    return pattern[at : at + 1 + (pattern[at] == "%")]
