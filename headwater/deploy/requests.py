"""How ``headwater apply`` asks the process that runs the project to apply the changes itself.

In: a project's state folder, which both see. Out: a request, that it was heard, its answer. Only
one process may write the tables of a project, so the one that runs it does.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headwater.checkpoints.durable import put
from headwater.errors import ServiceError
from headwater.runtime.definition_watch import looking

_REQUEST, _HEARD, _ANSWER = "apply.request", "apply.heard", "apply.answer"
LOOK_EVERY = 0.5
"""Seconds between two looks at the folder."""
HEARD_WITHIN = 15.0
"""Seconds after which nobody has heard a request."""


def ask(state: Path) -> Mapping[str, Any] | None:
    """Ask the running process to apply the changes, and wait for its answer.

    Args:
        state: the state folder of the project.

    Returns:
        The answer; None if nobody has heard it: what runs ends by itself.

    Raises:
        ServiceError: ``APPLY_FAILED`` if the process has heard it and is gone.
    """
    request = uuid.uuid4().hex
    state.mkdir(parents=True, exist_ok=True)
    put(state / _REQUEST, request)
    until = time.monotonic() + HEARD_WITHIN
    while not _says(state / _HEARD, request):
        if time.monotonic() > until:
            (state / _REQUEST).unlink(missing_ok=True)
            return None
        time.sleep(LOOK_EVERY)
    runner = int(_text(state / _HEARD).partition("\n")[2] or 0)
    while not _says(state / _ANSWER, request):
        if not _lives(runner):
            raise ServiceError(
                "APPLY_FAILED",
                "the process that ran the project has ended while it applied the changes",
                hint="run `headwater apply` again: it goes on where that one stopped",
            )
        time.sleep(LOOK_EVERY)
    answer: Mapping[str, Any] = json.loads((state / _ANSWER).read_text().partition("\n")[2])
    return answer


class Requests:
    """What a running process has been asked.

    Args:
        state: the state folder of the project.
    """

    def __init__(self, state: Path) -> None:
        self._state = state
        self._request = ""

    @property
    def asked(self) -> bool:
        """Whether there is a request that has no answer."""
        return bool(self._request)

    @contextmanager
    def heard(self, then: Callable[[], None]) -> Iterator[None]:
        """Call ``then`` at a request as long as the block lasts."""

        def look() -> None:
            if not self._request and (request := _text(self._state / _REQUEST)):
                (self._state / _REQUEST).unlink(missing_ok=True)
                self._request = request
                put(self._state / _HEARD, f"{request}\n{os.getpid()}")
                then()

        with looking(look, LOOK_EVERY):
            yield

    def answer(self, said: Mapping[str, Any]) -> None:
        """Answer the request."""
        put(self._state / _ANSWER, f"{self._request}\n{json.dumps(said)}")
        self._request = ""


def _says(file: Path, request: str) -> bool:
    return _text(file).partition("\n")[0] == request


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
