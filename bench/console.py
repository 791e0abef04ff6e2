"""``make bench-console``: how long the console takes to show a project of many views.

In: a number of views, and of commits that each table retains. Out: seconds until the first page of
a console that starts, the times of pages after it, and the CPU time that they take, which does not
depend on what else the machine does.

The lake has the commits' metadata and one data file per table, so that reading it costs what it
costs in a project that has run for a while. Pages are fetched over HTTP and opened in Chromium.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa
from playwright.sync_api import sync_playwright
from pyiceberg.catalog.sql import SqlCatalog

from bench.browser import chromium
from bench.measure import TICKS, machine
from headwater.lake.protocol.marker import Marker
from headwater.lake.storage.warehouse import folder_uri
from headwater.project import Project, load_project

TABLES = 10
PAGES = ("/", "/relations/v1", "/relations/v1/commits", "/relations/v1/rows", "/sql")
_TABLE = """CREATE TABLE t{n} (
  id BIGINT, ts TIMESTAMP WITH TIME ZONE, v DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH (connector = 'files', path = 'in/t{n}') FORMAT PLAIN ENCODE JSON;
"""
_VIEW = "CREATE STREAMING VIEW v{n} AS SELECT id, count(*) AS v FROM {of} GROUP BY id;\n"


def main() -> None:
    """Make the lake, start the console, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--views", type=int, default=100)
    parser.add_argument("--commits", type=int, default=200)
    parser.add_argument("--times", type=int, default=30)
    asked = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        project = make(Path(folder), asked.views, asked.commits)
        print(f"{asked.views} views of {TABLES} tables, {asked.commits} commits each")
        began = time.monotonic()
        with console(project.root) as (address, process):
            fetch(address)
            print(f"command to first page      {time.monotonic() - began:6.2f} s")
            cpu = partial(cpu_of, process)
            for page in PAGES:
                fetch(address + page)  # what it imports is loaded once
                report(f"HTTP {page}", asked.times, partial(fetch, address + page), cpu)
            opened_in_chromium(address, asked.times, cpu)
            before, wall = cpu_of(process), 30
            watched(address, wall)
            print(f"CPU while a page is open   {(cpu_of(process) - before) / wall:6.1%}")
            before = cpu_of(process)
            time.sleep(wall)
            print(f"CPU while no page is open  {(cpu_of(process) - before) / wall:6.2%}")


def make(folder: Path, views: int, commits: int) -> Project:
    """Make a project and its lake, without a run."""
    (folder / "headwater.toml").write_text('name = "wide"\n')
    names = [f"t{n}" for n in range(TABLES)]
    text = "".join(_TABLE.format(n=n) for n in range(TABLES))
    for n in range(views):
        names.append(f"v{n}")
        text += _VIEW.format(n=n, of=f"t{n % TABLES}" if n < views // 2 else f"v{n - views // 2}")
    (folder / "views.sql").write_text(text)
    project = load_project(folder)
    warehouse = project.config.warehouse
    warehouse.mkdir(parents=True)
    database = warehouse / "catalog.db"
    with SqlCatalog("lake", uri=f"sqlite:///{database}", warehouse=folder_uri(warehouse)) as lake:
        lake.create_namespace(project.config.namespace)
        for name in names:
            schema = {"id": pa.int64(), "v": pa.int64()}
            if name.startswith("t"):
                schema = {"id": pa.int64(), "ts": pa.timestamp("us", "UTC"), "v": pa.float64()}
            table = lake.create_table((project.config.namespace, name), pa.schema(schema))
            rows = pa.Table.from_pylist([{"id": n} for n in range(100)], schema=pa.schema(schema))
            table.append(rows)
            inputs = project.catalog.views[name].inputs if name in project.catalog.views else ()
            _repeat(database, name, inputs, commits)
    return project


def _repeat(database: Path, name: str, inputs: tuple[str, ...], commits: int) -> None:
    """Give a table the metadata of many commits, all over the one data file."""
    with closing(sqlite3.connect(database)) as found, found:
        query = "SELECT metadata_location FROM iceberg_tables WHERE table_name = ?"
        location = found.execute(query, (name,)).fetchone()[0]
        path = Path(re.sub("^file:/*", "/", location))
        metadata = json.loads(path.read_text())
        only = metadata["snapshots"][0]
        metadata["snapshots"] = []
        for epoch in range(commits):
            cut = {each: str(1000 + epoch) for each in inputs}
            marker = Marker(name, 1, epoch, cut, cut, watermark=epoch * 5_000_000)
            snapshot = only | {
                "snapshot-id": 1000 + epoch,
                "timestamp-ms": only["timestamp-ms"] - 5000 * (commits - epoch),
                "summary": only["summary"] | marker.to_summary(),
            }
            snapshot |= {"parent-snapshot-id": 999 + epoch} if epoch else {}
            metadata["snapshots"].append(snapshot)
        metadata["current-snapshot-id"] = 999 + commits
        metadata["refs"]["main"]["snapshot-id"] = 999 + commits
        path.write_text(json.dumps(metadata))


@contextmanager
def console(root: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run ``headwater console`` until the block ends."""
    command = [sys.executable, "-m", "headwater", "--project", str(root), "console"]
    with subprocess.Popen(
        [*command, "--output", "json"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    ) as process:
        assert process.stdout
        text = ""
        while "}" not in text:
            text += process.stdout.readline()
        try:
            yield json.loads(text)["console"], process
        finally:
            process.terminate()


def fetch(address: str) -> bytes:
    """Load one page."""
    with urllib.request.urlopen(address, timeout=60) as answer:
        body: bytes = answer.read()
        return body


def report(what: str, times: int, act: Callable[[], object], cpu: Callable[[], float]) -> None:
    """Print the times of an action, each of which reads the lake anew."""
    taken = []
    before = cpu()
    for _ in range(times):
        time.sleep(1.05)
        began = time.monotonic()
        act()
        taken.append(1000 * (time.monotonic() - began))
    p50, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
    spent = 1000 * (cpu() - before) / times
    print(f"{what:26} p50 {p50:6.0f} ms   p95 {p95:6.0f} ms   CPU {spent:6.0f} ms")


def opened_in_chromium(address: str, times: int, cpu: Callable[[], float]) -> None:
    """Print how long a browser takes from the address to the end of ``load``."""
    with sync_playwright() as playwright:
        browser = chromium(playwright, shutil.which("chromium"))
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(address)
        report("Chromium /, until load", times, lambda: page.goto(address), cpu)
        browser.close()


def watched(address: str, seconds: float) -> None:
    """Ask as an open page asks."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        fetch(address)
        time.sleep(2)


def cpu_of(process: subprocess.Popen[str]) -> float:
    """Return the CPU seconds of a process so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
