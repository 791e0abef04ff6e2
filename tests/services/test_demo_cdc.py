"""``make demo-cdc`` ends with PostgreSQL and the lake equal, whatever is killed meanwhile."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jobs.demos.cdc.pipeline import SERVERS
from jobs.demos.servers.postgres import is_installed

pytestmark = pytest.mark.services

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not is_installed(), reason="no PostgreSQL is installed")
def test_both_sides_are_equal_after_each_process_was_killed() -> None:
    kills = [argument for name in SERVERS for argument in ("--kill", name)]
    command = [
        sys.executable,
        "-m",
        "jobs.demos.demo_cdc",
        "--seconds",
        "40",
        "--rate",
        "25",
        *kills,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in SERVERS:
        assert f"killing {name}, " in done.stdout
        assert f"{name} has ended" in done.stdout
    assert "PostgreSQL and the lake are equal" in done.stdout
