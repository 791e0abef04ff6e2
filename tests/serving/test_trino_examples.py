"""Every example project is equal to its SELECTs in Trino, by the command that a user gives.

The shop, which needs PostgreSQL and Kafka, is in ``tests/services/test_shop_stack.py``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.config.settings import load_config
from headwater.serve.trino.catalog import properties
from headwater.servers.leftover import temporary_stack
from headwater.servers.trino import TrinoServer
from jobs.demos.seed import seed

pytestmark = pytest.mark.services

ROOT = Path(__file__).parents[2]
HEADWATER = [sys.executable, "-m", "headwater"]


def flights(folder: Path) -> None:
    ignored = shutil.ignore_patterns(".headwater", "data")
    shutil.copytree(ROOT / "sql" / "flights", folder, ignore=ignored)
    seed(folder)
    for table in ("departures", "landings"):
        for file in sorted((folder / "data" / table).iterdir())[8:]:
            file.unlink()  # eight weeks are enough


def template(folder: Path) -> None:
    subprocess.run([*HEADWATER, "init", folder], check=True, cwd=ROOT)


@pytest.mark.parametrize("make", [flights, template], ids=lambda make: make.__name__)
def test_an_example_is_equal_in_trino(make, tmp_path: Path) -> None:
    folder = tmp_path / make.__name__
    make(folder)
    of_project = [*HEADWATER, "--project", str(folder)]
    subprocess.run(
        [*of_project, "run", "--once", "--end-of-input"], check=True, cwd=ROOT, timeout=900
    )
    config = load_config(folder)
    with temporary_stack() as stack, TrinoServer(stack, {"lake": properties(config)}) as server:
        environ = os.environ | {"HEADWATER_TRINO_URL": server.address}
        verify = [*of_project, "verify", "--engine", "trino", "--output", "csv"]
        done = subprocess.run(verify, env=environ, cwd=ROOT, capture_output=True, text=True)
    rows = done.stdout.splitlines()[1:]
    assert (done.returncode, done.stderr) == (0, "")
    assert rows
    assert {row.split(",")[1] for row in rows} == {"equal"}
