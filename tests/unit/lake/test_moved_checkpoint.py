"""The log of files that were read follows its project, and names the same position as before."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from headwater.checkpoints import moves
from headwater.checkpoints.file_log import FileLog
from headwater.checkpoints.moves import PLACES_FILE, follow

STATE = ".headwater/state/v/v1"
ENTRIES = 3


def checkpoint_of(project: Path) -> Path:
    return project / STATE / "checkpoint"


def log_of(project: Path) -> FileLog:
    return FileLog(checkpoint_of(project) / "sources" / "0")


def read(project: Path, number: int) -> None:
    """Write an entry as Spark does for two files of the project."""
    files = [project / "data in" / "t" / f"é {number}{part}.json" for part in "ab"]
    folder = log_of(project).folder
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"path": "file://" + moves._quoted(str(file)), "timestamp": 1, "batchId": number}
        for file in files
    ]
    name = f"{number}.compact" if number == 2 else str(number)
    if number == 2:
        earlier = (folder / str(n) for n in range(number))
        rows = [json.loads(row) for e in earlier for row in e.read_text().splitlines()[1:]] + rows
    (folder / name).write_text("\n".join(["v1", *map(json.dumps, rows)]))


def paths(project: Path) -> set[str]:
    return {str(path) for path in log_of(project).files()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "the first"
    for number in range(ENTRIES):
        read(folder, number)
    return folder


def followed(project: Path) -> None:
    follow(checkpoint_of(project), project, ["./data in/t"])


@pytest.mark.parametrize("knows", [True, False])
def test_files_have_the_addresses_of_now_and_positions_are_the_same(
    project: Path, knows: bool
) -> None:
    if knows:
        followed(project)
    before = [log_of(project).position(n) for n in range(ENTRIES)]
    place = project
    for name in ("another %20 place", "the first/inside", "the first"):
        target = project.parent / name
        waiting = shutil.move(place, project.parent / "waiting")
        target.parent.mkdir(exist_ok=True)
        if target.is_dir():
            shutil.rmtree(target)
        place = Path(shutil.move(waiting, target))
        assert [log_of(place).position(n) for n in range(ENTRIES)] == before
        followed(place)
        assert [log_of(place).position(n) for n in range(ENTRIES)] == before
        assert all(path.startswith(f"{place}/data in/t/é ") for path in paths(place))
        assert len(paths(place)) == 2 * ENTRIES
    read(place, ENTRIES)
    assert log_of(place).position(ENTRIES) is not None


def test_a_file_that_is_read_after_a_move_has_the_position_it_would_have_had(
    project: Path,
) -> None:
    followed(project)
    place = Path(shutil.copytree(project, project.with_name("copy")))
    followed(place)
    read(project, ENTRIES)
    read(place, ENTRIES)
    assert log_of(place).position(ENTRIES) == log_of(project).position(ENTRIES)


@pytest.mark.parametrize("steps", range(1, 6))
def test_a_crash_in_between_loses_nothing(
    project: Path, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed(project)
    before = log_of(project).position(ENTRIES - 1)
    place = project.rename(project.with_name("moved"))
    left, put = steps, moves.put

    def dying(path: Path, text: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        put(path, text)

    monkeypatch.setattr(moves, "put", dying)
    try:
        followed(place)
    except KeyboardInterrupt:
        assert log_of(place).position(ENTRIES - 1) == before
    monkeypatch.setattr(moves, "put", put)
    followed(place)
    assert log_of(place).position(ENTRIES - 1) == before
    assert all(path.startswith(f"{place}/") for path in paths(place))


def test_nothing_is_written_where_nothing_has_moved(project: Path) -> None:
    followed(project)
    files = {f: f.read_bytes() for f in project.rglob("*") if f.is_file()}
    followed(project)
    assert {f: f.read_bytes() for f in project.rglob("*") if f.is_file()} == files
    assert (checkpoint_of(project) / PLACES_FILE).is_file()
