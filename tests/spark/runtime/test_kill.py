"""SIGKILL while the flights run, at steps of the commit and at no step at all: the same tables."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import headwater
from headwater.cli.main import main
from headwater.lake.protocol.crash_points import VARIABLE

pytestmark = pytest.mark.spark

FLIGHTS = Path(headwater.__file__).parents[1] / "sql" / "flights"
KILLS = ("5-staged:3", "4-sides:6", "5-published:9", "random")
FILES, ROWS = 6, 400


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The flights project on a few short files: a landing follows its departure by two hours."""
    for file in FLIGHTS.glob("*.sql"):
        (tmp_path / file.name).write_text(file.read_text())
    settings = (FLIGHTS / "headwater.toml").read_text()
    (tmp_path / "headwater.toml").write_text(
        settings.replace("max_files_per_epoch = 2", "max_files_per_epoch = 1")
    )
    random.seed(7)
    for number in range(FILES):
        _write_day(tmp_path / "data", number)
    return tmp_path


def _write_day(data: Path, day: int) -> None:
    departures, landings = [], []
    for row in range(ROWS):
        minute = random.randrange(24 * 60)
        late = random.choice((0, 5, 40, 700))
        flight = {"flight_id": day * ROWS + row, "dest": random.choice(("IAH", "BOS"))}
        at = f"2013-01-{day + 1:02}T{minute // 60:02}:{minute % 60:02}:00Z"
        departures.append(
            flight | {"carrier": "UA", "origin": "JFK", "tailnum": f"N{row % 50}"}
            | {"scheduled": at, "delay": late}
        )  # fmt: skip
        landings.append(flight | {"scheduled": at, "delay": late, "air_time": 120})
    for table, events in (("departures", departures), ("landings", landings)):
        folder = data / table
        folder.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(event) + "\n" for event in events)
        (folder / f"{day}.json").write_text(lines)


def run(project: Path, kill: str | None) -> int:
    """Run the project in a process of its own and kill it as asked; return its exit status."""
    environ = os.environ | {"PYTHONPATH": str(FLIGHTS.parents[1])}
    if kill and kill != "random":
        environ[VARIABLE] = kill
    command = [
        sys.executable,
        "-m",
        "headwater",
        "--project",
        str(project),
        "run",
        "--once",
        "--end-of-input",
    ]
    process = subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    commits = 0
    for line in process.stdout:
        commits += line.startswith(("kept", "landed"))
        if kill == "random" and commits == 2:
            os.killpg(process.pid, signal.SIGKILL)
            break
    process.stdout.close()
    status = process.wait()
    if status:  # the JVM of a killed driver must not go on writing
        subprocess.run(["pkill", "-9", "-g", str(process.pid)], check=False)
    return status


def test_kills_at_any_moment_end_in_the_same_tables(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kill in KILLS:
        assert run(project, kill) == -signal.SIGKILL, f"{kill} did not fire"
    assert run(project, None) == 0
    assert main(["--project", str(project), "verify", "--output", "json"]) == 0
    capsys.readouterr()
    for table in ("departures", "landings", "journeys"):
        query = f"SELECT count(*) AS n, count(DISTINCT flight_id) AS ids FROM {table}"
        assert main(["--project", str(project), "sql", query, "--output", "json"]) == 0
        assert json.loads(capsys.readouterr().out) == [{"n": FILES * ROWS, "ids": FILES * ROWS}]
