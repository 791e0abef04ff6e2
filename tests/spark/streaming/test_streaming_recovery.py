"""Lost, old and foreign checkpoints: time may be lost, never rows."""

from __future__ import annotations

import shutil

import pytest
from kept import LINEAR, WINDOW, Kept

from headwater.engine.target import Writer
from headwater.errors import HeadwaterError, TerminalError


def test_stateless_view_goes_on_from_the_marker_without_its_checkpoint(spark, lake, tmp_path):
    view = Kept(spark, lake, tmp_path / "v1", LINEAR)
    for _ in range(2):
        view.land()
    view.run()
    shutil.rmtree(view.state)
    for _ in range(2):
        view.land()
    view.run()
    view.check()


def test_dropped_table_is_filled_again_from_the_beginning(spark, lake, tmp_path):
    view = Kept(spark, lake, tmp_path / "v1", WINDOW)
    for _ in range(3):
        view.land()
    view.run()
    spark.sql(f"DROP TABLE {lake.identifier('v')}")
    view.run()
    view.check()


def test_batch_that_failed_after_its_commit_is_not_committed_twice(
    spark, lake, tmp_path, monkeypatch
):
    view = Kept(spark, lake, tmp_path / "v1", WINDOW)
    view.land()
    view.run()

    def fail(committed):
        raise RuntimeError("fault")

    view.land()
    with pytest.raises(HeadwaterError, match="fault"):
        view.run(on_commit=fail)
    view.land()
    view.run()
    view.check()
    assert lake.table("v").read().count() == 2


def test_older_token_may_not_commit(spark, lake, tmp_path):
    view = Kept(spark, lake, tmp_path / "v1", LINEAR)
    view.land()
    view.run(writer=Writer(token=2))
    view.land()
    with pytest.raises(TerminalError) as raised:
        view.run(writer=Writer(token=1))
    assert raised.value.condition == "FENCED"
