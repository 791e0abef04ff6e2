"""The oracle sees what it must see: rows lost, doubled or wrong, epochs doubled or torn."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.faults.oracle import _PLACE, _RAW, Oracle
from tests.faults.shapes import SHAPES
from tests.faults.world import World

(APPENDED,) = (shape for shape in SHAPES if shape.name == "appended")


class Lake:
    """A world whose tables are written by PyIceberg, right or wrong."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder, [APPENDED], random.Random(1))
        self.world.create()
        self.world.add_input(2)
        self.oracle = Oracle(self.world)
        warehouse = folder / ".headwater" / "warehouse"
        warehouse.mkdir(parents=True)
        self.catalog = SqlCatalog(
            "lake", uri=f"sqlite:///{warehouse / 'catalog.db'}", warehouse=warehouse.as_uri()
        )
        self.catalog.create_namespace("faults")
        events = {**_PLACE, **_RAW["events"], "_watermark": pa.timestamp("us", tz="UTC")}
        self.events = self.catalog.create_table("faults.events", pa.schema(events))
        bad = pa.schema(_PLACE)
        self.quarantine = self.catalog.create_table("faults.events__quarantine", bad)
        kept = {"id": pa.int64(), "key": pa.string(), "twice": pa.int64(), "ts": events["ts"]}
        self.view = self.catalog.create_table("faults.appended", pa.schema(kept))

    def land(self, epoch: int, rows: list[dict] | None = None) -> None:
        file = sorted(self.world.raw["events"])[epoch]
        lines = self.world.raw["events"][file]
        good = [{"_path": file, "_row": n, **row} for n, row in enumerate(lines) if row]
        bad = [{"_path": file, "_row": n} for n, row in enumerate(lines) if not row]
        self._append(self.events, good if rows is None else rows, epoch, "events")
        self._append(self.quarantine, bad, epoch, "events")

    def keep(self, epoch: int, rows: list[dict] | None = None, **marker: object) -> None:
        if rows is None:
            rows = self.rows(epoch)
        snapshots = [snapshot.snapshot_id for snapshot in self.events.snapshots()]
        cuts = {"cut_from": {"events": str(snapshots[epoch - 1])} if epoch else {}}
        cuts["cut_to"] = {"events": str(snapshots[epoch])}
        self._append(self.view, rows, epoch, "appended", **{**cuts, **marker})

    def rows(self, epoch: int) -> list[dict]:
        lines = self.world.raw["events"][sorted(self.world.raw["events"])[epoch]]
        return [
            {"id": row["id"], "key": row["key"], "twice": row["amount"] * 2, "ts": row["ts"]}
            for row in lines
            if row and row["amount"] >= 0
        ]

    def _append(self, table, rows, epoch: int, view: str, **marker: object) -> None:
        own = {"cut_from": {view: str(epoch)} if epoch else {}, "cut_to": {view: str(epoch + 1)}}
        fields = {"view": view, "epoch": epoch, "token": 1, **own, **marker}
        properties = {
            f"headwater.{key}": value if key == "view" else json.dumps(value)
            for key, value in fields.items()
        }
        data = pa.Table.from_pylist(rows, table.schema().as_arrow())
        table.append(data, snapshot_properties=properties)

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
