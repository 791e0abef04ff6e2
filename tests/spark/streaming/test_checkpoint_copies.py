"""A machine that has lost the checkpoint of a view goes on from a copy of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kept import JOIN, LINEAR, WINDOW, Kept
from pyarrow.fs import FileSystem, LocalFileSystem
from test_checkpoint_damage import Outside

from headwater.checkpoints.replicas import CheckpointReplicas
from headwater.errors import TerminalError


@pytest.fixture
def copies(tmp_path: Path) -> Callable[[], CheckpointReplicas]:
    return lambda: CheckpointReplicas(LocalFileSystem, str(tmp_path / "store"))


def lives(view: Kept, copies: CheckpointReplicas, runs: int) -> None:
    for _ in range(runs):
        view.land()
        view.run(copies=copies)


def loses_all(view: Kept, refused: str, copies: CheckpointReplicas) -> None:
    """Its state is gone: refused without a copy, it goes on with one."""
    shutil.rmtree(view.state)
    view.land()
    with pytest.raises(TerminalError, match=refused):
        view.run()
    view.run(copies=copies)


@pytest.mark.parametrize("query", [WINDOW, JOIN], ids=["window", "join"])
def test_a_view_with_state_goes_on_from_its_copy(
    spark: Any, lake: Any, tmp_path: Path, copies: Callable[[], CheckpointReplicas], query: Any
) -> None:
    view = Kept(spark, lake, tmp_path / "v1", query)
    lives(view, copies(), 4)
    loses_all(view, "state cannot be rebuilt", copies())
    lives(view, copies(), 1)
    view.check()


def test_a_damaged_checkpoint_gives_way_to_the_copy(
    spark: Any, lake: Any, tmp_path: Path, copies: Callable[[], CheckpointReplicas]
) -> None:
    view = Kept(spark, lake, tmp_path / "v1", WINDOW)
    lives(view, copies(), 3)
    for file in view.checkpoint.glob("offsets/*"):
        file.write_text("v1\n{")
    view.land()
    view.run(copies=copies())
    view.check()
    assert (view.state / "checkpoint.refused" / "offsets" / "0").read_text() == "v1\n{"


def test_a_view_of_files_goes_on_from_the_copy_made_when_it_was_stopped(
    spark: Any,
    lake: Any,
    spark_config: Any,
    tmp_path: Path,
    copies: Callable[[], CheckpointReplicas],
) -> None:
    view = Outside(spark, lake, tmp_path / "v1", LINEAR)
    view.config = replace(spark_config, directory=tmp_path, state=tmp_path / "state")
    lives(view, copies(), 2)
    loses_all(view, "files read from its SOURCE", copies())
    view.check()


def test_a_copy_that_does_not_help_leaves_what_was_there(
    spark: Any, lake: Any, tmp_path: Path, copies: Callable[[], CheckpointReplicas]
) -> None:
    view, own = Kept(spark, lake, tmp_path / "v1", WINDOW), copies()
    lives(view, own, 1)
    for _ in range(2):  # without copies
        view.land()
        view.run()
    for file in view.checkpoint.glob("offsets/*"):
        file.write_text("v1\n{")
    view.land()
    for _ in range(2):
        with pytest.raises(TerminalError, match="state cannot be rebuilt"):
            view.run(copies=own)
        assert (view.checkpoint / "offsets" / "5").read_text() == "v1\n{"


def test_a_store_that_fails_stops_no_view(
    spark: Any, lake: Any, tmp_path: Path, copies: Callable[[], CheckpointReplicas], caplog: Any
) -> None:
    def down() -> FileSystem:
        raise OSError("the store is down")

    view = Kept(spark, lake, tmp_path / "v1", WINDOW)
    lives(view, CheckpointReplicas(down, "x"), 3)
    view.check()
    assert "the checkpoint replica was not written: the store is down" in caplog.text
