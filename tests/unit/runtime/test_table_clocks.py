"""Tables that are read peers: an idle one follows, one that is ahead waits; nothing is lost.

The chain of markers and the clocks are the product's own. Tables, views and time are stand-ins: a
view may pin its inputs long before it commits, as a slow one does.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.analyze.definitions import Source, Watermark
from headwater.intake import idle as idle_module
from headwater.intake.idle import IdleWatch
from headwater.intake.idle_epoch import commit_idle_epoch
from headwater.intake.land import Landing
from headwater.lake.protocol.marker import Marker
from headwater.lake.watermark import REST, Reached, reached_with
from headwater.runtime.table_clocks import Drift, TableClocks

MS = 1_000
SEEDS = st.integers(0, 2**32)


class Time:
    """The clock of a run."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now


@dataclass
class Table:
    """A landed table without Spark: the markers of its epochs, and what came with each."""

    name: str
    timeout: float | None
    time: Time
    epochs: list[tuple[Marker, dict[str, int]]] = field(default_factory=list)
    stamps: list[tuple[int, int | None]] = field(default_factory=list)
    inbox: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        idle = None if self.timeout is None else timedelta(seconds=self.timeout)
        rule = Watermark("ts", timedelta(milliseconds=2), idle_timeout=idle)
        options = {"max_drift": "1 minute"}
        self.source = Source(self.name, True, (), "files", watermark=rule, options=options)
        self.open()

    def open(self) -> None:
        """As a process that has just started."""
        self.idle = IdleWatch(self.source, cast("Any", None))
        newest = SimpleNamespace(marker=self.marker, at=self.time.now * 1000)
        self.idle.resume(cast("Any", newest if self.marker else None))

    @property
    def marker(self) -> Marker | None:
        return self.epochs[-1][0] if self.epochs else None

    def come_at(self, epoch: int) -> Reached:
        if epoch < 0:
            return Reached(None, {})
        assert self.source.watermark
        return reached_with(self.epochs[epoch][0], self.source.watermark, self.epochs[epoch][1])

    @property
    def reached(self) -> Reached:
        return self.come_at(len(self.epochs) - 1)

    def backlog(self) -> int:
        return len(self.inbox)

    def next_marker(self, cut: dict[str, str]) -> Marker:
        return Marker(self.name, 1, len(self.epochs), {}, cut, self.reached.watermark)

    def commit(self, marker: Marker, write: object) -> None:
        self.epochs.append((marker, {}))

    def step(self) -> bool:
        """Land what has come."""
        if not self.inbox:
            return False
        marker = self.next_marker({})
        self.stamps += [(marker.epoch, marker.watermark)] * len(self.inbox)
        self.epochs.append((marker, {REST: max(self.inbox)}))
        self.inbox.clear()
        self.idle.saw_rows()
        return True


def naive(table: Table, pin: int) -> int | None:
    """What leaving an idle input out would tell a view: nothing of it."""
    marker = table.epochs[pin][0] if pin >= 0 else None
    return None if marker and marker.idle else table.come_at(pin).watermark


def run_of(seed: int, *, follows: bool = True) -> tuple[int, bool]:
    """Let tables and views run; how many rows came below what a view was told, and the end."""
    rnd, time = random.Random(seed), Time()
    tables = [Table(name, rnd.choice([None, 5.0, 20.0]), time) for name in "abc"]
    names = [each.name for each in tables]
    peers = {each: frozenset(names) - {each} for each in names}
    clocks = TableClocks({each.name: each.source for each in tables}, peers)
    said: list[tuple[dict[str, int], int]] = []
    pins = dict.fromkeys(names, -1)
    event, active = 0, dict.fromkeys(names, True)
    for _ in range(rnd.randrange(10, 80)):
        time.now += rnd.choice([0.1, 1.0, 6.0, 30.0])
        event += rnd.randrange(5) * MS
        for table in tables:
            active[table.name] ^= rnd.random() < 0.1
            if active[table.name] and rnd.random() < 0.7:
                table.inbox += [event - rnd.randrange(4) * MS for _ in range(rnd.randrange(1, 4))]
            if rnd.random() < 0.05:
                table.open()
            if table.step():
                clocks.tell(table.name, table.reached.watermark)
            else:
                least = clocks.least_of_peers(table.name)
                commit_idle_epoch(cast("Landing", table), least, hurry=rnd.random() < 0.5)
                clocks.tell(table.name, table.reached.watermark, idle=table.idle.is_idle)
            if rnd.random() < 0.3:
                pins[table.name] = len(table.epochs) - 1
        # a view of all three tables commits by what it had pinned
        known = [
            table.come_at(pins[table.name]).watermark if follows else naive(table, pins[table.name])
            for table in tables
        ]
        if follows and None in known:
            continue
        told = [each for each in known if each is not None]
        if told:
            said.append((dict(pins), min(told)))
    below = sum(
        stamp is None or stamp < watermark
        for read, watermark in said
        for table in tables
        for epoch, stamp in table.stamps
        if epoch > read[table.name]
    )
    stamps = [[stamp for _, stamp in table.stamps if stamp is not None] for table in tables]
    return below, all(each == sorted(each) for each in stamps)


@pytest.fixture(autouse=True)
def one_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Time()
    monkeypatch.setattr(idle_module, "time", shared)
    monkeypatch.setattr(Time, "__init__", lambda self: setattr(self, "__dict__", shared.__dict__))


@settings(max_examples=400)
@given(SEEDS)
def test_no_row_comes_below_what_a_view_was_told_of_its_table(seed):
    below, in_order = run_of(seed)
    assert below == 0
    assert in_order


def test_leaving_an_idle_input_out_would_close_results_that_rows_still_change():
    """What the recorded watermark is for: without it, views are told more than stamps hold."""
    assert sum(run_of(seed, follows=False)[0] > 0 for seed in range(100)) > 50


def tables_of(**timeouts: float | None) -> tuple[dict[str, Table], TableClocks]:
    time = Time()
    tables = {name: Table(name, timeout, time) for name, timeout in timeouts.items()}
    peers = {name: frozenset(tables) - {name} for name in tables}
    return tables, TableClocks({n: t.source for n, t in tables.items()}, peers)


def lands(table: Table, clocks: TableClocks, *times: int) -> None:
    table.inbox += [each * MS for each in times]
    assert table.step()
    clocks.tell(table.name, table.reached.watermark)


def rests(table: Table, clocks: TableClocks) -> bool:
    done = commit_idle_epoch(cast("Landing", table), clocks.least_of_peers(table.name))
    clocks.tell(table.name, table.reached.watermark, idle=table.idle.is_idle)
    return done


def test_an_idle_table_follows_until_its_rows_come_again():
    tables, clocks = tables_of(a=None, b=10.0)
    a, b = tables.values()
    lands(a, clocks, 100)
    lands(b, clocks, 50)
    assert not rests(b, clocks)
    b.time.now += 11
    assert rests(b, clocks)
    assert b.marker and b.marker.idle
    assert b.reached.watermark == 98 * MS
    assert not rests(b, clocks)  # nothing has moved since
    lands(a, clocks, 500)
    b.time.now += 0.5
    assert not rests(b, clocks)  # too soon for another epoch without rows
    b.time.now += 1
    assert rests(b, clocks)
    lands(b, clocks, 60)
    assert b.stamps[-1] == (3, 498 * MS)  # late: a view may have closed what it belongs to
    lands(a, clocks, 900)
    b.time.now += 5
    assert not rests(b, clocks)
    assert b.reached.watermark == 498 * MS  # it holds the others back again, where it is
    lands(b, clocks, 700)
    assert b.reached.watermark == 698 * MS


def test_a_table_that_never_had_a_row_is_idle_too():
    tables, clocks = tables_of(a=None, b=10.0)
    a, b = tables.values()
    lands(a, clocks, 100)
    b.time.now += 11
    assert rests(b, clocks)
    assert b.reached.watermark == 98 * MS


def test_an_idle_table_waits_for_one_that_is_not_idle_and_has_no_watermark_yet():
    tables, clocks = tables_of(a=None, b=10.0, c=None)
    lands(tables["a"], clocks, 100)
    tables["b"].time.now += 11
    assert not rests(tables["b"], clocks)


def test_tables_that_are_all_idle_follow_nobody():
    tables, clocks = tables_of(a=10.0, b=10.0)
    lands(tables["a"], clocks, 100)
    lands(tables["b"], clocks, 50)
    tables["a"].time.now += 11
    for table in tables.values():
        clocks.tell(table.name, table.reached.watermark, idle=True)
    assert not any(rests(table, clocks) for table in tables.values())


def test_a_table_is_idle_after_a_restart_if_it_was_before():
    tables, clocks = tables_of(a=None, b=10.0)
    a, b = tables.values()
    lands(a, clocks, 100)
    lands(b, clocks, 50)
    b.open()
    assert not b.idle.is_idle
    b.time.now += 11
    assert rests(b, clocks)
    b.open()
    assert b.idle.is_idle


def test_rows_that_wait_are_not_idle():
    tables, clocks = tables_of(a=None, b=10.0)
    a, b = tables.values()
    lands(a, clocks, 100)
    b.time.now += 11
    b.inbox.append(1)
    assert not rests(b, clocks)


def test_a_table_that_is_ahead_waits_for_the_slowest():
    tables, clocks = tables_of(a=None, b=None, c=None)
    minute = 60_000
    lands(tables["a"], clocks, 0)
    lands(tables["b"], clocks, minute)
    assert clocks.drift("b") is None  # c has no watermark yet, and a is not too far behind
    lands(tables["b"], clocks, minute + 1)
    assert clocks.drift("b") == Drift("a", -2 * MS, timedelta(minutes=1))
    assert clocks.drift("a") is None
    clocks.tell("a", -2 * MS, idle=True)
    assert clocks.drift("b") is None
    clocks.tell("a", -2 * MS)
    clocks.end("a")
    assert clocks.drift("b") is None
    assert clocks.least_of_peers("b") is None  # an idle table would not pass what has ended, either
    plain = replace(tables["b"].source, options={})
    assert TableClocks({"b": plain}, {}).drift("b") is None
    assert not TableClocks({"b": plain}, {"b": frozenset()}).is_watched("b")
    assert clocks.is_watched("b")
