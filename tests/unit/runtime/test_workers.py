"""What workers do with what failed."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

from headwater.runtime.backoff import BackOff
from headwater.runtime.board import Board
from headwater.runtime.workers import Worker


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
