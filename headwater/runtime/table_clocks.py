"""The watermarks of the tables of a run, held against one another.

In: how far each landed table has come. Out: what an idle table follows (``IDLE TIMEOUT``), by
epochs without rows; for whom a table that is ahead waits (``max_drift``); notes for ``status``.

The *peers* of a table are the tables that a view reads together with it, be it through other views.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from headwater.analyze.definitions import Source
from headwater.errors.words import duration
from headwater.intake.idle_epoch import commit_idle_epoch
from headwater.intake.land import Landing
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


_UNKNOWN = TableClock(None)


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
        peers: per table, the others that a view reads together with it.
    """

    def __init__(self, tables: Mapping[str, Source], peers: Mapping[str, frozenset[str]]) -> None:
        self._tables, self._peers = tables, peers
        self._clocks: dict[str, TableClock] = {}
        self._lock = threading.Lock()

    def is_watched(self, name: str) -> bool:
        """Return whether it matters to any table how far this one has come."""
        others = self._peers.get(name)
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

    def least_of_peers(self, name: str) -> int | None:
        """Return the least watermark of a table's peers, idle ones left out.

        Returns:
            None if there are none, or one of them has no watermark yet.
        """
        with self._lock:
            clocks = [self._clocks.get(each, _UNKNOWN) for each in self._peers.get(name, ())]
        known = [clock.watermark for clock in clocks if not clock.idle]
        found = [each for each in known if each is not None]
        return min(found, default=None) if len(found) == len(known) else None

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
                for each in self._peers.get(name, ())
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
    peers: dict[str, set[str]] = {name: set() for name in tables}
    for name, plan in plans.items():
        read[name] = _read(plan.view.inputs, read, tables)
        for each in read[name]:
            peers[each] |= read[name] - {each}
    return TableClocks(tables, {name: frozenset(others) for name, others in peers.items()})


def _read(
    inputs: Iterable[str], views: Mapping[str, frozenset[str]], tables: Mapping[str, Source]
) -> frozenset[str]:
    found: set[str] = set()
    for name in inputs:
        found |= views.get(name, frozenset([name] if name in tables else []))
    return frozenset(found)


class PeerCoordinator:
    """Lets one table wait for its peers, or follow them. For the thread of its worker."""

    def __init__(self, name: str, landing: Landing, clocks: TableClocks, board: Board) -> None:
        self._name, self._landing = name, landing
        self._clocks, self._board = clocks, board
        self._watched = clocks.is_watched(name)

    def tell(self) -> None:
        """Say how far the table has come."""
        if self._watched:
            idle = self._landing.idle.is_idle
            self._clocks.tell(self._name, self._landing.reached.watermark, idle=idle)
            note = f"idle: no rows for {duration(self._timeout)}" if idle else ""
            self._board.note(self._name, note)

    def leave(self) -> None:
        """Say that nothing more comes of it, for now."""
        self._clocks.end(self._name)

    def is_ahead(self) -> bool:
        """Return whether the table waits for a peer."""
        drift = self._clocks.drift(self._name) if self._watched else None
        if drift:
            self._board.note(self._name, _drift_note(drift))
        return drift is not None

    def while_no_rows_wait(self, *, hurry: bool = False) -> bool:
        """Commit an epoch without rows if one is due; return whether it was.

        Args:
            hurry: whether to follow peers at once.
        """
        peers = self._clocks.least_of_peers(self._name) if self._watched else None
        before = self._landing.marker
        done = commit_idle_epoch(self._landing, peers, hurry=hurry)
        now = self._landing.marker
        if done and now and now.idle and now.watermark and not (before and before.idle):
            self._board.tell(InputIdle(self._name, self._timeout, now.watermark))
        if done and (event := resumed(self._name, self._landing.table)):
            self._board.tell(event)
        self.tell()
        return done

    @property
    def _timeout(self) -> timedelta:
        rule = self._landing.source.watermark
        return (rule.idle_timeout if rule else None) or timedelta(0)


def _drift_note(drift: Drift) -> str:
    at = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=drift.watermark)
    return (
        f"waits for {drift.behind}, whose watermark is {at:%Y-%m-%d %H:%M:%S}: "
        f"max_drift is {duration(drift.most)}"
    )
