"""``quarantine list``: what waits, by reason and row by row."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from fake_lake import UTC_MICROS, FakeLake

from headwater.cli.main import main
from headwater.errors import ConfigError
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
