"""Threads that land tables and keep views, each started again when it fails.

In: an object per table, streaming view, or for all incremental views, that works step by step.
Out: its states on the board. A failure costs the worker a growing pause, never another worker; an
error that only a person can solve ends the worker and says so.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from headwater.engine.incremental.tick import Ticks
from headwater.engine.incremental.view import IncrementalView
from headwater.engine.streaming.quarantine import SourceQuarantine
from headwater.engine.streaming.query import StreamingView
from headwater.errors import HeadwaterError
from headwater.intake.land import Landing
from headwater.lake.protocol.commit_lock import CommitLock
from headwater.runtime.backoff import BackOff, classify_failure, waits_for
from headwater.runtime.board import Board
from headwater.runtime.commit_events import told
from headwater.runtime.events import EpochLanded, RunState, StateChanged
from headwater.runtime.table_clocks import PeerCoordinator, TableClocks

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
                    self.upkeep.run_if_due(self.gate)
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
        _let_go()
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


class LandingWorker(Worker):
    """Lands one table; ends when its input ends, if it does.

    Args:
        landing: reads the lake again by itself after a failure.
        once: whether to end when nothing is left.
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
        clocks: TableClocks | None = None,
    ) -> None:
        super().__init__(name, board, back_off, poll)
        self._landing = landing
        self._once = once
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
        if landed is None:
            return True if self._peers.while_no_rows_wait() else (None if self._once else False)
        self._peers.tell()
        # Small epochs one after another would take every turn of a busy machine. What comes
        # meanwhile is one larger epoch.
        caught_up = not (self._once or landed.backlog)
        self.rest = time.monotonic() - began if caught_up else 0.0
        return True

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


Query = TypeVar("Query", StreamingView, SourceQuarantine)


class StreamWorker(Worker, Generic[Query]):
    """Keeps one streaming view, or the quarantine of one SOURCE.

    Args:
        make: makes it, in the worker's thread.
    """

    def __init__(
        self,
        name: str,
        board: Board,
        back_off: BackOff,
        poll: float,
        *,
        make: Callable[[], Query],
    ) -> None:
        super().__init__(name, board, back_off, poll)
        self._make: Callable[[], Query] = make
        self._furthest = -1
        self.view: Query | None = None

    @property
    def gate(self) -> CommitLock:
        """Where the query's batches pass, in a thread of their own."""
        return self.view.gate if self.view else self._gate

    def open(self) -> None:
        """Start the query."""
        self.view = self._make()
        self.view.start()

    def step(self) -> bool:
        """Write the heartbeats that are due; notice a failure.

        Returns:
            Whether it has come further than ever: a new start or a replay is no progress.
        """
        assert self.view is not None
        self.view.check()
        if isinstance(self.view, StreamingView):
            self._board.measure(self.name, self.view.waiting)
        before, self._furthest = self._furthest, max(self._furthest, self.view.epoch)
        return self._furthest > before

    def shut(self) -> None:
        """Finish the running batch and stop the query."""
        if self.view:
            self.view.stop()


class TickWorker(Worker):
    """Keeps all incremental views by ticks.

    Args:
        makers: view → what opens it, in topological order.
        reads: view → the other views of the ticks that it reads.
        back_offs: view → its pauses.
    """

    def __init__(
        self,
        board: Board,
        poll: float,
        *,
        ticks: Callable[[], Ticks],
        makers: Mapping[str, Callable[[], IncrementalView]],
        reads: Mapping[str, Sequence[str]],
        back_offs: Callable[[], BackOff],
    ) -> None:
        self._makers, self._reads = makers, reads
        super().__init__("tick", board, back_offs(), poll)
        self.keeps = list(makers)
        self._make_ticks = ticks
        self._back_offs = {name: back_offs() for name in makers}
        self._due: dict[str, float] = {}
        self._ticks: Ticks | None = None
        self._pins: Mapping[str, int] = {}
        self.views: dict[str, IncrementalView] = {}

    def open(self) -> None:
        """Open what pins the inputs."""
        self._ticks = self._make_ticks()
        self._pins = {}

    def step(self) -> bool:
        """Run one tick, if an input has a new snapshot or a view is to be started again."""
        assert self._ticks is not None
        opened = self._open_due()
        pins = self._ticks.pin()
        if not opened and pins == self._pins:
            return False
        result = self._ticks.run(self._taking_part(), pins)
        self._pins = pins
        for committed in result.committed:
            self._back_offs[committed.view].worked()
            self._board.tell(told(committed))
        for name, error in result.failed.items():
            self._failed(name, error)
        return bool(result.committed)

    def shut(self) -> None:
        """End the threads of the ticks."""
        if self._ticks:
            self._ticks.close()

    def _taking_part(self) -> list[IncrementalView]:
        """Return the open views of which all that they read takes part, or is open elsewhere."""
        taking: dict[str, IncrementalView] = {}
        for name in self._makers:
            if name in self.views and all(read in taking for read in self._reads[name]):
                taking[name] = self.views[name]
        return list(taking.values())

    def waits_for_stopped(self, name: str) -> bool:
        """Return whether a view that this one reads has stopped for good; the next step says so."""
        return self._stopped_among(self._reads[name]) is not None

    def _stopped_among(self, names: Sequence[str]) -> tuple[str, HeadwaterError] | None:
        failures = self._board.failures()
        return next(((each, failures[each]) for each in names if each in failures), None)

    def _stopped_input(self, name: str) -> bool:
        """Give a view up, and say so, if a view that it reads has stopped for good."""
        stopped = self._stopped_among(self._reads[name])
        if stopped is None:
            return False
        self.views.pop(name, None)
        error = waits_for(*stopped)
        self._board.tell(StateChanged(name, RunState.FAILED, error))
        return True

    def _open_due(self) -> bool:
        """Open the views that are not open and whose pause is over; whether there was one."""
        opened = False
        for name, make in self._makers.items():
            if self._board.state(name) is RunState.FAILED or self._stopped_input(name):
                continue
            if name in self.views or self._due.get(name, 0) > time.monotonic():
                continue
            if name in self._due:
                _let_go()
            try:
                self.views[name] = make()
            except Exception as error:  # noqa: BLE001 - one view's failure is not another's
                self._failed(name, error)
                continue
            opened = True
            self._board.tell(StateChanged(name, RunState.RUNNING))
        return opened

    def _failed(self, name: str, error: Exception) -> None:
        self.views.pop(name, None)
        said, pause = classify_failure(name, error, self._back_offs[name])
        if pause is None:
            self._board.tell(StateChanged(name, RunState.FAILED, said))
        else:
            self._due[name] = time.monotonic() + pause
            self._board.tell(StateChanged(name, RunState.BACKING_OFF, said, pause))

    def _say(
        self, state: RunState, error: HeadwaterError | None = None, retry_in: float | None = None
    ) -> None:
        if state is RunState.RUNNING:
            return  # each view says so when it is open
        for name in self._makers:
            if self._board.state(name) is not RunState.FAILED:
                self._board.tell(StateChanged(name, state, error, retry_in))


def _let_go() -> None:
    """Free the Spark session of what failed: the JVM has it until Python finds the cycle around."""
    gc.collect()
