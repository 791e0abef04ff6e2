"""Swaps of views under SIGKILL, while somebody reads: ``python -m tests.faults.swaps --swaps 100``.

In: a project of a table and three views, of which each swap changes two. Out: how many reads there
were, and how many of them failed or mixed two versions. Each row says of which version it is.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import duckdb

from headwater.project import load_project
from headwater.serve.connection import duckdb_connection
from headwater.serve.iceberg import StoredIcebergTable
from headwater.serve.lake_reader import LakeReader

READS_PER_SECOND = 10
ROWS = 2_000
TABLE = """
CREATE TABLE orders (id INTEGER, who VARCHAR)
WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
"""
VIEWS = """
CREATE STREAMING VIEW large AS SELECT id, {version} AS version FROM orders WHERE id % 2 = 0;
CREATE STREAMING VIEW above AS SELECT id, version FROM large WHERE id % 4 = 0;
CREATE STREAMING VIEW per_who AS SELECT who, count(*) AS n, {version} AS version
FROM orders GROUP BY who;
"""
VERSIONED = {"large": ROWS // 2, "above": ROWS // 4, "per_who": 7}
"""By view, how many rows it has."""


class Reader:
    """Reads all views again and again, by PyIceberg and by DuckDB in turn."""

    def __init__(self, folder: Path) -> None:
        self.reads, self.violations = 0, list[str]()
        self._lake = LakeReader(load_project(folder).config)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read as long as the block lasts."""
        done = threading.Event()
        thread = threading.Thread(target=self._read_on, args=(done,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _read_on(self, done: threading.Event) -> None:
        with duckdb_connection() as duck:
            ways = itertools.cycle((_by_pyiceberg, partial(_by_duckdb, duck)))
            for name, rows in itertools.cycle(VERSIONED.items()):
                if done.wait(1 / READS_PER_SECOND):
                    return
                try:
                    self._read(name, rows, next(ways))
                except Exception as error:  # noqa: BLE001 - whatever it is, a reader saw it
                    self.violations.append(f"{name}: {error!r}")

    def _read(self, name: str, rows: int, read: Callable[[StoredIcebergTable], list[int]]) -> None:
        table = self._lake.table(name)
        assert isinstance(table, StoredIcebergTable)
        found = read(table)
        self.reads += 1
        if len(set(found)) != 1 or len(found) != rows:
            versions = sorted(set(found))
            self.violations.append(f"{name}: {len(found)} rows of versions {versions}")


def _by_pyiceberg(table: StoredIcebergTable) -> list[int]:
    rows = table.iceberg.scan(selected_fields=("version",)).to_arrow()
    return list(rows.column("version").to_pylist())


def _by_duckdb(duck: duckdb.DuckDBPyConnection, table: StoredIcebergTable) -> list[int]:
    table.create_view(duck, table.name, table.snapshot_id(), ["version"])
    return [row[0] for row in duck.execute(f"FROM {table.name}").fetchall()]


WORDS = "words.txt"
"""What the last command said, in the folder of the project."""


class Swaps:
    """A project whose views change.

    Args:
        folder: an empty folder.
        seed: of what is random.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.kills, self._random = folder, 0, random.Random(seed)
        (folder / "headwater.toml").write_text('name = "swaps"\n')
        (folder / "in").mkdir()
        lines = (json.dumps({"id": n, "who": f"w{n % 7}"}) for n in range(ROWS))
        (folder / "in" / "0.json").write_text("\n".join(lines) + "\n")
        self.define(0)
        self.headwater("run", "--once")

    def define(self, version: int) -> None:
        """Write the views of a version."""
        (self.folder / "views.sql").write_text(TABLE + VIEWS.format(version=version))

    def headwater(self, *arguments: str, kill_after: float | None = None) -> int:
        """Run a command; kill it and its JVM after so many seconds, if it runs that long."""
        command = [sys.executable, "-m", "headwater", *arguments]
        with (self.folder / WORDS).open("wb") as words:
            process = subprocess.Popen(
                command, cwd=self.folder, stdout=words, stderr=words, start_new_session=True
            )
        try:
            return process.wait(kill_after)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.kills += 1
            return process.wait()

    def swap(self, version: int, usual: float) -> None:
        """Change the views, and kill the apply until one gets through."""
        self.define(version)
        while self._random.random() < 0.6:
            kill_after = self._random.uniform(usual / 3, usual * 1.1)
            if self.headwater("apply", "--auto-approve", kill_after=kill_after) == 0:
                break
        code = self.headwater("apply", "--auto-approve")
        assert code == 0, f"apply ended with {code}:\n{(self.folder / WORDS).read_text()}"


def main(swaps: int, seed: int) -> int:
    """Swap, read, and say what was found; the exit code is 1 if a reader saw something wrong."""
    with tempfile.TemporaryDirectory() as folder:
        project = Swaps(Path(folder), seed)
        reader = Reader(Path(folder))
        usual = 0.0
        with reader.reading():
            for version in range(1, swaps + 1):
                began = time.monotonic()
                project.swap(version, usual or 60.0)
                usual = usual or time.monotonic() - began
        equal = project.headwater("verify") == 0 and project.headwater("plan") == 0
    for each in reader.violations[:20]:
        sys.stdout.write(each + "\n")
    sys.stdout.write(
        f"swaps={swaps} kills={project.kills} reads={reader.reads}"
        f" violations={len(reader.violations)} equal={str(equal).lower()} seed={seed}\n"
    )
    return int(bool(reader.violations) or not equal)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--swaps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    sys.exit(main(chosen.swaps, chosen.seed))
