"""``quarantine list``: what waits, by reason and row by row."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from fake_lake import TABLES, UTC_MICROS, FakeLake, make_lake

from headwater.cli.main import main
from headwater.errors import ConfigError
from headwater.runtime.lease import Lease
from headwater.serve.quarantine import bad_rows, waiting

AT = datetime(2026, 1, 1, tzinfo=UTC)
BAD = pa.schema(
    {
        "_arrived_at": UTC_MICROS,
        "reason": pa.string(),
        "raw": pa.binary(),
        "_path": pa.string(),
        "_row": pa.int64(),
    }
)


@pytest.fixture
def bad(lake: FakeLake) -> FakeLake:
    lake.create("clicks__quarantine", BAD)
    reasons = ["not valid JSON: {", "not valid JSON: [", "user_id is NULL, but NOT NULL"]
    rows = [
        {
            "_arrived_at": AT + timedelta(minutes=row),
            "reason": reason,
            "raw": b"\xff{" if row == 1 else b"{",
            "_path": "a.json",
            "_row": row,
        }
        for row, reason in enumerate(reasons)
    ]
    lake.append("clicks__quarantine", rows)
    return lake


def test_reasons_that_differ_in_a_value_are_one(bad: FakeLake) -> None:
    json_rows, null_rows = waiting(bad.project)
    assert (json_rows.table, json_rows.reason, json_rows.rows) == ("clicks", "not valid JSON", 2)
    assert (json_rows.first, json_rows.last) == (AT, AT + timedelta(minutes=1))
    assert (null_rows.rows, null_rows.example) == (1, "a.json:2")


def test_rows_come_newest_first_with_bytes_that_are_no_text_escaped(bad: FakeLake) -> None:
    newest, middle = bad_rows(bad.project, ["clicks"], 2)
    assert (newest.place, newest.arrived_at) == ("a.json:2", AT + timedelta(minutes=2))
    assert middle.raw == "\\xFF{"


def test_the_command_prints_it(bad: FakeLake, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(bad.project.config.directory)
    assert main(["--project", folder, "quarantine", "list", "--output", "json"]) == 0
    assert [row["rows"] for row in json.loads(capsys.readouterr().out)] == [2, 1]


def test_an_unknown_table_is_refused(bad: FakeLake) -> None:
    with pytest.raises(ConfigError) as error:
        waiting(bad.project, ["nothing"])
    assert error.value.condition == "UNKNOWN_TABLE"


WITH_A_SOURCE = f"""{TABLES}
CREATE SOURCE passing (id BIGINT) WITH (connector = 'files', path = 'p') FORMAT PLAIN ENCODE JSON;
"""
REFUSED = {
    "passing": ("REPLAY_NOT_POSSIBLE", "CREATE TABLE instead of CREATE SOURCE"),
    "per_user": ("REPLAY_NOT_POSSIBLE", "are still in its inputs"),
    "nothing": ("UNKNOWN_TABLE", "the tables are: clicks\n"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_only_rows_of_a_landed_table_are_decoded_again(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_lake(tmp_path, WITH_A_SOURCE)
    condition, says = REFUSED[name]
    assert main(["--project", str(tmp_path), "quarantine", "replay", name]) == 2
    error = capsys.readouterr().err
    assert error.startswith(condition) and says in error


@pytest.mark.parametrize("dry_run", [[], ["--dry-run"]])
def test_a_replay_is_refused_while_the_project_runs(
    bad: FakeLake, dry_run: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(bad.project.config.directory)
    with Lease.acquire(bad.project.config):
        assert main(["--project", folder, "quarantine", "replay", "clicks", *dry_run]) == 3
    error = capsys.readouterr().err
    assert error.startswith("ALREADY_RUNNING") and f"by process {os.getpid()} on host" in error


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quarantine"]) == 2
    found = capsys.readouterr()
    assert found.err.startswith("Usage: headwater quarantine")
    assert "quarantined rows of a table" in found.err
