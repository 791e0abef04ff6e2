"""``make many``: a tick over many small views of many kinds, of whose inputs a few rows changed.

In: how many keyed tables, rows, views and ticks. Out: a line for each kind with ten views of it
alone, and one for a hundred views of all kinds: seconds and CPU seconds of a tick, and its jobs of
Spark by view, those that land the rows among them. Each view is kept by its rule, computed anew, or
as the planner prices it.

A tick lands the changed rows and brings every view up to them; the first tick fills the tables and
does not count. CPU seconds are those of this process and its JVM, without the JVM's compilers.

    python -m bench.many --ticks 3 --kinds joins windows
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from bench.measure import driver_cpu, machine
from headwater.config.settings import load_config
from headwater.project import load_project
from headwater.runtime.session import open_session
from headwater.runtime.supervisor import Supervisor

TABLE = """
CREATE TABLE {table} (id BIGINT PRIMARY KEY, k BIGINT, other BIGINT, x DECIMAL(12, 2), s VARCHAR)
WITH (connector = 'files', path = '{table}') FORMAT UPSERT ENCODE JSON (delete_field = 'gone');
"""
KINDS = {
    "filters": "SELECT id, s, x * 2 AS twice FROM {a} WHERE x > {n}",
    "groups": "SELECT k, count(*) AS n, sum(x) AS total, max(x) AS most FROM {a} GROUP BY k",
    "joins": "SELECT a.id, a.x, b.s FROM {a} AS a JOIN {b} AS b ON b.id = a.other WHERE a.x > {n}",
    "left joins": "SELECT a.id, a.x, b.s FROM {a} AS a LEFT JOIN {b} AS b ON b.id = a.other",
    "semi joins": "SELECT id, x FROM {a} WHERE other IN (SELECT other FROM {b} WHERE x > {n} * 50)",
    "sets": "SELECT k, s FROM {a} WHERE x > {n} EXCEPT SELECT k, s FROM {b}",
    "distinct": "SELECT DISTINCT k, s FROM {a} WHERE x > {n}",
    "windows": "SELECT id, k, rank() OVER (PARTITION BY k ORDER BY x DESC, id) AS r FROM {a}",
    "top": "SELECT id, s, x FROM {a} WHERE k > {n} ORDER BY x DESC, id LIMIT 10",
    "counts of counts": "SELECT n, count(*) AS keys"
    " FROM (SELECT k, count(*) AS n FROM {a} WHERE x > {n} GROUP BY k) AS g GROUP BY n",
}
"""By kind the SELECT of a view over the tables ``a`` and ``b``; ``n`` is its number."""
WAYS = {"by rule": 1, "anew": 10**12, "priced": None}
"""What ``recompute_below`` is: no input has so few rows; all have; None for its default."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a tick costs.

    Attributes:
        seconds: of the clock.
        cpu: seconds.
        jobs: of Spark.
    """

    seconds: float
    cpu: float
    jobs: int


class Tables:
    """The tables of a project, and what happens to their rows.

    Args:
        folder: of the project.
        number: how many there are.
        rows: of each.
    """

    def __init__(self, folder: Path, number: int, rows: int) -> None:
        self.names = [f"t{each:02}" for each in range(number)]
        self._folder, self._rows, self._files = folder, rows, 0
        self._chance = random.Random(1)

    def fill(self) -> None:
        """Write all rows."""
        for name in self.names:
            self._write(name, [self._row(each) for each in range(self._rows)])

    def change(self, rows: int) -> None:
        """Change some rows, spread over the tables: new values, and one in ten goes."""
        for each in range(rows):
            row = self._row(self._chance.randrange(self._rows))
            row["gone"] = self._chance.random() < 0.1
            self._write(self.names[each % len(self.names)], [row])

    def _row(self, id_: int) -> dict[str, object]:
        chance = self._chance
        x = f"{chance.randrange(100_000) / 100:.2f}"
        keys = {"k": chance.randrange(100), "other": chance.randrange(self._rows)}
        return {"id": id_, **keys, "x": x, "s": f"s{chance.randrange(20)}"}

    def _write(self, name: str, rows: Sequence[dict[str, object]]) -> None:
        into = self._folder / name
        into.mkdir(exist_ok=True)
        self._files += 1
        (into / f"{self._files:06}.json").write_text("\n".join(map(json.dumps, rows)))


def measured(
    spark: SparkSession, folder: Path, kinds: Sequence[str], way: str, options: argparse.Namespace
) -> Cost:
    """Return the median cost of a tick over ten views of each kind.

    Args:
        spark: the session of all projects.
        folder: an empty one.
        way: how the views are kept.
    """
    tables = Tables(folder, options.tables, options.rows)
    below = WAYS[way]
    run = "" if below is None else f"[run]\nrecompute_below = {below}\n"
    (folder / "headwater.toml").write_text(f'name = "many"\nnamespace = "{folder.name}"\n{run}')
    texts = [TABLE.format(table=each) for each in tables.names]
    for kind in kinds:
        for n in range(options.views):
            a, b = (tables.names[(n + each) % len(tables.names)] for each in (0, 1))
            name = f"{kind.replace(' ', '_')}_{n}"
            texts.append(f"CREATE STREAMING VIEW {name} AS {KINDS[kind].format(a=a, b=b, n=n)};\n")
    (folder / "all.sql").write_text("".join(texts))
    tables.fill()
    supervisor = Supervisor(load_project(folder), spark=spark)
    try:
        supervisor.tick()
        found = []
        for _ in range(options.ticks + 1):  # the first after the filling warms up
            tables.change(options.changes)
            began, cpu, jobs = time.monotonic(), driver_cpu(spark), _jobs(spark)
            supervisor.tick()
            spent = time.monotonic() - began, driver_cpu(spark) - cpu, _jobs(spark) - jobs
            found.append(Cost(*spent))
    finally:
        supervisor.stop()
    return Cost(*map(statistics.median, zip(*map(astuple, found[1:]), strict=True)))


def _jobs(spark: SparkSession) -> int:
    return int(spark.sparkContext._jsc.sc().dagScheduler().nextJobId())  # noqa: SLF001


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=20, help="keyed tables")
    parser.add_argument("--rows", type=int, default=2_000, help="rows of each table")
    parser.add_argument("--views", type=int, default=10, help="views of each kind")
    parser.add_argument("--changes", type=int, default=20, help="rows that change before a tick")
    parser.add_argument("--ticks", type=int, default=3, help="ticks whose median counts")
    parser.add_argument("--kinds", nargs="*", default=[*KINDS], help="those alone")
    parser.add_argument("--ways", nargs="*", default=[*WAYS], choices=[*WAYS])
    parser.add_argument("--no-all", action="store_true", help="leave out all kinds at once")
    options = parser.parse_args()
    print(machine())
    rows = [(kind, [kind]) for kind in options.kinds]
    if not options.no_all:
        rows.append(("all", [*KINDS]))
    print(f"{'':18}" + "".join(f"{way + ': s':>14}{'CPU s':>7}{'jobs':>6}" for way in options.ways))
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as name:
        (Path(name) / "headwater.toml").write_text('name = "many"\n')
        spark = open_session(load_config(Path(name)))
        for number, (title, kinds) in enumerate(rows):
            print(f"{title:18}", end="", flush=True)
            for at, way in enumerate(options.ways):
                folder = Path(name) / f"many_{number}_{at}"
                folder.mkdir()
                cost = measured(spark, folder, kinds, way, options)
                each = cost.jobs / (options.views * len(kinds))
                print(f"{cost.seconds:14.1f}{cost.cpu:7.1f}{each:6.1f}", end="", flush=True)
            print(flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
