"""What a process is doing now, for whoever waits for it.

In: :func:`step`, called where something slow begins, for example where Spark starts. Out: a call
of the listener that the command line has set; without one nobody is told. The listener is the
process's, like its error stream: steps come from every thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str, bool], None]
"""Takes what begins, and whether it is one of many small steps, which only a terminal shows."""


def _nobody(text: str, minor: bool) -> None:
    """Say nothing."""


_listener: Listener = _nobody


def step(text: str, *, minor: bool = False) -> None:
    """Say what begins now.

    Args:
        text: for example ``starting Spark``.
        minor: whether it is one of many small steps, which only a terminal shows.
    """
    _listener(text, minor)


@contextmanager
def told(listener: Listener) -> Iterator[None]:
    """Tell a listener of the steps until the block ends."""
    global _listener  # noqa: PLW0603 - there is one screen
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before
