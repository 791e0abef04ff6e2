"""Signals of a running project: the first asks it to finish, a second interrupt ends it at once.

In: what to do at the first SIGTERM or SIGINT. Out: handlers, put back afterwards.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)
ABORTED = 130
"""Exit code after a second interrupt, as shells use it."""


@contextmanager
def finish_on_signals(finish: Callable[[], None]) -> Iterator[None]:
    """Call ``finish`` at the first signal as long as the block lasts.

    Elsewhere than in the main thread nothing happens. Enter the block after Spark was started:
    Spark sets a handler of its own.

    Args:
        finish: must return at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupted = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted and number == signal.SIGINT:
            os._exit(ABORTED)
        interrupted = interrupted or number == signal.SIGINT
        finish()

    before = [signal.signal(number, handle) for number in SIGNALS]
    try:
        yield
    finally:
        for number, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number, handler)
