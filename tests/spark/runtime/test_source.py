"""Views straight from a SOURCE: good rows in the view, windows closed, bad rows in quarantine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headwater.engine.streaming.quarantine import SourceQuarantine
from headwater.project import Project, load_project
from headwater.runtime.events import Warned
from headwater.runtime.supervisor import Supervisor
from headwater.serve.status import status
from headwater.testing.harness import warehouse_of

pytestmark = pytest.mark.spark

SQL = """
CREATE SOURCE clicks (
  url VARCHAR NOT NULL, at TIMESTAMP WITH TIME ZONE, WATERMARK FOR at AS at - INTERVAL '1' MINUTE
) WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW homes AS SELECT url, at FROM clicks WHERE url = '/';

CREATE STREAMING VIEW per_hour AS
SELECT window_start, count(*) AS n FROM TUMBLE(clicks, at, INTERVAL '1' HOUR)
GROUP BY window_start EMIT ON WINDOW CLOSE;
"""


@pytest.fixture
def project(spark: Any, lake: Any, tmp_path: Path) -> Project:
    (tmp_path / "headwater.toml").write_text('name = "t"\n')
    (tmp_path / "views.sql").write_text(SQL)
    rows = [{"url": "/" if n % 2 else "/a", "at": f"2024-01-01T{n:02}:30:00Z"} for n in range(6)]
    (tmp_path / "in").mkdir()
    lines = [*map(json.dumps, rows), "not json", '{"url": null, "at": "2024-01-01T00:00:00Z"}']
    (tmp_path / "in" / "a.json").write_text("\n".join(lines) + "\n")
    found = load_project(tmp_path)
    config = replace(found.config, namespace=lake.namespace, warehouse=warehouse_of(spark))
    return replace(found, config=config)


def test_a_source_feeds_views_and_its_bad_rows_are_kept(
    spark: Any, lake: Any, project: Project
) -> None:
    for _ in range(2):  # the second run finds nothing to do
        assert Supervisor(project, spark=spark).run(once=True, end_of_input=True) == 0
        assert lake.table("homes").read().count() == 3
        hours = lake.table("per_hour").read().collect()
        assert [row["n"] for row in hours] == [1] * 6
        reasons = {row["reason"] for row in lake.table("clicks__quarantine").read().collect()}
        assert len(reasons) == 2
        assert any("NULL" in reason for reason in reasons)


def test_a_source_that_is_mostly_refused_is_told(spark: Any, project: Project) -> None:
    file = project.config.directory / "in" / "a.json"
    file.write_text("no json\n" * 9)
    told: list[object] = []
    assert Supervisor(project, spark=spark, progress=told.append).run(once=True) == 0
    (warned,) = [each for each in told if isinstance(each, Warned)]
    assert warned.message.startswith('source "clicks" refuses ')
    assert "(100.0%); see clicks__quarantine" in warned.message


def test_without_bad_rows_a_source_is_read_once(spark: Any, project: Project) -> None:
    file = project.config.directory / "in" / "a.json"
    file.write_text("".join(f"{line}\n" for line in file.read_text().splitlines()[:6]))
    file.with_name("b.json.tmp").write_text("half a li")  # still being written
    assert Supervisor(project, spark=spark).run(once=True, end_of_input=True) == 0
    assert not (quarantine_state(project) / "checkpoint").exists()
    assert not list(project.config.state.glob("*/*/careful"))


def test_bad_rows_that_wait_are_kept_after_a_crash(
    spark: Any, lake: Any, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as crashed:  # the views are published, the quarantine never starts
        crashed.setattr(SourceQuarantine, "check", lambda self: None)
        crashed.setattr(SourceQuarantine, "exhausted", True)
        assert Supervisor(project, spark=spark).run(once=True, end_of_input=True) == 0
    assert lake.table("clicks__quarantine").read().count() == 0
    (quarantine_state(project) / "waiting").write_text("")  # the crash cut the mark short
    assert Supervisor(project, spark=spark).run(once=True, end_of_input=True) == 0
    assert lake.table("clicks__quarantine").read().count() == 2
    assert not (quarantine_state(project) / "waiting").exists()


def test_what_a_kill_left_half_written_stops_no_query(
    spark: Any, lake: Any, project: Project
) -> None:
    """Spark begins no query whose first record was never finished: its folder is not empty."""
    incoming = project.config.directory / "in"
    incoming.rename(incoming.with_name("later"))
    incoming.mkdir()
    assert Supervisor(project, spark=spark).run(once=True, end_of_input=True) == 0
    (quarantine_state(project) / "checkpoint" / "offsets").mkdir(parents=True)
    logs = list(project.config.state.glob("*/*/checkpoint/offsets"))
    assert len(logs) == 3
    for log in logs:
        (log / ".0.b25c7946-2097-4933-abb1-a06e154e21da.tmp").write_text("v1\n{")
    incoming.rmdir()
    incoming.with_name("later").rename(incoming)
    assert Supervisor(project, spark=spark).run(once=True, end_of_input=True) == 0
    assert lake.table("homes").read().count() == 3
    assert lake.table("clicks__quarantine").read().count() == 2


def test_on_error_fail_publishes_nothing_beside_a_bad_row(
    spark: Any, lake: Any, project: Project
) -> None:
    file = project.config.directory / "views.sql"
    file.write_text(SQL.replace("ENCODE JSON;", "ENCODE JSON ON ERROR FAIL;"))
    found = replace(load_project(project.config.directory), config=project.config)
    assert Supervisor(found, spark=spark).run(once=True, end_of_input=True) == 3
    assert lake.table("homes").read().count() == 0


def test_a_line_that_is_not_flat_makes_the_view_read_carefully(
    spark: Any, lake: Any, project: Project
) -> None:
    assert Supervisor(project, spark=spark).run(once=True, end_of_input=True) == 0
    line = '{"url": "/", "at": "2024-01-01T09:00:00Z"'
    more = [f'{line}, "other": {{"x": 1}}}}', f'{line}}} {{"url": "/b"}}', f"[{line}}}]"]
    (project.config.directory / "in" / "b.json").write_text("\n".join(more))
    assert Supervisor(project, spark=spark).run(once=True, end_of_input=True) == 0
    assert len(list(project.config.state.glob("*/*/careful"))) == 2
    assert lake.table("homes").read().count() == 3 + 1
    bad = lake.table("clicks__quarantine").read().where("_path = 'b.json'")
    assert sorted(row["raw"].decode() for row in bad.collect()) == sorted(more[1:])


def test_rows_on_which_an_expression_fails_can_be_left_out(
    spark: Any, lake: Any, project: Project
) -> None:
    folder = project.config.directory
    select = "SELECT CAST(substr(url, 2) AS INTEGER) AS n, at FROM clicks"
    old = "homes AS SELECT url, at FROM clicks WHERE url = '/'"
    (folder / "views.sql").write_text(SQL.replace(old, f"homes ON ERROR DROP AS {select}"))
    (folder / "in" / "b.json").write_text('{"url": "/7", "at": "2024-01-01T09:00:00Z"}\n')
    found = replace(load_project(folder), config=project.config)
    assert Supervisor(found, spark=spark).run(once=True, end_of_input=True) == 0
    assert [row["n"] for row in lake.table("homes").read().collect()] == [7]


def test_late_rows_are_told_and_not_said_to_be_none(
    spark: Any, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    assert Supervisor(project, spark=spark).run(once=True, end_of_input=True) == 0
    assert "late rows" not in caplog.text
    lines = ['{"url": "/", "at": "2024-01-01T00:40:00Z"}'] * 2
    (project.config.directory / "in" / "b.json").write_text("\n".join(lines))
    assert Supervisor(project, spark=spark).run(once=True, end_of_input=True) == 0
    assert 'view "per_hour": dropped at least 1 late rows of clicks in epoch' in caplog.text
    assert 'view "homes"' not in caplog.text
    late = {each.name: each.late for each in status(project)}
    assert late == {"homes": None, "per_hour": None}


def test_a_file_name_that_is_a_pattern_is_refused(spark: Any, lake: Any, project: Project) -> None:
    (project.config.directory / "in" / "[a].json").write_text("{}\n")
    assert Supervisor(project, spark=spark).run(once=True, end_of_input=True) == 3
    assert lake.table("homes").read().count() == 0


def quarantine_state(project: Project) -> Path:
    return project.config.state / "clicks__quarantine" / "v1"
