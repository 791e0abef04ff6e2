"""A lake that an earlier format has written goes on, and its views can be changed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.cli.main import main
from headwater.plan.identity import FORMAT
from headwater.project import load_project
from headwater.serve.lake_reader import LakeReader
from tests.stored_lakes import unpack

STORED_OTHERWISE = {"swapped", "swapped_back", "turned"}
LATER = {"id": 99, "who": "cid", "qty": 9, "ts": "2013-01-02T12:00:00+00:00"}


@pytest.mark.parametrize("archive", [f"format_{number}" for number in range(1, FORMAT)])
def test_an_earlier_lake_goes_on(
    archive: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    unpack(archive, tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in" / "2.json").write_text(json.dumps(LATER) + "\n")
    views = tmp_path / "views.sql"
    views.write_text(views.read_text().replace("n > 1;", "n > 0;"))
    command = [sys.executable, "-m", "headwater", "run", "--once"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert main(["verify", "--output", "json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert {each["result"] for each in results} == {"equal"}
    lake = LakeReader(load_project(tmp_path).config)
    versions = {name: lake.table(name).marker().version for name in ("large", "per_who", "busy")}
    assert versions == {"large": 1, "per_who": 1, "busy": 2}
    assert all(lake.table(name).marker().format == FORMAT for name in versions)
    assert all(lake.table(name).definition for name in versions)


def test_rows_that_an_earlier_format_stored_otherwise_are_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody applies the changes of this project, so a run builds nothing else."""
    unpack("units_2", tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".headwater" / "state" / "applied").touch()
    for table, row in (("a", {"id": 5, "k": 2, "g": "y"}), ("c", {"id": 5, "k": 1, "g": "x"})):
        (tmp_path / "data" / table / "3.json").write_text(json.dumps({"op": "u"} | row) + "\n")
    command = [sys.executable, "-m", "headwater", "run", "--once"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert main(["verify", "--output", "json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert {each["result"] for each in results} == {"equal"}
    assert main(["plan"]) == 0
    project = load_project(tmp_path)
    lake = LakeReader(project.config)
    markers = {name: lake.table(name).marker() for name in project.catalog.views}
    assert {name for name, each in markers.items() if each.version > 1} == STORED_OTHERWISE
