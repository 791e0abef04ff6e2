"""PyIceberg, Polars and DuckDB read a view while it is written: always a whole commit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot
from sqlalchemy.exc import OperationalError

import headwater
from headwater.project import Project, load_project
from headwater.serve.embedded import Embedded
from jobs.demos.read import READERS, load
from tests.support.waiting import wait_for

ROOT = Path(headwater.__file__).parents[1]
DEFINITIONS = """
CREATE TABLE orders (customer BIGINT, amount BIGINT)
WITH (connector = 'files', path = 'in', max_files_per_epoch = 1) FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW revenue AS
SELECT customer, count(*) AS orders, sum(amount) AS revenue FROM orders GROUP BY customer;
"""
CUSTOMERS, ROWS, FILES = 400, 50, 400
WITHIN = 180.0


def files(folder: Path) -> None:
    (folder / "in").mkdir()
    for number in range(FILES):
        rows = ({"customer": (number * 7 + n * 13) % CUSTOMERS, "amount": n} for n in range(ROWS))
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "in" / f"{number:03}.json").write_text(text)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Project]:
    (tmp_path / "headwater.toml").write_text('name = "shop"')
    (tmp_path / "views.sql").write_text(DEFINITIONS)
    files(tmp_path)
    environ = os.environ | {
        "PYTHONPATH": str(ROOT),
        "HEADWATER_SPARK_MASTER": "local[2]",
        "HEADWATER_RUN_RECOMPUTE_BELOW": "0",  # rows are replaced by MERGE, not by an overwrite
    }
    command = [sys.executable, "-m", "headwater", "run"]
    log = (tmp_path / "log").open("w")
    with log, subprocess.Popen(command, cwd=tmp_path, env=environ, stderr=log) as process:
        yield load_project(tmp_path)
        process.send_signal(signal.SIGTERM)
        assert process.wait(WITHIN) == 0, (tmp_path / "log").read_text()


def loaded(project: Project, commits: int) -> tuple[Table, Snapshot]:
    """The view, once it has some commits."""

    def look() -> tuple[Table, Snapshot] | None:
        try:
            table = load(project.root, "revenue")
        except (NoSuchTableError, OperationalError):  # nor, maybe, a whole catalog
            table = None
        snapshot = table.current_snapshot() if table else None
        if (
            table
            and snapshot
            and len(table.snapshots()) > commits
            and "headwater.epoch"
            in (snapshot.summary.additional_properties if snapshot.summary else {})
        ):
            return table, snapshot
        return None

    what = f"{commits} commits, see {project.root / 'log'}"
    found = wait_for(look, what, within=WITHIN, every=0.2)
    assert found is not None
    return found


def rows(found: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, (row.values() for row in found.select(COLUMNS).to_pylist())))


COLUMNS = ["customer", "orders", "revenue"]


def test_each_read_is_a_whole_commit(running: Project) -> None:
    seen: dict[int, list[tuple[Any, ...]]] = {}
    deletes = 0
    for number in range(12):
        for name, read in READERS.items():
            table, snapshot = loaded(running, 1 + number)
            deletes += sum(len(task.delete_files) for task in table.scan().plan_files())
            found = rows(read(table))
            assert sum(orders for _, orders, _ in found) % ROWS == 0, name
            assert seen.setdefault(snapshot.snapshot_id, found) == found, name
    assert len(seen) > 5, "it was not written meanwhile"
    assert deletes, "no row was replaced in place"
    for snapshot_id, found in seen.items():
        query = f"SELECT {', '.join(COLUMNS)} FROM revenue FOR VERSION AS OF {snapshot_id}"
        with Embedded(running).query(query) as result:
            assert sorted(result.rows) == found


def test_the_script_shows_what_each_reads(running: Project) -> None:
    loaded(running, 2)
    command = [sys.executable, ROOT / "jobs" / "demos" / "read.py", running.root, "revenue"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    for name in READERS:
        assert f"{name}, snapshot " in done.stdout
    assert "revenue" in done.stdout
    assert "┆ _" not in done.stdout
