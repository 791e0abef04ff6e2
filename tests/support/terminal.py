"""A person at a terminal: a program behind a pseudo-terminal, its screen as text."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

# A prompt asks where the cursor is: in the last line, so that no lines below it are drawn.
_ASKED = b"\x1b[6n"
_CONTROL = re.compile(
    r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]|\x1b\][^\x07]*\x07|[\x07\r]"
)
_ERASED = re.compile(r"[^\n]*\x1b\[2K")
_PATIENCE = 120
"""Seconds without a sign of life after which a program counts as stuck."""


class Terminal:
    """Runs one program; leave the block to end it.

    Attributes:
        text: everything that it has written, without control sequences.
    """

    def __init__(
        self, command: Sequence[str], folder: Path, environ: Mapping[str, str], columns: int = 120
    ) -> None:
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**environ, "TERM": "xterm"},
            stdin=side,
            stdout=side,
            stderr=side,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(side)
        self._raw = b""
        self._read = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._main)

    @property
    def text(self) -> str:
        return _CONTROL.sub("", self._raw.decode("utf-8", "replace"))

    @property
    def shown(self) -> str:
        """The text without what was erased again: the frames of a spinner."""
        return _CONTROL.sub("", _ERASED.sub("", self._raw.decode("utf-8", "replace")))

    def type(self, text: str) -> None:
        os.write(self._main, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C once the terminal makes a signal of it, as it does while a query runs."""
        while not termios.tcgetattr(self._main)[3] & termios.ISIG:
            os.sched_yield()
        self.type("\x03")

    def see(self, expected: str) -> str:
        """Wait for a text behind what was seen before, and return all up to it."""
        while expected not in self.text[self._read :]:
            assert self._more(), f"{expected!r} does not come behind {self.text[self._read :]!r}"
        start, at = self._read, self.text.index(expected, self._read)
        self._read = at + len(expected)
        return self.text[start : self._read]

    def ends(self) -> int:
        """Wait until the program has ended and return its exit code."""
        while self._more():
            pass
        return self.process.wait(_PATIENCE)

    def _more(self) -> bool:
        ready, _, _ = select.select([self._main], [], [], _PATIENCE)
        assert ready, f"nothing comes behind {self.text[self._read :]!r}"
        try:
            data = os.read(self._main, 65536)
        except OSError:  # Linux: the other side is closed
            return False
        if _ASKED in data:
            os.write(self._main, b"\x1b[50;1R")
        self._raw += data
        return bool(data)
