"""Counts, durations and times as people write them, in every place that tells a person of one.

In: numbers, lengths of time, moments. Out: text. What a program reads (JSON, CSV, metrics, the text
of an SQL value) is written exactly instead, and not by this module.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_YEAR = timedelta(days=365)
_UNITS = {"d": 86_400_000_000, "h": 3_600_000_000, "min": 60_000_000, "s": 1_000_000, "µs": 1}
_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime.fromtimestamp(0, UTC)


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number of things, for example ``1 commit`` or ``2,500 rows``.

    Args:
        number: how many.
        noun: one of them.
        plural: several of them, if that is not the noun with an ``s``.
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def counts(numbers: dict[str, int]) -> str:
    """Return how many there are of each noun, without those that there are none of."""
    return ", ".join(count(number, noun) for noun, number in numbers.items() if number)


def duration(length: timedelta) -> str:
    """Return a length of time exactly, for example ``1 d 12 h``."""
    rest = length // _MICROSECOND
    words = []
    for unit, size in _UNITS.items():
        number, rest = divmod(rest, size)
        if number:
            words.append(f"{number} {unit}")
    return " ".join(words) or "0 s"


def about(length: timedelta | float) -> str:
    """Return a length of time as people say it, in two units: ``3 min 20 s``, ``2 years 331 d``.

    Args:
        length: a duration, or seconds.
    """
    seconds = length.total_seconds() if isinstance(length, timedelta) else length
    whole = timedelta(seconds=max(int(seconds), 0))
    if whole >= _YEAR:
        return f"{count(whole // _YEAR, 'year')} {(whole % _YEAR).days} d"
    units = duration(whole).split(" ")
    found = dict(zip(units[1::2], units[::2], strict=True))
    names = [unit for unit in _UNITS if unit != "µs"]
    first = next(names.index(unit) for unit in names if unit in found)
    return " ".join(f"{found.get(unit, '0')} {unit}" for unit in names[first : first + 2])


def moment(time: datetime | int) -> str:
    """Return a time of UTC to the second, for example ``2026-01-01 10:00:00``.

    Args:
        time: a time, or microseconds since 1970 UTC.
    """
    at = _EPOCH + timedelta(microseconds=time) if isinstance(time, int) else time
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
