"""What a running project tells about itself: events for a progress bar or plain lines.

In: nothing. Out: events, passed to a :data:`Progress` callback one at a time, from several threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from headwater.errors import HeadwaterError


class State(Enum):
    """How a supervised table or view is doing."""

    STARTING = "starting"
    RUNNING = "running"
    BACKING_OFF = "backing off"
    FAILED = "failed"
    DONE = "done"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class EpochLanded:
    """A table has a new epoch.

    Attributes:
        table: its name.
        epoch: number of the epoch.
        rows: rows landed.
        quarantined: rows that could not be taken.
        units: units of input taken (files, rows).
        backlog: units that are still waiting.
        watermark: stamp of the rows, microseconds since 1970 UTC.
    """

    table: str
    epoch: int
    rows: int
    quarantined: int
    units: int
    backlog: int
    watermark: int | None


@dataclass(frozen=True, slots=True)
class ViewCommitted:
    """A view has a new commit.

    Attributes:
        view: its name.
        epoch: number of the epoch.
        rows: rows written by it.
        late: rows left out as too late.
        watermark: the watermark in its marker, microseconds since 1970 UTC.
    """

    view: str
    epoch: int
    rows: int
    late: int
    watermark: int | None


@dataclass(frozen=True, slots=True)
class ViewDelivered:
    """A sink has delivered what its view had committed.

    Attributes:
        sink: name of the sink.
        epoch: number of the delivery.
    """

    sink: str
    epoch: int


@dataclass(frozen=True, slots=True)
class StateChanged:
    """A table or view has another state.

    Attributes:
        name: its name.
        state: the new state.
        error: what led to it, if something failed.
        retry_in: seconds until it is started again, while backing off.
    """

    name: str
    state: State
    error: HeadwaterError | None = None
    retry_in: float | None = None


@dataclass(frozen=True, slots=True)
class LeaseAwaited:
    """Another process holds the project and may be dead; its lease is waited for.

    Attributes:
        owner: the process, its host and its age as owner.
        seconds: when its lease runs out, unless it gives a sign of life.
    """

    owner: str
    seconds: float


Event = EpochLanded | ViewCommitted | ViewDelivered | StateChanged | LeaseAwaited
Progress = Callable[[Event], None]


def silent(event: Event) -> None:
    """Take an event and say nothing.

    Args:
        event: the event.
    """
