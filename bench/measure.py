"""Measuring: processes that run a way, their memory, and what their tables say about time.

In: requests for a :class:`Worker`. Out: a :class:`Sample` per run; its times come from the commits
in the tables, which are stamped the same way whoever writes them.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.workloads import Input, Workload

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
SAMPLING = 0.25  # seconds between two looks at the memory
PAGE, TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Sample:
    """One run.

    Attributes:
        way: how it was answered.
        workload: what was asked.
        seconds: from the start until the whole answer was in the table.
        cpu: processor seconds of all processes of the way, start to shut-down.
        memory: peak memory of all processes of the way, bytes.
        per_batch: median time between two commits in seconds, None for DuckDB.
        own: median time of Headwater's own steps in a micro-batch: all it does besides the write
            by Spark and Iceberg; None for the other ways.
        wrong: rows of the answer that differ from DuckDB's.
        elapsed: from the start until everything was shut down.
        load: load average of the machine when the run began.
    """

    way: str
    workload: str
    seconds: float
    cpu: float
    memory: int
    per_batch: float | None
    own: float | None
    wrong: int
    elapsed: float
    load: float


@contextmanager
def running(
    project: Path, *options: str, log: Path | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[int]:
    """Run ``headwater run`` inside the block; yield the number of its process.

    Args:
        project: its folder.
        options: of the command.
        log: the file that gets what it prints.
        settings: more variables of its environment.
    """
    command = [sys.executable, "-m", "headwater", "--project", str(project), "run", *options]
    with (
        (log or Path(os.devnull)).open("w") as said,
        subprocess.Popen(
            command, stdout=said, stderr=said, env=os.environ | (settings or {})
        ) as process,
    ):
        try:
            yield process.pid
        finally:
            process.terminate()


class Worker:
    """A process that runs one way, request by request.

    Args:
        way: its name in ``bench.ways``.
        folder: where it may write.
    """

    def __init__(self, way: str, folder: Path) -> None:
        self.way = way
        self._log = folder / f"{way}.log"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.ways", way, str(folder.resolve())],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, workload: Workload, given: Input, number: int) -> dict[str, Any]:
        """Do one run; return what the process says, and ``cpu``, ``memory`` and ``load``.

        Args:
            workload: what is asked.
            given: the files.
            number: number of the run, different for each.
        """
        assert self._process.stdin and self._process.stdout
        given_text = {**asdict(given), "folder": str(given.folder)}
        request = {"workload": workload.name, "number": number, "input": given_text}
        load = os.getloadavg()[0]
        cpu = tree_use(self._process.pid)[1]
        with PeakMemory(self._process.pid) as memory:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self.way} failed on {workload.name}: see {self._log}")
        used = {"cpu": tree_use(self._process.pid)[1] - cpu, "memory": memory.peak, "load": load}
        return {**json.loads(answer), **used}

    def stop(self) -> None:
        """End the process and what it started."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


class PeakMemory:
    """Watches the memory of a process and its descendants while a block runs.

    Args:
        pid: the process.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.peak = 0

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            self.peak = max(self.peak, tree_use(self._pid)[0])
            if self._over.wait(SAMPLING):
                return


def tree_use(root: int) -> tuple[int, float]:
    """Return the resident bytes and the processor seconds of a process and all its descendants."""
    parents: dict[int, int] = {}
    use: dict[int, tuple[int, float]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        pid = int(folder.name)
        parents[pid] = int(fields[1])
        use[pid] = int(fields[21]) * PAGE, (int(fields[11]) + int(fields[12])) / TICKS
    tree = {root}
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    found = [use[pid] for pid in tree if pid in use]
    return sum(memory for memory, _ in found), sum(cpu for _, cpu in found)


def driver_cpu(spark: SparkSession) -> float:
    """Return the CPU seconds of this process and of its JVM, those of the JVM's compilers left out.

    Args:
        spark: the session; executors of a cluster do not count.
    """
    gateway = spark.sparkContext._gateway  # noqa: SLF001 - nothing public tells the process
    assert gateway is not None
    jvm = gateway.proc.pid
    return time.process_time() + tree_use(jvm)[1] - compiling(jvm)


def compiling(root: int) -> float:
    """Return the CPU seconds of the threads of the JVM's compilers, below a process."""
    ticks = 0
    for file in Path("/proc").glob("[0-9]*/task/*/stat"):
        try:
            name, _, rest = file.read_text().partition("(")[2].rpartition(")")
            fields = rest.split()
            if "Compiler" in name and _is_below(int(file.parts[2]), root):
                ticks += int(fields[11]) + int(fields[12])
        except OSError:
            continue
    return ticks / TICKS


def _is_below(pid: int, root: int) -> bool:
    while pid > 1 and pid != root:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid == root


@dataclass(frozen=True, slots=True)
class Commits:
    """The commits of an Iceberg table that only grew.

    Attributes:
        files: its data files.
        at: when each commit was made, seconds since 1970 UTC.
        rows: rows in the table after each.
    """

    files: list[str]
    at: list[float]
    rows: list[int]

    def complete(self, rows: int) -> float:
        """Return when the table first had so many rows."""
        return next(at for at, total in zip(self.at, self.rows, strict=True) if total >= rows)

    def per_batch(self) -> float:
        """Return the median time between two commits; the first ones warm up."""
        gaps = [after - before for before, after in zip(self.at, self.at[1:], strict=False)]
        return statistics.median(gaps[len(gaps) // 10 :])


def commits_of(warehouse: str, table: str) -> Commits:
    """Read the history of a table.

    Args:
        warehouse: folder with the catalog's database.
        table: name with namespace.
    """
    from pyiceberg.catalog import load_catalog

    catalog = load_catalog("lake", type="sql", uri=f"sqlite:///{warehouse}/catalog.db")
    found = catalog.load_table(table)
    history = [found.snapshot_by_id(entry.snapshot_id) for entry in found.history()]
    snapshots = [each for each in history if each is not None and each.summary is not None]
    totals = [int((each.summary and each.summary["total-records"]) or 0) for each in snapshots]
    files = [task.file.file_path for task in found.scan().plan_files()]
    return Commits(files, [each.timestamp_ms / 1000 for each in snapshots], totals)


def machine() -> dict[str, Any]:
    """Describe the machine and the code."""
    info = Path("/proc/cpuinfo").read_text().splitlines()
    model = next(line.partition(":")[2].strip() for line in info if line.startswith("model name"))
    memory = os.sysconf("SC_PHYS_PAGES") * PAGE
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "memory": memory,
        "system": platform.platform(),
        "commit": subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip(),
    }
