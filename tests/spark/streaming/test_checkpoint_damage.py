"""Damaged, lost, old and foreign checkpoints: each view goes on exactly, or stops and says so.

Each kind of view is one table that lives through all damages: stop, damage, new input, run again.
After each the law is checked at every commit; a refusal must leave the table as it was.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from kept import JOIN, LINEAR, NOON, WINDOW, Kept

from headwater.checkpoints.resume_decision import Resume, ResumeMode
from headwater.engine.streaming.query import StreamingView
from headwater.engine.streaming.recovery import Recovery
from headwater.errors import TerminalError
from headwater.lake.catalog import Lake
from headwater.lake.protocol.marker import Marker


class Outside(Kept):
    """A view straight from files."""

    def __post_init__(self) -> None:
        self.define("SOURCE")
        self.folder = self.state.parent / "d"
        self.folder.mkdir()
        self.rows: list[tuple[int, str]] = []

    def land(self, rows: int = 3) -> None:
        self.hour += 1
        new = [(n, (NOON + timedelta(hours=self.hour, minutes=n)).isoformat()) for n in range(rows)]
        text = "".join(json.dumps({"id": n, "ts": at}) + "\n" for n, at in new)
        hidden = self.folder / f".{self.hour}"
        hidden.write_text(text)
        hidden.rename(self.folder / f"{self.hour:03}.json")
        self.rows += new

    def ends(self) -> tuple[dict[str, int], int | None]:
        return {}, None

    def view(self, **options: Any) -> StreamingView:
        return super().view(config=self.config, **options)

    config: Any = None

    def check(self) -> list[Marker]:
        table = self.lake.table(self.name)
        found = table.read().selectExpr("id", "date_format(ts, \"yyyy-MM-dd'T'HH:mm:ss+00:00\")")
        assert sorted(map(tuple, found.collect())) == sorted(row for row in self.rows if row[0] > 0)
        markers = [s.marker for s in table.ancestors(table.snapshot_id()) if s.marker]
        epochs = [marker.epoch for marker in reversed(markers)]
        assert epochs == list(range(len(epochs)))
        return markers


@pytest.fixture(autouse=True)
def verdicts(monkeypatch: pytest.MonkeyPatch) -> list[Resume]:
    """What recovery decided: a test that damages must see that it was noticed."""
    decided: list[Resume] = []
    act = Recovery._act

    def remember(self: Recovery, verdict: Resume, *rest: Any) -> None:
        decided.append(verdict)
        act(self, verdict, *rest)

    monkeypatch.setattr(Recovery, "_act", remember)
    return decided


@pytest.fixture(scope="module", autouse=True)
def no_snapshots(spark: Any) -> Iterator[None]:
    """None is written behind a test's back, which would make a changelog superfluous."""
    key = "spark.sql.streaming.stateStore.minDeltasForSnapshot"
    spark.conf.set(key, "1000")
    yield
    spark.conf.unset(key)


@pytest.fixture(scope="module")
def linear(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("linear")
    lake = Lake(spark, "damage_linear")
    return begun(Kept(spark, lake, folder / "v1", LINEAR))


@pytest.fixture(scope="module")
def window(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("window")
    lake = Lake(spark, "damage_window")
    return begun(Kept(spark, lake, folder / "v1", WINDOW))


@pytest.fixture(scope="module")
def join(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("join")
    return begun(Kept(spark, Lake(spark, "damage_join"), folder / "v1", JOIN))


@pytest.fixture(scope="module")
def outside(spark: Any, spark_config: Any, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("outside")
    lake = Lake(spark, "damage_outside")
    view = Outside(spark, lake, folder / "v1", LINEAR)
    view.config = replace(spark_config, directory=folder, state=folder / "state")
    return begun(view)


def begun(view: Kept) -> Kept:
    """Two runs, and a backup of the state after the first."""
    for number in range(2):
        view.land()
        view.run()
        if number == 0:
            shutil.copytree(view.state, view.state.parent / "backup")
    view.check()
    return view


# -- damages


def folder_lost(view: Kept) -> None:
    shutil.rmtree(view.checkpoint)


def metadata_lost(view: Kept) -> None:
    (view.checkpoint / "metadata").unlink()


def empty(log: str) -> Callable[[Kept], None]:
    return lambda view: newest(view, log).write_bytes(b"")


def half(log: str) -> Callable[[Kept], None]:
    def cut(view: Kept) -> None:
        file = newest(view, log)
        content = file.read_bytes()
        file.write_bytes(content[: len(content) // 2])

    return cut


def garbage(log: str) -> Callable[[Kept], None]:
    return lambda view: newest(view, log).write_bytes(b"\xff\x00garbage\n{")


def newest(view: Kept, log: str) -> Path:
    return view.checkpoint / log / str(view.top)


def tail_lost(view: Kept) -> None:
    top = view.top
    (view.checkpoint / "commits" / str(top)).unlink()
    (view.checkpoint / "offsets" / str(top)).unlink()


def tail_lost_with_files(view: Kept) -> None:
    log = view.checkpoint / "sources" / "0"
    max(log.glob("[0-9]*"), key=lambda file: int(file.stem)).unlink()
    tail_lost(view)


def files_of_last_batch_forgotten(view: Kept) -> None:
    log = view.checkpoint / "sources" / "0"
    max(log.glob("[0-9]*"), key=lambda file: int(file.stem)).unlink()


def middle_lost(view: Kept) -> None:
    (view.checkpoint / "offsets" / str(view.top - 1)).unlink()


def older_lost(view: Kept) -> None:
    (view.checkpoint / "offsets" / str(view.top - 2)).unlink()


def old_copy(view: Kept) -> None:
    shutil.rmtree(view.state)
    shutil.copytree(view.state.parent / "backup", view.state)


def torn_plan(view: Kept) -> None:
    """The next batch was planned, its record torn by a power failure; nothing of it committed."""
    content = newest(view, "offsets").read_bytes()
    (view.checkpoint / "offsets" / str(view.top + 1)).write_bytes(content[: len(content) // 2])


def foreign(view: Kept) -> None:
    file = view.checkpoint / "headwater.json"
    fields = json.loads(file.read_text())
    file.write_text(json.dumps({**fields, "view": "other"}))


def state_lost(view: Kept) -> None:
    shutil.rmtree(view.checkpoint / "state")


def state_file_lost(view: Kept) -> None:
    newest_state(view)[0].unlink()


def newest_state(view: Kept) -> list[Path]:
    return list((view.checkpoint / "state").rglob(f"{view.top + 1}.changelog"))


def changelogs_replaced(view: Kept) -> None:
    for file in newest_state(view):
        file.write_bytes(b"garbage" * 9)


def changelogs_altered(view: Kept) -> None:
    for file in newest_state(view):
        alter(file)


def snapshots_cut(view: Kept) -> None:
    for file in (view.checkpoint / "state").rglob(f"{view.top + 1}.zip"):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def snapshots_altered(view: Kept) -> None:
    """Their tables lie beside them; one block that is never read would not be missed."""
    for file in (view.checkpoint / "state").rglob("*.sst"):
        alter(file)


def alter(file: Path) -> None:
    """Another byte in the middle."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)


KEPT: dict[str, tuple[Callable[[Kept], None], ResumeMode, ResumeMode]] = {
    # damage: what is done, how a view without state goes on, how one with state does or does not
    "folder lost": (folder_lost, ResumeMode.ANEW, ResumeMode.REFUSE),
    "foreign": (foreign, ResumeMode.ANEW, ResumeMode.REFUSE),
    "metadata lost": (metadata_lost, ResumeMode.GO_ON, ResumeMode.GO_ON),
    "offsets empty": (empty("offsets"), ResumeMode.ANEW, ResumeMode.REFUSE),
    "offsets half": (half("offsets"), ResumeMode.ANEW, ResumeMode.REFUSE),
    "offsets garbage": (garbage("offsets"), ResumeMode.ANEW, ResumeMode.REFUSE),
    "commits empty": (empty("commits"), ResumeMode.ANEW, ResumeMode.REFUSE),
    "commits half": (half("commits"), ResumeMode.ANEW, ResumeMode.REFUSE),
    "commits garbage": (garbage("commits"), ResumeMode.ANEW, ResumeMode.REFUSE),
    "tail lost": (tail_lost, ResumeMode.ANEW, ResumeMode.REFUSE),
    "last but one lost": (middle_lost, ResumeMode.MEND, ResumeMode.MEND),
    "an older one lost": (older_lost, ResumeMode.GO_ON, ResumeMode.GO_ON),
    "old copy": (old_copy, ResumeMode.ANEW, ResumeMode.REFUSE),
    "torn plan": (torn_plan, ResumeMode.CUT_BACK, ResumeMode.CUT_BACK),
}


@pytest.mark.parametrize("kind", ["window", "join"])
@pytest.mark.parametrize("do", [state_lost, state_file_lost])
def test_state_that_is_lost_is_an_error(
    request: Any, kind: str, do: Callable[[Kept], None]
) -> None:
    refuses(request.getfixturevalue(kind), do)


@pytest.mark.parametrize("damage", KEPT)
def test_view_without_state(linear: Kept, verdicts: list[Resume], damage: str) -> None:
    do, way, _ = KEPT[damage]
    goes_on(linear, verdicts, do, way)


@pytest.mark.parametrize("damage", KEPT)
def test_view_with_state(window: Kept, verdicts: list[Resume], damage: str) -> None:
    goes_on_or_refuses(window, verdicts, damage)


@pytest.mark.parametrize("damage", ["folder lost", "tail lost", "last but one lost", "old copy"])
def test_view_that_joins_two_streams(join: Kept, verdicts: list[Resume], damage: str) -> None:
    goes_on_or_refuses(join, verdicts, damage)


@pytest.mark.parametrize("kind", ["window", "join"])
@pytest.mark.parametrize("do", [changelogs_replaced, changelogs_altered])
def test_state_that_is_damaged_is_an_error_and_nothing_is_written(
    request: Any, kind: str, do: Callable[[Kept], None]
) -> None:
    refuses(request.getfixturevalue(kind), do, "STATE_DAMAGED")


@pytest.mark.parametrize("do", [snapshots_cut, snapshots_altered])
def test_snapshot_of_state_that_is_damaged_is_an_error(
    join: Kept, do: Callable[[Kept], None]
) -> None:
    key = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
    before = join.spark.conf.get(key)
    join.spark.conf.set(key, "false")  # each commit is a snapshot then
    try:
        join.land()
        join.run()
    finally:
        join.spark.conf.set(key, before)
    refuses(join, do, "STATE_DAMAGED")


def test_other_number_of_partitions(window: Kept, verdicts: list[Resume]) -> None:
    key = "spark.sql.shuffle.partitions"
    before = window.spark.conf.get(key)
    window.spark.conf.set(key, "5")
    try:
        goes_on(window, verdicts, lambda view: None, ResumeMode.GO_ON)
    finally:
        window.spark.conf.set(key, before)


@pytest.mark.parametrize(
    ("do", "way"),
    [
        (metadata_lost, ResumeMode.GO_ON),
        (half("offsets"), ResumeMode.ANEW),
        (empty("commits"), ResumeMode.ANEW),
        (tail_lost, ResumeMode.ANEW),
        (middle_lost, ResumeMode.MEND),
        (torn_plan, ResumeMode.CUT_BACK),
    ],
)
def test_view_of_a_source(
    outside: Kept, verdicts: list[Resume], do: Callable[[Kept], None], way: ResumeMode
) -> None:
    goes_on(outside, verdicts, do, way)


@pytest.mark.parametrize(
    "do", [folder_lost, tail_lost_with_files, files_of_last_batch_forgotten, old_copy, foreign]
)
def test_view_of_a_source_stops_where_its_files_are_not_known(
    outside: Kept, do: Callable[[Kept], None]
) -> None:
    refuses(outside, do)


def goes_on_or_refuses(view: Kept, verdicts: list[Resume], damage: str) -> None:
    do, _, way = KEPT[damage]
    if way is ResumeMode.REFUSE:
        refuses(view, do)
    else:
        goes_on(view, verdicts, do, way)


def goes_on(
    view: Kept, verdicts: list[Resume], do: Callable[[Kept], None], way: ResumeMode
) -> None:
    do(view)
    view.land()
    verdicts.clear()
    view.run()
    assert [verdict.way for verdict in verdicts] == [way], verdicts
    view.check()


def refuses(view: Kept, do: Callable[[Kept], Any], condition: str = "CHECKPOINT_") -> None:
    before, whole = view.snapshot(), view.state.with_name("whole")
    shutil.rmtree(whole, ignore_errors=True)
    shutil.copytree(view.state, whole)
    do(view)
    view.land()
    with pytest.raises(TerminalError) as raised:
        view.run()
    assert raised.value.condition.startswith(condition)
    assert "headwater doctor v" in raised.value.hint
    assert view.snapshot() == before
    discarded = view.state.with_name("discarded")
    view.state.rename(discarded)  # Spark may still write to what it has open
    shutil.rmtree(discarded, ignore_errors=True)
    whole.rename(view.state)
    view.run()
    view.check()
