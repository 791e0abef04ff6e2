"""Named points at which a fault test can kill this process.

In: the environment variable ``HEADWATER_CRASH_POINT``, ``name`` or ``name:nth``.
Out: nothing, or the end of the process by SIGKILL when the named point is reached for the nth time.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter

VARIABLE = "HEADWATER_CRASH_POINT"

_reached: Counter[str] = Counter()
_lock = threading.Lock()


def crash_point(name: str) -> None:
    """Kill this process here if a fault test asked for it; otherwise do nothing.

    Args:
        name: name of the point; ``headwater.lake.commit.CRASH_POINTS`` has the protocol's.
    """
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    point, _, nth = wanted.partition(":")
    if point != name:
        return
    with _lock:
        _reached[name] += 1
        if _reached[name] == int(nth or 1):
            os.kill(os.getpid(), signal.SIGKILL)
