"""The same faults against Headwater and against what one writes without it.

In: nothing. Out: a table: what each loses or doubles. ``python -m tests.faults.compare``.

A kill between the commit of the table and that of the checkpoint leaves a checkpoint without its
last ``commits`` file; it is made by removing that file, so that all three meet the same moment.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import click
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import StaticTable
from rich.console import Console
from rich.table import Table

import headwater
from tests.faults.plain import FOREACH_BATCH, SINK
from tests.faults.shapes import run_command, settings

ROWS = 5

_PROJECT = """
CREATE TABLE feed (id BIGINT NOT NULL)
WITH (connector = 'files', path = 'incoming/feed') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW appended WITH (engine = 'streaming') AS SELECT id FROM feed;
"""


class Job(ABC):
    """A stream of files into a table.

    Args:
        folder: where it lives.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ids = 0
        self.refused = ""
        (folder / "incoming" / "feed").mkdir(parents=True)

    def add(self, files: int = 1) -> None:
        """Add files of five rows."""
        for _ in range(files):
            lines = [json.dumps({"id": self.ids + row}) + "\n" for row in range(ROWS)]
            path = self.folder / "incoming" / "feed" / f"{self.ids:06}.json"
            path.write_text("".join(lines))
            self.ids += ROWS

    @abstractmethod
    def command(self) -> list[str]:
        """What runs it."""

    @property
    @abstractmethod
    def checkpoint(self) -> Path:
        """Spark's checkpoint."""

    @abstractmethod
    def found(self) -> list[int]:
        """The ids in the table."""

    @abstractmethod
    def maintain(self) -> None:
        """Compact the table and expire all snapshots but the last."""

    def start(self) -> subprocess.Popen[str]:
        """Start it as a process of its own."""
        environ = os.environ | {"PYTHONPATH": str(Path(headwater.__file__).parents[1])}
        return subprocess.Popen(
            self.command(),
            env=environ,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def run(self) -> None:
        """Run it to its end; remember whether it refused."""
        self.end(self.start())

    def end(self, process: subprocess.Popen[str]) -> None:
        """Wait for the end of a run; remember whether it refused.

        Args:
            process: of :meth:`start`.
        """
        output, _ = process.communicate(timeout=600)
        if process.returncode:
            lines = [line for line in output.splitlines() if " — " in line or "Exception" in line]
            self.refused = (lines or ["refused"])[-1].strip()[:90]

    def verdict(self) -> str:
        """Return what happened to the rows."""
        counts = Counter(self.found())
        lost = self.ids - len(counts)
        doubled = counts.total() - len(counts)
        said = [f"{lost} of {self.ids} lost"] * bool(lost) + [f"{doubled} doubled"] * bool(doubled)
        text = ", ".join(said) or "exact"
        if self.refused and lost and not doubled:
            return f"stops: {self.refused}"
        return text + (" (stopped)" if self.refused else "")


class Plain(Job):
    """PySpark by hand.

    Args:
        folder: where it lives.
        way: one of ``tests.faults.plain``.
    """

    def __init__(self, folder: Path, way: str) -> None:
        super().__init__(folder)
        self.way = way

    def command(self) -> list[str]:
        """What runs it."""
        return [sys.executable, "-m", "tests.faults.plain", self.way, str(self.folder)]

    @property
    def checkpoint(self) -> Path:
        """Spark's checkpoint."""
        return self.folder / "checkpoint"

    def found(self) -> list[int]:
        """The ids in the table."""
        folder = self.folder / "warehouse" / "faults" / "appended" / "metadata"
        version = (folder / "version-hint.text").read_text().strip()
        table = StaticTable.from_metadata(str(folder / f"v{version}.metadata.json"))
        return table.scan().to_arrow().column("id").to_pylist()

    def maintain(self) -> None:
        """Compact the table and expire all snapshots but the last."""
        command = [sys.executable, "-m", "tests.faults.plain", "maintain", str(self.folder)]
        subprocess.run(command, check=True, capture_output=True)


class Kept(Job):
    """A streaming view of Headwater over a landed table."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "headwater.toml").write_text(settings(folder))
        (folder / "views.sql").write_text(_PROJECT)

    def command(self) -> list[str]:
        """What runs it."""
        return run_command(self.folder)

    @property
    def checkpoint(self) -> Path:
        """Spark's checkpoint."""
        return self.folder / ".headwater" / "state" / "appended" / "v1" / "checkpoint"

    def found(self) -> list[int]:
        """The ids in the table."""
        warehouse = self.folder / ".headwater" / "warehouse"
        catalog = SqlCatalog(
            "lake", uri=f"sqlite:///{warehouse / 'catalog.db'}", warehouse=warehouse.as_uri()
        )
        table = catalog.load_table(("faults", "appended"))
        return table.scan().to_arrow().column("id").to_pylist()

    def maintain(self) -> None:
        """Compact the table and expire all snapshots but the last."""
        command = [sys.executable, "-m", "headwater", "--project", str(self.folder), "maintain"]
        subprocess.run(command, check=True, capture_output=True)


def _last(folder: Path) -> Path:
    return max((p for p in folder.iterdir() if p.name.isdigit()), key=lambda path: int(path.name))


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


def killed_after_the_table(job: Job) -> None:
    """Die after the table's commit, before the checkpoint's."""
    job.add(2)
    job.run()
    _remove(_last(job.checkpoint / "commits"))
    job.add()
    job.run()


def paused_and_replaced(job: Job) -> None:
    """Pause a driver within a batch, as a long collection does; start another; let both go on."""
    job.add(2)
    paused = job.start()
    _wait_for_batch(job.checkpoint / "offsets", paused)
    os.killpg(paused.pid, signal.SIGSTOP)
    try:
        job.run()
    finally:
        os.killpg(paused.pid, signal.SIGCONT)
        job.end(paused)


def _wait_for_batch(offsets: Path, process: subprocess.Popen[str]) -> None:
    """Return when the first batch is planned: long before its table's commit, cold as Spark is."""
    while not (offsets / "0").exists():
        if process.poll() is not None:
            raise RuntimeError(f"ended before its first batch: {process.communicate()[0]}")
        time.sleep(0.002)


def tail_lost(job: Job) -> None:
    """Lose the tail of the checkpoint's log, as a restored backup does; more input comes."""
    for _ in range(2):
        job.add()
        job.run()
    for part in ("offsets", "commits", *(f"sources/{n}" for n in range(2))):
        folder = job.checkpoint / part
        if folder.is_dir() and any(file.name.isdigit() for file in folder.iterdir()):
            _remove(_last(folder))
    job.add(2)
    job.run()


def maintained(job: Job) -> None:
    """Die as before, then compact and expire, then start again."""
    job.add(2)
    job.run()
    _remove(_last(job.checkpoint / "commits"))
    job.maintain()
    job.run()


def identity_lost(job: Job) -> None:
    """Die as before and lose the checkpoint's ``metadata`` file."""
    job.add(2)
    job.run()
    _remove(_last(job.checkpoint / "commits"))
    _remove(job.checkpoint / "metadata")
    job.run()


def checkpoint_lost(job: Job) -> None:
    """Lose the checkpoint."""
    job.add(2)
    job.run()
    shutil.rmtree(job.checkpoint)
    job.run()


SCENARIOS: Mapping[str, Callable[[Job], None]] = {
    "killed between the table's commit and the checkpoint's": killed_after_the_table,
    "paused within a batch, another driver started, then both": paused_and_replaced,
    "the checkpoint's last batch is lost, more input comes": tail_lost,
    "killed there, compacted and expired, started again": maintained,
    "killed there, `metadata` of the checkpoint lost": identity_lost,
    "the checkpoint is lost": checkpoint_lost,
}
WAYS: Mapping[str, Callable[[Path], Job]] = {
    "plain foreachBatch": lambda folder: Plain(folder, FOREACH_BATCH),
    "Iceberg's streaming sink": lambda folder: Plain(folder, SINK),
    "Headwater": Kept,
}


@click.command()
@click.option("--scenario", "only", type=int, multiple=True, help="Numbers from 1; default all.")
def main(only: tuple[int, ...]) -> None:
    """Print what each way loses or doubles."""
    table = Table("fault", *WAYS)
    for number, (name, scenario) in enumerate(SCENARIOS.items(), start=1):
        if only and number not in only:
            continue
        verdicts = []
        for way, make in WAYS.items():
            with tempfile.TemporaryDirectory(prefix="headwater-compare-") as folder:
                job = make(Path(folder) / "job")
                scenario(job)
                verdicts.append(job.verdict())
            click.echo(f"{number} {name}: {way}: {verdicts[-1]}")
        table.add_row(name, *verdicts)
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
