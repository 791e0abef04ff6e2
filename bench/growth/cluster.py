"""A tick on executors of their own, and what follows for a hundred of them.

In: rows. Out: what the driver and the executors use for the same tick, by the number of tasks of a
shuffle, on two workers and on four; lines through the figures of two, and how far those of four are
from them; what the lines say of a hundred executors.

All workers are on one machine. Its cores limit them, so CPU seconds are compared, not the time.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from bench.growth.ticks import VIEWS
from bench.incremental import Bench
from bench.measure import compiling, driver_cpu, tree_use
from bench.standalone import SETTINGS, environment, standalone
from headwater.config.settings import Config, RunSection
from headwater.engine.incremental.recompute_policy import RecomputeLimits
from headwater.runtime.session import open_session

TASKS = (2, 8, 32, 100)
CHANGE = 200_000
EXECUTORS = 100
_VIEW = "names"
_WARM, _TIMES = 4, 5


@dataclass(frozen=True, slots=True)
class Share:
    """CPU seconds of one tick, compiling of bytecode left out.

    Attributes:
        driver: of the driver, Python and JVM.
        executors: of all executors together.
    """

    driver: float
    executors: float


@dataclass(frozen=True, slots=True)
class Model:
    """CPU seconds of a tick as lines over the tasks of its shuffles.

    Attributes:
        driver: slope and intercept for the driver.
        executors: the same for all executors.
    """

    driver: tuple[float, float]
    executors: tuple[float, float]

    @classmethod
    def fitted(cls, measured: Mapping[int, Share]) -> Model:
        """Fit both lines to what was measured by the number of tasks."""
        return cls(
            _line(measured, [share.driver for share in measured.values()]),
            _line(measured, [share.executors for share in measured.values()]),
        )

    def at(self, tasks: int) -> Share:
        """Return what the lines say of so many tasks."""
        return Share(*(slope * tasks + start for slope, start in (self.driver, self.executors)))

    def seconds(self, tasks: int, executors: int) -> float:
        """Return the time of a tick: the driver's, then the share of one executor of one core."""
        share = self.at(tasks)
        return share.driver + share.executors / min(tasks, executors)


def _line(tasks: Mapping[int, Share], costs: Sequence[float]) -> tuple[float, float]:
    found = statistics.linear_regression([*tasks], costs)
    return found.slope, found.intercept


def lines(rows: int) -> Iterator[str]:
    """Measure on two and on four workers; yield the lines of a report."""
    yield f"cluster: a tick of a join, {rows:,} rows, a change of {CHANGE:,}; CPU seconds"
    yield "  workers  tasks   driver  executors"
    found = {}
    for workers in (2, 4):
        found[workers] = _measured(workers, rows)
        for tasks, share in found[workers].items():
            yield f"  {workers:7}  {tasks:5}  {share.driver:7.2f}  {share.executors:9.2f}"
    model = Model.fitted(found[2])
    for tasks, share in found[4].items():
        said = model.at(tasks)
        off = share.driver / said.driver - 1, share.executors / said.executors - 1
        yield f"  four workers, {tasks} tasks, against the lines: {off[0]:+.0%} {off[1]:+.0%}"
    for tasks, executors in ((2, 2), (EXECUTORS, EXECUTORS)):
        taken = model.seconds(tasks, executors)
        yield f"  modelled: {tasks} tasks on {executors} executors of one core {taken:.2f} s"


def _measured(workers: int, rows: int) -> dict[int, Share]:
    with (
        tempfile.TemporaryDirectory(prefix="headwater-growth-") as name,
        standalone(Path(name), workers) as master,
    ):
        os.environ.update(environment())
        spark = open_session(_config(Path(name), master, workers))
        try:
            bench = Bench(spark, rows, RecomputeLimits(RunSection().recompute_below), views=VIEWS)
            return {tasks: _share(spark, bench, tasks) for tasks in TASKS}
        finally:
            spark.stop()


def _config(home: Path, master: str, workers: int) -> Config:
    settings = {
        **SETTINGS,
        "spark.cores.max": str(workers),
        "spark.sql.adaptive.coalescePartitions.enabled": "false",  # as many tasks as asked
    }
    return Config(
        directory=home, name="bench", namespace="bench", warehouse=home / "warehouse",
        state=home / "state", master=master, spark=settings,
    )  # fmt: skip


def _share(spark: SparkSession, bench: Bench, tasks: int) -> Share:
    spark.conf.set("spark.sql.shuffle.partitions", tasks)
    views = bench.open([_VIEW])
    costs = []
    for _ in range(_WARM + _TIMES):
        bench.change(CHANGE)
        driver, everything = driver_cpu(spark), _all_cpu()
        bench.tick(views)
        own = driver_cpu(spark) - driver
        costs.append(Share(own, _all_cpu() - everything - own))
    warm = costs[_WARM:]
    return Share(
        statistics.median(cost.driver for cost in warm),
        statistics.median(cost.executors for cost in warm),
    )


def _all_cpu() -> float:
    """CPU seconds of this process, its JVM and the cluster's processes."""
    return tree_use(os.getpid())[1] - compiling(os.getpid())
