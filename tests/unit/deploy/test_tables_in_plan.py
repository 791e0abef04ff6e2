"""What ``plan`` says of tables whose definition differs, and what ``apply`` refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwater.deploy.apply import apply
from headwater.deploy.changes import Kind, ProjectChanges
from headwater.errors import TerminalError
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import LANDED_BY
from headwater.plan.planner import plan_project
from headwater.plan.table_parts import parts_of
from headwater.project import load_project
from tests.unit.deploy.changed_lake import BIGINT, Lake
from tests.unit.serve.fake_lake import CLICKS, FakeLake, make_lake

KAFKA = "connector = 'kafka', topic = 'x', bootstrap_servers = 'y:9092'"
WATERMARK = "WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE"
OTHER = "seen TIMESTAMP WITH TIME ZONE, WATERMARK FOR seen AS seen - INTERVAL '10' MINUTE"

KEYED = """
CREATE TABLE clicks (user_id BIGINT, PRIMARY KEY (user_id))
WITH (connector = 'files', path = 'in') FORMAT UPSERT ENCODE JSON;
"""


@pytest.fixture
def lake(tmp_path: Path) -> FakeLake:
    """A table that has landed rows, of a project without views."""
    found = make_lake(tmp_path)
    file = tmp_path / "project.sql"
    file.write_text(file.read_text().partition("CREATE STREAMING VIEW")[0])
    found.create("clicks", CLICKS)
    found.append("clicks", [], Marker("clicks", 1, 0, {}, {}))
    say(found, json.dumps(parts_of(found.project.catalog.sources["clicks"])))
    return found


def say(lake: FakeLake, parts: str) -> None:
    table = lake.catalog.load_table((lake.project.config.namespace, "clicks"))
    with table.transaction() as change:
        change.set_properties({LANDED_BY: parts})


def changed(lake: FakeLake, old: str, new: str) -> ProjectChanges:
    file = lake.project.root / "project.sql"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    project = load_project(lake.project.root)
    return ProjectChanges(project, plan_project(project.catalog))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("path = 'in'", "path = 'more'", "WITH differs, for rows that are landed from now on"),
        ("'10' MINUTE", "'2' HOUR", "WATERMARK differs, for rows that are landed from now on"),
        ("user_id BIGINT", "user_id BIGINT, at VARCHAR", "column at is new, NULL in rows"),
        ("score DOUBLE,", "", "column score goes, with its values"),
    ],
)
def test_from_now_on(lake: FakeLake, old: str, new: str, reason: str) -> None:
    (change,) = changed(lake, old, new).due
    assert change.kind is Kind.ONWARD and change.reason.startswith(reason)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("connector = 'files', path = 'in'", KAFKA, "connector differs"),
        (WATERMARK, OTHER, "its event time differs"),
        (f",\n  {WATERMARK}", "", "its event time differs"),
        ("user_id BIGINT", "user_id INTEGER", "INT does not hold all of its values"),
        ("user_id BIGINT", "user_id BIGINT, at VARCHAR NOT NULL", "landed rows lack it"),
    ],
)
def test_refused_before_anything_begins(lake: FakeLake, old: str, new: str, reason: str) -> None:
    changes = changed(lake, old, new)
    (change,) = changes.due
    assert change.kind is Kind.REFUSED and reason in change.reason
    with pytest.raises(TerminalError) as refused:
        apply(changes)
    assert refused.value.condition == "SCHEMA_CHANGED" and reason in refused.value.message


def test_tables_of_an_earlier_release_say_nothing_of_their_clauses(lake: FakeLake) -> None:
    say(lake, "")
    assert not changed(lake, "'10' MINUTE", "'2' HOUR").due


def test_a_table_does_not_become_the_log_of_a_keyed_one(lake: FakeLake) -> None:
    (lake.project.root / "project.sql").write_text(KEYED)
    found = changed(lake, "", "")
    (change,) = [each for each in found.due if each.kind is Kind.REFUSED]
    assert "not kept alike" in change.reason


def test_a_view_that_cannot_go_on(tmp_path: Path) -> None:
    """It rests while it is built; one whose file has changed goes on by what is applied."""
    views = (
        "CREATE STREAMING VIEW ids AS SELECT user_id FROM clicks;"
        "CREATE STREAMING VIEW total AS SELECT count(*) AS n FROM clicks;"
    )
    lake = Lake(tmp_path, views)
    lake.land("clicks", 1)
    lake.write("ids", {"user_id": BIGINT}, {"user_id": 1})
    lake.write("total", {"n": BIGINT}, {"n": 1})
    lake.tables = lake.tables.replace("user_id BIGINT", "user_id INTEGER")
    found = lake.changed(views.replace("count(*)", "count(*) + 1"))
    assert {name: found.goes_on(name) for name in found.plans} == {"ids": False, "total": True}
