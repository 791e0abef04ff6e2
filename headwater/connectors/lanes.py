"""Which lanes of an input hold the watermark back although no rows of them wait.

In: when rows of a lane were last there. Out: the lanes whose last rows are no older than the IDLE
TIMEOUT. Without one, none.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import timedelta


class LaneClock:
    """Remembers when rows of each lane were last there, by the monotonic clock."""

    def __init__(self, timeout: timedelta | None) -> None:
        self._timeout = timeout.total_seconds() if timeout else 0.0
        self._seen: dict[str, float] = {}

    def saw(self, lanes: Iterable[str], age: float = 0.0) -> None:
        """Note that rows of some lanes were there.

        Args:
            lanes: their names.
            age: how many seconds ago.
        """
        at = time.monotonic() - age
        for lane in lanes:
            self._seen[lane] = max(at, self._seen.get(lane, at))

    def awake(self, lanes: Iterable[str]) -> set[str]:
        """Return those of some lanes that are not idle; one that is new is not idle yet."""
        if not self._timeout:
            return set()
        now = time.monotonic()
        return {each for each in lanes if now - self._seen.setdefault(each, now) < self._timeout}
