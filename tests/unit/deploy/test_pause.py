"""Views that stand still: noted in the catalog, shown by status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwater.cli.main import main
from headwater.lake.catalogs.sqlite import SqliteDatabase
from headwater.lake.protocol.marker import Marker
from headwater.serve.lake_reader import LakeReader
from tests.unit.deploy.test_definitions_to_run import ROWS
from tests.unit.serve.fake_lake import FakeLake, make_lake


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeLake:
    monkeypatch.chdir(tmp_path)
    found = make_lake(tmp_path)
    found.create("per_user", ROWS)
    found.append("per_user", [], Marker("per_user", 1, 0, {}, {}))
    return found


def said(capsys: pytest.CaptureFixture[str], *command: str) -> tuple[int, list[dict[str, object]]]:
    code = main([*command, "--output", "json"])
    return code, json.loads(capsys.readouterr().out or "[]")


def states(capsys: pytest.CaptureFixture[str]) -> dict[object, object]:
    return {each["name"]: each["state"] for each in said(capsys, "status")[1]}


@pytest.mark.parametrize("quick", [True, False])
def test_pause_and_resume(
    lake: FakeLake,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    quick: bool,
) -> None:
    if not quick:
        monkeypatch.setattr(SqliteDatabase, "properties", lambda database, namespace: None)
    assert states(capsys)["per_user"] == "stopped"
    code, rows = said(capsys, "pause", "per_user", "per_hour")
    assert code == 0
    assert rows == [
        {"view": "per_user", "state": "paused"},
        {"view": "per_hour", "state": "paused"},
    ]
    assert LakeReader(lake.project.config).paused() == {"per_user", "per_hour"}
    found = states(capsys)
    assert (found["per_user"], found["per_hour"], found["clicks"]) == ("paused", "paused", "new")
    assert said(capsys, "pause", "per_user")[0] == 0  # again
    assert said(capsys, "resume", "per_user")[1] == [{"view": "per_user", "state": "resumed"}]
    assert states(capsys)["per_user"] == "stopped"
    assert said(capsys, "resume", "--all")[1] == [{"view": "per_hour", "state": "resumed"}]
    assert LakeReader(lake.project.config).paused() == set()
    assert main(["resume", "--all"]) == 0
    assert "no view is paused" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "condition"),
    [
        (["pause", "clicks"], "UNKNOWN_VIEW"),
        (["pause", "per_usr"], "UNKNOWN_VIEW"),
        (["pause"], "USAGE"),
        (["resume"], "USAGE"),
        (["resume", "--all", "per_user"], "USAGE"),
    ],
)
def test_what_cannot_be_paused(
    lake: FakeLake, capsys: pytest.CaptureFixture[str], command: list[str], condition: str
) -> None:
    assert main(command) == 2
    assert capsys.readouterr().err.startswith(condition)
    assert LakeReader(lake.project.config).paused() == set()


def test_before_the_first_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "headwater.toml").write_text('name = "t"\n')
    (tmp_path / "all.sql").write_text(
        "CREATE TABLE t (id BIGINT) WITH (connector = 'files', path = 'in')"
        " FORMAT PLAIN ENCODE JSON;"
        "CREATE STREAMING VIEW v AS SELECT id FROM t;"
    )
    assert main(["pause", "v"]) == 3
    assert "NO_DATA_YET" in capsys.readouterr().err
    assert not list(tmp_path.rglob("catalog.db"))
