"""What building a view anew costs, by its own commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.deploy.changes import ProjectChanges
from headwater.lake.protocol.marker import Marker
from headwater.plan.planner import plan_project
from headwater.project import load_project
from tests.unit.deploy.test_definitions_to_run import NEW, OLD, ROWS
from tests.unit.serve.fake_lake import CLICKS, FakeLake, make_lake

CLICK = {"user_id": 1, "ts": None, "score": 1.0, "_watermark": None, "_arrived_at": None}


def commit(lake: FakeLake, epoch: int, begin: int | None, end: int, took: int | None) -> None:
    """A commit of the view that has taken so many milliseconds."""
    cut_from = {} if begin is None else {"clicks": str(begin)}
    marker = Marker("per_user", 1, epoch, cut_from, {"clicks": str(end)}, fingerprint="2:other")
    lake.append("per_user", [], marker)
    if took is None:
        return
    table = lake.catalog.load_table((lake.project.config.namespace, "per_user"))
    at = table.current_snapshot().timestamp_ms  # type: ignore[union-attr]
    file = Path(table.metadata_location.removeprefix("file://"))
    summary = '"headwater.view":"per_user"'
    text = file.read_text()
    place = text.rindex(summary)
    file.write_text(f'{text[:place]}"headwater.began":"{at - took}",{text[place:]}')


def test_the_commit_that_has_read_most_decides(tmp_path: Path) -> None:
    lake = make_lake(tmp_path)
    lake.create("clicks", CLICKS)
    lake.create("per_user", ROWS)
    first = lake.append("clicks", [CLICK] * 1000)
    commit(lake, 0, None, first, 4000)
    second = lake.append("clicks", [CLICK] * 10)
    commit(lake, 1, first, second, 2000)
    third = lake.append("clicks", [CLICK] * 5000)
    commit(lake, 2, second, third, None)  # of a Headwater that did not measure
    (change,) = (each for each in _changes(lake).due if each.name == "per_user")
    assert change.reads.rows == 6010
    assert change.seconds == pytest.approx(6010 * 4 / 1000)


@pytest.mark.parametrize("took", [None, 0])
def test_nobody_knows(tmp_path: Path, took: int | None) -> None:
    lake = make_lake(tmp_path)
    lake.create("clicks", CLICKS)
    lake.create("per_user", ROWS)
    commit(lake, 0, None, 7 if took == 0 else lake.append("clicks", [CLICK]), took)
    (change,) = (each for each in _changes(lake).due if each.name == "per_user")
    assert change.seconds is None


def _changes(lake: FakeLake) -> ProjectChanges:
    file = lake.project.root / "project.sql"
    file.write_text(file.read_text().replace(OLD, NEW))
    project = load_project(lake.project.root)
    return ProjectChanges(project, plan_project(project.catalog))
