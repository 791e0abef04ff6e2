"""One line that says how far a download or an installation is. It needs no other package."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

EVERY = 10.0
"""Seconds between two lines where there is no terminal."""


class ProgressLine:
    """Rewrite one line on a terminal; elsewhere write few lines, and no line twice.

    Args:
        err: the stream; by default the standard error stream.
        clock: returns seconds.
    """

    def __init__(
        self, err: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._err, self._clock = err or sys.stderr, clock
        self.terminal = self._err.isatty()
        self._shown = ""
        self._said = -EVERY

    def show(self, text: str, *, at_once: bool = False) -> None:
        """Show a text if it differs from the last one.

        Args:
            text: a stage, or how far it is.
            at_once: whether it is shown even if a plain line was written just before.
        """
        now = self._clock()
        late = self.terminal or at_once or not self._shown or now - self._said >= EVERY
        if text == self._shown or not late:
            return
        self._shown, self._said = text, now
        if self.terminal:
            width = shutil.get_terminal_size().columns - 3
            self._err.write(f"\r\033[K  {text[:width]}")  # a longer line would not be rewritten
        else:
            self._err.write(f"  {text}\n")
        self._err.flush()

    def close(self) -> None:
        """End the line."""
        if self.terminal and self._shown:
            self._err.write("\n")
