"""A supervised thread, started again when it fails.

In: an object that works step by step. Out: its states on the board. A failure costs the worker a
growing pause, never another worker; an error that only a person can solve ends the worker and says
so.
"""

from __future__ import annotations

import gc
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from headwater.errors import HeadwaterError
from headwater.lake.protocol.commit_lock import CommitLock
from headwater.runtime.backoff import BackOff, classify_failure
from headwater.runtime.board import Board
from headwater.runtime.events import RunState, StateChanged

if TYPE_CHECKING:
    from headwater.runtime.maintenance_job import MaintenanceSchedule

log = logging.getLogger(__name__)


class Worker(ABC):
    """One supervised thread.

    Args:
        poll: seconds between two looks for something to do.

    Attributes:
        keeps: the tables or views that it commits to.
        upkeep: maintains them between two steps, if set.
        rest: seconds that it leaves to other workers after a step that did something.
    """

    def __init__(self, name: str, board: Board, back_off: BackOff, poll: float) -> None:
        self.name = name
        self._board = board
        self._back_off = back_off
        self._poll = poll
        self._stopping = threading.Event()
        self._failed_for_good = False
        self._gate = CommitLock()
        self.upkeep: MaintenanceSchedule | None = None
        self.rest = 0.0
        self.keeps = [name]
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._say(RunState.STARTING)
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to finish what it is doing and to end."""
        self._stopping.set()

    @property
    def alive(self) -> bool:
        """Whether the thread is working, or waiting to start again."""
        return self._thread.is_alive()

    def join(self) -> None:
        """Wait for the end of the thread."""
        if self._thread.ident is not None:
            self._thread.join()

    @property
    def gate(self) -> CommitLock:
        """Where commits to its tables pass; a step commits, unless the worker says otherwise."""
        return self._gate

    @property
    def busy(self) -> Collection[str]:
        """What of :attr:`keeps` may be committed to between two steps."""
        return ()

    @abstractmethod
    def open(self) -> None:
        """Make ready; called again after a failure."""

    @abstractmethod
    def step(self) -> bool | None:
        """Do one piece of work.

        Returns:
            Whether there was something to do; None if there never will be again.
        """

    @abstractmethod
    def shut(self) -> None:
        """Finish what is running and release it."""

    def _run(self) -> None:
        opened = False
        while not self._stopping.is_set():
            try:
                if not opened:
                    self.open()
                    opened = True
                    self._say(RunState.RUNNING)
                with self._gate.commit():
                    worked = self.step()
                if worked is None:
                    break
                if self.upkeep:
                    self.upkeep.run_if_due(self.gate, committed=worked, busy=self.busy)
                if worked:
                    self._back_off.worked()
                self._stopping.wait(self.rest if worked else self._poll)
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not end the process
                opened = False
                self._quietly(self.shut)
                if self._stopping.is_set() or not self._pause(error):
                    break
        self._quietly(self.shut)
        if not self._failed_for_good:
            self._say(RunState.STOPPED if self._stopping.is_set() else RunState.DONE)

    def _pause(self, error: Exception) -> bool:
        """Wait before the next start; False if there will be none."""
        said, pause = classify_failure(self.name, error, self._back_off)
        if pause is None:
            self._failed_for_good = True
            self._say(RunState.FAILED, said)
            return False
        self._say(RunState.BACKING_OFF, said, pause)
        ended = self._stopping.wait(pause)
        let_go()
        return not ended

    def _say(
        self, state: RunState, error: HeadwaterError | None = None, retry_in: float | None = None
    ) -> None:
        self._board.tell(StateChanged(self.name, state, error, retry_in))

    def _quietly(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception:  # noqa: BLE001 - it is being given up anyway
            log.info("%s: while stopping", self.name, exc_info=True)


def let_go() -> None:
    """Free the Spark session of what failed: the JVM has it until Python finds the cycle around."""
    gc.collect()
