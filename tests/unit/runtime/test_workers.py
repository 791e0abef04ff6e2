"""What workers do with what failed."""

from __future__ import annotations

import gc
import threading
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from headwater.intake.epoch import StepResult
from headwater.intake.land import Landing
from headwater.runtime.backoff import BackOff
from headwater.runtime.board import Board
from headwater.runtime.events import RunState
from headwater.runtime.workers import landing as landing_module
from headwater.runtime.workers import sinks
from headwater.runtime.workers.landing import LandingWorker
from headwater.runtime.workers.worker import Worker
from tests.support.waiting import FakeClock


class Opened:
    """Like a view with its Spark session: only the cycle around it holds it."""

    def __init__(self) -> None:
        self.itself = self


class FailsOnce(Worker):
    """Fails in its first step, and looks in its second start whether what failed is still there."""

    first: weakref.ref[Opened] | None = None
    freed: bool | None = None

    def open(self) -> None:
        if self.first is None:
            self.first = weakref.ref(Opened())
        else:
            self.freed = self.first() is None

    def step(self) -> bool | None:
        if self.freed is None:
            raise OSError
        return None

    def shut(self) -> None:
        pass


def test_what_failed_is_let_go_before_the_next_start(tmp_path: Path) -> None:
    gc.disable()
    try:
        worker = FailsOnce("v", Board(tmp_path, lambda event: None), BackOff(0, 0, 3), poll=0)
        worker.start()
        worker.join()
    finally:
        gc.enable()
    assert worker.freed


class SlowLanding:
    """Lands five rows in each step, which takes half a second.

    Args:
        backlog: how many more are waiting.
        clock: by which it takes its time.
    """

    source = SimpleNamespace(name="t")
    changed = 0

    def __init__(self, backlog: int, clock: FakeClock) -> None:
        self._backlog, self._clock = backlog, clock

    def step(self) -> StepResult:
        self._clock.sleep(0.5)
        return StepResult(0, 5, 5, 5, 0, 0, 0, None, 1)

    def backlog(self) -> int:
        return self._backlog

    def waiting(self) -> dict[str, int]:
        return {}


@pytest.mark.parametrize(
    ("backlog", "once", "trigger", "rest"),
    [
        (0, False, 0, 0.5),
        (0, False, 2, 1.5),
        (4, False, 2, 1.5),
        (5, False, 2, 0),
        (0, True, 2, 0),
    ],
)
def test_a_landing_that_has_caught_up_leaves_a_turn_to_the_views(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    backlog: int,
    once: bool,
    trigger: float,
    rest: float,
) -> None:
    clock = FakeClock()
    monkeypatch.setattr(landing_module, "time", clock)
    landing: Any = SlowLanding(backlog, clock)
    board = Board(tmp_path, lambda event: None)
    worker = LandingWorker(
        *("t", board, BackOff(0, 0, 3), 0),
        landing=cast(Landing, landing),
        once=once,
        trigger=trigger,
    )
    worker.step()
    assert worker.rest == rest


class SlowDelivery:
    """Delivers until it is interrupted."""

    def __init__(self) -> None:
        self.table, self.begun, self.interrupted = None, threading.Event(), threading.Event()

    def step(self) -> None:
        self.begun.set()
        assert self.interrupted.wait(30)
        raise OSError

    def interrupt(self) -> None:
        self.interrupted.set()


def test_a_stop_reaches_a_delivery_that_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "resumed", lambda *_: None)
    slow, board = SlowDelivery(), Board(tmp_path, lambda event: None)
    make = cast("Any", lambda: slow)
    worker = sinks.SinkWorker("out", board, BackOff(), 0.01, make=make)
    worker.start()
    assert slow.begun.wait(30)
    worker.stop()
    worker.join()
    assert (board.state("out"), board.failures()) == (RunState.STOPPED, {})
