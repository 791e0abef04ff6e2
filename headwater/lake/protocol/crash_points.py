"""Named points at which a fault test can kill this process, its JVM, or both.

In: the environment variable ``HEADWATER_CRASH_POINT``, ``name[@table][:nth[:victim]]``.
Out: nothing, or SIGKILL when the named point is reached for the nth time; before it, one line in
the file that ``HEADWATER_CRASH_REPORT`` names, so that a test can prove that its fault fired.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from pathlib import Path

VARIABLE = "HEADWATER_CRASH_POINT"
REPORT = "HEADWATER_CRASH_REPORT"

_reached: Counter[str] = Counter()
_lock = threading.Lock()


def crash_point(name: str, table: str = "") -> None:
    """Kill here if a fault test asked for it; otherwise do nothing.

    Args:
        name: name of the point; ``headwater.lake.protocol.commit.CRASH_POINTS`` has the protocol's.
        table: the table that is being committed, for faults that aim at one.
    """
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    point, nth, victim = (*wanted.split(":"), "", "")[:3]
    if point not in (name, f"{name}@{table}"):
        return
    with _lock:
        _reached[point] += 1
        if _reached[point] == int(nth or 1):
            _report(f"{name} {table}")
            _kill(victim or "python")


def _report(line: str) -> None:
    if path := os.environ.get(REPORT):
        with Path(path).open("a", encoding="utf-8") as report:
            report.write(line + "\n")


def _kill(victim: str) -> None:
    if victim == "group":
        os.killpg(os.getpgrp(), signal.SIGKILL)
    elif victim == "jvm":
        from pyspark import SparkContext

        os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)  # type: ignore[union-attr]  # noqa: SLF001
    else:
        os.kill(os.getpid(), signal.SIGKILL)
