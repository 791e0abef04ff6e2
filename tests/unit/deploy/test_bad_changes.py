"""Changes that cannot be made end with one line, before anything is started or changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.cli.main import main
from headwater.deploy import requests, rollback
from headwater.errors import EXIT_BAD_INPUT, EXIT_NO, EXIT_SERVICE
from headwater.lake.reserved_names import definition_of, version_tag
from headwater.runtime.lease import Lease
from tests.unit.deploy.changed_lake import BIGINT, Lake

VIEWS = "CREATE STREAMING VIEW v AS SELECT user_id FROM clicks;\n"
SINK = (
    "CREATE SINK s FROM v WITH (connector = 'kafka', bootstrap_servers = 'b:9092', topic = 't')"
    " FORMAT PLAIN ENCODE JSON;\n"
)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """A view with an earlier version; nothing may open Spark."""
    found = Lake(tmp_path, VIEWS)
    found.land("clicks", 1)
    found.write("v", {"user_id": BIGINT}, {"user_id": 1})
    table = found.fake.catalog.load_table((found.fake.project.config.namespace, "v"))
    table.manage_snapshots().create_tag(found.fake.snapshot("v"), version_tag(1)).commit()
    with table.transaction() as change:
        change.set_properties({definition_of(1): VIEWS})
    found.land("clicks", 2)
    found.commit("v", {"user_id": 1}, version=2)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rollback, "project_session", None)
    return found


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that was written, and its hint."""
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if line.strip()]
    assert not out and sum(" — " in line for line in lines) == 1, err
    return " ".join(lines)


def test_a_rollback_to_a_version_whose_inputs_have_expired(
    lake: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    table = lake.fake.catalog.load_table((lake.fake.project.config.namespace, "clicks"))
    first = table.metadata.snapshots[0].snapshot_id
    table.maintenance.expire_snapshots().by_id(first).commit()
    assert main(["rollback", "v"]) == EXIT_SERVICE
    text = said(capsys)
    assert "SNAPSHOT_EXPIRED" in text and f'snapshot {first} of "clicks"' in text
    assert "headwater apply" in text


def test_a_rollback_to_a_version_whose_input_is_gone(
    lake: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    lake.fake.catalog.drop_table((lake.fake.project.config.namespace, "clicks"))
    assert main(["rollback", "v"]) == EXIT_SERVICE
    text = said(capsys)
    assert '"clicks", from which "v" would go on, is gone or has another name' in text


def test_a_rollback_to_a_version_whose_files_are_gone(
    lake: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    table = lake.fake.catalog.load_table((lake.fake.project.config.namespace, "v"))
    first = table.metadata.snapshots[0].snapshot_id
    (task,) = table.scan(snapshot_id=first).plan_files()
    Path(task.file.file_path.removeprefix("file://")).unlink()
    assert main(["rollback", "v"]) == EXIT_SERVICE
    text = said(capsys)
    assert "SNAPSHOT_EXPIRED" in text and 'version 1 of "v" lacks 1 of its files' in text


def test_a_file_is_deleted_while_its_view_feeds_a_sink(
    lake: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    root = lake.fake.project.root
    (root / "sinks.sql").write_text(SINK)
    (root / "project.sql").write_text(lake.tables)
    before = lake.fake.snapshot("v")
    for command in (["plan"], ["apply", "--auto-approve"], ["run", "--once"]):
        assert main(command) in (EXIT_BAD_INPUT, EXIT_NO)
        text = said(capsys)
        assert "sinks.sql:1" in text and '"v"' in text
    assert lake.fake.snapshot("v") == before


def test_a_project_that_runs_elsewhere(
    lake: Lake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its plan can be seen; to apply it is for the process that runs it."""
    monkeypatch.setattr(requests, "HEARD_WITHIN", 0.05)
    (lake.fake.project.root / "project.sql").write_text(
        lake.tables + VIEWS.replace("FROM clicks", "FROM clicks WHERE user_id > 1")
    )
    lease = Lease.acquire(lake.fake.project.config)
    try:
        assert main(["plan", "--output", "csv"]) == EXIT_NO
        assert "WHERE differs" in capsys.readouterr().out
        assert main(["apply", "--auto-approve", "--output", "csv"]) == EXIT_SERVICE
        assert "ALREADY_RUNNING" in capsys.readouterr().err
        assert main(["rollback", "v"]) == EXIT_SERVICE
        assert "ALREADY_RUNNING" in said(capsys)
    finally:
        lease.release()


def test_nobody_says_yes(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    lake.changed(VIEWS.replace("FROM clicks", "FROM clicks WHERE user_id > 1"))
    assert main(["apply", "--output", "csv"]) == EXIT_BAD_INPUT
    assert "NOT_APPROVED" in said(capsys)
