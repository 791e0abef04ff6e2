"""Windows over event time: their shapes, and which of them hold a time.

In: the window table functions of a bound query. Out: :class:`Window`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlglot import exp

from headwater.analyze.time.event_time import MICROSECOND, interval
from headwater.analyze.time.lengths import calendar_length, longest
from headwater.analyze.typing.common_type import type_of
from headwater.dialect import span_of
from headwater.dialect.syntax import WindowTable
from headwater.errors import SqlError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A window over event time; all lengths in microseconds.

    Attributes:
        kind: ``tumble``, ``hop`` or ``cumulate``.
        time: name of the event-time column.
        size: length of a window, the longest one of ``cumulate``; of days and months in a time zone
            the most that it can be.
        slide: distance between the starts of two windows, or of ``cumulate`` between two ends;
            equal to ``size`` for ``tumble``.
        offset: shift of all starts against 1970-01-01 UTC.
        days: length in days of the calendar, or 0.
        months: length in months of the calendar, or 0.
        zone: the time zone of such days and months.
        zoned: whether the event time has a time zone.
    """

    kind: str
    time: str
    size: int
    slide: int
    offset: int = 0
    days: int = 0
    months: int = 0
    zone: str = "UTC"
    zoned: bool = True

    @property
    def count(self) -> int:
        """In how many windows a time is."""
        return self.size // self.slide

    @property
    def by_calendar(self) -> bool:
        """Whether it counts days or months in a time zone."""
        return bool(self.days or self.months)

    def last_end(self, time: int) -> int:
        """Return the end of the last window that contains a time (microseconds since 1970)."""
        if self.by_calendar:
            return self._calendar_end(time)
        step = self.size if self.kind == "cumulate" else self.slide
        return (time - self.offset) // step * step + self.offset + self.size

    def first_end(self, time: int) -> int:
        """Return the end of the first window that contains a time, or a time before it."""
        if self.by_calendar:
            return time + 1
        return time - (time - self.size - self.offset) % self.slide + self.slide

    def _calendar_end(self, time: int) -> int:
        zone = ZoneInfo(self.zone)
        local = (_EPOCH + time * MICROSECOND).astimezone(zone).replace(tzinfo=None)
        if self.days:
            day = (local.date() - _EPOCH.date()).days
            end = datetime(1970, 1, 1, tzinfo=zone) + timedelta(
                days=(day // self.days + 1) * self.days
            )
        else:
            month = (local.year - 1970) * 12 + local.month - 1
            year, rest = divmod((month // self.months + 1) * self.months, 12)
            end = datetime(1970 + year, rest + 1, 1, tzinfo=zone)
        return (end.astimezone(UTC) - _EPOCH) // MICROSECOND


def window_of(node: WindowTable) -> TimeWindow:
    """Return the shape of a window table.

    Raises:
        SqlError: ``NOT_CONSTANT``.
    """
    kind, time = node.args["kind"], node.args["time"].name
    zone = node.args.get("zone")
    zoned = type_of(node.args["time"]).this is not exp.DataType.Type.TIMESTAMPNTZ
    if found := calendar_length(node):
        days, months = found
        size = longest(node.args["size"]) // MICROSECOND
        name = zone.name if zone is not None else "UTC"
        return TimeWindow(kind, time, size, size, 0, days, months, name, zoned)
    size = _micros(node.args["size"])
    slide = _micros(node.args["slide"]) if node.args.get("slide") else size
    offset = _micros(node.args["offset"]) if node.args.get("offset") else 0
    offset %= size if kind == "cumulate" else slide  # Spark takes no other
    return TimeWindow(kind, time, size, slide, offset, zoned=zoned)


def _micros(node: exp.Expr) -> int:
    length = interval(node)
    if length is None:
        raise SqlError(
            "NOT_CONSTANT",
            "a length of time is not a constant of days or less",
            hint="write it like INTERVAL '90' SECOND",
            span=span_of(node),
        )
    return length // MICROSECOND
