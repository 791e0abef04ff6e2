"""The project that ``headwater init`` makes, from its first run to a law that is broken by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog

import headwater
from headwater.cli.main import main

ENVIRON = os.environ | {
    "PYTHONPATH": str(Path(headwater.__file__).parents[1]),
    "HEADWATER_SPARK_MASTER": "local[2]",
}


def headwater_process(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command that starts Spark: in a process of its own, as a user does."""
    command = [sys.executable, "-m", "headwater", *arguments]
    return subprocess.run(command, cwd=folder, env=ENVIRON, capture_output=True, text=True)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("end to end") / "shop"
    assert main(["init", str(folder)]) == 0
    done = headwater_process(folder, "run", "--once", "--end-of-input")
    assert done.returncode == 0, done.stderr
    assert "landed orders" in done.stderr and "maintained busy_hours" in done.stderr
    return folder


@pytest.fixture
def ask(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(project)

    def answer(*arguments: str) -> tuple[int, Any]:
        code = main([*arguments, "--output", "json"])
        return code, json.loads(capsys.readouterr().out)

    return answer


def test_the_tables_hold_the_rows(ask: Any) -> None:
    assert ask("sql", "SELECT count(*) AS n FROM orders") == (0, [{"n": 10000}])
    assert ask("sql", "SELECT sum(orders) AS n FROM product_totals") == (0, [{"n": 10000}])
    _, hours = ask("sql", "SELECT window_start, orders FROM orders_per_hour ORDER BY 1")
    assert [hour["window_start"] for hour in hours] == sorted(h["window_start"] for h in hours)
    assert sum(hour["orders"] for hour in hours) == 10000


def test_hidden_state_is_not_in_a_star(ask: Any) -> None:
    _, rows = ask("sql", "SELECT * FROM product_totals")
    assert not [name for name in rows[0] if name.startswith("_")]


def test_status_counts_the_rows(ask: Any) -> None:
    code, rows = ask("status")
    found = {row["name"]: row for row in rows}
    assert code == 0 and {row["state"] for row in rows} == {"stopped"}
    assert found["orders"]["out"] == found["product_totals"]["in"] == 10000
    assert {row["lag"] for row in rows if row["kind"] == "view"} == {0}


def test_every_view_equals_its_select_at_rest(ask: Any) -> None:
    code, rows = ask("verify")
    assert (code, {row["result"] for row in rows}) == (0, {"equal"})


def test_the_law_holds_at_every_commit(ask: Any) -> None:
    for view in ("orders_per_hour", "product_totals", "busy_hours"):
        of_epochs = "max_by(snapshot_id, committed_at) AS id"
        source = f'"{view}$snapshots" WHERE epoch IS NOT NULL GROUP BY epoch'
        _, commits = ask("sql", f"SELECT {of_epochs} FROM {source}")
        assert commits
        for commit in commits:
            code, (row,) = ask("verify", view, "--snapshot", str(commit["id"]))
            assert (code, row["result"]) == (0, "equal"), row


def test_a_second_run_does_nothing_twice(project: Path, ask: Any) -> None:
    assert headwater_process(project, "run", "--once", "--end-of-input").returncode == 0
    assert ask("sql", "SELECT count(*) AS n FROM orders") == (0, [{"n": 10000}])
    assert ask("verify")[0] == 0


def test_the_example_tests_pass(project: Path) -> None:
    done = headwater_process(project, "test")
    assert done.returncode == 0, done.stdout + done.stderr


def test_verify_turns_red_after_a_row_is_deleted_by_hand(project: Path, ask: Any) -> None:
    warehouse = project / ".headwater" / "warehouse"
    catalog = SqlCatalog(
        "lake", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=warehouse.as_uri()
    )
    table = catalog.load_table(("shop", "orders_per_hour"))
    with warnings.catch_warnings():
        # PyIceberg says that it rewrites files where the table asks for merge on read
        warnings.simplefilter("ignore")
        table.delete("window_start = '2024-01-01T00:00:00+00:00'")
    code, rows = ask("verify", "orders_per_hour", "product_totals")
    assert code == 1
    assert [row["result"] for row in rows] == ["different", "equal"]
    assert (rows[0]["surplus"], rows[0]["missing"]) == (0, 1)
    assert rows[0]["missing_rows"][0]["window_start"] == "2024-01-01 00:00:00Z"
