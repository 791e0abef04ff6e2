"""How a command asks the process that runs the project to do what only that process may.

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
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from headwater.checkpoints.durable import put
from headwater.errors import ServiceError
from headwater.runtime.definition_watch import looking

_LISTENER, _REQUEST, _HEARD, _ANSWER = (
    f"command.{each}" for each in ("listener", "request", "heard", "answer")
)
LOOK_EVERY = 0.5
"""Seconds between two looks at the folder."""
HEARD_WITHIN = 15.0
"""Seconds after which nobody has heard a request."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a command asks for.

    Attributes:
        command: its name.
        arguments: what it was given, as JSON holds it.
    """

    command: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


def ask(state: Path, request: Request) -> Mapping[str, Any] | None:
    """Ask the running process to do what a command asks for, and wait for its answer.

    Args:
        state: the state folder of the project.
        request: what to do.

    Returns:
        The answer; None if nobody listens: what runs ends by itself.

    Raises:
        ServiceError: ``RUN_ENDED`` if the process has heard it and is gone.
    """
    if not is_listened_to(state):
        return None
    number = uuid.uuid4().hex
    put(state / _REQUEST, f"{number}\n{json.dumps(asdict(request))}")
    until = time.monotonic() + HEARD_WITHIN
    while not _says(state / _HEARD, number):
        if time.monotonic() > until:
            (state / _REQUEST).unlink(missing_ok=True)
            return None
        time.sleep(LOOK_EVERY)
    runner = int(_text(state / _HEARD).partition("\n")[2] or 0)
    while not _says(state / _ANSWER, number):
        if not _lives(runner):
            raise ServiceError(
                "RUN_ENDED",
                "the process that ran the project has ended before it had answered"
                f" `headwater {request.command}`",
                hint=f"run `headwater {request.command}` again",
            )
        time.sleep(LOOK_EVERY)
    answer: Mapping[str, Any] = json.loads((state / _ANSWER).read_text().partition("\n")[2])
    return answer


def is_listened_to(state: Path) -> bool:
    """Return whether a process of this machine runs the project until it is stopped.

    Args:
        state: the state folder of the project.
    """
    return _lives(int(_text(state / _LISTENER) or 0))


class Requests:
    """What a running process has been asked.

    Args:
        state: the state folder of the project.
    """

    def __init__(self, state: Path) -> None:
        self._state = state
        self._number = ""
        self._asked: Request | None = None

    @property
    def asked(self) -> Request | None:
        """The request that has no answer yet, None if there is none."""
        return self._asked

    @contextmanager
    def heard(self, then: Callable[[], None]) -> Iterator[None]:
        """Call ``then`` at a request as long as the block lasts."""

        def look() -> None:
            if not self._asked and (text := _text(self._state / _REQUEST)):
                (self._state / _REQUEST).unlink(missing_ok=True)
                self._number, _, said = text.partition("\n")
                self._asked = Request(**json.loads(said))
                put(self._state / _HEARD, f"{self._number}\n{os.getpid()}")
                then()

        self._state.mkdir(parents=True, exist_ok=True)
        put(self._state / _LISTENER, str(os.getpid()))
        with looking(look, LOOK_EVERY):
            yield

    def answer(self, said: Mapping[str, Any]) -> None:
        """Answer the request."""
        put(self._state / _ANSWER, f"{self._number}\n{json.dumps(said)}")
        self._number, self._asked = "", None


def _says(file: Path, request: str) -> bool:
    return _text(file).partition("\n")[0] == request


def _lives(process: int) -> bool:
    if process <= 0:
        return False
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
