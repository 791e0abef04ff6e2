"""The sinks of a running project: a worker for each, told of no one but the board.

In: the sinks, and what opens one. Out: running workers; whether all have delivered what there is.
A sink that fails, as its broker is down, costs its own worker pauses and disturbs no view.
"""

from __future__ import annotations

from collections.abc import Callable

from headwater.engine.delivery import Delivery
from headwater.runtime.backoff import BackOff
from headwater.runtime.board import Board
from headwater.runtime.commit_events import resumed
from headwater.runtime.events import ViewDelivered
from headwater.runtime.workers.worker import Worker


class SinkWorker(Worker):
    """Delivers one sink.

    Args:
        make: opens its delivery, in the worker's thread.
    """

    def __init__(
        self,
        name: str,
        board: Board,
        back_off: BackOff,
        poll: float,
        *,
        make: Callable[[], Delivery],
    ) -> None:
        super().__init__(name, board, back_off, poll)
        self._make = make
        self._delivery: Delivery | None = None

    def open(self) -> None:
        """Open the delivery."""
        self._delivery = self._make()
        if event := resumed(self.name, self._delivery.table):
            self._board.tell(event)

    def stop(self) -> None:
        """Ask the thread to end; a delivery that takes long ends early."""
        super().stop()
        if delivery := self._delivery:
            delivery.interrupt()

    def step(self) -> bool:
        """Deliver what waits."""
        assert self._delivery is not None
        if self._stopping.is_set():  # since before there was anything to interrupt
            return False
        done = self._delivery.step()
        if done is not None:
            marker = done.marker
            self._board.tell(ViewDelivered(marker.view, marker.epoch, marker.cut_to, done.seconds))
        return done is not None

    def shut(self) -> None:
        """Nothing is held open between two deliveries."""
        self._delivery = None

    def has_delivered(self, upto: int) -> bool:
        """Return whether everything up to a snapshot of the view is delivered, or never will be.

        Args:
            upto: the snapshot.
        """
        delivery = self._delivery
        return not self.alive or (delivery is not None and delivery.delivered == upto)
