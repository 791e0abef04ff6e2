"""Literal dates and timestamps, with their time zones.

In: the text of a literal. Out: the same moment, written so that every engine reads it: all digits,
a blank before the time, an offset without a blank before it. Zones are UTC or an offset; the rules
of a named zone differ between the engines' tables.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from headwater.analyze.literals.mistake import Mistake

_DAY = r"(\d{4})-(\d{1,2})-(\d{1,2})"
_TIME = r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.](\d+))?)?"
_MOMENT = re.compile(rf"{_DAY}(?: {_TIME})?(?: *([^T\s].*))?", re.ASCII)
_OFFSET = re.compile(r"([+-])(\d{2})(?::?(\d{2}))?", re.ASCII)
_MOST_MINUTES = 14 * 60


def read(text: str, *, is_date: bool) -> str:
    """Return a literal as every engine reads it.

    Args:
        text: the literal's value.
        is_date: whether it is a date, which has no time.

    Raises:
        Mistake: there is no such day, time or zone.
    """
    kind = "DATE" if is_date else "TIMESTAMP"
    hint = "write it like 2026-01-31" + ("" if is_date else " 23:59:59")
    found = _MOMENT.fullmatch(text.strip())
    if found is None or (is_date and (found[4] or found[8])):
        raise Mistake(f"'{text}' is not a {kind}", hint, 0, len(text))
    year, month, day, hour, minute, second = (int(found[n] or 0) for n in range(1, 7))
    fraction = found[7] or ""
    if len(fraction) > 6:
        message = f"'{text}' has {len(fraction)} digits of a second, 6 is most"
        raise Mistake(message, "leave the others out", 0, len(text))
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        raise Mistake(f"'{text}' is not a {kind}", hint, 0, len(text)) from None
    if is_date:
        return f"{moment:%Y-%m-%d}".rjust(10, "0")
    if found[4] is None and found[8] is None:
        return f"{moment:%Y-%m-%d}".rjust(10, "0")
    written = f"{moment:%Y-%m-%d %H:%M:%S}".rjust(19, "0")
    return written + (f".{fraction}" if fraction else "") + _zone(found[8], text)


def _zone(zone: str | None, text: str) -> str:
    if zone is None:
        return ""
    if zone in ("UTC", "GMT", "Z"):
        return " UTC"
    found = _OFFSET.fullmatch(zone)
    minutes = int(found[2]) * 60 + int(found[3] or 0) if found else 0
    if found is None or minutes > _MOST_MINUTES or int(found[3] or 0) > 59:
        at = text.rindex(zone)
        message = f"{zone} is no time zone that every engine knows"
        hint = "write UTC, or the offset: +02:00"
        raise Mistake(
            message,
            hint,
            at,
            len(zone),
            condition="NOT_PORTABLE" if found is None else "INVALID_LITERAL",
        )
    return f"{found[1]}{found[2]}:{found[3] or '00'}"
