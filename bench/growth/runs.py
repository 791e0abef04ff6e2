"""What a running project costs: by the commits of its tables, by the files in a folder it reads.

In: minutes, sizes. Out: a curve for each. Processes of ``headwater run``, watched from outside.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from bench.growth.curve import Curve, Point
from bench.measure import running
from bench.small_steps import BUSY, RESTING, Use, make_project, use_of

FILES = (10, 100, 1_000, 10_000)
_SETTLE, _WATCHED = 45, 30  # seconds
_FIRST = 100  # commits before the first point: a JVM that has just started is another curve


def commits(minutes: float) -> tuple[Curve, list[tuple[int, float]]]:
    """Let three tables and three views commit each second; return what one commit costs.

    The second value is the resident memory in MiB by the number of commits.
    """
    with tempfile.TemporaryDirectory(prefix="headwater-growth-") as name:
        folder = Path(name) / "project"
        make_project(folder, 3, 3, BUSY, "1 second")
        with running(folder) as pid:
            seen = [*_doublings(pid, folder, time.monotonic() + minutes * 60)]
    points = tuple(
        Point(after.commits, (after.steady - before.steady) / (after.commits - before.commits))
        for before, after in pairwise(seen)
    )
    memory = [(use.commits, use.memory / 2**20) for use in seen[1:]]
    return Curve("commits", "one commit, 3 tables and 3 views of 15 rows/s", points), memory


def _doublings(pid: int, folder: Path, until: float) -> Iterator[Use]:
    """What a run has used whenever its commits have doubled."""
    wanted = _FIRST
    while time.monotonic() < until:
        time.sleep(1)
        use = use_of(pid, folder)
        if use.commits >= wanted:
            yield use
            wanted = use.commits * 2


def files(sizes: Sequence[int] = FILES) -> Curve:
    """Return what a second costs in which one file comes to a folder of so many."""
    return Curve("files", "a second with one new file in the folder", tuple(map(_folder, sizes)))


def _folder(size: int) -> Point:
    with tempfile.TemporaryDirectory(prefix="headwater-growth-") as name:
        folder = Path(name) / "project"
        make_project(folder, 1, 1, RESTING, "1 second")
        for number in range(size):
            _file(folder, number)
        with running(folder) as pid:
            _wait_for(pid, folder, commits=2)
            _send(folder, size, _SETTLE)
            before = use_of(pid, folder)
            _send(folder, size + _SETTLE, _WATCHED)
            after = use_of(pid, folder)
        return Point(size, (after.steady - before.steady) / (after.at - before.at))


def _wait_for(pid: int, folder: Path, commits: int) -> None:
    deadline = time.monotonic() + 300
    while use_of(pid, folder).commits < commits:
        if time.monotonic() > deadline:
            raise TimeoutError("the project made no commits")
        time.sleep(1)


def _send(folder: Path, first: int, seconds: int) -> None:
    for number in range(first, first + seconds):
        _file(folder, number)
        time.sleep(1)


def _file(folder: Path, number: int) -> None:
    row = {"id": number, "k": number % 50, "v": number / 2, "at": "2026-01-01T00:00:00Z"}
    new = folder / "in" / f".{number:06}.json"
    new.write_text(json.dumps(row))
    new.rename(new.with_name(new.name[1:]))
