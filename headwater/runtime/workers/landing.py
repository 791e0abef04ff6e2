"""The worker that lands one table, epoch by epoch."""

from __future__ import annotations

import time

from headwater.intake.land import Landing
from headwater.runtime.backoff import BackOff
from headwater.runtime.board import Board
from headwater.runtime.events import EpochLanded, RunState
from headwater.runtime.table_clocks import PeerCoordinator, TableClocks
from headwater.runtime.workers.worker import Worker


class LandingWorker(Worker):
    """Lands one table; ends when its input ends, if it does.

    Args:
        landing: reads the lake again by itself after a failure.
        once: whether to end when nothing is left.
        trigger: seconds from the begin of an epoch to that of the next, unless as much waits as
            it took.
        clocks: how far the tables have come that are read with it.
    """

    def __init__(
        self,
        name: str,
        board: Board,
        back_off: BackOff,
        poll: float,
        *,
        landing: Landing,
        once: bool,
        trigger: float = 0.0,
        clocks: TableClocks | None = None,
    ) -> None:
        super().__init__(name, board, back_off, poll)
        self._landing = landing
        self._once = once
        self._trigger = trigger
        self._has_read_all = False
        self._peers = PeerCoordinator(name, landing, clocks or TableClocks({}, {}), board)

    def open(self) -> None:
        """Tell how far the table has come."""
        self._peers.tell()

    def step(self) -> bool | None:
        """Land the next epoch, unless the table is too far ahead of others."""
        if self._peers.is_ahead():
            return False
        began = time.monotonic()
        landed = land_next(self._landing, self._board)
        self._board.measure(self.name, self._landing.waiting())
        self._board.count_changed(self.name, self._landing.changed)
        self._has_read_all |= landed is None or not landed.backlog
        if landed is None:
            return True if self._peers.while_no_rows_wait() else (None if self._once else False)
        self._peers.tell()
        # Small epochs one after another would take every turn of a busy machine. What comes
        # meanwhile is one larger epoch.
        caught_up = not self._once and landed.backlog < landed.units
        took = time.monotonic() - began
        self.rest = max(took, self._trigger - took) if caught_up else 0.0
        return True

    @property
    def caught_up(self) -> bool:
        """Whether it has once landed all that there was, or has ended."""
        return self._has_read_all or not self.alive

    def follow(self) -> None:
        """Let an idle table follow others that have ended, once its own thread has."""
        if self._board.state(self.name) is not RunState.FAILED:
            self._peers.while_no_rows_wait(hurry=True)

    def shut(self) -> None:
        """Let go of the input's servers."""
        self._peers.leave()
        self._landing.connector.close()


def land_next(landing: Landing, board: Board) -> EpochLanded | None:
    """Land the next epoch of a table, tell it and return what was told; None if there is none.

    Args:
        board: where to tell it.
    """
    began = time.monotonic()
    result = landing.step()
    if result is None:
        return None
    landed = EpochLanded(
        landing.source.name,
        result.epoch,
        result.rows_out,
        result.quarantined,
        result.dropped,
        result.lost,
        result.units,
        landing.backlog(),
        result.watermark,
        result.snapshot_id,
        time.monotonic() - began,
    )
    board.tell(landed)
    return landed
