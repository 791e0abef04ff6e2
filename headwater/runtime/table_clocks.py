"""The watermarks of the tables of a run, held against one another.

In: how far each landed table has come. Out: what an idle table follows (``IDLE TIMEOUT``), by
epochs without rows; for whom a table that is ahead waits (``max_drift``); notes for ``status``.

Two tables are read together if one view reads both, be it through other views.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from headwater.analyze.definitions import Source
from headwater.intake.land import Landing
from headwater.intake.rest import rest
from headwater.plan.operators import duration
from headwater.plan.sql.spark_text import interval, micros
from headwater.plan.view_plan import ViewPlan
from headwater.runtime.board import Board
from headwater.runtime.commit_events import resumed
from headwater.runtime.events import InputIdle


@dataclass(frozen=True, slots=True)
class TableClock:
    """How far one table has come.

    Attributes:
        watermark: microseconds since 1970 UTC, None before its first event time.
        idle: whether no rows have come for its IDLE TIMEOUT.
        ended: whether nothing more comes in this run, or it has failed.
    """

    watermark: int | None
    idle: bool = False
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Drift:
    """A table that is too far ahead of another one.

    Attributes:
        behind: the other table, the slowest of those that are read with it.
        watermark: how far that one has come.
        most: how far ahead a table may be.
    """

    behind: str
    watermark: int
    most: timedelta


class TableClocks:
    """Knows how far the landed tables of a run have come. Safe for several threads.

    Args:
        tables: those with a WATERMARK.
        together: per table, the others that are read together with it.
    """

    def __init__(
        self, tables: Mapping[str, Source], together: Mapping[str, frozenset[str]]
    ) -> None:
        self._tables, self._together = tables, together
        self._clocks: dict[str, TableClock] = {}
        self._lock = threading.Lock()

    def matter(self, name: str) -> bool:
        """Return whether it matters to any table how far this one has come."""
        others = self._together.get(name)
        return bool(others) and any(_holds(self._tables[each]) for each in (name, *(others or ())))

    def tell(self, name: str, watermark: int | None, *, idle: bool = False) -> None:
        """Note how far a table has come."""
        with self._lock:
            self._clocks[name] = TableClock(watermark, idle)

    def end(self, name: str) -> None:
        """Note that nothing more comes of a table, for now or at all."""
        with self._lock:
            if clock := self._clocks.get(name):
                self._clocks[name] = TableClock(clock.watermark, clock.idle, ended=True)

    def of_others(self, name: str) -> int | None:
        """Return what all tables that are read with one have reached, idle ones left out.

        Returns:
            None if there are none, or one of them has no watermark yet.
        """
        with self._lock:
            clocks = [self._clocks.get(each) for each in self._together.get(name, ())]
        known = [
            clock.watermark if clock else None for clock in clocks if not (clock and clock.idle)
        ]
        return (
            None
            if None in known
            else min((each for each in known if each is not None), default=None)
        )

    def drift(self, name: str) -> Drift | None:
        """Return which table one is too far ahead of, None if it may go on.

        It waits for no table that is idle, has ended, or has no watermark yet.
        """
        option = self._tables[name].options.get("max_drift")
        if option is None:
            return None
        most = interval(option)
        with self._lock:
            own = self._clocks.get(name)
            others = {
                each: clock.watermark
                for each in self._together.get(name, ())
                if (clock := self._clocks.get(each)) and not (clock.idle or clock.ended)
            }
        known = {each: watermark for each, watermark in others.items() if watermark is not None}
        if own is None or own.watermark is None or not known:
            return None
        slowest = min(known, key=lambda each: known[each])
        if own.watermark - known[slowest] <= micros(most):
            return None
        return Drift(slowest, known[slowest], most)


def _holds(source: Source) -> bool:
    rule = source.watermark
    return bool(rule and rule.idle_timeout) or "max_drift" in source.options


def clocks_of(plans: Mapping[str, ViewPlan], sources: Mapping[str, Source]) -> TableClocks:
    """Return the clocks of the landed tables that some views read.

    Args:
        plans: the views by name, inputs before what reads them.
        sources: the tables and SOURCEs by name.
    """
    tables = {name: each for name, each in sources.items() if each.landed and each.watermark}
    read: dict[str, frozenset[str]] = {}
    together: dict[str, set[str]] = {name: set() for name in tables}
    for name, plan in plans.items():
        read[name] = _read(plan.view.inputs, read, tables)
        for each in read[name]:
            together[each] |= read[name] - {each}
    return TableClocks(tables, {name: frozenset(others) for name, others in together.items()})


def _read(
    inputs: Iterable[str], views: Mapping[str, frozenset[str]], tables: Mapping[str, Source]
) -> frozenset[str]:
    found: set[str] = set()
    for name in inputs:
        found |= views.get(name, frozenset([name] if name in tables else []))
    return frozenset(found)


class Company:
    """Holds one table against the others. For the thread of its worker."""

    def __init__(self, name: str, landing: Landing, clocks: TableClocks, board: Board) -> None:
        self._name, self._landing = name, landing
        self._clocks, self._board = clocks, board
        self._matters = clocks.matter(name)

    def tell(self) -> None:
        """Say how far the table has come."""
        if self._matters:
            idle = self._landing.idle.is_idle
            self._clocks.tell(self._name, self._landing.come.watermark, idle=idle)
            self._board.note(self._name, self._idle_note() if idle else "")

    def leave(self) -> None:
        """Say that nothing more comes of it, for now."""
        self._clocks.end(self._name)

    def is_ahead(self) -> bool:
        """Return whether the table waits for another one."""
        drift = self._clocks.drift(self._name) if self._matters else None
        if drift:
            self._board.note(self._name, _drift_note(drift))
        return drift is not None

    def rest(self, *, hurry: bool = False) -> bool:
        """Do what is due while no rows wait; return whether that was a commit.

        Args:
            hurry: whether to follow others at once.
        """
        others = self._clocks.of_others(self._name) if self._matters else None
        before = self._landing.marker
        done = rest(self._landing, others, hurry=hurry)
        now = self._landing.marker
        if done and now and now.idle and not (before and before.idle):
            self._tell_idle(now.watermark or 0)
        if done and (event := resumed(self._name, self._landing.table)):
            self._board.tell(event)
        self.tell()
        return done

    def _tell_idle(self, watermark: int) -> None:
        timeout = self._timeout
        if timeout:
            self._board.tell(InputIdle(self._name, timeout, watermark))

    def _idle_note(self) -> str:
        return f"idle: no rows for {duration(self._timeout or timedelta(0))}"

    @property
    def _timeout(self) -> timedelta | None:
        rule = self._landing.source.watermark
        return rule.idle_timeout if rule else None


def _drift_note(drift: Drift) -> str:
    at = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=drift.watermark)
    return (
        f"waits for {drift.behind}, whose watermark is {at:%Y-%m-%d %H:%M:%S}: "
        f"max_drift is {duration(drift.most)}"
    )
