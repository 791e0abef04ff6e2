"""What something costs, in a measure that no machine changes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(run: Callable[[], object]) -> int:
    """Return how many lines of Python something runs: what it costs on every machine."""
    count = 0

    def line(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        run()
    finally:
        sys.settrace(before)
    return count
