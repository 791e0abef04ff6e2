"""When the input of a table is idle: no rows have come for the IDLE TIMEOUT.

In: when rows came. Out: whether the input is idle, and which of its lanes hold the watermark back.
The clock decides here and nowhere else; what it decided is in the marker of an epoch without rows.
"""

from __future__ import annotations

import math
import time
from typing import Any

from headwater.analyze.definitions import Source
from headwater.connectors.contract import Connector, HasIdleLanes
from headwater.lake.protocol.history import Commit
from headwater.lake.protocol.marker import Marker

_PACES = 10
"""Epochs without rows per IDLE TIMEOUT, at most, by which an idle table follows others."""


class IdleWatch:
    """Watches the input of one landed table. Without an IDLE TIMEOUT it is never idle."""

    def __init__(self, source: Source, connector: Connector[Any]) -> None:
        timeout = source.watermark.idle_timeout if source.watermark else None
        self._timeout = timeout.total_seconds() if timeout else math.inf
        self._source, self._connector = source, connector
        self._rows_at = self._followed_at = -math.inf

    def resume(self, commit: Commit | None) -> None:
        """Go on from the newest commit: rows came when it was made, unless it says otherwise."""
        now = time.monotonic()
        if commit is None:
            self._rows_at = now
            return
        age = max(0.0, time.time() - commit.at / 1000)
        self._rows_at = now - (self._timeout if commit.marker.idle else age)
        if isinstance(self._connector, HasIdleLanes) and self.watches:
            position = commit.marker.cut_to.get(self._source.name)
            self._connector.resume(position, commit.marker.waiting, age)

    @property
    def watches(self) -> bool:
        """Whether the table has an IDLE TIMEOUT."""
        return self._timeout < math.inf

    def saw_rows(self) -> None:
        """Note that rows have come."""
        self._rows_at = time.monotonic()

    @property
    def is_idle(self) -> bool:
        """Whether no rows have come for the IDLE TIMEOUT."""
        return self.watches and time.monotonic() - self._rows_at >= self._timeout

    def may_follow(self) -> bool:
        """Return whether it is time for another epoch without rows; then the next is a while off.

        A table may be idle for days, and each epoch is a commit.
        """
        now = time.monotonic()
        if now - self._followed_at < max(1.0, self._timeout / _PACES):
            return False
        self._followed_at = now
        return True

    def holding(self, last: Marker) -> tuple[str, ...]:
        """Return the lanes that hold the watermark back now that no rows wait.

        Args:
            last: the newest marker.
        """
        if not isinstance(self._connector, HasIdleLanes):
            return last.waiting
        now = self._connector.holding(last.cut_to.get(self._source.name))
        return tuple(lane for lane in last.waiting if lane in now)
