"""A lake of an earlier format is read as it is; one of a later format is refused in one line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from headwater.cli.main import main
from headwater.errors import TerminalError
from headwater.lake.protocol.marker import Marker
from headwater.plan.identity import FORMAT
from headwater.project import load_project
from headwater.serve.lake_reader import LakeReader
from tests.stored_lakes import unpack

FORMATS = [f"format_{number}" for number in range(1, FORMAT)]


@pytest.fixture(params=FORMATS)
def folder(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    unpack(request.param, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nothing_has_changed_and_all_is_equal(folder: Path, capsys) -> None:
    assert main(["plan"]) == 0
    assert "nothing to change" in capsys.readouterr().err
    assert main(["verify", "--output", "json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert {each["result"] for each in results} == {"equal"} and len(results) == 4


def test_a_changed_view_is_built_whether_its_old_definition_is_known_or_not(
    folder: Path, capsys
) -> None:
    views = folder / "views.sql"
    views.write_text(views.read_text().replace("qty > 3", "qty > 4"))
    assert main(["plan", "--output", "json"]) == 1
    (change,) = json.loads(capsys.readouterr().out)
    assert (change["view"], change["change"]) == ("large", "rebuild")
    table = LakeReader(load_project(folder).config).table("large")
    reason = "WHERE differs" if table.definition else "its definition has changed"
    assert change["reason"] == reason


def test_markers_say_of_which_format_they_are(folder: Path, request) -> None:
    marker = LakeReader(load_project(folder).config).table("per_who").marker()
    assert f"format_{marker.format}" == request.node.callspec.params["folder"]
    assert bool(marker.release) is (marker.format > 1)


def test_a_later_format_is_refused_in_one_line() -> None:
    summary = replace(Marker("v", 1, 0, {}, {}), format=FORMAT + 1, release="9.8.7").to_summary()
    with pytest.raises(TerminalError) as refused:
        Marker.from_summary(summary)
    assert refused.value.condition == "NEWER_FORMAT"
    assert "9.8.7" in refused.value.message and "9.8.7" in refused.value.hint
