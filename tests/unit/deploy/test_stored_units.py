"""A lake whose rows 768105bb stored by other orders of terms: who is told, and what.

``turned`` was never changed, but its keys are written in another order than the settled one. The
keys of ``swapped`` and ``swapped_back`` changed places after the first tick: each has two rows of
one group. The others are stored as they would be now.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwater.cli.main import main
from headwater.plan.planner import read_sound
from headwater.serve.doctor.unit_names import misnamed, stored_otherwise
from headwater.serve.lake_reader import LakeReader
from tests.stored_lakes import unpack

CONCERNED = {"swapped", "swapped_back", "turned"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    unpack("units_2", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_plan_builds_anew_what_is_stored_otherwise(folder: Path, capsys) -> None:
    assert main(["plan", "--output", "json"]) == 1
    found = {each["view"]: each for each in json.loads(capsys.readouterr().out)}
    assert found.keys() == CONCERNED
    assert {each["change"] for each in found.values()} == {"rebuild"}
    assert found["swapped_back"]["reason"].endswith(": 1")


def test_a_swap_at_the_upgrade_is_no_reason_to_go_on(folder: Path, capsys) -> None:
    views = folder / "views.sql"
    views.write_text(views.read_text().replace("BY d.h, c.g", "BY c.g, d.h"))
    assert main(["plan", "--output", "json"]) == 1
    assert {each["view"] for each in json.loads(capsys.readouterr().out)} == CONCERNED


def test_doctor_finds_rows_of_other_units(folder: Path, capsys) -> None:
    assert main(["doctor", "--output", "json"]) == 1
    found = [each for each in json.loads(capsys.readouterr().out) if each["check"] == "units"]
    assert {each["name"] for each in found} == CONCERNED
    assert all("their columns: 1;" in each["problem"] for each in found)


def test_rows_tell_by_which_order_they_are_stored(folder: Path) -> None:
    project, plans = read_sound(folder)
    lake = LakeReader(project.config)
    tables = {name: lake.table(name) for name in plans}
    wrong = {name: misnamed(plan, tables[name]) for name, plan in plans.items()}
    assert {name for name, rows in wrong.items() if rows} == CONCERNED
    assert (wrong["settled"], wrong["per_g"], wrong["joined"]) == (0, 0, None)
    said = {n: stored_otherwise(p, tables[n], tables[n].marker()) for n, p in plans.items()}
    assert {name for name, reason in said.items() if reason} == CONCERNED
