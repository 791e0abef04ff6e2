"""What a tick costs: by the rows of its input, by its change, by the groups and number of views.

In: a session. Out: a curve for each. Ticks run in this process, as those of a project do; the
costs are medians after ticks that warm up.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from pyspark.sql import SparkSession

from bench.growth.curve import Curve, Point
from bench.incremental import Bench
from bench.measure import driver_cpu
from headwater.config.settings import RunSection
from headwater.engine.incremental.recompute_policy import RecomputeLimits
from headwater.engine.incremental.view import IncrementalView

CHANGE, FACTS = 10_000, 10_000_000
ROWS = (1_000_000, 10_000_000, 100_000_000)
CHANGES = (100, 1_000, 10_000, 100_000, 1_000_000)
KEYS = (1_000, 10_000, 100_000, 1_000_000, 5_000_000)
COUNTS = (1, 3, 10, 30, 100)
WARM, TIMES = 6, 5
"""Ticks before those that count, and those; fewer of several views, whose code is one another's."""

VIEWS = {
    "groups": "SELECT small, count(*) AS n, sum(x) AS total FROM facts GROUP BY small",
    "names": "SELECT d.name, count(*) AS n, sum(f.x) AS total"
    " FROM facts AS f JOIN dims AS d ON f.dim = d.id GROUP BY d.name",
    **{
        f"keys_{keys}": f"SELECT big % {keys} AS k, count(*) AS n, sum(x) AS total"
        f" FROM facts GROUP BY big % {keys}"
        for keys in KEYS
    },
    **{
        f"of_many_{number}": "SELECT small, count(*) AS n, sum(x) AS total"
        f" FROM facts WHERE dim > {number} GROUP BY small"
        for number in range(max(COUNTS))
    },
}


class Growth:
    """Measures ticks in one session.

    Args:
        spark: the session.
        scale: what the largest sizes are multiplied by, at most 1.
    """

    def __init__(self, spark: SparkSession, scale: float = 1.0) -> None:
        self._scale = scale
        limits = RecomputeLimits(RunSection().recompute_below)
        self._bench = cache(lambda facts: Bench(spark, facts, limits, views=VIEWS))

    def curves(self) -> Iterator[Curve]:
        """Measure along each axis."""
        most = int(FACTS * self._scale)
        change = f"a change of {CHANGE:,} rows"
        yield self._curve("keys", f"one view, {most:,} rows, {change}", KEYS, self._keys)
        yield self._curve("change", f"20,000 groups of {most:,} rows", CHANGES, self._changed)
        facts = [int(rows * self._scale) for rows in ROWS]
        yield self._curve("views", f"each of 20,000 groups, {facts[0]:,} rows", COUNTS, self._views)
        yield self._curve("rows, groups", f"20,000 groups, {change}", facts, self._groups)
        yield self._curve("rows, join", f"100,000 names joined, {change}", facts, self._names)

    @staticmethod
    def _curve(
        axis: str, step: str, sizes: Sequence[int], measure: Callable[[int], Point]
    ) -> Curve:
        return Curve(axis, f"a tick, {step}", tuple(measure(size) for size in sizes))

    def _keys(self, keys: int) -> Point:
        return self._measured(keys, int(FACTS * self._scale), [f"keys_{keys}"])

    def _changed(self, change: int) -> Point:
        return self._measured(change, int(FACTS * self._scale), ["groups"], change)

    def _views(self, count: int) -> Point:
        names = [f"of_many_{number}" for number in range(count)]
        return self._measured(count, int(ROWS[0] * self._scale), names)

    def _groups(self, facts: int) -> Point:
        return self._measured(facts, facts, ["groups"])

    def _names(self, facts: int) -> Point:
        return self._measured(facts, facts, ["names"])

    def _measured(self, size: int, facts: int, names: Sequence[str], change: int = CHANGE) -> Point:
        bench = self._bench(facts)
        views = bench.open(names)
        bench.tick(views)
        warm, times = (WARM, TIMES) if len(names) == 1 else (2, 3)
        costs = [_tick(bench, views, change) for _ in range(warm + times)][warm:]
        cpu, wall = (statistics.median(each) for each in zip(*costs, strict=True))
        return Point(size, cpu, wall)


def _tick(bench: Bench, views: Sequence[IncrementalView], change: int) -> tuple[float, float]:
    """Change the facts, and return the CPU seconds and the seconds of the tick after it."""
    bench.change(change)
    before, began = driver_cpu(bench.spark), time.monotonic()
    bench.tick(views)
    return driver_cpu(bench.spark) - before, time.monotonic() - began
