"""What a running project tells about itself: events for a progress bar or plain lines.

Events are passed to a :data:`Progress` callback one at a time, from several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum

from headwater.errors import HeadwaterError


class RunState(Enum):
    """How a supervised table or view is doing."""

    STARTING = "starting"
    RUNNING = "running"
    BACKING_OFF = "backing off"
    FAILED = "failed"
    DONE = "done"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Resumed:
    """A table, view or sink goes on from the newest commit that it has, or input has ended with it.

    Attributes:
        name: its name.
        epoch: number of that commit's epoch.
        watermark: the watermark in its marker, microseconds since 1970 UTC.
        cut: per input, the position up to which it was read.
        snapshot_id: the snapshot that the commit made.
        at: when it was committed, milliseconds since 1970 UTC.
    """

    name: str
    epoch: int
    watermark: int | None
    cut: Mapping[str, str]
    snapshot_id: int
    at: int


@dataclass(frozen=True, slots=True)
class EpochLanded:
    """A table has a new epoch.

    Attributes:
        table: its name.
        epoch: number of the epoch.
        rows: rows landed.
        quarantined: rows that could not be taken.
        dropped: rows that could not be taken and were let go.
        lost: records that were deleted before they were read.
        units: units of input taken (files, rows).
        backlog: units that are still waiting.
        watermark: stamp of the rows, microseconds since 1970 UTC.
        snapshot_id: the snapshot that the commit made.
        seconds: how long it took.
    """

    table: str
    epoch: int
    rows: int
    quarantined: int
    dropped: int
    lost: int
    units: int
    backlog: int
    watermark: int | None
    snapshot_id: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RecordsWaiting:
    """What waits to be read has changed.

    Attributes:
        table: name of the table, or of a view that reads topics straight.
        records: how many, by part of its input; nothing for inputs without parts.
    """

    table: str
    records: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ViewBuilding:
    """A view reads the whole history of its inputs.

    Attributes:
        view: its name.
        done: rows that it has read, about.
        total: rows that it has to read; 0 when it has read them.
        seconds: since it began.
    """

    view: str
    done: int
    total: int
    seconds: float

    @property
    def rate(self) -> float:
        """Rows per second so far."""
        return self.done / self.seconds if self.seconds else 0.0

    @property
    def left(self) -> float | None:
        """Seconds until it is done, at this rate; None before it has read anything."""
        return (self.total - self.done) / self.rate if self.rate else None


@dataclass(frozen=True, slots=True)
class ViewCommitted:
    """A view has a new commit.

    Attributes:
        view: its name.
        epoch: number of the epoch.
        rows: rows written by it.
        counts: rows that are not in it: ``late``, ``quarantined``, ``dropped``, where there are.
        read: if there were late rows, how many rows were read of the inputs that had them.
        watermark: the watermark in its marker, microseconds since 1970 UTC.
        cut: per input, the position up to which it was read.
        snapshot_id: the snapshot that the commit made.
        seconds: how long it took.
    """

    view: str
    epoch: int
    rows: int
    counts: Mapping[str, int]
    watermark: int | None
    cut: Mapping[str, str]
    snapshot_id: int
    seconds: float
    read: int = 0


@dataclass(frozen=True, slots=True)
class ViewDelivered:
    """A sink has delivered what its view had committed.

    Attributes:
        sink: name of the sink.
        epoch: number of the delivery.
        cut: the snapshot of the view up to which everything is delivered, by the view's name.
        seconds: how long it took.
    """

    sink: str
    epoch: int
    cut: Mapping[str, str]
    seconds: float


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
    state: RunState
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


@dataclass(frozen=True, slots=True)
class DefinitionsChanged:
    """The files of the project define something else than what runs.

    Attributes:
        changes: the names that are ``new``, ``changed`` or ``removed``.
        error: what is wrong with the files, if they have errors now.
    """

    changes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    error: HeadwaterError | None = None

    def __str__(self) -> str:
        """Return in words what has changed, and how to run it."""
        found = [f"{word}: {', '.join(names)}" for word, names in self.changes.items() if names]
        error = f" They have errors:\n{self.error.render()}" if self.error else ""
        if not found:
            return f"the SQL files have changed.{error or ' The definitions are the same.'}"
        step = "correct them, then" if self.error else "type in another terminal"
        return (
            f"the SQL files have changed ({'; '.join(found)}). This run goes on with the"
            f" definitions that it began with.{error} To run the new ones, {step}: headwater apply;"
            " for a table, start the run again"
        )


@dataclass(frozen=True, slots=True)
class SourceRowsRefused:
    """A batch of a view has bad rows of a SOURCE.

    Attributes:
        source: its name.
        view: the view that read them.
        refused: how many rows of the batch are bad.
        rows: how many rows of the source the batch has read.
    """

    source: str
    view: str
    refused: int
    rows: int


@dataclass(frozen=True, slots=True)
class ResultsOpen:
    """All input is processed, and results of a view wait for more.

    Attributes:
        view: its name.
        windows: how many windows are open at most; None if the view has none, or no time is over.
        until: the source watermark that makes them final, microseconds since 1970 UTC.
        table: the table whose watermark holds them back.
        watermark: its watermark, None before the first.
    """

    view: str
    windows: int | None
    until: int
    table: str
    watermark: int | None


@dataclass(frozen=True, slots=True)
class InputClosed:
    """A table's input was declared to have ended.

    Attributes:
        table: its name.
        watermark: rows below it are late from now on, microseconds since 1970 UTC.
    """

    table: str
    watermark: int


@dataclass(frozen=True, slots=True)
class InputIdle:
    """A table's input had no rows for its IDLE TIMEOUT: it follows the tables read with it.

    Attributes:
        table: its name.
        timeout: the IDLE TIMEOUT.
        watermark: rows below it are late from now on, microseconds since 1970 UTC.
    """

    table: str
    timeout: timedelta
    watermark: int


@dataclass(frozen=True, slots=True)
class Warned:
    """A run goes well, and a person should look at something all the same.

    Attributes:
        name: the table, SOURCE or view.
        message: what happened.
        hint: what can be done.
    """

    name: str
    message: str
    hint: str


Event = (
    Resumed
    | EpochLanded
    | RecordsWaiting
    | ViewBuilding
    | ViewCommitted
    | ViewDelivered
    | StateChanged
    | LeaseAwaited
    | DefinitionsChanged
    | SourceRowsRefused
    | ResultsOpen
    | InputClosed
    | InputIdle
    | Warned
)
Progress = Callable[[Event], None]


def silent(event: Event) -> None:
    """Take an event and say nothing."""
