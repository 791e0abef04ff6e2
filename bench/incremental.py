"""``make bench-incremental``: a tick against plain Spark that computes and overwrites, in one run.

In: sizes of the table and of the change. Out: a table of seconds and ratios per view, also in a
file with ``--save``. Facts are made by Spark in one commit, each change is one more; a tick is all
from reading the pins to the published commit. Plain Spark runs the same SELECT over the same facts
and overwrites a table of its own. CPU is that of the JVM, which does the work of both. After the
last change both tables are compared.

    python -m bench.incremental --rows 1000000 --change 10000 --save results/….txt
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from bench.measure import TICKS, machine
from headwater.analyze.definitions import Catalog
from headwater.analyze.project import bind
from headwater.config.settings import Config, RunSection
from headwater.dialect import parse
from headwater.engine.incremental.recompute_policy import NEVER, RecomputeLimits
from headwater.engine.incremental.tick import Ticks
from headwater.engine.incremental.view import IncrementalView
from headwater.lake.catalog import Lake
from headwater.lake.protocol.commit import commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.spec import TableSpec
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project
from headwater.plan.view_plan import ViewPlan
from headwater.runtime.session import open_session, session_for_thread

DIMS, TWENTY = 100_000, [f"of_twenty_{number}" for number in range(20)]
TABLES = """
CREATE TABLE facts (id BIGINT, small BIGINT, big BIGINT, dim BIGINT, player BIGINT, x BIGINT)
WITH (connector = 'files', path = 'facts') FORMAT PLAIN ENCODE JSON;
CREATE TABLE dims (id BIGINT, name VARCHAR)
WITH (connector = 'files', path = 'dims') FORMAT PLAIN ENCODE JSON;
"""
VIEWS: Mapping[str, str] = {
    "small_groups": "SELECT small, count(*) AS n, sum(x) AS x, max(x) AS most"
    " FROM facts GROUP BY small",
    "big_groups": "SELECT big, count(*) AS n, sum(x) AS x FROM facts GROUP BY big",
    "exact_distinct": "SELECT small, count(DISTINCT dim) AS n FROM facts GROUP BY small",
    "star_join": "SELECT d.name, count(f.id) AS n, sum(f.x) AS x FROM dims AS d"
    " LEFT JOIN facts AS f ON f.dim = d.id GROUP BY d.name",
    "inner_join": "SELECT d.name, count(*) AS n, sum(f.x) AS x FROM facts AS f"
    " JOIN dims AS d ON f.dim = d.id GROUP BY d.name",
    "top_of_group": "SELECT small, id, x FROM facts"
    " QUALIFY row_number() OVER (PARTITION BY small ORDER BY x DESC) <= 3",
    "sizes": "SELECT n, count(*) AS groups FROM small_groups GROUP BY n",
    "largest": "SELECT n, groups FROM sizes ORDER BY groups DESC LIMIT 10",
    "players": "SELECT player, sum(x) AS score FROM facts GROUP BY player",
    "leaders": "SELECT player, score FROM players ORDER BY score DESC LIMIT 100",
    **{
        name: f"SELECT small, count(*) AS n, sum(x) FILTER (WHERE dim < {5000 * number}) AS x"
        " FROM facts GROUP BY small"
        for number, name in enumerate(TWENTY, 1)
    },
}
_ALONE = ("small_groups", "big_groups", "exact_distinct", "star_join", "inner_join", "top_of_group")
CASES: Mapping[str, tuple[str, ...]] = {
    **{name: (name,) for name in _ALONE},
    "DAG of three": ("small_groups", "sizes", "largest"),
    "one of twenty": (TWENTY[0],),
    "twenty views": tuple(TWENTY),
    "upsert": ("players",),
    "leaderboard": ("players", "leaders"),
}
COLUMNS = {
    "facts": dict.fromkeys(("id", "small", "big", "dim", "player", "x"), "BIGINT"),
    "dims": {"id": "BIGINT", "name": "STRING"},
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What one way of doing a change cost.

    Attributes:
        wall: seconds.
        cpu: processor seconds of the JVM.
    """

    wall: float
    cpu: float


class Bench:
    """Facts, dimensions and the views over them.

    Args:
        spark: the session.
        rows: how many facts there are at first.
        limits: from when on a tick computes the whole view.
        workers: how many views are computed at the same time; by default one for each core.
        views: SELECTs by name.
    """

    def __init__(
        self,
        spark: SparkSession,
        rows: int,
        limits: RecomputeLimits,
        workers: int | None = None,
        views: Mapping[str, str] = VIEWS,
    ) -> None:
        self.limits, self.workers = limits, workers
        self.spark, self.first, self.rows = spark, rows, rows
        self.epochs: dict[str, int] = {}
        self.lake = Lake(spark, f"bench_{rows}")
        self.catalog, self.plans = planned(views)
        for name, columns in COLUMNS.items():
            self.lake.ensure(TableSpec(name, tuple((c, t, True) for c, t in columns.items())))
        self.land("facts", self.facts(0, rows))
        self.land("dims", spark.range(DIMS).selectExpr("id", "concat('d', id) AS name"))

    def facts(self, start: int, count: int) -> DataFrame:
        """Return facts whose columns are scattered by their number."""
        return self.spark.range(start, start + count).selectExpr(
            "id",
            "pmod(xxhash64(id, 1), 20000) AS small",
            "pmod(xxhash64(id, 2), 5000000) AS big",
            f"pmod(xxhash64(id, 3), {DIMS}) AS dim",
            # as many players as facts at first, each with one; later facts are of known players
            f"if(id < {self.first}, id, pmod(xxhash64(id, 5), {self.first})) AS player",
            "pmod(xxhash64(id, 4), 1000000) AS x",
        )

    def land(self, name: str, rows: DataFrame) -> None:
        """Append rows to a table as one epoch."""
        table, epoch = self.lake.table(name), self.epochs.get(name, 0)
        before = {name: str(epoch - 1)} if epoch else {}
        marker = Marker(name, 1, epoch, before, {name: str(epoch)})
        commit(table, marker, lambda to: to.append(rows), session=self.spark)
        self.epochs[name] = epoch + 1

    def change(self, count: int) -> None:
        """Append facts."""
        self.land("facts", self.facts(self.rows, count))
        self.rows += count

    def open(self, names: Sequence[str]) -> list[IncrementalView]:
        """Return views as a project opens them."""
        return [
            IncrementalView(
                self.lake.using(session_for_thread(self.spark)),
                self.plans[name],
                self.catalog,
                limits=self.limits,
            )
            for name in names
        ]

    def tick(self, views: Sequence[IncrementalView]) -> None:
        """Bring views up to date."""
        ticks = Ticks(self.lake, list(COLUMNS), self.workers)
        try:
            failed = ticks.run(views, ticks.pin()).failed
        finally:
            ticks.close()
        for error in failed.values():
            raise error

    def plain(self, names: Sequence[str]) -> None:
        """Compute views by Spark alone, and overwrite a table each."""
        for name in (*COLUMNS, *names):
            read = name if name in COLUMNS else f"plain_{name}"
            if name in names:
                rows = self.spark.sql(as_spark(self.plans[name], self.catalog))
                rows.writeTo(self.lake.table(read).identifier).overwrite(F.lit(True))  # noqa: FBT003
            self.lake.table(read).read().createOrReplaceTempView(name)

    def differs(self, name: str) -> int:
        """Return how many rows of a view and of plain Spark's table differ."""
        names = [field.name for field in self.plans[name].view.fields]
        ours = self.lake.table(name).read().select(*names)
        theirs = self.lake.table(f"plain_{name}").read().select(*names)
        return ours.exceptAll(theirs).count() + theirs.exceptAll(ours).count()


def planned(views: Mapping[str, str]) -> tuple[Catalog, dict[str, ViewPlan]]:
    """Return the definitions and plans of views."""
    text = "\n".join(f"CREATE STREAMING VIEW {name} AS {sql};" for name, sql in views.items())
    catalog = bind({"bench.sql": parse(TABLES + text, file="bench.sql")})
    return catalog, plan_project(catalog)


def as_spark(plan: ViewPlan, catalog: Catalog) -> str:
    """Return the SELECT of a view for Spark."""
    return at_rest(plan, catalog, "spark").text()


def cost(do: Callable[[], None]) -> Cost:
    """Return what a call cost."""
    began, cpu = time.monotonic(), jvm_cpu()
    do()
    return Cost(time.monotonic() - began, jvm_cpu() - cpu)


def jvm_cpu() -> float:
    """Return the processor seconds of the child processes so far: of the JVM."""
    total = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


def run_case(bench: Bench, names: Sequence[str], change: int, times: int, warm: int) -> str:
    """Return a line about one case, measured after some ticks that are not."""
    views = bench.open(names)
    for name in names:
        columns = tuple((f.name, kind.spark_type, True) for f, kind in zip(
            bench.plans[name].view.fields, bench.plans[name].columns, strict=False
        ))  # fmt: skip
        bench.lake.ensure(TableSpec(f"plain_{name}", columns))
    first = cost(lambda: bench.tick(views))
    for _ in range(warm):
        bench.change(change)
        bench.tick(views)
    ours, theirs = [], []
    for number in range(times + 1):
        bench.change(change)
        tick, plain = cost(lambda: bench.tick(views)), cost(lambda: bench.plain(names))
        if number:  # the first of each warms up
            ours.append(tick)
            theirs.append(plain)
    wrong = sum(bench.differs(name) for name in names)
    a, b = middle(ours), middle(theirs)
    rule = bench.plans[names[0]].decision.rule.name
    return (
        f"{first.wall:8.1f}  {a.wall:8.2f} {b.wall:8.2f} {b.wall / a.wall:7.1f}"
        f"  {a.cpu:8.2f} {b.cpu:8.2f} {b.cpu / max(a.cpu, 0.01):7.1f}  {wrong:5}  {rule}"
    )


def middle(costs: Sequence[Cost]) -> Cost:
    """Return the medians."""
    return Cost(
        statistics.median(cost.wall for cost in costs),
        statistics.median(cost.cpu for cost in costs),
    )


HEAD = (
    f"{'view':<16}{'first s':>8}  {'tick s':>8} {'plain s':>8} {'ratio':>7}"
    f"  {'tick cpu':>8} {'plain':>8} {'ratio':>7}  {'wrong':>5}  rule"
)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--change", type=int, nargs="+", default=[10_000])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--warm", type=int, default=0, help="ticks before those measured")
    parser.add_argument("--only", nargs="+", default=list(CASES))
    parser.add_argument("--workers", type=int)
    parser.add_argument("--memory", help="heap of the JVM, as 2g; by default Headwater's own")
    parser.add_argument("--never-recompute", action="store_true", help="never compute a whole view")
    parser.add_argument("--save", type=Path)
    given = parser.parse_args()
    lines = [
        f"{datetime.now(UTC):%Y-%m-%d}  " + ", ".join(f"{k}={v}" for k, v in machine().items()),
        "command: " + " ".join(["bench.incremental", *sys.argv[1:]]),
    ]

    def say(line: str) -> None:
        lines.append(line)
        print(line, flush=True)  # noqa: T201 - it is the output

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        config = Config(
            directory=home, name="bench", namespace="bench", warehouse=home / "warehouse",
            state=home / "state", master="local[2]", run=RunSection(shuffle_partitions=2),
            spark={"spark.driver.memory": given.memory} if given.memory else {},
        )  # fmt: skip
        limits = NEVER if given.never_recompute else RecomputeLimits(config.run.recompute_below)
        spark = open_session(config, app_name="headwater-bench")
        for rows in given.rows:
            for change in given.change:
                bench = Bench(spark, rows, limits, given.workers)
                say(f"\n{rows:,} facts, {change:,} appended per tick\n{HEAD}")
                for title in given.only:
                    done = run_case(bench, CASES[title], change, given.times, given.warm)
                    say(f"{title:<16}{done}")
        spark.stop()
    if given.save:
        given.save.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
