"""The oracle sees what it must see: rows lost, doubled or wrong, epochs doubled or torn."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.faults.oracle import _PLACE, _RAW, Oracle
from tests.faults.shapes import SHAPES, Shape
from tests.faults.world import World

APPENDED, DIVIDED = (shape for shape in SHAPES if shape.name in ("appended", "divided"))
ROWS = {
    "appended": lambda row: {
        "id": row["id"],
        "key": row["key"],
        "twice": row["amount"] * 2,
        "ts": row["ts"],
    },
    "divided": lambda row: {"id": row["id"], "rest": int(math.fmod(row["id"], row["amount"]))},
}
GOOD = {"appended": lambda row: row["amount"] >= 0, "divided": lambda row: row["amount"] != 0}
_NUMBER, _STAMP = pa.int64(), pa.timestamp("us", tz="UTC")
COLUMNS = {
    "appended": {"id": _NUMBER, "key": pa.string(), "twice": _NUMBER, "ts": _STAMP},
    "divided": {"id": _NUMBER, "rest": _NUMBER},
}


class Lake:
    """A world whose tables are written by PyIceberg, right or wrong."""

    def __init__(self, folder: Path, shape: Shape = APPENDED) -> None:
        self.shape = shape
        self.world = World(folder, [shape], random.Random(1))
        self.world.create()
        self.world.add_input(2)
        self.oracle = Oracle(self.world)
        warehouse = folder / ".headwater" / "warehouse"
        warehouse.mkdir(parents=True)
        self.catalog = SqlCatalog(
            "lake", uri=f"sqlite:///{warehouse / 'catalog.db'}", warehouse=warehouse.as_uri()
        )
        self.catalog.create_namespace("faults")
        events = {**_PLACE, **_RAW["events"], "_watermark": _STAMP}
        self.events = self.catalog.create_table("faults.events", pa.schema(events))
        bad = pa.schema(_PLACE)
        self.quarantine = self.catalog.create_table("faults.events__quarantine", bad)
        kept = pa.schema(COLUMNS[shape.name])
        self.view = self.catalog.create_table(f"faults.{shape.name}", kept)

    def land(self, epoch: int, rows: list[dict] | None = None) -> None:
        file = sorted(self.world.raw["events"])[epoch]
        lines = self.world.raw["events"][file]
        good = [{"_path": file, "_row": n, **row} for n, row in enumerate(lines) if row]
        bad = [{"_path": file, "_row": n} for n, row in enumerate(lines) if not row]
        self._append(self.events, good if rows is None else rows, epoch, "events")
        self._append(self.quarantine, bad, epoch, "events")

    def keep(
        self, epoch: int, rows: list[dict] | None = None, *, to: str = "main", **marker: object
    ) -> None:
        if rows is None:
            rows = self.rows(epoch)
        snapshots = [snapshot.snapshot_id for snapshot in self.events.snapshots()]
        cuts = {"cut_from": {"events": str(snapshots[epoch - 1])} if epoch else {}}
        cuts["cut_to"] = {"events": str(snapshots[epoch])}
        self._append(self.view, rows, epoch, self.shape.name, to=to, **{**cuts, **marker})

    def rows(self, epoch: int) -> list[dict]:
        lines = self.world.raw["events"][sorted(self.world.raw["events"])[epoch]]
        of, good = ROWS[self.shape.name], GOOD[self.shape.name]
        return [of(row) for row in lines if row and good(row)]

    def blame(self, rows: list[dict], epoch: int) -> None:
        name = f"faults.{self.shape.name}__quarantine"
        table = self.catalog.create_table_if_not_exists(name, pa.schema(_PLACE))
        self._append(table, rows, epoch, self.shape.name)

    def _append(
        self, table, rows, epoch: int, view: str, *, to: str = "main", **marker: object
    ) -> None:
        own = {"cut_from": {view: str(epoch)} if epoch else {}, "cut_to": {view: str(epoch + 1)}}
        fields = {"view": view, "epoch": epoch, "token": 1, **own, **marker}
        properties = {
            f"headwater.{key}": value if key == "view" else json.dumps(value)
            for key, value in fields.items()
        }
        data = pa.Table.from_pylist(rows, table.schema().as_arrow())
        table.append(data, snapshot_properties=properties, branch=to)

    def both(self) -> None:
        for epoch in (0, 1):
            self.land(epoch)
            self.keep(epoch)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "world")


def test_what_is_right_is_not_blamed(lake: Lake) -> None:
    lake.both()
    assert lake.oracle.violations(finished=True) == []
    assert lake.oracle.checked == 4


@pytest.mark.parametrize(
    "wrong",
    [
        lambda first, *rest: rest,
        lambda first, *rest: [first, first, *rest],
        lambda first, *rest: [{**first, "twice": 1}, *rest],
    ],
    ids=["lost", "doubled", "changed"],
)
def test_a_wrong_row_is_seen_at_its_snapshot(lake: Lake, wrong) -> None:
    lake.land(0)
    lake.keep(0, wrong(*lake.rows(0)))
    (found,) = lake.oracle.violations(finished=False)
    assert found.startswith("appended at")


def test_an_epoch_committed_twice_is_seen_even_without_rows(lake: Lake) -> None:
    lake.both()
    lake.keep(1, [])
    found = lake.oracle.violations(finished=False)
    assert any("epoch 1 follows epoch 1" in text for text in found)


def test_of_several_writes_of_one_commit_only_the_last_is_judged(lake: Lake) -> None:
    lake.both()
    lake.world.add_input(1)
    lake.land(2)
    base = lake.view.current_snapshot().snapshot_id
    lake.view.manage_snapshots().create_branch(base, "staged").commit()
    first, *rest = lake.rows(2)
    lake.keep(2, [first], to="staged")
    lake.keep(2, rest, to="staged")
    lake.view.manage_snapshots().set_current_snapshot(ref_name="staged").commit()
    assert lake.oracle.violations(finished=True) == []


def test_a_gap_between_two_cuts_is_seen(lake: Lake) -> None:
    lake.land(0)
    lake.keep(0)
    lake.land(1)
    lake.keep(1, cut_from={})
    assert any("does not begin" in text for text in lake.oracle.violations(finished=False))


def test_an_older_owner_is_seen(lake: Lake) -> None:
    lake.land(0)
    lake.keep(0)
    lake.land(1)
    lake.keep(1, token=0)
    assert any("older owner" in text for text in lake.oracle.violations(finished=False))


def test_a_landed_line_that_is_lost_is_seen(lake: Lake) -> None:
    lake.land(0)
    file, lines = next(iter(lake.world.raw["events"].items()))
    good = [{"_path": file, "_row": n, **row} for n, row in enumerate(lines) if row]
    oracle = Oracle(lake.world)
    assert oracle.violations(finished=False) == []
    lake.land(1, good[1:])
    assert any("events at" in text for text in oracle.violations(finished=False))


def test_at_the_end_nothing_may_be_missing(lake: Lake) -> None:
    lake.land(0)
    lake.keep(0)
    assert lake.oracle.violations(finished=False) == []
    assert any("never landed" in text for text in lake.oracle.violations(finished=True))


@pytest.mark.parametrize(("times", "blamed"), [(1, False), (0, True), (2, True)])
def test_a_bad_row_of_a_view_is_kept_once(tmp_path: Path, times: int, *, blamed: bool) -> None:
    lake = Lake(tmp_path / "world", DIVIDED)
    bad = []
    for file, lines in lake.world.raw["events"].items():
        row = next(number for number, line in enumerate(lines) if line)
        lines[row]["amount"] = 0
        bad += [
            {"_path": file, "_row": number}
            for number, line in enumerate(lines)
            if line and line["amount"] == 0
        ]
    lake.both()
    for time in range(times):
        lake.blame(bad, time)
    found = lake.oracle.violations(finished=True)
    assert any(text.startswith("divided__quarantine") for text in found) is blamed
    assert blamed or found == []
