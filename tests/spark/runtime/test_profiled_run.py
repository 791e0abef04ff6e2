"""``run --profile`` of a real project: a trace of three levels, and CPU seconds that add up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import headwater

PROJECT = """
CREATE TABLE numbers (id BIGINT)
WITH (connector = 'datagen', number_of_rows = 100, fields.id.kind = 'sequence');
CREATE STREAMING VIEW total AS SELECT sum(id) AS ids FROM numbers;
"""


def test_a_run_is_profiled_from_its_start_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").write_text('name = "p"\n')
    (tmp_path / "numbers.sql").write_text(PROJECT)
    command = [sys.executable, "-m", "headwater", "--output", "json"]
    command += ["run", "--once", "--profile", "trace.json"]
    environ = os.environ | {"PYTHONPATH": str(Path(headwater.__file__).parents[1])}
    run = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = {each["name"] for each in events if each["ph"] == "X"}
    assert {"land.Landing.step", "view.IncrementalView.step", "commit.commit"} <= names
    lanes = {each["args"]["name"] for each in events if each["name"] == "thread_name"}
    assert {"numbers", "tick", "statements 1", "jobs 1", "tasks 1"} <= lanes
    assert "<html" in (tmp_path / "trace.html").read_text()
    work = {each["work"]: float(each["starting_cpu_s"]) for each in json.loads(run.stdout)}
    assert work.pop("all") > 1
    assert {"Python", "planning", "tasks", "Iceberg metadata"} <= work.keys()
