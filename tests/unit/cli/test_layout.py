"""What commands print fits 80 and 120 columns, and loses nothing by it."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import NoReturn

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.cli.layout import columns_of, fitted, wrapped
from headwater.cli.main import main
from headwater.cli.output import TableOutput
from headwater.errors import SqlError
from headwater.errors.words import about, count, duration, moment
from headwater.lake.protocol.marker import Marker
from headwater.testing.spark_judge import SparkJudge
from tests.unit.deploy.changed_lake import BIGINT, TEXT, Lake

WIDTHS = (80, 120)
VIEW = """\
CREATE STREAMING VIEW clicks_of_every_user_with_all_their_scores
COMMENT 'a long definition'
AS
SELECT user_id, count(*) AS clicks, max(score) AS highest_score_of_the_user,
 array_agg(score ORDER BY ts) AS scores_in_the_order_of_time, max_by(score, ts) AS latest_score,
 min_by(score, ts) AS earliest_score, count_if(score > 1) AS clicks_with_a_score_above_one
FROM clicks WHERE user_id IS NOT NULL AND score IS NOT NULL GROUP BY user_id;
CREATE STREAMING VIEW first_clicks AS SELECT user_id, ts, score FROM
 (SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY score) AS n FROM clicks) WHERE n <= 3;
CREATE STREAMING VIEW loudest AS SELECT user_id, high FROM
 (SELECT user_id, max(score) AS high FROM clicks GROUP BY user_id) WHERE high > 100;
"""
LONG = "clicks_of_every_user_with_all_their_scores"
COMMANDS = (
    "check",
    "status",
    "plan",
    "plan --diff",
    "verify",
    "doctor",
    f"explain {LONG}",
    "explain first_clicks",
    f"versions {LONG}",
    "versions loudest",
    f"why {LONG} user_id=1",
    f"why --not {LONG} user_id=99",
    "why --not loudest user_id=1",
    "quarantine list",
    "explain-error DATA_LOSS",
    "functions approx_percentile",
    "sql 'SELECT * FROM clicks'",
    "sql 'SELECT * FROM \"clicks$snapshots\"'",
    f"sql 'SELECT *, * FROM {LONG}'",
)
SCHEMA = {
    "user_id": BIGINT,
    "clicks": BIGINT,
    "highest_score_of_the_user": TEXT,
}


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with rows, one of whose views was applied with another definition."""
    folder = tmp_path_factory.mktemp("wide")
    lake = Lake(folder, VIEW)
    lake.land("clicks", 1, 2, 3)
    lake.write("loudest", {"user_id": BIGINT, "high": TEXT})
    lake.write(LONG, SCHEMA, {"user_id": 1, "clicks": 2, "highest_score_of_the_user": "1.5"})
    lake.commit(LONG, {"user_id": 2, "clicks": 2, "highest_score_of_the_user": "1.5"}, version=2)
    file = folder / "project.sql"
    file.write_text(file.read_text().replace("count(*) AS clicks", "count(*) + 1 AS clicks"))
    return folder


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_fits(
    changed: Path,
    command: str,
    width: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import shlex

    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(SparkJudge, "compare", _cannot)  # what DuckDB cannot run, neither can it
    main(["--project", str(changed), *shlex.split(command)])
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if len(line) > width] == []


def _cannot(*_: object) -> NoReturn:
    raise SqlError("QUERY_REFUSED", "the table has columns of other types")


def test_every_command_is_asked_how_wide_it_is() -> None:
    """A command that prints a table or prose stands above, or its tables have few columns."""
    from headwater.cli.main import cli

    asked = {command.split()[0] for command in COMMANDS}
    few = {"init", "dev", "cut", "pause", "resume", "import", "dashboards", "relocate"}
    no_table = {"console", "trino", "superset", "stack", "jars", "rollback"}
    starts_spark = {"run", "apply", "maintain", "test"}
    assert set(cli.commands) == asked | few | no_table | starts_spark


def test_a_definition_is_never_cut(
    changed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    main(["--project", str(changed), "versions", LONG])
    assert "clicks_with_a_score_above_one" in capsys.readouterr().out
    main(["--project", str(changed), "explain", LONG, "--sql"])
    out = capsys.readouterr().out
    assert "…" not in out and "scores_in_the_order_of_time" in out


def test_what_breaks_ties_is_left_to_the_sql(
    changed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--project", str(changed), "explain", "first_clicks"])
    shown = capsys.readouterr().out
    assert "order score, …: n := ROW_NUMBER()" in re.sub(r"\s+", " ", shown)
    main(["--project", str(changed), "explain", "first_clicks", "--sql"])
    assert "…" not in capsys.readouterr().out


def test_without_a_terminal_a_line_has_120_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert TableOutput(io.StringIO(), io.StringIO()).width == 120
    monkeypatch.setenv("COLUMNS", "97")
    assert TableOutput(io.StringIO(), io.StringIO()).width == 97


WORDS = st.sampled_from(["", "a", "a few words", "é長 " * 9, "word " * 30, "x" * 70, "two\nlines"])
ROWS = st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=50)
@given(ROWS, st.integers(40, 130))
def test_no_word_is_lost_or_broken(rows: list[tuple[str, str, str]], width: int) -> None:
    columns = columns_of(("name", "what", "why"), rows)
    lines, out = fitted(columns, width, below=("why",))
    shown = "\n".join(lines).split()
    assert not out
    for row in rows:
        for word in " ".join(row).split():
            assert word in shown


@pytest.mark.parametrize("width", WIDTHS)
def test_what_gives_way_first(width: int) -> None:
    rows = [["a", "x" * 30, "some words " * 12, "y" * 20, "z" * 20]]
    columns = columns_of(("name", "id", "text", "one", "two"), rows)
    lines, out = fitted(columns, width, below=("text",), spare=("two", "one"))
    assert max(map(len, lines)) <= width
    assert out == (["two"] if width == 80 else [])
    assert any(line.startswith("   text  some words") for line in lines)


def test_a_row_that_fits_in_no_table_is_a_record() -> None:
    columns = columns_of(("one", "two", "three"), [["x" * 50, "y" * 50, "z"], ["1", "2", ""]])
    assert fitted(columns, 80)[0] == [
        f" one    {'x' * 50}",
        f" two    {'y' * 50}",
        " three  z",
        "",
        " one    1",
        " two    2",
        " three",
    ]


def test_the_lines_of_a_tree_go_on_beside_its_branches() -> None:
    text = "├─ Scan  " + "word " * 20 + "\n└─ Scan  " + "word " * 20
    lines = wrapped(text, 60)
    assert [line[:8] for line in lines] == ["├─ Scan ", "│      w", "└─ Scan ", "       w"]


def test_control_characters_reach_no_terminal() -> None:
    lines, _ = fitted(columns_of(("a",), [["x\x1b[2Jy\rz"]]), 80)
    assert lines[-1] == " x[2Jyz"


def test_numbers_durations_and_times_as_people_write_them() -> None:
    assert [count(number, "commit") for number in (0, 1, 2500)] == [
        "0 commits",
        "1 commit",
        "2,500 commits",
    ]
    assert count(2, "entry", "entries") == "2 entries"
    assert [about(each) for each in (0, 0.4, 59.9, 60, 272, 3600, 90_000, 31_000_000)] == [
        *("0 s", "0 s", "59 s", "1 min 0 s", "4 min 32 s", "1 h 0 min"),
        *("1 d 1 h", "358 d 19 h"),
    ]
    from datetime import UTC, datetime, timedelta

    assert duration(timedelta(days=1, hours=12)) == "1 d 12 h"
    assert moment(datetime(2026, 1, 1, 10, 0, 0, 1000, tzinfo=UTC)) == "2026-01-01 10:00:00"
    assert moment(1_000_000) == "1970-01-01 00:00:01"


def test_why_not_shows_nothing_of_headwaters_own(
    changed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--project", str(changed), "why", "--not", "loudest", "user_id=1", "--output", "json"])
    said = capsys.readouterr().out
    assert "removed" in said
    assert not re.findall(r'"_(?!path|row|change|watermark)\w+"', said)


def test_status_says_how_to_read_a_table_that_is_behind_its_view(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = Lake(tmp_path, "CREATE STREAMING VIEW v AS SELECT user_id FROM clicks;")
    minute = 60_000_000
    lake.fake.append("clicks", [], Marker("clicks", 1, 0, {}, {}, watermark=10 * minute))
    cut = {"clicks": str(lake.fake.snapshot("clicks"))}
    lake.fake.create("v", pa.schema({"user_id": BIGINT}))
    lake.fake.append("v", [], Marker("v", 1, 0, {}, cut, watermark=52 * minute))
    main(["--project", str(tmp_path), "status"])
    said = capsys.readouterr()
    assert "1970-01-01 00:10:00" in said.out and "1970-01-01 00:52:00" in said.out
    assert "watermark of clicks: the one that its newest epoch was judged by" in said.err
