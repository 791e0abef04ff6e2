"""Damaged, lost, old and foreign checkpoints: each view goes on exactly, or stops and says so.

Each kind of view is one table that lives through all damages: stop, damage, new input, run again.
After each the law is checked at every commit; a refusal must leave the table as it was.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from law import Landed, check_law
from plans import planned

from headwater.errors import TerminalError
from headwater.lake.catalog import Lake
from headwater.lake.continuity import Verdict, Way
from headwater.runtime.session import session_for_thread
from headwater.streaming.query import StreamingView
from headwater.streaming.recovery import Recovery

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
LANDED = """CREATE TABLE d (id INTEGER, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)
            WITH (connector = 'files', path = 'd') FORMAT PLAIN ENCODE JSON;"""
SOURCE = """CREATE SOURCE d (id INTEGER, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)
            WITH (connector = 'files', path = 'd') FORMAT PLAIN ENCODE JSON;"""
LINEAR = "SELECT id, ts FROM d WHERE id > 0"
WINDOW = """SELECT window_start, count(*) AS n FROM TUMBLE(d, ts, INTERVAL '1' HOUR)
            GROUP BY window_start, window_end EMIT ON WINDOW CLOSE"""
HOURS = """SELECT window_start, count(*) AS n
           FROM (SELECT *, time_bucket(INTERVAL 1 HOUR, ts) AS window_start FROM d)
           WHERE (_watermark IS NULL OR window_start + INTERVAL 1 HOUR > _watermark)
             AND window_start + INTERVAL 1 HOUR <= getvariable('w')
           GROUP BY window_start"""


@dataclass
class Kept:
    """A view over a landed table."""

    spark: Any
    lake: Lake
    state: Path
    select: str
    oracle: str
    columns: tuple[str, ...]
    name: str = "v"
    hour: int = 0
    verdicts: list[Verdict] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.define(LANDED)
        self.landed = Landed(self.lake, "d", {"id": "INT", "ts": "TIMESTAMP"}, "ts")

    def define(self, inputs: str) -> None:
        sql = f"{inputs} CREATE STREAMING VIEW {self.name} AS {self.select};"
        self.catalog, plans = planned(sql)
        self.plan = plans[self.name]

    @property
    def checkpoint(self) -> Path:
        return self.state / "checkpoint"

    @property
    def top(self) -> int:
        return max(int(file.name) for file in (self.checkpoint / "offsets").glob("[0-9]*"))

    def land(self, rows: int = 3) -> None:
        self.hour += 1
        self.landed.land(*((n, NOON + timedelta(hours=self.hour, minutes=n)) for n in range(rows)))

    def ends(self) -> tuple[dict[str, int], int | None]:
        return {"d": self.landed.table.snapshot_id()}, self.landed.watermark_after

    def view(self, **options: Any) -> StreamingView:
        own = self.lake.using(session_for_thread(self.spark))
        poll = timedelta(milliseconds=20)
        return StreamingView(own, self.plan, self.catalog, self.state, poll=poll, **options)

    def run(self) -> None:
        view = self.view()
        try:
            view.start()
            assert view.drain(*self.ends(), timeout=timedelta(seconds=240))
        finally:
            view.stop()

    def check(self) -> None:
        check_law(self.lake, self.name, self.columns, self.oracle, [self.landed])

    def snapshot(self) -> int:
        table = self.lake.table(self.name)
        return table.snapshot_id()


class Outside(Kept):
    """A view straight from files."""

    def __post_init__(self) -> None:
        self.define(SOURCE)
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

    def check(self) -> None:
        table = self.lake.table(self.name)
        found = table.read().selectExpr("id", "date_format(ts, \"yyyy-MM-dd'T'HH:mm:ss+00:00\")")
        assert sorted(map(tuple, found.collect())) == sorted(row for row in self.rows if row[0] > 0)
        markers = [s.marker for s in table.ancestors(table.snapshot_id()) if s.marker]
        epochs = [marker.epoch for marker in reversed(markers)]
        assert epochs == list(range(len(epochs)))


@pytest.fixture(autouse=True)
def verdicts(monkeypatch: pytest.MonkeyPatch) -> list[Verdict]:
    """What recovery decided: a test that damages must see that it was noticed."""
    decided: list[Verdict] = []
    act = Recovery._act

    def remember(self: Recovery, verdict: Verdict, *rest: Any) -> None:
        decided.append(verdict)
        act(self, verdict, *rest)

    monkeypatch.setattr(Recovery, "_act", remember)
    return decided


@pytest.fixture(scope="module")
def linear(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("linear")
    lake = Lake(spark, "damage_linear")
    return begun(Kept(spark, lake, folder / "v1", LINEAR, LINEAR, ("id", "ts")))


@pytest.fixture(scope="module")
def window(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("window")
    lake = Lake(spark, "damage_window")
    return begun(Kept(spark, lake, folder / "v1", WINDOW, HOURS, ("window_start", "n")))


@pytest.fixture(scope="module")
def outside(spark: Any, spark_config: Any, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("outside")
    lake = Lake(spark, "damage_outside")
    view = Outside(spark, lake, folder / "v1", LINEAR, "", ())
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
    newest_state(view).unlink()


def newest_state(view: Kept) -> Path:
    return view.checkpoint / "state" / "0" / "1" / f"{view.top + 1}.changelog"


KEPT: dict[str, tuple[Callable[[Kept], None], Way, Way]] = {
    # damage: what is done, how a view without state goes on, how one with state does
    "folder lost": (folder_lost, Way.ANEW, Way.REPLAY),
    "foreign": (foreign, Way.ANEW, Way.REPLAY),
    "metadata lost": (metadata_lost, Way.GO_ON, Way.GO_ON),
    "offsets empty": (empty("offsets"), Way.ANEW, Way.REPLAY),
    "offsets half": (half("offsets"), Way.ANEW, Way.REPLAY),
    "offsets garbage": (garbage("offsets"), Way.ANEW, Way.REPLAY),
    "commits empty": (empty("commits"), Way.ANEW, Way.REPLAY),
    "commits half": (half("commits"), Way.ANEW, Way.REPLAY),
    "commits garbage": (garbage("commits"), Way.ANEW, Way.REPLAY),
    "tail lost": (tail_lost, Way.ANEW, Way.REPLAY),
    "last but one lost": (middle_lost, Way.MEND, Way.MEND),
    "an older one lost": (older_lost, Way.GO_ON, Way.GO_ON),
    "old copy": (old_copy, Way.ANEW, Way.REPLAY),
    "torn plan": (torn_plan, Way.CUT_BACK, Way.CUT_BACK),
}


@pytest.mark.parametrize("do", [state_lost, state_file_lost])
def test_state_that_is_lost_is_rebuilt(
    window: Kept, verdicts: list[Verdict], do: Callable[[Kept], None]
) -> None:
    goes_on(window, verdicts, do, Way.REPLAY)


@pytest.mark.parametrize("damage", KEPT)
def test_view_without_state(linear: Kept, verdicts: list[Verdict], damage: str) -> None:
    do, way, _ = KEPT[damage]
    goes_on(linear, verdicts, do, way)


@pytest.mark.parametrize("damage", KEPT)
def test_view_with_state(window: Kept, verdicts: list[Verdict], damage: str) -> None:
    do, _, way = KEPT[damage]
    goes_on(window, verdicts, do, way)


def test_state_that_is_damaged_is_an_error_and_nothing_is_written(window: Kept) -> None:
    refuses(window, lambda view: newest_state(view).write_bytes(b"garbage" * 9), "STATE_DAMAGED")


def test_other_number_of_partitions(window: Kept, verdicts: list[Verdict]) -> None:
    key = "spark.sql.shuffle.partitions"
    before = window.spark.conf.get(key)
    window.spark.conf.set(key, "5")
    try:
        goes_on(window, verdicts, lambda view: None, Way.GO_ON)
    finally:
        window.spark.conf.set(key, before)


@pytest.mark.parametrize(
    ("do", "way"),
    [
        (metadata_lost, Way.GO_ON),
        (half("offsets"), Way.ANEW),
        (empty("commits"), Way.ANEW),
        (tail_lost, Way.ANEW),
        (middle_lost, Way.MEND),
        (torn_plan, Way.CUT_BACK),
    ],
)
def test_view_of_a_source(
    outside: Kept, verdicts: list[Verdict], do: Callable[[Kept], None], way: Way
) -> None:
    goes_on(outside, verdicts, do, way)


@pytest.mark.parametrize(
    "do", [folder_lost, tail_lost_with_files, files_of_last_batch_forgotten, old_copy, foreign]
)
def test_view_of_a_source_stops_where_its_files_are_not_known(
    outside: Kept, do: Callable[[Kept], None]
) -> None:
    refuses(outside, do)


def goes_on(view: Kept, verdicts: list[Verdict], do: Callable[[Kept], None], way: Way) -> None:
    do(view)
    view.land()
    view.run()
    assert [verdict.way for verdict in verdicts] == [way], verdicts
    verdicts.clear()
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
    shutil.rmtree(view.state)
    whole.rename(view.state)
    view.run()
    view.check()
