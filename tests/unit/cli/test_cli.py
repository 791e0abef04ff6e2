"""Every command as exit code, output and error stream; HEADWATER_REWRITE_GOLDEN=1 rewrites."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import headwater
from headwater.cli.main import main

# Programs started by a test find the package that the test imports, installed or not.
ENVIRON = os.environ | {"PYTHONPATH": str(Path(headwater.__file__).parents[1])}
GOLDEN = Path(__file__).parents[2] / "golden" / "cli"

BROKEN = """\
CREATE STREAMING VIEW a AS SELECT prodct FROM orders;
CREATE STREAMING VIEW b AS SELECT rand() AS r FROM orders;
CREATE STREAMING VIEW c AS SELECT 1 FROM nowhere;
CREATE VIEW d AS SELECT 1;
"""

CASES = {
    "help": "--help",
    "help_of_a_command": "sql --help",
    "version": "--version",
    "unknown_command": "chekc",
    "unknown_option": "check --fast",
    "missing_argument": "explain",
    "wrong_choice": "check --output xml",
    "init_refuses_a_folder_with_files": "init .",
    "check": "check",
    "check_json": "check --output json",
    "check_csv": "--output csv check",
    "check_one_file_of_several": "check sources.sql",
    "check_a_file_that_is_not_there": "check nothing.sql",
    "explain_streaming": "explain orders_per_hour",
    "explain_incremental": "explain product_totals",
    "explain_sql": "explain product_totals --sql",
    "explain_at_rest": "explain orders_per_hour --at-rest trino",
    "explain_json": "explain busy_hours --output json",
    "explain_unknown_view": "explain order_per_hour",
    "explain_a_table": "explain orders",
    "explain_json_error": "explain order_per_hour --output json",
    "sql_before_the_first_run": "sql 'SELECT * FROM orders'",
    "sql_unknown_table": "sql 'SELECT * FROM order'",
    "sql_is_no_query": "sql 'DELETE FROM orders'",
    "sql_syntax_error": "sql 'SELECT a FRM orders'",
    "sql_without_tables": "sql \"SELECT 1 AS one, NULL AS nothing, 'a' AS text, TRUE AS yes\"",
    "sql_json": "sql \"SELECT 1 AS one, 1.50 AS price, NULL AS n, x'00ff' AS b\" --output json",
    "sql_csv": "sql \"SELECT 1 AS one, NULL AS n, 'a,b' AS text\" --output csv",
    "sql_on_trino": "sql 'SELECT 1' --engine trino",
    "status_before_the_first_run": "status",
    "status_json": "status --output json",
    "verify_before_the_first_run": "verify",
    "why_before_the_first_run": "why product_totals product=apple",
    "why_without_a_value": "why product_totals apple",
    "why_not_without_values": "why --not product_totals",
    "verify_json": "verify --output json",
    "verify_unknown_view": "verify nope",
    "verify_snapshot_of_all": "verify --snapshot 1",
    "run_unknown_view": "run --once --view nope",
    "maintain_unknown_view": "maintain nope",
    "test_without_files": "test empty",
    "explain_error": "explain-error not_kept",
    "explain_error_json": "explain-error UNKNOWN_FUNCTION --output json",
    "explain_error_unknown": "explain-error DISK_FUL",
    "functions_by_name": "functions base64",
    "functions_elsewhere": "functions charindex",
    "functions_json": "functions from_hex --output json",
    "functions_unknown": "functions nothing_like_it",
    "help_of_dashboards": "dashboards push --help",
    "dashboards_without_trino": "dashboards push",
    "project_without_settings": "--project empty check",
}


@pytest.fixture
def project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    folder = tmp_path / "shop"
    assert main(["init", str(folder)]) == 0
    (folder / "empty").mkdir()
    monkeypatch.chdir(folder)
    capsys.readouterr()
    return folder


def transcript(command: str, code: int, out: str, err: str, folder: Path) -> str:
    text = f"$ headwater {command}\nexit {code}\n--- stdout\n{out}--- stderr\n{err}"
    text = text.replace(str(folder.resolve()), "/project").replace(
        str(folder.parent.resolve()), "/tmp"
    )
    return re.sub(r"headwater \d+\.\d+\S*", "headwater VERSION", text)


def compare(name: str, found: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("HEADWATER_REWRITE_GOLDEN") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found)
    assert found == path.read_text()


@pytest.mark.parametrize("name", CASES)
def test_command(name: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(shlex.split(CASES[name]))
    out, err = capsys.readouterr()
    compare(name, transcript(CASES[name], code, out, err, project))


@pytest.mark.parametrize("format_", ["table", "json"])
def test_every_error_of_every_file_is_reported(
    format_: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "broken.sql").write_text(BROKEN)
    (project / "views.sql").write_text("CREATE STREAMING VIEW e AS SELECT order_id FRO orders;\n")
    command = f"check --output {format_}"
    code = main(shlex.split(command))
    out, err = capsys.readouterr()
    compare(f"check_errors_{format_}", transcript(command, code, out, err, project))


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SELECT order_id FROM orders ORDER BY order_id", True),
        ("SELECT order_id FROM orders UNION SELECT order_id FROM orders ORDER BY 1", True),
        ("SELECT order_id FROM orders ORDER BY order_id LIMIT 3", False),
        ("SELECT order_id FROM (SELECT order_id FROM orders ORDER BY order_id) AS o", False),
    ],
)
def test_check_says_that_a_table_keeps_no_order(
    query: str, told: bool, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "more.sql").write_text(f"CREATE STREAMING VIEW more AS {query};\n")
    assert main(["check"]) == 0
    assert ("more: a table has no order" in capsys.readouterr().err) is told


def test_a_sink_is_counted_and_shown_before_it_delivers(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "sinks.sql").write_text(
        "CREATE SINK totals_out FROM product_totals WITH (connector = 'kafka', topic = 'out',"
        " bootstrap_servers = 'localhost:9092') FORMAT UPSERT ENCODE JSON;\n"
    )
    assert main(["check"]) == 0
    assert ", 1 sink" in capsys.readouterr().err
    assert main(["status", "--output", "csv"]) == 0
    assert "totals_out,sink,new," in capsys.readouterr().out


def test_init_says_what_it_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "My Shop"
    code = main(["init", str(folder)])
    out, err = capsys.readouterr()
    compare("init", transcript("init 'My Shop'", code, out, err, folder))


def test_a_project_is_found_from_a_folder_below(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project / "tests")
    assert main(["check", "--output", "csv"]) == 0
    assert "orders_per_hour" in capsys.readouterr().out


def test_without_a_project_there_is_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["check"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("NO_PROJECT") and "headwater init DIR" in err


def test_run_says_what_java_is_missing_before_anything_starts(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from headwater.machine import java

    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(java.find_java, "__defaults__", (None, (), "no_such_package"))
    assert main(["run", "--once"]) == 3
    err = capsys.readouterr().err
    assert err.startswith("JAVA_MISSING") and err.count("\n") <= 2
    assert not (project / ".headwater").exists()


def test_a_traceback_is_shown_only_with_debug(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "nope"]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert main(["--debug", "explain", "nope"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_an_unexpected_error_is_one_line_and_exit_3(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("headwater.plan.planner.read_project", fail)
    assert main(["check"]) == 3
    err = capsys.readouterr().err
    assert err.startswith("INTERNAL_ERROR — an internal error\n")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from headwater.cli.main import main; main(['--help']);"
        "heavy = {'pyspark', 'duckdb', 'rich', 'sqlglot', 'pyarrow', 'pyiceberg', 'pydantic'};"
        "sys.exit(','.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRON, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_check_imports_no_engine(project: Path) -> None:
    code = (
        "import sys; from headwater.cli.main import main; main(['check']);"
        "heavy = {'pyspark', 'py4j', 'duckdb', 'pyarrow', 'pyiceberg'};"
        "sys.exit(','.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRON, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_output_to_a_closed_pipe_is_no_error(project: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m headwater sql 'SELECT 1 AS a' --output csv | true"
    done = subprocess.run(command, shell=True, env=ENVIRON, capture_output=True, text=True)
    assert done.stderr == ""
