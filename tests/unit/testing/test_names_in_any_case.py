"""The case of a name matters nowhere, and check says what becomes of capitals."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.cli.main import main
from headwater.errors import ConfigError, Span
from headwater.project import load_project
from headwater.testing.rows import local_source, write_rows
from headwater.testing.slt import parse

SQL = """
CREATE TABLE Readings (
  "deviceId" VARCHAR, temp DOUBLE, at TIMESTAMP, unit_price DOUBLE FROM 'Unit Price'
) WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW Per_Device AS
SELECT DEVICEID AS "deviceId", count(*) AS n, max(Temp) AS "HOT" FROM readings GROUP BY deviceid;
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "headwater.toml").write_text('name = "devices"\n')
    (tmp_path / "p.sql").write_text(SQL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(folder: Path, *lines: str) -> str:
    source = local_source(load_project(folder).catalog.sources["readings"], folder / "x")
    write_rows(source, folder / "x", 1, lines, False, Span("t.slt", 1, 1))
    return next((folder / "x").glob("*.json")).read_text()


@pytest.mark.parametrize("header", ["deviceid,temp", "deviceId,TEMP", "DEVICEID, Temp"])
def test_a_header_names_columns_in_any_case(folder: Path, header: str) -> None:
    assert rows(folder, header, "a,1.5") == '{"deviceid": "a", "temp": 1.5}\n'


def test_a_header_may_name_the_field(folder: Path) -> None:
    assert rows(folder, "unit price", "1.5") == rows(folder, "UNIT_PRICE", "1.5")


@pytest.mark.parametrize(
    ("header", "said", "hint"),
    [("devicId", '"devicId"', "did you mean deviceid?"), ("temp,Temp", "twice", "remove one")],
)
def test_a_wrong_header_is_refused(folder: Path, header: str, said: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        rows(folder, header, ",".join("1" for _ in header.split(",")))
    assert said in caught.value.message and hint in caught.value.hint


def test_verbs_name_tables_in_any_case() -> None:
    found = parse("ingest Readings\nA\n1\n\nverify Per_Device\n")
    assert [each.arguments for each in found] == [("readings",), ("per_device",)]


def test_commands_name_views_in_any_case(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "PER_Device"]) == 0
    assert capsys.readouterr().out.startswith("view per_device")


def test_check_says_which_names_lose_their_capitals(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check"]) == 0
    notes = capsys.readouterr().err
    assert '"deviceId" becomes deviceid' in notes
    assert '"deviceId", "HOT" becomes deviceid, hot' in notes
    (folder / "p.sql").write_text(SQL.replace('"', ""))
    assert main(["check"]) == 0
    assert "becomes" not in capsys.readouterr().err
