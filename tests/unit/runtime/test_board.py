"""What a running project leaves in ``run.json``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwater.runtime import board as module
from headwater.runtime.board import RUN_FILE, Board
from headwater.runtime.events import Event, RecordsWaiting, RunState, StateChanged, silent


def waiting(folder: Path) -> object:
    return json.loads((folder / RUN_FILE).read_text())["views"]["t"]["waiting"]


def test_what_waits_is_written_once_in_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    board = Board(tmp_path, silent)
    board.tell(StateChanged("t", RunState.RUNNING))
    board.measure("t", {"t/0": 5})
    assert waiting(tmp_path) is None
    now += 2
    board.measure("t", {"t/0": 5})  # held back before
    assert waiting(tmp_path) == {"t/0": 5}
    written = (tmp_path / RUN_FILE).stat().st_ino
    now += 2
    board.measure("t", {"t/0": 5})
    assert (tmp_path / RUN_FILE).stat().st_ino == written


def test_what_waits_is_told_with_every_state(tmp_path: Path) -> None:
    board = Board(tmp_path, silent)
    board.measure("t", {"t/0": 5})
    board.tell(StateChanged("t", RunState.RUNNING))
    assert waiting(tmp_path) == {"t/0": 5}


def test_what_waits_is_told_when_it_has_changed(tmp_path: Path) -> None:
    told: list[Event] = []
    board = Board(tmp_path, told.append)
    for records in (5, 5, 0):
        board.measure("t", {"t/0": records})
    board.measure("files", {})
    assert told == [RecordsWaiting("t", {"t/0": 5}), RecordsWaiting("t", {"t/0": 0})]


def test_why_a_table_stands_still_is_written_at_once(tmp_path: Path) -> None:
    board = Board(tmp_path, silent)
    board.tell(StateChanged("t", RunState.RUNNING))
    for note in ("waits for u", ""):
        board.note("t", note)
        assert json.loads((tmp_path / RUN_FILE).read_text())["views"]["t"]["note"] == note
