"""``make bench-small``: what small steps, rest and a start cost, in CPU seconds.

In: how long to look. Out: a line for each case, with what was measured: a project whose inputs
rest; one whose tables get a few rows a second, with two triggers; a first and a second start.

Processes of ``headwater run``, watched from outside: their CPU seconds, those of the JVM with them,
and the commits that they made meanwhile. Compiling of bytecode is told apart: it ends some time.

    python -m bench.small_steps --seconds 60
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.measure import compiling, running, tree_use
from headwater.config.settings import load_config
from headwater.serve.lake_reader import LakeReader

RESTING = """CREATE TABLE t{n} (id BIGINT, k BIGINT, v DOUBLE, at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR at AS at - INTERVAL '5' SECOND)
WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
"""
BUSY = """CREATE TABLE t{n} (id BIGINT, k BIGINT, v DOUBLE, at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR at AS at - INTERVAL '5' SECOND)
WITH (connector = 'datagen', rows_per_second = 15, fields.k.max = 50, fields.at.kind = 'time',
  fields.at.max_lateness = '2 seconds');
"""
VIEW = """CREATE STREAMING VIEW v{n} AS
SELECT k, count(*) AS n, sum(v) AS total FROM t{table} WHERE id > {n} GROUP BY k;
"""


@dataclass(frozen=True, slots=True)
class Use:
    """What a process and its children have used so far.

    Attributes:
        cpu: CPU seconds.
        compiling: those of them that compiled bytecode.
        commits: commits of its tables.
        at: when, by the monotonic clock.
        memory: bytes.
    """

    cpu: float
    compiling: float
    commits: int
    at: float
    memory: int

    @property
    def steady(self) -> float:
        """CPU seconds that compiled nothing."""
        return self.cpu - self.compiling


def make_project(folder: Path, tables: int, views: int, table: str, trigger: str) -> None:
    """Write a project of tables and of views that group them."""
    (folder / "in").mkdir(parents=True)
    rows = ({"id": n, "k": n % 50, "v": n / 2, "at": "2026-01-01T00:00:00Z"} for n in range(1000))
    (folder / "in" / "a.json").write_text("\n".join(map(json.dumps, rows)))
    (folder / "headwater.toml").write_text(f'name = "bench"\n[run]\ntrigger = "{trigger}"\n')
    parts = [table.format(n=n) for n in range(tables)]
    parts += [VIEW.format(n=n, table=n % tables) for n in range(views)]
    (folder / "all.sql").write_text("".join(parts))


def use_of(pid: int, folder: Path) -> Use:
    """Return what a run has used so far."""
    memory, cpu = tree_use(pid)
    return Use(cpu, compiling(pid), _commits(folder), time.monotonic(), memory)


def _commits(folder: Path) -> int:
    lake = LakeReader(load_config(folder))
    tables = (lake.table(name) for name in lake.names())
    newest = (table.newest() for table in tables if table)
    return sum(commit.marker.epoch + 1 for commit in newest if commit)


def watch(title: str, folder: Path, settle: float, seconds: float) -> str:
    """Run a project, wait until it has settled, and return what it used in a time."""
    with running(folder) as pid:
        time.sleep(settle)
        before = use_of(pid, folder)
        time.sleep(seconds)
        after = use_of(pid, folder)
    cpu, commits = after.cpu - before.cpu, after.commits - before.commits
    share = cpu / (after.at - before.at)
    steady = after.steady - before.steady
    each = f"{cpu / commits * 1000:.0f} / {steady / commits * 1000:.0f}" if commits else "-"
    return f"{title:<44} {share:7.1%} {commits:8} {each:>12} {after.memory / 2**20:8.0f}"


def start(title: str, folder: Path) -> str:
    """Run a project once, and return how long that took."""
    began = time.monotonic()
    command = [sys.executable, "-m", "headwater", "--project", str(folder), "run", "--once"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    cpu = 0.0
    while process.poll() is None:
        cpu = max(cpu, tree_use(process.pid)[1])
        time.sleep(0.1)
    return f"{title:<44} {time.monotonic() - began:6.1f} s {cpu:6.1f} CPU s"


def main() -> None:
    """Measure all cases, and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each case is watched")
    parser.add_argument("--settle", type=float, default=90.0, help="seconds before that")
    options = parser.parse_args()
    processor = platform.processor() or platform.machine()
    print(f"# {processor}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as name:
        cases = {
            "20 views, nothing arrives": (3, 20, RESTING, "1 second"),
            "3 tables, 3 views, 15 rows/s, trigger 1 s": (3, 3, BUSY, "1 second"),
            "3 tables, 3 views, 15 rows/s, trigger 10 s": (3, 3, BUSY, "10 seconds"),
        }
        print(f"{'':<44} {'a core':>7} {'commits':>8} {'ms each / *':>12} {'MB':>8}")
        for number, (title, case) in enumerate(cases.items()):
            folder = Path(name) / str(number)
            make_project(folder, *case)
            print(watch(title, folder, options.settle, options.seconds), flush=True)
        print("* CPU ms of each commit, with and without compiling of bytecode")
        folder = Path(name) / "start"
        subprocess.run(
            [sys.executable, "-m", "headwater", "init", str(folder)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        print(start("run --once over 10,000 rows", folder))
        print(start("run --once with nothing new", folder))


if __name__ == "__main__":
    main()
