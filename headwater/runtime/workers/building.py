"""How far views are that read the whole history of their inputs.

In: which views, and how many rows they have to read. Out: every second, how many Spark has read. A
view's jobs run in a scheduler pool of its own name, so Spark's stages say whose rows they read. A
program that reads an input twice seems done early: then it is at all rows for a while.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from headwater.lake.java import elements
from headwater.runtime.events import ViewBuilding

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOK_EVERY = 1.0
"""Seconds between two looks at Spark."""

Read = Callable[[], Mapping[tuple[str, int], int]]


class Builds:
    """The builds of a run. Safe for several threads.

    Args:
        read: by pool and stage, how many rows the running stages have read.
        tell: told of each build, every second; with no total when it is over.
        now: the clock.
    """

    def __init__(
        self,
        read: Read,
        tell: Callable[[ViewBuilding], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read, self._tell, self._now = read, tell, now
        self._lock = threading.Lock()
        self._under_way: dict[str, tuple[int, float]] = {}
        self._rows: dict[tuple[str, int], int] = {}

    def begin(self, totals: Mapping[str, int]) -> None:
        """Note that views begin to read so many rows."""
        with self._lock:
            began = self._now()
            self._under_way |= {name: (rows, began) for name, rows in totals.items() if rows}

    def end(self, names: Iterable[str]) -> None:
        """Note that views have read their rows."""
        with self._lock:
            over = [name for name in names if self._under_way.pop(name, None)]
            self._rows = {key: rows for key, rows in self._rows.items() if key[0] not in over}
            for name in over:
                self._tell(ViewBuilding(name, 0, 0, 0.0))

    def look(self) -> None:
        """Tell how far each is."""
        with self._lock:
            under_way = dict(self._under_way)
        if not under_way:
            return
        for stage, rows in self._read().items():
            self._rows[stage] = max(rows, self._rows.get(stage, 0))
        for name, (total, began) in under_way.items():
            done = sum(rows for (pool, _), rows in self._rows.items() if pool == name)
            with self._lock:  # or a view that ends now would seem to be built for ever
                if self._under_way.get(name) == (total, began):
                    self._tell(ViewBuilding(name, min(done, total), total, self._now() - began))


def rows_read(spark: SparkSession) -> Mapping[tuple[str, int], int]:
    """Return how many rows the running stages have read, by pool and stage."""
    context = spark._jsc.sc()  # noqa: SLF001
    stages = elements(context.statusStore().activeStages())
    return {(str(s.schedulingPool()), int(s.stageId())): int(s.inputRecords()) for s in stages}


def pools_with_jobs(spark: SparkSession) -> frozenset[str]:
    """Return the scheduler pools that have a running stage."""
    return frozenset(pool for pool, _ in rows_read(spark))
