"""Run ``pip install`` and show how far it is, in one line on a terminal.

In: a Python and pip's arguments. Out: installed packages, or an error with pip's last lines.
Command line: ``python -m headwater.machine.pip_install ARGUMENTS``. It needs no other package.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, TextIO

from headwater.errors import HeadwaterError, ServiceError
from headwater.machine.progress import ProgressLine

_TICK = 1.0  # seconds between two updates of a line while pip says nothing
_LAST_LINES = 8  # of pip's output, in an error

_LOCKED = re.compile(r"^[A-Za-z0-9][\w.-]*==", re.M)


def pip_install(python: Path, arguments: Sequence[str], err: TextIO | None = None) -> None:
    """Install packages with the pip of an environment.

    Args:
        python: the environment's Python; its pip must be 24.1 or newer.
        arguments: of ``pip install``.
        err: where the progress goes; by default the standard error stream.

    Raises:
        ServiceError: ``PIP_INSTALL`` if pip fails.
    """
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    command += ["--progress-bar=raw", *arguments]
    display = _Display(err or sys.stderr, _count(arguments))
    last: deque[str] = deque(maxlen=_LAST_LINES)
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace",
    ) as running:  # fmt: skip
        assert running.stdout is not None
        for line in _lines(running.stdout):
            if line is not None and not line.startswith("Progress "):
                last.append(line)
            display.hear(line)
    display.close()
    if running.returncode:
        said = "".join(f"\n  | {line}" for line in last)
        hint = "check the network, the disk and pip's settings, then start it again"
        raise ServiceError("PIP_INSTALL", f"pip failed; its output ends with:{said}", hint=hint)


def _count(arguments: Sequence[str]) -> int:
    """Count the packages of the lock files among pip's arguments."""
    files = [Path(name) for option, name in pairwise(arguments) if option == "-r"]
    return sum(len(_LOCKED.findall(file.read_text(encoding="utf-8"))) for file in files)


def _lines(stream: IO[str]) -> Iterator[str | None]:
    """Yield the lines of a stream, and None whenever there was none for a while."""
    queue: SimpleQueue[str | None] = SimpleQueue()

    def read() -> None:
        for line in stream:
            queue.put(line.rstrip())
        queue.put(None)

    reader = Thread(target=read, daemon=True)
    reader.start()
    while True:
        try:
            line = queue.get(timeout=_TICK)
        except Empty:
            yield None
            continue
        if line is None:
            return
        yield line


class _Display:
    """What a person sees of pip's output.

    Args:
        err: the stream.
        total: how many packages there are; 0 if that is not known.
    """

    def __init__(self, err: TextIO, total: int) -> None:
        self._line, self._total = ProgressLine(err), total
        self._count = 0
        self._text = ""
        self._since = time.monotonic()
        self.close = self._line.close

    def hear(self, line: str | None) -> None:
        """Take note of a line of pip's; None means that some time has passed."""
        if line is None:
            self._tick()
            return
        first, _, rest = line.strip().partition(" ")
        if first == "Ignoring":  # not for this Python or system
            self._total = max(0, self._total - 1)
        elif first == "Collecting":
            self._count += 1
            of = f"/{self._total}" if self._total else ""
            self._say(f"[{self._count}{of}] {re.split('[=<>~!; ]', rest)[0]}")
        elif first == "Progress" and (found := re.fullmatch(r"(\d+) of (\d+)", rest)):
            done, size = (int(number) / 1e6 for number in found.groups())
            if size > 1:
                self._line.show(f"{self._text}: {done:.0f} of {size:.0f} MB")
        elif rest.startswith("wheel for ") and first == "Building" and rest.endswith("started"):
            self._say(f"building {rest.split()[2]}", at_once=True)
        elif line.startswith("Installing collected"):
            self._say(f"writing {self._count} packages", at_once=True)

    def _say(self, text: str, *, at_once: bool = False) -> None:
        self._text, self._since = text, time.monotonic()
        self._line.show(text, at_once=at_once)

    def _tick(self) -> None:
        seconds = time.monotonic() - self._since
        if self._text and seconds >= 2:
            self._line.show(f"{self._text}: {seconds:.0f} s")


def main(arguments: Sequence[str]) -> int:
    """Install packages into the environment of this Python; return the exit code."""
    try:
        pip_install(Path(sys.executable), arguments)
    except HeadwaterError as error:
        sys.stderr.write(f"{error.render()}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
