"""A backlog makes none of its own rows late, in whatever order and pieces it is read.

The chain of markers is the product's own: each epoch's marker follows from the one before and from
the bounds of its files, as after a restart. Only the table is a stand-in.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.analyze.definitions import Source, Watermark
from headwater.connectors.contract import UNREAD
from headwater.lake.protocol.marker import Marker
from headwater.lake.watermark import REST, Lane, Reached, reached_by, watermark

MS, HOUR = 1_000, 20_000
SEEDS = st.integers(0, 2**32)


@dataclass
class Part:
    """A partition of a topic: rows in order up to the delay."""

    name: str
    clock: int
    rows: list[int] = field(default_factory=list)
    read: int = 0
    free: int = 0  # rows from here on came after the partition had been read to its end

    def grow(self, rnd: random.Random, count: int, delay: int) -> None:
        for _ in range(count):
            self.clock += rnd.choice([0, 0, 1, 2, 9]) * MS
            self.rows.append(self.clock - rnd.randrange(delay // MS + 1) * MS)

    @property
    def waiting(self) -> bool:
        return self.read < len(self.rows)


@dataclass
class Epochs:
    """A landed table without Spark: its newest marker, and the bounds of that epoch's files."""

    delay: int
    marker: Marker | None = None
    files: list[tuple[str | None, int]] = field(default_factory=list)

    def come(self) -> Reached:
        if self.marker is None:
            return Reached(None, {})
        source = Source(
            "t", True, (), "kafka", watermark=Watermark("ts", timedelta(microseconds=self.delay))
        )
        table = SimpleNamespace(
            upper_bound=lambda column, snapshot: max((n for _, n in self.files), default=None),
            bounds=SimpleNamespace(by_part=lambda part, column, snapshot: self.files),
        )
        # as another process reads it
        marker = Marker.from_summary(self.marker.to_summary())
        return reached_by(table, source, SimpleNamespace(marker=marker, snapshot_id=1))

    def land(self, files: list[tuple[str | None, int]], waiting: tuple[str, ...]) -> int | None:
        """Commit an epoch and return its stamp."""
        come = self.come()
        number = self.marker.epoch + 1 if self.marker else 0
        self.marker = Marker(
            "t", 1, number, {}, {}, come.watermark, waiting=waiting, reached=come.lanes
        )
        self.files = files
        return come.watermark


def files_of(taken: dict[str, list[int]], apart: bool) -> list[tuple[str | None, int]]:
    if apart:
        return [(name, max(rows)) for name, rows in taken.items()]
    return [(None, max(max(rows) for rows in taken.values()))]


def newest(parts: list[Part]) -> int:
    return max(max(part.rows) for part in parts if part.rows)


def rows_late_of_their_own_backlog(seed: int, come=Epochs.come) -> tuple[int, bool]:
    """Read partitions in random epochs; how many rows were late, and whether the end is reached."""
    rnd = random.Random(seed)
    delay = rnd.choice([0, 1, 3]) * MS
    parts = [Part(f"t/{n}", rnd.randrange(40) * MS) for n in range(rnd.randrange(1, 5))]
    for part in parts:
        part.grow(rnd, rnd.randrange(12), delay)
    epochs, late = Epochs(delay), 0
    while any(part.waiting for part in parts):
        taken: dict[str, list[tuple[int, bool]]] = {}
        for part in parts:
            count = rnd.randrange(1, 6) if rnd.random() < 0.6 else 0
            for ts in part.rows[part.read : part.read + count]:
                part.read += 1
                taken.setdefault(part.name, []).append((ts, part.read > part.free))
        if not taken:
            continue
        waiting = tuple(part.name for part in parts if part.waiting)
        found = {name: [ts for ts, _ in rows] for name, rows in taken.items()}
        stamp = epochs.land(files_of(found, bool(waiting) or rnd.random() < 0.3), waiting)
        for rows in taken.values():
            late += sum(stamp is not None and ts < stamp and own for ts, own in rows)
        part = rnd.choice(parts)
        if rnd.random() < 0.1 and not part.waiting and sum(len(p.rows) for p in parts) < 60:
            part.grow(rnd, 3, delay)
            part.free = len(part.rows)
    if not any(part.rows for part in parts):
        return late, True
    reach = epochs.come().watermark
    return late, reach is not None and reach >= newest(parts) - delay


@settings(max_examples=1500)
@given(SEEDS)
def test_no_row_of_a_backlog_is_late_and_the_watermark_gets_there(seed):
    late, arrived = rows_late_of_their_own_backlog(seed)
    assert late == 0
    assert arrived


def test_the_newest_time_of_all_lanes_would_make_rows_of_a_backlog_late(monkeypatch):
    """What the lanes are for: the property fails for the rule without them."""
    monkeypatch.setattr(
        "headwater.lake.watermark.watermark",
        lambda lanes, before, delay: watermark(
            [Lane(lane.newest, waiting=False) for lane in lanes], before, delay
        ),
    )
    assert sum(rows_late_of_their_own_backlog(seed)[0] > 0 for seed in range(200)) > 50


@settings(max_examples=500)
@given(SEEDS)
def test_the_order_and_size_of_epochs_of_one_look_change_no_result(seed):
    """Files of the same hours, read in any order and in epochs of any size, count the same."""
    rnd = random.Random(seed)
    files = [
        [rnd.randrange(6 * HOUR) for _ in range(rnd.randrange(1, 8))]
        for _ in range(rnd.randrange(1, 7))
    ]
    rnd.shuffle(files)
    epochs = Epochs(rnd.choice([0, 5]) * MS)
    counts: Counter[int] = Counter()
    left = list(files)
    while left:
        size = rnd.randrange(1, len(left) + 1)
        taken, left = left[:size], left[size:]
        rows = [ts for file in taken for ts in file]
        stamp = epochs.land([(None, max(rows))], (UNREAD,) if left else ())
        for ts in rows:
            end = ts // HOUR * HOUR + HOUR
            counts[end] += stamp is None or end > stamp
    assert counts == Counter(ts // HOUR * HOUR + HOUR for file in files for ts in file)
    highest = max(ts for file in files for ts in file)
    assert epochs.come().watermark == (highest - epochs.delay) // MS * MS


def test_the_next_look_is_later_than_the_one_before():
    epochs = Epochs(delay=0)
    stamps = [
        epochs.land([(None, 9 * MS)], (UNREAD,)),
        epochs.land([(None, 3 * MS)], ()),
        epochs.land([(None, 4 * MS)], ()),
    ]
    assert stamps == [None, None, 9 * MS]


def test_a_lane_read_to_its_end_holds_nothing_back():
    quiet, busy = Lane(5 * MS, waiting=False), Lane(80 * MS, waiting=True)
    assert watermark([quiet, busy], 0, 10 * MS) == 70 * MS


@pytest.mark.parametrize("newest", [None, 2 * MS])
def test_a_lane_with_rows_waiting_holds_the_watermark_back(newest):
    lanes = [Lane(80 * MS, waiting=True), Lane(newest, waiting=True)]
    assert watermark(lanes, 1 * MS, 0) == (1 * MS if newest is None else 2 * MS)


def test_what_no_lane_of_the_backlog_is_counts_once_all_is_read():
    epochs = Epochs(delay=0)
    epochs.land([("t/0", 4 * MS), (None, 50 * MS)], ("t/0", "t/1"))
    assert epochs.come() == Reached(None, {"t/0": 4 * MS, REST: 50 * MS})
    epochs.land([(None, 7 * MS)], ())
    assert epochs.come() == Reached(50 * MS, {}, 50 * MS)
