"""Which columns carry event time, and what bounds them.

In: a bound query and the catalog. Out: per output column that is an event time, where its
watermark comes from and how far behind that watermark its values may still arrive. A column keeps
this property as long as it is passed on unchanged: through filters, projections, subqueries, UNION
ALL, group keys, joins that bound the time between two events, and views.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, NamedTuple

from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.dialect.syntax import WindowTable
from headwater.dialect.vocabulary import LENGTHS

WINDOW_START, WINDOW_END = "window_start", "window_end"
MICROSECOND = timedelta(microseconds=1)
NONE = timedelta(0)

TRUNC_UNITS = {unit: LENGTHS[unit] for unit in ("SECOND", "MINUTE", "HOUR", "DAY")}
"""What ``date_trunc`` can cut an event time to, with a fixed length."""


class Reach(NamedTuple):
    """Where the event times of the rows behind a value lie, relative to it; None is no bound."""

    lowest: timedelta | None = NONE
    highest: timedelta | None = NONE

    def __add__(self, other: object) -> Reach:
        """Return the reach seen from a value that lies within another reach."""
        assert isinstance(other, Reach)
        return Reach(_sum(self.lowest, other.lowest), _sum(self.highest, other.highest))

    def __or__(self, other: Reach) -> Reach:
        """Return the least reach that holds both."""
        lows, highs = (self.lowest, other.lowest), (self.highest, other.highest)
        return Reach(
            None if None in lows else min(low for low in lows if low is not None),
            None if None in highs else max(high for high in highs if high is not None),
        )


def _sum(one: timedelta | None, other: timedelta | None) -> timedelta | None:
    return None if one is None or other is None else one + other


Reads = Mapping[int, Reach]
"""By ``id`` of a mention of a table or view in FROM: the reach of its rows."""


Grid = tuple[timedelta, timedelta]
"""One value that a bound of a window can have, since 1970 UTC, and how far they are apart."""


def merged(*reads: Reads) -> Reads:
    """Return the least reach of each mention that holds all of its own."""
    found: dict[int, Reach] = {}
    for each in reads:
        for mention, reach in each.items():
            found[mention] = reach | found[mention] if mention in found else reach
    return found


@dataclass(frozen=True, slots=True)
class EventTime:
    """One event-time column.

    Attributes:
        column: its name in the relation or query.
        inputs: the sources, tables and views whose watermarks bound it.
        kind: ``time``: an event's own time; ``window_start``, ``window_end``: bounds of a window.
        lag: with the inputs' watermark at W, no more rows below ``W - lag`` are expected.
        reads: the rows that stand behind a value of it.
        ahead: how far it can be past the newest of them.
        grid: of a window's bound, the values that it can have: one since 1970 UTC, and how far they
            are apart.
    """

    column: str
    inputs: tuple[str, ...]
    kind: Literal["time", "window_start", "window_end"] = "time"
    lag: timedelta = NONE
    reads: Reads = field(default_factory=dict, compare=False)
    ahead: timedelta = field(default=NONE, compare=False)
    grid: Grid | None = field(default=None, compare=False)

    @property
    def settles(self) -> timedelta:
        """How far the watermark must be past a value before all rows up to it are there.

        A row at the watermark is still taken; a window that ends there is not.
        """
        return self.lag + (MICROSECOND if self.kind == "time" else NONE)


Times = dict[str, EventTime]


def interval(node: exp.Expr | None) -> timedelta | None:
    """Return a constant interval as a span, None for months, years and what is no constant."""
    if not isinstance(node, exp.Interval) or not isinstance(node.this, exp.Literal):
        return None
    unit = LENGTHS.get(node.text("unit").upper())
    try:
        return None if unit is None else unit * float(node.this.name)
    except (ValueError, OverflowError):
        return None


def windows(query: exp.Query) -> Iterator[WindowTable]:
    """Yield the window tables of a query, the outermost first."""
    yield from query.find_all(WindowTable, bfs=True)


def source_watermark(name: str, catalog: Catalog) -> str | None:
    """Return the event-time column of a source or table, None for one without and for views."""
    source = catalog.sources.get(name)
    return source.watermark.column if source is not None and source.watermark else None
