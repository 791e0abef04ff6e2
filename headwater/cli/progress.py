"""What a run shows while it runs: bars on a terminal, plain lines otherwise.

In: the events of the supervisor. Out: the error stream; the result of a run is its tables.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from headwater.errors.steps import told
from headwater.errors.words import about, count, duration, moment

if TYPE_CHECKING:
    from headwater.cli.output import Output
    from headwater.errors import HeadwaterError
    from headwater.runtime.events import (
        EpochLanded,
        Event,
        InputIdle,
        LeaseAwaited,
        ResultsOpen,
        StateChanged,
        ViewBuilding,
        ViewCommitted,
        ViewDelivered,
    )

LINE_EVERY = 2.0
"""Seconds between two plain lines about the same table or view."""
_STEP = "starting"
"""The line of what a run does before anything is landed or committed."""


def _later(seconds: float, then: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, then)
    timer.daemon = True
    timer.start()


@contextmanager
def shown_progress(output: Output) -> Iterator[Display]:
    """Show progress until the block ends; programs that asked for JSON get the errors only."""
    if not output.for_people:
        yield Quiet(output)
        return
    output.end_step()
    display = Bars(output.err) if output.err.isatty() else Lines(output.err)
    display.warn, output.live = output.warn, display.noted
    try:
        with told(display.step):
            yield display
    finally:
        output.live = None
        display.end()


class Display(ABC):
    """Takes events, one at a time, from any thread.

    Attributes:
        warn: writes a warning; a command writes the same one once, whatever it runs.
    """

    warn: Callable[[str], None] | None = None

    def __call__(self, event: Event) -> None:
        """Show an event."""
        from headwater.runtime.events import (
            DefinitionsChanged,
            EpochLanded,
            InputClosed,
            InputIdle,
            LeaseAwaited,
            ResultsOpen,
            StateChanged,
            ViewBuilding,
            ViewCommitted,
            ViewDelivered,
            Warned,
        )

        match event:
            case EpochLanded():
                self.landed(event)
            case ViewCommitted():
                self.committed(event)
            case ViewDelivered():
                self.delivered(event)
            case ViewBuilding():
                self.built(event)
            case StateChanged():
                self.changed(event)
            case LeaseAwaited():
                self.awaited(event)
            case DefinitionsChanged():
                self.noted(str(event))
            case Warned():
                say = self.warn or self.noted
                say(f"warning: {event.message}\n  hint: {event.hint}")
            case ResultsOpen():
                self.noted(_open(event))
            case InputClosed():
                at = moment(event.watermark)
                self.noted(f"closed {event.table}: rows before {at} are late from now on")
            case InputIdle():
                self.noted(_idle(event))

    @abstractmethod
    def step(self, text: str, minor: bool) -> None:
        """Show what the run begins to do before anything is landed or committed."""

    @abstractmethod
    def noted(self, text: str) -> None:
        """Show what a person should read, at once."""

    @abstractmethod
    def landed(self, event: EpochLanded) -> None:
        """Show that a table has a new epoch."""

    @abstractmethod
    def committed(self, event: ViewCommitted) -> None:
        """Show that a view has a new commit."""

    @abstractmethod
    def delivered(self, event: ViewDelivered) -> None:
        """Show that a sink has delivered what its view had committed."""

    @abstractmethod
    def built(self, event: ViewBuilding) -> None:
        """Show how far a view is that reads the history of its inputs."""

    @abstractmethod
    def changed(self, event: StateChanged) -> None:
        """Show that something failed or is tried again."""

    @abstractmethod
    def awaited(self, event: LeaseAwaited) -> None:
        """Show that another process's lease is waited for."""

    @abstractmethod
    def end(self) -> None:
        """Show what was held back; nothing comes any more."""


class Quiet(Display):
    """Shows nothing but errors."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def step(self, text: str, minor: bool) -> None:
        """Show nothing."""

    def noted(self, text: str) -> None:
        """Write it to the error stream."""
        self._output.note(text)

    def landed(self, event: EpochLanded) -> None:
        """Show nothing."""

    def committed(self, event: ViewCommitted) -> None:
        """Show nothing."""

    def delivered(self, event: ViewDelivered) -> None:
        """Show nothing."""

    def built(self, event: ViewBuilding) -> None:
        """Show nothing."""

    def changed(self, event: StateChanged) -> None:
        """Write the error, if there is one."""
        if event.error is not None:
            self._output.error(event.error)

    def awaited(self, event: LeaseAwaited) -> None:
        """Show nothing."""

    def end(self) -> None:
        """Show nothing."""


class Lines(Display):
    """One line per event, but of one table or view at most one in :data:`LINE_EVERY` seconds.

    Args:
        later: calls something after some seconds, in a thread of its own.
        now: the clock.
    """

    def __init__(
        self,
        stream: TextIO,
        later: Callable[[float, Callable[[], None]], None] = _later,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream, self._later, self._now = stream, later, now
        self._awaits_flush = False
        self._lock = threading.Lock()
        self._shown: dict[str, float] = {}
        self._held: dict[str, str] = {}
        self._totals: dict[str, int] = {}

    def step(self, text: str, minor: bool) -> None:
        """Write it, unless it is a small one."""
        if not minor:
            self.noted(text)

    def noted(self, text: str) -> None:
        """Write it, after what was held back."""
        with self._lock:
            self._flush()
            self._write(text)

    def landed(self, event: EpochLanded) -> None:
        """Write how much of a table is landed."""
        with self._lock:
            total = self._totals[event.table] = self._totals.get(event.table, 0) + event.rows
            bad = f", {event.quarantined:,} quarantined" if event.quarantined else ""
            waiting = f", {event.backlog:,} waiting" if event.backlog else ""
            rows = count(total, "row")
            text = f"landed {event.table}: epoch {event.epoch}, {rows}{bad}{waiting}"
            self._say(event.table, text + _until(event.watermark))

    def committed(self, event: ViewCommitted) -> None:
        """Write how far a view is."""
        with self._lock:
            late = f", {event.counts['late']:,} late" if event.counts.get("late") else ""
            rows = count(event.rows, "row")
            text = f"maintained {event.view}: epoch {event.epoch}, {rows}{late}"
            self._say(event.view, text + _until(event.watermark))

    def delivered(self, event: ViewDelivered) -> None:
        """Write how far a sink is."""
        with self._lock:
            self._say(event.sink, f"delivered {event.sink}: epoch {event.epoch}")

    def built(self, event: ViewBuilding) -> None:
        """Write how far it is."""
        if event.total and event.done:
            with self._lock:
                self._say(event.view, f"building {event.view}: {_so_far(event)}")

    def changed(self, event: StateChanged) -> None:
        """Write what failed, at once."""
        if event.error is None:
            return
        with self._lock:
            self._write(_failed(event, event.error))

    def awaited(self, event: LeaseAwaited) -> None:
        """Write who is waited for, and for how long."""
        with self._lock:
            self._say("", f"waiting for {event.owner}: {_take_over(event)}")

    def end(self) -> None:
        """Write the lines that were held back."""
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        for name, text in self._held.items():
            self._write(text)
            self._shown[name] = self._now()
        self._held.clear()

    def _flush_in_time(self) -> None:
        with self._lock:
            self._awaits_flush = False
            self._flush()

    def _say(self, name: str, text: str) -> None:
        now = self._now()
        left = self._shown.get(name, float("-inf")) + LINE_EVERY - now
        if left > 0:
            self._held[name] = text
            if not self._awaits_flush:  # nothing else may happen for long
                self._awaits_flush = True
                self._later(left, self._flush_in_time)
            return
        self._shown[name] = now
        self._held.pop(name, None)
        self._write(text)

    def _write(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()


class Bars(Display):
    """A bar per table, a line per view, errors above them.

    Args:
        stream: a terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self._progress = Progress(
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[what]}"),
            TimeElapsedColumn(),
            console=Console(file=stream),
            transient=False,
        )
        self._tasks: dict[str, Any] = {}
        self._units: dict[str, int] = {}
        self._rows: dict[str, int] = {}
        self._progress.start()

    def step(self, text: str, minor: bool) -> None:
        """Show it on a line of its own."""
        self._progress.update(self._task(_STEP), what=text, refresh=True)

    def noted(self, text: str) -> None:
        """Print it above the bars."""
        self._progress.console.print(text, markup=False, highlight=False)

    def landed(self, event: EpochLanded) -> None:
        """Move the bar of a table."""
        units = self._units[event.table] = self._units.get(event.table, 0) + event.units
        rows = self._rows[event.table] = self._rows.get(event.table, 0) + event.rows
        what = f"{count(rows, 'row')}{_until(event.watermark)}"
        total = units + event.backlog
        self._progress.update(self._task(event.table), completed=units, total=total, what=what)

    def committed(self, event: ViewCommitted) -> None:
        """Say how far a view is."""
        rows = self._rows[event.view] = self._rows.get(event.view, 0) + event.rows
        what = f"epoch {event.epoch}, {count(rows, 'row')} written{_until(event.watermark)}"
        self._progress.update(self._task(event.view), what=what)

    def delivered(self, event: ViewDelivered) -> None:
        """Say how far a sink is."""
        self._progress.update(self._task(event.sink), what=f"epoch {event.epoch} delivered")

    def built(self, event: ViewBuilding) -> None:
        """Move the bar of a view."""
        if event.total:
            task, what = self._task(event.view), _so_far(event)
            self._progress.update(task, completed=event.done, total=event.total, what=what)

    def changed(self, event: StateChanged) -> None:
        """Print what failed above the bars; finish the line of what is done."""
        from headwater.runtime.events import RunState

        if event.error is not None:
            self.noted(_failed(event, event.error))
        elif event.state is RunState.DONE:
            self._progress.update(self._task(event.name), total=1, completed=1)
        elif event.state is RunState.RUNNING and event.name not in self._tasks:
            self._progress.update(self._task(event.name), what="waiting for its first commit")

    def awaited(self, event: LeaseAwaited) -> None:
        """Say on a line of its own who is waited for, and for how long."""
        name = f"waiting for {event.owner}"
        self._progress.update(self._task(name), what=_take_over(event))

    def end(self) -> None:
        """Leave the bars as they are."""
        if _STEP in self._tasks:
            self._progress.update(self._tasks.pop(_STEP), visible=False)
        self._progress.stop()

    def _task(self, name: str) -> Any:  # noqa: ANN401 - rich's task id
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=None, what="")
        return self._tasks[name]


def _take_over(event: LeaseAwaited) -> str:
    return f"taking over in {about(event.seconds)} unless it renews its lease"


def _failed(event: StateChanged, error: HeadwaterError) -> str:
    again = f"; next attempt in {about(event.retry_in)}" if event.retry_in is not None else ""
    return f"{event.name} {event.state.value}{again}: {error.render()}"


def _so_far(event: ViewBuilding) -> str:
    if event.done >= event.total:  # of a shuffle, or an input that is read twice, nobody knows
        return f"{count(event.total, 'row')} read, computing for {about(event.seconds)}"
    left = "" if event.left is None else f", {about(event.left)} left"
    return f"{event.done:,} of {count(event.total, 'row')}, {event.rate:,.0f} rows/s{left}"


def _until(watermark: int | None) -> str:
    return "" if watermark is None else f", watermark {moment(watermark)[:16]}"


def _idle(event: InputIdle) -> str:
    at = moment(event.watermark)
    return (
        f"idle {event.table}: no rows for {duration(event.timeout)}, so rows before {at} are late"
        " from now on"
    )


def _open(event: ResultsOpen) -> str:
    """What stays open of a view, until when, and what holds it back."""
    what = "results are" if event.windows is None else _windows(event.windows)
    come = "has no watermark yet" if event.watermark is None else f"is at {moment(event.watermark)}"
    return f"open {event.view}: {what} open until {moment(event.until)}; {event.table} {come}"


def _windows(number: int) -> str:
    return "1 window is" if number == 1 else f"up to {number:,} windows are"
