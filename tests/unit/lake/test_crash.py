"""Crash points kill the process where a fault test asks for it, and nowhere else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

PROGRAM = """
from headwater.lake.protocol.crash_points import crash_point
for step in range(3):
    crash_point("5-staged", "orders")
    print(step, flush=True)
"""


@pytest.mark.parametrize(
    ("wanted", "printed", "code"),
    [
        ("", "0\n1\n2\n", 0),
        ("5-published", "0\n1\n2\n", 0),
        ("5-staged", "", -signal.SIGKILL),
        ("5-staged:3", "0\n1\n", -signal.SIGKILL),
        ("5-staged@orders:2", "0\n", -signal.SIGKILL),
        ("5-staged@others", "0\n1\n2\n", 0),
        ("5-staged:2:group", "0\n", -signal.SIGKILL),
    ],
)
def test_process_dies_at_the_named_point_the_nth_time(tmp_path, wanted, printed, code):
    report = tmp_path / "report"
    environ = os.environ | {"HEADWATER_CRASH_POINT": wanted, "HEADWATER_CRASH_REPORT": str(report)}
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environ,
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert (ended.stdout, ended.returncode) == (printed, code)
    assert report.exists() == (code != 0)
