"""The worker of one query of Structured Streaming: a streaming view, or a SOURCE's quarantine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from headwater.engine.streaming.quarantine import SourceQuarantine
from headwater.engine.streaming.query import StreamingView
from headwater.lake.protocol.commit_lock import CommitLock
from headwater.runtime.backoff import BackOff
from headwater.runtime.board import Board
from headwater.runtime.workers.worker import Worker

Query = TypeVar("Query", StreamingView, SourceQuarantine)


class StreamWorker(Worker, Generic[Query]):
    """Keeps one streaming view, or the quarantine of one SOURCE.

    Args:
        make: makes it, in the worker's thread.
        paused: whether it is to stand still.
    """

    def __init__(
        self,
        name: str,
        board: Board,
        back_off: BackOff,
        poll: float,
        *,
        make: Callable[[], Query],
        paused: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(name, board, back_off, poll)
        self._make: Callable[[], Query] = make
        self._paused = paused
        self._furthest = -1
        self.view: Query | None = None

    @property
    def gate(self) -> CommitLock:
        """Where the query's batches pass, in a thread of their own."""
        return self.view.gate if self.view else self._gate

    def open(self) -> None:
        """Start the query, unless it is paused."""
        if self._paused():
            return
        self.view = self._make()
        self.view.start()

    def step(self) -> bool:
        """Write the heartbeats that are due; notice a failure.

        Returns:
            Whether it has come further than ever: a new start or a replay is no progress.
        """
        if self.view is None:
            self.open()
        elif self._paused():
            self.shut()
            self.view = None
        if self.view is None:
            return False
        self.view.check()
        if isinstance(self.view, StreamingView):
            self._board.measure(self.name, self.view.waiting)
        before, self._furthest = self._furthest, max(self._furthest, self.view.epoch)
        return self._furthest > before

    @property
    def has_come(self) -> bool:
        """Whether it has a commit."""
        return self._furthest >= 0

    def shut(self) -> None:
        """Finish the running batch and stop the query."""
        if self.view:
            self.view.stop()
