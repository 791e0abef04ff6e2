"""How far views are that read the history of their inputs."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

from headwater.cli.progress import Lines
from headwater.lake.protocol.marker import Marker
from headwater.project import load_project
from headwater.runtime.board import Board
from headwater.runtime.events import RunState, StateChanged, ViewBuilding, silent
from headwater.runtime.workers.building import Builds
from headwater.serve.status import status
from tests.unit.serve.fake_lake import CLICKS, make_lake


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_rows_of_the_stages_of_a_view() -> None:
    told: list[ViewBuilding] = []
    stages: dict[tuple[str, int], int] = {}
    clock = Clock()
    builds = Builds(lambda: dict(stages), told.append, clock)
    builds.look()
    builds.begin({"big": 1000, "other": 0})
    stages |= {("big", 1): 100, ("elsewhere", 2): 7}
    clock.now += 2
    builds.look()
    assert told == [ViewBuilding("big", 100, 1000, 2)]
    assert (told[0].rate, told[0].left) == (50, 18)
    stages.pop(("big", 1))  # that stage is over
    stages[("big", 3)] = 400
    clock.now += 3
    builds.look()
    assert told[1] == ViewBuilding("big", 500, 1000, 5) and told[1].left == 5
    stages[("big", 4)] = 4000  # it reads its input again
    builds.look()
    assert told[2].done == 1000
    builds.end(["big", "other"])
    assert told[3] == ViewBuilding("big", 0, 0, 0.0)
    builds.look()
    assert len(told) == 4
    builds.begin({"big": 10})
    builds.look()
    assert told[4].done == 10 and told[4].left is None  # no time has passed


def test_status_and_lines(tmp_path: Path) -> None:
    lake = make_lake(tmp_path)
    board = Board(lake.project.config.state, silent)
    for name in ("per_user", "per_user__next", "per_hour"):
        board.tell(StateChanged(name, RunState.RUNNING))
    event = ViewBuilding("per_user__next", 250, 1000, 5)
    board.build(event)
    project = load_project(tmp_path)
    found = {each.name: each.building for each in status(project)}
    assert found["per_user"] == {
        "done": 250,
        "total": 1000,
        "rows_per_second": 50,
        "seconds_left": 15,
    }
    assert found["per_hour"] is None
    run_file = project.config.state / "run.json"
    said = json.loads(run_file.read_text())
    run_file.write_text(json.dumps({**said, "pid": 2**22 + os.getpid()}))  # it has died
    assert {each.building for each in status(project)} == {None}
    board.build(ViewBuilding("per_user__next", 0, 0, 0.0))
    assert {each.building for each in status(project)} == {None}

    out = io.StringIO()
    Lines(out)(event)
    Lines(out)(ViewBuilding("per_hour", 1000, 1000, 12))
    assert out.getvalue().splitlines() == [
        "building per_user__next: 250 of 1,000 rows, 50 rows/s, 15 s left",
        "building per_hour: 1,000 rows read, computing for 12 s",
    ]


def test_a_view_that_ends_while_it_is_looked_at_is_not_built_for_ever() -> None:
    told: list[ViewBuilding] = []
    builds: Builds

    def read() -> dict[tuple[str, int], int]:
        builds.end(["big"])  # its tick ends while Spark is asked
        return {}

    builds = Builds(read, told.append, Clock())
    builds.begin({"big": 1000})
    builds.look()
    assert told == [ViewBuilding("big", 0, 0, 0.0)]


def test_files_that_were_changed_are_counted_also_when_nothing_runs(tmp_path: Path) -> None:
    lake = make_lake(tmp_path)
    lake.create("clicks", CLICKS)
    lake.append("clicks", [], Marker("clicks", 1, 0, {}, {}))
    board = Board(lake.project.config.state, silent)
    board.tell(StateChanged("clicks", RunState.RUNNING))
    board.count_changed("clicks", 2)
    run_file = lake.project.config.state / "run.json"
    for pid in (os.getpid(), 2**22 + os.getpid()):
        run_file.write_text(json.dumps({**json.loads(run_file.read_text()), "pid": pid}))
        found = {each.name: each.changed_files for each in status(lake.project)}
        assert found["clicks"] == 2 and found["per_user"] == 0
