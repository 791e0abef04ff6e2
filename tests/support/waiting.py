"""How tests wait, and what stands in for a clock: no test sleeps or measures time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 60.0
"""Seconds after which a test gives up; a machine under load needs some of them."""


def wait_for(
    condition: Callable[[], T], what: str, *, within: float = PATIENCE, every: float = 0.02
) -> T:
    """Return what a condition gives as soon as that is true.

    Args:
        condition: asked again and again.
        what: what is waited for, for the message.
        within: seconds after which the test fails.
        every: seconds between two looks.
    """
    end = time.monotonic() + within
    while not (found := condition()):
        assert time.monotonic() < end, f"not within {within:.0f} seconds: {what}"
        time.sleep(every)
    return found


class FakeClock:
    """Stands in for the module ``time``: it goes on only if somebody sleeps.

    Attributes:
        now: what it shows, in seconds.
        slept: for how long somebody slept, each time.
        on_sleep: what happens during a sleep.
    """

    def __init__(self, now: float = 1000.0, on_sleep: Callable[[], object] = lambda: None) -> None:
        self.now, self.slept, self.on_sleep = now, list[float](), on_sleep

    def monotonic(self) -> float:
        return self.now

    time = monotonic

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)
        self.on_sleep()


class LaterClock:
    """Stands in for the module ``time`` in a process that starts later.

    Attributes:
        ahead: by how many seconds.
    """

    def __init__(self, ahead: float = 0.0) -> None:
        self.ahead = ahead

    def monotonic(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time() + self.ahead
