"""Where the time between a record and its reader goes, from commits that are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.delay import examples
from bench.delay.kinds import KINDS, Kind
from bench.delay.steps import Shown, landed, steps, summary, viewed
from headwater.config.settings import load_config
from headwater.lake.protocol.history import Commit
from headwater.lake.protocol.marker import Marker
from tests.spark.plans import planned


def offsets(upto: int) -> dict[str, str]:
    return {"events": f'{{"topic": {{"id": "a", "0": {upto}}}}}'}


def table(*commits: tuple[int, int, float]) -> list[Commit]:
    """Commits of the landed table, newest first: snapshot, records, seconds."""
    return [
        Commit(snapshot, Marker("events", 1, epoch, {}, offsets(upto)), int(at * 1000))
        for epoch, (snapshot, upto, at) in enumerate(commits)
    ][::-1]


def view(*commits: tuple[str, float, float, float]) -> list[Commit]:
    """Commits of the view, newest first: snapshot of the table, watermark, began, seconds."""
    return [
        Commit(
            1,
            Marker(
                "v", 1, epoch, {}, {"events": snapshot},
                watermark=int(watermark * 1_000_000), began=int(began * 1000),
            ),
            int(at * 1000),
        )
        for epoch, (snapshot, watermark, began, at) in enumerate(commits)
    ][::-1]  # fmt: skip


PRODUCED = [10.0, 10.5, 11.0, 11.5]
TABLE = landed(table((7, 2, 10.75), (8, 4, 12.0)))
SNAPSHOTS = {"7": 2, "8": 4}


def test_each_step_of_a_record_is_told_apart() -> None:
    ticks = viewed(view(("7", 0, 11.0, 11.25), ("8", 0, 12.5, 13.0)), SNAPSHOTS, PRODUCED)
    answers = [Shown(1, 11.5, 0), Shown(2, 12.0, 0), Shown(4, 14.0, 0)]
    found = steps(PRODUCED, TABLE, ticks, answers, range(4))
    assert [(e.lands, e.waits, e.tick, e.query) for e in found] == [
        (0.75, 0.25, 0.25, 0.25),
        (0.25, 0.25, 0.25, 0.75),
        (1.0, 0.5, 0.5, 1.0),
        (0.5, 0.5, 0.5, 1.0),
    ]
    assert [each.total for each in found] == [1.5, 1.5, 3.0, 2.5]


def test_a_tick_that_began_before_the_rows_landed_waits_for_nothing() -> None:
    ticks = viewed(view(("8", 0, 11.5, 12.5)), SNAPSHOTS, PRODUCED)
    (found,) = steps(PRODUCED, TABLE, ticks, [Shown(4, 13.0, 0)], range(3, 4))
    assert (found.lands, found.waits, found.tick, found.query) == (0.5, 0.0, 0.5, 0.5)


def test_of_the_landed_table_only_landing_and_the_query_take_time() -> None:
    (found,) = steps(PRODUCED, TABLE, None, [Shown(4, 13.0, 0)], range(3, 4))
    assert (found.lands, found.waits, found.tick, found.query) == (0.5, 0.0, 0.0, 1.0)


def test_rows_of_windows_are_shown_when_their_window_is_over() -> None:
    ticks = viewed(
        view(("8", 10.9, 12.0, 12.5), ("8", 11.2, 13.0, 13.5), ("8", 12.0, 14.0, 14.5)),
        SNAPSHOTS,
        PRODUCED,
        closes=1,
    )
    assert [each.upto for each in ticks] == [0, 2, 4]


def test_records_that_nobody_saw_are_left_out() -> None:
    assert len(steps(PRODUCED, TABLE, None, [Shown(2, 13.0, 0)], range(4))) == 2


def test_the_summary_has_percentiles_of_the_whole_and_medians_of_the_steps() -> None:
    answers = [Shown(number + 1, 20.0 + number, 0) for number in range(100)]
    shown = [Shown(100, 15.0, 15.0)]
    figures = summary(steps([10.0] * 100, shown, None, answers, range(100)))
    assert figures["lands"] == 5.0
    assert figures["p50"] == pytest.approx(59.5)
    assert figures["p99"] > figures["p95"] > figures["p50"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_kind_of_view_has_an_engine(kind: Kind, tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").write_text(f'name = "{kind.project}"\n')
    assert load_config(tmp_path).name == kind.project
    catalog, plans = planned(kind.statements("topic", "127.0.0.1:9092"))
    shown = catalog.views.get(kind.shown) or catalog.sources[kind.shown]
    assert kind.newest in {field.name for field in shown.fields}
    assert set(plans) == {kind.shown} - {"events"}


def test_a_view_shows_the_files_that_all_its_inputs_have() -> None:
    """One file of each input a second; the view joins a table with the rows of another view."""

    def commit(name: str, snapshot: int, at: float, **cut: str) -> Commit:
        return Commit(snapshot, Marker(name, 1, 0, {}, cut), int(at * 1000))

    commits = {
        "a": [commit("a", 1, 10.5, a='{"files": 1}'), commit("a", 2, 12.5, a='{"files": 3}')],
        "b": [commit("b", 5, 11.0, b='{"files": 2}')],
        "v": [commit("v", 8, 11.5, b="5")],
        "w": [commit("w", 9, 12.0, a="1", v="8"), commit("w", 10, 13.0, a="2", v="8")],
    }
    found = examples.shown(commits)
    assert found["w"] == [(1, 12.0), (2, 13.0)]
    assert examples.delays([10.0, 11.0, 12.0], found["w"], first=0) == [2.0, 2.0]
    assert examples.delays([10.0, 11.0, 12.0], found["a"], first=1) == [1.5, 0.5]
