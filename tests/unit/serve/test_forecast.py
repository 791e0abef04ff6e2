"""``check`` says before a run which tables and views it will stop."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from fake_lake import UTC_MICROS, FakeLake, make_lake

from headwater.cli.main import main
from headwater.lake.protocol.marker import Marker
from headwater.plan.planner import plan_project

TABLE = """
CREATE TABLE orders (id INTEGER, qty INTEGER, note VARCHAR, at TIMESTAMP WITH TIME ZONE)
WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON ON SCHEMA CHANGE EVOLVE;
"""
VIEWS = """
CREATE STREAMING VIEW every AS SELECT * FROM orders;
CREATE STREAMING VIEW ids AS SELECT id FROM orders;
CREATE STREAMING VIEW total AS SELECT sum(qty) AS qty FROM orders;
"""
HELD = {
    "orders": pa.schema(
        {"id": pa.int32(), "qty": pa.int32(), "note": pa.string(), "at": UTC_MICROS}
    ),
    "every": pa.schema(
        {"id": pa.int32(), "qty": pa.int32(), "note": pa.string(), "at": UTC_MICROS}
    ),
    "ids": pa.schema({"id": pa.int32()}),
    "total": pa.schema({"qty": pa.int64()}),
}


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeLake:
    lake = make_lake(tmp_path, TABLE + VIEWS)
    plans = plan_project(lake.project.catalog)
    for name, schema in HELD.items():
        lake.create(name, schema)
        cut = {"orders": str(lake.snapshot("orders"))} if name in plans else {}
        fingerprint = plans[name].fingerprint if name in plans else ""
        lake.append(name, [], Marker(name, 1, 0, {}, cut, fingerprint=fingerprint))
    lake.project.config.state.mkdir(parents=True)
    (lake.project.config.state / "run.json").write_text(json.dumps({"pid": 0, "views": {}}))
    monkeypatch.chdir(tmp_path)
    return lake


@pytest.mark.parametrize(
    ("old", "new", "stops"),
    [
        ("", "", {}),
        ("-- nothing", "-- nothing", {}),
        ("note VARCHAR, ", "note VARCHAR, price BIGINT, ", {"every": ""}),
        ("qty INTEGER", "qty BIGINT", {"every": "qty", "total": "qty"}),
        ("qty INTEGER", "qty DOUBLE", {"orders": "qty", "every": "qty", "total": ""}),
        ("SELECT id FROM orders", "SELECT id + 1 AS id FROM orders", {"ids": ""}),
        (" ON SCHEMA CHANGE EVOLVE", "", {}),
    ],
)  # fmt: skip
def test_check_says_what_the_next_run_will_stop(
    lake: FakeLake, old: str, new: str, stops: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = lake.project.root / "project.sql"
    text = (TABLE + VIEWS).replace(old, new, 1) if old else TABLE + VIEWS
    file.write_text(text)
    code = main(["check"])
    err = capsys.readouterr().err
    said = {
        line.split("will stop ")[1].split(":")[0]: line
        for line in err.splitlines() if "the next run will stop " in line
    }  # fmt: skip
    assert said.keys() == stops.keys(), err
    for name, word in stops.items():
        assert word in said[name]
    assert code == (1 if stops else 0)


def test_a_project_that_never_ran_asks_nothing(
    lake: FakeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lake.project.config.state / "run.json").unlink()
    monkeypatch.setattr("headwater.serve.forecast.will_stop", None)
    assert main(["check"]) == 0
