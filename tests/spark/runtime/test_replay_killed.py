"""``headwater quarantine replay`` as a process of its own, killed between its two commits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import headwater
from headwater.cli.main import main
from headwater.lake.protocol.crash_points import REPORT, VARIABLE
from headwater.plan.planner import plan_project
from headwater.project import Project, load_project
from headwater.runtime.supervisor import Supervisor
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of

pytestmark = pytest.mark.spark

SQL = """
CREATE TABLE orders (id INTEGER, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON {options};
CREATE STREAMING VIEW seen AS SELECT id, ts FROM orders;
CREATE STREAMING VIEW totals AS SELECT id % 2 AS odd, count(*) AS n FROM orders GROUP BY id % 2;
"""
LINES = (
    '{"id":1,"ts":"2013-01-01T05:00:00Z"}\n'
    '{"id":2,"ts":"01.02.2013 06:00"}\n'
    "bad\n"
    '{"id":4,"ts":"02.02.2013 06:00"}\n'
)


@pytest.fixture
def define(spark: Any, lake: Any, tmp_path: Path) -> Callable[[str], Project]:
    """Write the project, which has its tables where the shared session has its own."""
    where = f'namespace = "{lake.namespace}"\n[warehouse]\npath = "{warehouse_of(spark)}"'
    settings = f'name = "shop"\n{where}\n[spark]\nmaster = "local[2]"\n'
    (tmp_path / "headwater.toml").write_text(settings)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text(LINES)

    def write(options: str) -> Project:
        (tmp_path / "views.sql").write_text(SQL.format(options=options))
        return load_project(tmp_path)

    return write


def replay(folder: Path, kill: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in a process group of its own, and kill that group at a crash point."""
    environ = os.environ | {"PYTHONPATH": str(Path(headwater.__file__).parents[1])}
    if kill:
        environ |= {VARIABLE: f"{kill}:1:group", REPORT: str(folder / "fired")}
    command = ("--output", "json", "quarantine", "replay", "orders")
    return subprocess.run(
        [sys.executable, "-m", "headwater", "--project", str(folder), *command],
        env=environ, capture_output=True, text=True, check=False, start_new_session=True,
    )  # fmt: skip


def asked(folder: Path, capsys: pytest.CaptureFixture[str], *command: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["--project", str(folder), *command, "--output", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_each_row_is_in_the_table_once(
    spark: Any,
    define: Callable[[str], Project],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert Supervisor(define(""), spark=spark).run(once=True, end_of_input=True) == 0
    groups = asked(tmp_path, capsys, "quarantine", "list")
    assert [(group["rows"], group["example"][:7]) for group in groups] == [
        (2, "a.json:"),
        (1, "a.json:"),
    ]

    project = define("(timestamp_format = 'dd.MM.yyyy HH:mm')")
    killed = replay(tmp_path, "5-published@orders")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert (tmp_path / "fired").read_text() == "5-published orders\n"
    # a reader may see a row in both, never in neither
    query = "SELECT id FROM orders ORDER BY id"
    assert [row["id"] for row in asked(tmp_path, capsys, "sql", query)] == [1, 2, 4]
    assert len(asked(tmp_path, capsys, "quarantine", "list", "--rows", "9")) == 3

    again = replay(tmp_path)
    assert again.returncode == 0, again.stderr
    (done,) = json.loads(again.stdout)
    assert (done["waiting"], done["landed"], done["still_bad"]) == (1, 0, 1)
    (left,) = asked(tmp_path, capsys, "quarantine", "list", "--rows", "9")
    assert (left["place"], left["raw"]) == ("a.json:2", "bad")

    assert Supervisor(project, spark=spark).run(once=True, end_of_input=True) == 0
    for table in ("orders", "seen"):
        query = f"SELECT id FROM {table} ORDER BY id"
        assert [row["id"] for row in asked(tmp_path, capsys, "sql", query)] == [1, 2, 4]
    results = verify(project, plan_project(project.catalog), ())
    assert {result.verdict for result in results} == {Verdict.EQUAL}
    (orders, *_) = asked(tmp_path, capsys, "status")
    assert (orders["rows"], orders["quarantined"]) == (3, 1)
