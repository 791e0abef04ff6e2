"""``make delay-examples``: how long an event of a worked example takes to its views, live.

In: the examples, a time. Out: p50 and p95 of the delay per view.

``headwater run`` runs a copy of the project while a file with the next events of every input
arrives each second, so the events of a day pass within minutes. The delay of a file ends with the
first commit of the view that has read it, through all the views between. It does not contain the
wait for a watermark, which is a matter of event time. Nothing is measured in the first minutes,
when the JVM compiles what it runs often.

    python -m bench.delay.examples card_fraud --seconds 60
"""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
import time
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import click

from bench.measure import machine, running
from headwater.lake.protocol.history import Commit
from headwater.project import load_project
from headwater.serve.lake_reader import LakeReader
from jobs.examples.__main__ import NAMES
from jobs.examples.generate import SQL, generate

SETTINGS = {"HEADWATER_RUN_MAX_FILES_PER_EPOCH": "1000", "HEADWATER_MAINTAIN_MAX_SNAPSHOTS": "5000"}
"""A run that is behind reads all that there is, and keeps all its commits."""
SETTLE = 20.0
"""Seconds after the last file; what has not been read by then counts as not shown."""


def copied(name: str, folder: Path, files: int) -> tuple[Path, Path]:
    """Make a project without events, and beside it the events in so many files per input."""
    project, events = folder / name, folder / "events"
    shutil.copytree(SQL / name, project, ignore=shutil.ignore_patterns("data", ".headwater"))
    generate(name, project=events, files=files)
    for table in (events / "data").iterdir():
        if table.is_dir():
            (project / "data" / table.name).mkdir(parents=True)
    return project, events / "data"


def feed(events: Path, project: Path, files: int) -> list[float]:
    """Let the next file of every input arrive each second; say when each did."""
    tables = [table for table in events.iterdir() if table.is_dir()]
    arrived: list[float] = []
    begin = time.time()
    for number in range(1, files + 1):
        time.sleep(max(0.0, begin + number - time.time()))
        for table in tables:
            file = f"{number:03}.json"
            (table / file).rename(project / "data" / table.name / file)
        arrived.append(time.time())
    return arrived


def shown(commits: Mapping[str, Sequence[Commit]]) -> dict[str, list[tuple[int, float]]]:
    """Say per table how many files each of its commits has read, and when it was made.

    Args:
        commits: by table, oldest first; a table comes after those that it reads.
    """
    read: dict[str, dict[str, int]] = {}
    found: dict[str, list[tuple[int, float]]] = {}
    for name, each in commits.items():
        read[name], found[name] = {}, []
        for commit in each:
            cuts = commit.marker.cut_to.items()
            files = min((_files(read, table, cut) for table, cut in cuts), default=0)
            read[name][str(commit.snapshot_id)] = files
            found[name].append((files, commit.at / 1000))
    return found


def _files(read: Mapping[str, Mapping[str, int]], table: str, cut: str) -> int:
    """How many files a position has behind it: a snapshot's, or what the folder's own says."""
    if table in read and cut in read[table]:
        return read[table][cut]
    position = json.loads(cut)
    return int(position["files"]) if isinstance(position, dict) else 0


def delays(arrived: Sequence[float], view: Sequence[tuple[int, float]], first: int) -> list[float]:
    """Return the seconds from each file after the first ones to the commit that has read it."""
    found = []
    for number in range(first, len(arrived)):
        at = bisect_left(view, number + 1, key=lambda each: each[0])
        if at < len(view):
            found.append(view[at][1] - arrived[number])
    return found


def measure(name: str, first: int, seconds: int) -> None:
    """Run one example live, and print a line for each of its views."""
    files = first + seconds
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as folder:
        project, events = copied(name, Path(folder), files)
        with running(project, "--no-console", settings=SETTINGS):
            arrived = feed(events, project, files)
            time.sleep(SETTLE)
        loaded = load_project(project)
        lake = LakeReader(loaded.config)
        found = shown(
            {each: _commits(lake, each) for each in _in_order(lake, loaded.catalog.views)}
        )
        for view in loaded.catalog.views:
            click.echo(f"{name:<20}{view:<22}{_line(delays(arrived, found[view], first), seconds)}")


def _in_order(lake: LakeReader, views: Collection[str]) -> list[str]:
    """The landed tables, what is kept of them by key, then the views, each after what it reads."""
    landed = [name for name in lake.names() if name not in views]
    return [*sorted(landed, key=lambda name: not name.endswith("__changes")), *views]


def _commits(lake: LakeReader, name: str) -> list[Commit]:
    table = lake.table(name)
    return list(table.commits())[::-1] if table is not None else []


def _line(found: Sequence[float], files: int) -> str:
    if len(found) < 2:
        return f"{len(found)} of {files} files were shown"
    parts = statistics.quantiles(found, n=100)
    missing = "" if len(found) == files else f"  {files - len(found)} of {files} not shown"
    return f"{parts[49]:6.1f}{parts[94]:6.1f}{missing}"


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(NAMES), metavar="[NAME]...")
@click.option("--first", type=int, default=110, show_default=True, help="Seconds before that.")
@click.option("--seconds", type=int, default=60, show_default=True, help="How long to measure.")
def main(names: Sequence[str], first: int, seconds: int) -> None:
    """Measure how long events of the examples take to their views, live."""
    about = machine()
    click.echo(f"# {about['cores']} cores, {about['cpu']}, commit {about['commit']}")
    click.echo(f"{'project':<20}{'view':<22}{'p50':>6}{'p95':>6}")
    for name in names or NAMES:
        measure(name, first, seconds)


if __name__ == "__main__":
    main()
