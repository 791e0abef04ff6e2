"""Intervals written as one text, as in PostgreSQL: ``'5 mins'``, ``'1 day 02:00:00'``.

In: the text. Out: a number and a unit that say the same, for ``INTERVAL '120' MINUTE``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal

from headwater.dialect.vocabulary import LENGTHS

_MONTHS: Mapping[str, int] = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("us", "usec", "usecs"), "MICROSECOND"),
    **dict.fromkeys(("ms", "msec", "msecs"), "MILLISECOND"),
    **dict.fromkeys(("s", "sec", "secs"), "SECOND"),
    **dict.fromkeys(("m", "min", "mins"), "MINUTE"),
    **dict.fromkeys(("h", "hr", "hrs"), "HOUR"),
    **dict.fromkeys(("d",), "DAY"),
    **dict.fromkeys(("w",), "WEEK"),
    **dict.fromkeys(("mon", "mons"), "MONTH"),
    **dict.fromkeys(("y", "yr", "yrs"), "YEAR"),
}
_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_PART = re.compile(
    rf"\s*(?:(?P<sign>[+-]?)(?P<hour>\d+):(?P<minute>\d\d?)(?::(?P<second>\d\d?(?:\.\d+)?))?"
    rf"|(?P<number>{_NUMBER})\s*(?P<unit>[A-Za-z]+))(?=\s|[+-]|\d|$)"
)
_PLAIN = re.compile(rf"\s*{_NUMBER}\s*")
_MICROSECOND = timedelta(microseconds=1)


def is_plain(text: str) -> bool:
    """Return whether a text is a number alone, whose unit stands behind it."""
    return _PLAIN.fullmatch(text) is not None


def unit_of(word: str) -> str:
    """Return the unit that a word or an abbreviation means, empty if it is none."""
    if known := _WORDS.get(word.lower()):
        return known
    found = (word.upper(), word.upper().removesuffix("S"))
    return next((unit for unit in found if unit in LENGTHS or unit in _MONTHS), "")


def read(text: str) -> tuple[str, str] | None:
    """Return the number and the unit of an interval, None if the text is none.

    Months and days in one interval have no common unit, and so are none here.
    """
    months, micros, at = Decimal(0), Decimal(0), 0
    while at < len(text.rstrip()):
        part = _PART.match(text, at)
        if part is None:
            return None
        if part["number"] is None:
            micros += _clock(part)
        else:
            unit = unit_of(part["unit"])
            if not unit:
                return None
            if unit in _MONTHS:
                months += Decimal(part["number"]) * _MONTHS[unit]
            else:
                micros += Decimal(part["number"]) * (LENGTHS[unit] // _MICROSECOND)
            if at == 0 and part.end() == len(text.rstrip()):
                return part["number"].lstrip("+"), unit
        at = part.end()
    if not at or (months and micros) or months % 1 or micros % 1:
        return None
    return _in_whole_units(months, _MONTHS) if months else _in_whole_units(micros, _SIZES)


_SIZES: Mapping[str, int] = {
    unit: LENGTHS[unit] // _MICROSECOND
    for unit in ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY")
}


def _clock(part: re.Match[str]) -> Decimal:
    seconds = int(part["hour"]) * 3600 + int(part["minute"]) * 60 + Decimal(part["second"] or 0)
    return (-seconds if part["sign"] == "-" else seconds) * 1_000_000


def _in_whole_units(amount: Decimal, sizes: Mapping[str, int]) -> tuple[str, str]:
    unit = max((each for each in sizes if not amount % sizes[each]), key=lambda each: sizes[each])
    return str(int(amount) // sizes[unit]), unit
