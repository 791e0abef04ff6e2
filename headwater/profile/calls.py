"""What Python asked of the JVM, and from where.

In: the gateway of a Spark session. Out: a span for each call, within spans of the functions of
Headwater that were on the stack. A function is seen by the calls below it: its span reaches from
the first of them to the last.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from headwater.profile.trace import TraceSpan

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

PROCESS = "Headwater"
_PACKAGE = str(Path(__file__).parents[1])
_OWN = str(Path(__file__).parent)
_CALL = "c"
"""How a command begins that calls a method; others read fields, make objects, let go of them."""
_OTHER = {"i": "new", "r": "look up", "f": "field", "m": "release", "a": "array", "j": "package"}


@dataclass(slots=True)
class _Open:
    """A function on the stack: it, when a call below it was first and last seen."""

    frame: int
    name: str
    began: int
    ended: int


class CallTrace:
    """Records the calls of one gateway, from all threads, as long as it lasts.

    Attributes:
        count: how many there were.
    """

    def __init__(self, gateway: JavaGateway) -> None:
        self._client: Any = gateway._gateway_client  # noqa: SLF001 - the one place that sees all
        self._send: Callable[..., str] = self._client.send_command
        self.count = 0
        self._spans: list[TraceSpan] = []
        self._stacks: dict[str, list[_Open]] = {}
        self._client.send_command = self._timed

    def finish(self) -> list[TraceSpan]:
        """Stop recording and return what was recorded."""
        self._client.send_command = self._send
        for lane, stack in self._stacks.items():
            self._close(lane, stack, 0)
        return self._spans

    def _timed(self, command: str, retry: bool = True, binary: bool = False) -> str:
        began = time.time_ns() // 1000
        lane = threading.current_thread().name
        stack = self._stacks.setdefault(lane, [])
        self._reach(lane, stack, began)
        try:
            return self._send(command, retry, binary)
        finally:
            ended = time.time_ns() // 1000
            for each in stack:
                each.ended = ended
            self.count += 1
            self._spans.append(TraceSpan(PROCESS, lane, _named(command), began, ended - began))

    def _reach(self, lane: str, stack: list[_Open], now: int) -> None:
        """Close the functions that have returned since the last call, open the new ones."""
        frames = list(_functions(sys._getframe(2)))[::-1]  # noqa: SLF001
        same = 0
        while same < min(len(frames), len(stack)) and stack[same].frame == frames[same][0]:
            same += 1
        self._close(lane, stack, same)
        stack += [_Open(frame, name, now, now) for frame, name in frames[same:]]

    def _close(self, lane: str, stack: list[_Open], keep: int) -> None:
        for each in stack[keep:]:
            self._spans.append(
                TraceSpan(PROCESS, lane, each.name, each.began, each.ended - each.began)
            )
        del stack[keep:]


def _functions(frame: FrameType | None) -> Iterator[tuple[int, str]]:
    """The functions of Headwater on a stack, innermost first; of a generator its body."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(_PACKAGE) and not code.co_filename.startswith(_OWN):
            yield id(frame), f"{Path(code.co_filename).stem}.{code.co_qualname}"
        frame = frame.f_back


def _named(command: str) -> str:
    """What a command of Py4J does, in a word: the method that it calls."""
    parts = command.split("\n", 3)
    if parts[0] == _CALL and len(parts) > 2:
        return f"{parts[2]}()"
    return _OTHER.get(parts[0], parts[0])
