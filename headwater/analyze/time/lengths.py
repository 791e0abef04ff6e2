"""Lengths of windows: a fixed span, or days and months of a calendar.

In: the arguments of a window table. Out: what they mean in time.
"""

from __future__ import annotations

from datetime import timedelta

from sqlglot import exp

from headwater.analyze.time.event_time import NONE, Grid, interval
from headwater.dialect.syntax import WindowTable

_DAYS = {"DAY": 1, "WEEK": 7}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_SHIFT = timedelta(hours=4)
"""More than any change of clocks adds to a day."""


def calendar_length(window: WindowTable) -> tuple[int, int] | None:
    """Return the days and months of a window that counts them, None for one of a fixed length."""
    size = window.args["size"]
    unit, count = size.text("unit").upper(), _whole(size)
    if count is None or (unit not in _MONTHS and not window.args.get("zone")):
        return None
    if unit in _MONTHS:
        return 0, _MONTHS[unit] * count
    return (_DAYS[unit] * count, 0) if unit in _DAYS else None


def longest(size: exp.Expr) -> timedelta:
    """Return the most time that a constant interval of days or months can take."""
    unit, count = size.text("unit").upper(), _whole(size) or 0
    if unit in _MONTHS:
        return timedelta(days=31 * _MONTHS[unit] * count) + _SHIFT
    return timedelta(days=_DAYS.get(unit, 0) * count) + _SHIFT


def window_length(window: WindowTable) -> timedelta | None:
    """Return the length of a window, or the most that it can be; None if it is no constant."""
    if calendar_length(window) is not None:
        return longest(window.args["size"])
    return interval(window.args["size"])


def grid_of(window: WindowTable) -> Grid | None:
    """Return where bounds of a window can be, None for one that counts days of a calendar."""
    if calendar_length(window) is not None:
        return None
    step = interval(window.args.get("slide") or window.args["size"])
    offset = interval(window.args.get("offset")) or NONE
    return None if step is None else (offset, step)


def _whole(size: exp.Expr) -> int | None:
    text = size.this.name if isinstance(size, exp.Interval) and size.this is not None else ""
    return int(text) if text.isdigit() else None
