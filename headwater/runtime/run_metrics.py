"""What a run has done so far, table by table: the numbers behind its metrics.

In: the events of the board. Out: a :class:`TableMetrics` per table, view, sink and SOURCE, brought
up to date by each event, and what follows from them when somebody asks. Nothing is read for it: not
the lake, not Spark, not a broker.

Sums begin with the process. ``headwater status`` sums the commits that the lake keeps instead; of a
project whose first process still runs, both say the same.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType

from headwater.analyze.definitions import Catalog
from headwater.runtime.events import (
    EpochLanded,
    Event,
    RecordsWaiting,
    Resumed,
    RunState,
    StateChanged,
    ViewCommitted,
    ViewDelivered,
)

REMEMBERED = 1000
"""Commits of a relation that are remembered, so that what its readers lack can be counted."""


@dataclass(frozen=True, slots=True)
class Made:
    """A commit that the run knows.

    Attributes:
        number: its place among the commits of its relation.
        at: when it was made, seconds since 1970 UTC.
        rows: rows that all commits up to it have written.
    """

    number: int
    at: float
    rows: int


@dataclass(slots=True)
class TableMetrics:
    """One landed table, view, sink or SOURCE.

    Attributes:
        name: its name.
        kind: ``table``, ``view`` or ``sink``, as `headwater status` says it, or ``source``.
        inputs: what it reads, of tables and views that this project writes.
        state: what became of it; None before it was started.
        epoch: epoch of its newest commit; None before the first.
        watermark: watermark in its newest commit, microseconds since 1970 UTC.
        committed_at: when its newest commit was made, seconds since 1970 UTC.
        cut: per input, the snapshot up to which it has read.
        waiting: records that are not read yet, by part of its input.
        counts: rows since the process began: ``out``, ``late``, ``quarantined``, ``dropped``; of
            tables also ``in`` and ``lost``.
        commits: commits since the process began.
        seconds: how long these took together.
        restarts: how often it has failed and was started again.
        made: its newest commits, by snapshot, in order.
    """

    name: str
    kind: str
    inputs: Mapping[str, TableMetrics] = field(default_factory=dict, repr=False)
    state: RunState | None = None
    epoch: int | None = None
    watermark: int | None = None
    committed_at: float | None = None
    cut: Mapping[str, str] = field(default_factory=dict)
    waiting: Mapping[str, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    commits: int = 0
    seconds: float = 0.0
    restarts: int = 0
    made: dict[str, Made] = field(default_factory=dict, repr=False)
    _read: dict[str, int] = field(default_factory=dict, repr=False)

    @property
    def lacks(self) -> list[Made] | None:
        """The commits of its inputs that it has not read; None where that means nothing.

        Those from before the process are not known: a relation that was far behind when it began
        lacks at least these.
        """
        if self.epoch is None or not self.inputs:
            return None
        return [
            made for name, each in self.inputs.items() for made in each.after(self.cut.get(name))
        ]

    def rows_read(self) -> int:
        """Return how many rows it has read of what its inputs gained since the process began.

        What it has read may be told before its input is; until then the earlier number holds.
        """
        for name, each in self.inputs.items():
            read = each.made.get(self.cut.get(name, ""))
            if read is not None:
                self._read[name] = read.rows
        return sum(self._read.values())

    def after(self, position: str | None) -> list[Made]:
        """Return the commits that are known and newer than a position; all if it is not known.

        Args:
            position: a snapshot, as a cut names it.
        """
        read = self.made.get(position or "")
        return [made for made in self.made.values() if read is None or made.number > read.number]

    def resumed(self, event: Resumed) -> None:
        """Take over a commit whose rows are not counted: that of an earlier process, or of none."""
        self.cut = event.cut
        self._stands(event.epoch, event.watermark, event.at / 1000, event.snapshot_id)

    def committed(
        self,
        event: EpochLanded | ViewCommitted | ViewDelivered,
        counts: Mapping[str, int] = MappingProxyType({}),
        watermark: int | None = None,
        snapshot_id: int | None = None,
    ) -> None:
        """Count a commit, unless it was counted: the last one can be told again after a failure.

        Args:
            watermark: the watermark in its marker.
            snapshot_id: what cuts of its readers call it; None if nothing reads it.
        """
        if self.epoch is not None and event.epoch <= self.epoch:
            return
        self.counts.update(counts)
        self.commits += 1
        self.seconds += event.seconds
        self._stands(event.epoch, watermark, time.time(), snapshot_id)

    def _stands(
        self, epoch: int, watermark: int | None, at: float, snapshot_id: int | None
    ) -> None:
        self.epoch, self.watermark, self.committed_at = epoch, watermark, at
        if snapshot_id is not None:
            number = next(reversed(self.made.values())).number + 1 if self.made else 0
            self.made[str(snapshot_id)] = Made(number, at, self.counts["out"])
            if len(self.made) > REMEMBERED:
                del self.made[next(iter(self.made))]


class Tally:
    """Counts what a run does: give it the run's events."""

    def __init__(self, catalog: Catalog) -> None:
        self._lock = threading.Lock()
        self._relations: dict[str, TableMetrics] = {}
        for name, source in catalog.sources.items():
            if not source.external:
                self._relations[name] = TableMetrics(name, "table" if source.kept else "source")
        for name, view in catalog.views.items():
            self._add(name, "table" if view.changes else "view", view.inputs)
        for name, sink in catalog.sinks.items():
            self._add(name, "sink", (sink.view,))

    def _add(self, name: str, kind: str, inputs: tuple[str, ...]) -> None:
        known = self._relations
        read = {i: known[i] for i in inputs if i in known and known[i].kind != "source"}
        self._relations[name] = TableMetrics(name, kind, read)

    @contextmanager
    def relations(self) -> Iterator[list[TableMetrics]]:
        """Give all relations, in the order of their definition; nothing changes in the block."""
        with self._lock:
            yield list(self._relations.values())

    def __call__(self, event: Event) -> None:
        """Count an event."""
        with self._lock:
            self._count(event)

    def _count(self, event: Event) -> None:
        of = self._relations
        match event:
            case Resumed():
                of[event.name].resumed(event)
            case EpochLanded():
                refused = {"quarantined": event.quarantined, "dropped": event.dropped}
                rows = {"out": event.rows, "in": event.rows + sum(refused.values())}
                counts = {**rows, **refused, "lost": event.lost}
                of[event.table].committed(event, counts, event.watermark, event.snapshot_id)
            case ViewCommitted():
                counts = {**event.counts, "out": event.rows}
                of[event.view].committed(event, counts, event.watermark, event.snapshot_id)
                of[event.view].cut = event.cut
            case ViewDelivered():
                of[event.sink].committed(event)
                of[event.sink].cut = event.cut
            case RecordsWaiting():
                of[event.table].waiting = event.records
            case StateChanged():
                of[event.name].state = event.state
                of[event.name].restarts += event.state is RunState.BACKING_OFF
