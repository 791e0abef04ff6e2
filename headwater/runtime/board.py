"""The board of a running project: state and last error of each table and view.

In: state changes and events of the workers. Out: the progress callback, a condition that the
supervisor waits on, and the file ``run.json`` in the state folder, which ``headwater status``
reads.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from headwater.errors import HeadwaterError, ServiceError
from headwater.runtime.events import (
    Event,
    Progress,
    RecordsWaiting,
    RunState,
    StateChanged,
    ViewBuilding,
)

RUN_FILE = "run.json"
_WRITE_EVERY = 1.0  # seconds between two writings of what waits; states are written at once


class Board:
    """Collects what the workers say. Safe for several threads.

    Args:
        folder: the project's state folder.
        progress: told of each event, one at a time.
    """

    def __init__(self, folder: Path, progress: Progress) -> None:
        self._path = folder / RUN_FILE
        self._progress = progress
        self._moved = threading.Condition(threading.RLock())
        self._states: dict[str, tuple[RunState, HeadwaterError | None, float]] = {}
        self._waiting: dict[str, Mapping[str, int]] = {}
        self._notes: dict[str, str] = {}
        self._changed: dict[str, int] = {}
        self._building: dict[str, dict[str, float | None]] = {}
        self._unwritten, self._written = False, float("-inf")
        self._started = time.time()
        self._events = 0

    def tell(self, event: Event) -> None:
        """Pass an event on, and wake up who waits."""
        with self._moved:
            if isinstance(event, StateChanged):
                self._states[event.name] = (event.state, event.error, time.time())
                self._write()
            self._progress(event)
            self._events += 1
            self._moved.notify_all()

    def measure(self, name: str, waiting: Mapping[str, int]) -> None:
        """Note what waits to be read; if it has changed, tell it, and write it once a second.

        Args:
            name: of the table, or of a view that reads topics straight.
            waiting: records by part of its input; nothing for inputs without parts.
        """
        with self._moved:
            if self._waiting.get(name, {}) != waiting:
                self._waiting[name], self._unwritten = waiting, True
                self._progress(RecordsWaiting(name, waiting))
            if self._unwritten and time.monotonic() - self._written >= _WRITE_EVERY:
                self._write()

    def build(self, event: ViewBuilding) -> None:
        """Note how far a view is that is built, and tell it."""
        with self._moved:
            self._building.pop(event.view, None)
            if event.total:
                self._building[event.view] = {
                    "done": event.done,
                    "total": event.total,
                    "rows_per_second": round(event.rate),
                    "seconds_left": None if event.left is None else round(event.left),
                }
            self._progress(event)
            self._write()

    def note(self, name: str, text: str) -> None:
        """Note why a table stands still though nothing is wrong; empty if it does not."""
        with self._moved:
            if self._notes.get(name, "") != text:
                self._notes[name] = text
                self._write()

    def count_changed(self, name: str, files: int) -> None:
        """Note how many files of a table were changed after they had been read."""
        with self._moved:
            if self._changed.get(name, 0) != files:
                self._changed[name] = files
                self._write()

    def wake(self) -> None:
        """Wake up who waits, for example after a signal."""
        with self._moved:
            self._events += 1
            self._moved.notify_all()

    def wait_until(self, reached: Callable[[], bool], poll: float = 1.0) -> None:
        """Wait until a condition holds; it is looked at after each event.

        Args:
            reached: the condition.
            poll: seconds after which it is looked at in any case.
        """
        while True:
            with self._moved:
                seen = self._events
            if reached():
                return
            with self._moved:
                if self._events == seen:
                    self._moved.wait(poll)

    def state(self, name: str) -> RunState | None:
        """Return the state of a table or view, None if it never had one."""
        with self._moved:
            return self._states[name][0] if name in self._states else None

    def failures(self) -> dict[str, HeadwaterError]:
        """Return what has failed for good, with the error."""
        with self._moved:
            return {
                name: error
                for name, (state, error, _) in self._states.items()
                if state is RunState.FAILED and error
            }

    def _write(self) -> None:
        said = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "started": self._started,
            "views": {
                name: {
                    "state": state.value,
                    "since": since,
                    "error": _error(error),
                    "waiting": self._waiting.get(name),
                    "note": self._notes.get(name, ""),
                    "changed_files": self._changed.get(name, 0),
                    "building": self._building.get(name),
                }
                for name, (state, error, since) in self._states.items()
            },
        }
        self._unwritten, self._written = False, time.monotonic()
        hidden = self._path.with_name(f".{RUN_FILE}.{os.getpid()}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            hidden.write_text(json.dumps(said), encoding="utf-8")
            os.replace(hidden, self._path)
        except OSError as error:
            raise ServiceError(
                "STATE_NOT_WRITABLE",
                f'the state folder "{self._path.parent}" cannot be written: {error.strerror}',
                hint="free space or make it writable, then start again",
            ) from error


def _error(error: HeadwaterError | None) -> dict[str, str] | None:
    if error is None:
        return None
    return {"condition": error.condition, "message": error.message, "hint": error.hint}
