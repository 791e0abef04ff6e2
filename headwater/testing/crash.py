"""A process that is meant to die: one tick of an ``.slt`` file's project, with a crash point set.

The process is :mod:`headwater.testing.doomed_tick`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import headwater
from headwater.lake.protocol.crash_points import VARIABLE

TIMEOUT = 300.0
"""Seconds after which a process that neither died nor ended is given up."""


def crash_a_tick(folder: Path, namespace: str, warehouse: Path, point: str) -> str:
    """Run one tick in a process of its own and let it die at a crash point.

    Args:
        folder: folder of the project.
        namespace: namespace of its tables.
        warehouse: where they are.
        point: the crash point, as in ``HEADWATER_CRASH_POINT``.

    Returns:
        An empty string if it died there, otherwise what happened instead.
    """
    package = str(Path(headwater.__file__).parents[1])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "headwater.testing.doomed_tick",
            str(folder),
            namespace,
            str(warehouse),
        ],
        env=os.environ | {VARIABLE: point, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    if done.returncode == -signal.SIGKILL:
        return ""
    if done.returncode == 0:
        return f'the crash point "{point}" was not reached'
    return f"the process ended with {done.returncode} before it could die:\n{done.stderr[-2000:]}"
