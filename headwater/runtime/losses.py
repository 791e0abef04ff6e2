"""Rows that a run leaves out, told loudly once they are more than a few.

In: the events of a run. Out: the same events, and a warning when most rows of a table or SOURCE are
refused, or more than one in a hundred rows of an epoch are too late for a view. Each is told once,
and in the end again if it has grown.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.lake.reserved_names import quarantine_of
from headwater.runtime.events import (
    EpochLanded,
    Event,
    Progress,
    SourceRowsRefused,
    ViewCommitted,
    Warned,
)

REFUSED_SHARE = 0.5
"""Share of refused rows in all that was read from which it is told."""

LATE_SHARE = 0.01
"""Share of late rows in an epoch from which it is told."""


@dataclass
class _Count:
    """Rows left out of rows read."""

    out: int = 0
    read: int = 0
    told: int = 0

    def add(self, out: int, read: int) -> None:
        self.out += out
        self.read += read

    def __str__(self) -> str:
        return f"{self.out:,} of {self.read:,} rows ({self.out / self.read:.1%})"


class Losses:
    """Passes events on, and adds warnings. Called by one thread at a time.

    Args:
        progress: told of both.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        # by name, what it is, and the view that reads it: each view counts the rows of a SOURCE
        self._refused: dict[tuple[str, str, str], _Count] = {}
        self._late: dict[str, _Count] = {}

    def __call__(self, event: Event) -> None:
        """Take an event."""
        self._progress(event)
        match event:
            case EpochLanded():
                out = event.quarantined + event.dropped
                self._add_refused((event.table, "table", ""), out, event.rows + out)
            case SourceRowsRefused():
                of = (event.source, "source", event.view)
                self._add_refused(of, event.refused, event.rows)
            case ViewCommitted():
                late = event.counts.get("late", 0)
                if late and late > LATE_SHARE * event.read:
                    self._late.setdefault(event.view, _Count()).add(late, event.read)
                    if not self._late[event.view].told:
                        self._tell_late(event.view)
            case _:
                pass

    def finish(self) -> None:
        """Tell what has grown since it was told."""
        for of, count in self._refused.items():
            if 0 < count.told < count.out:
                self._tell_refused(of)
        for view, count in self._late.items():
            if count.told < count.out:
                self._tell_late(view)

    def _add_refused(self, of: tuple[str, str, str], out: int, read: int) -> None:
        count = self._refused.setdefault(of, _Count())
        count.add(out, read)
        told = any(each.told for key, each in self._refused.items() if key[0] == of[0])
        if not told and count.out > REFUSED_SHARE * count.read:
            self._tell_refused(of)

    def _tell_refused(self, of: tuple[str, str, str]) -> None:
        count, (name, kind, _) = self._refused[of], of
        count.told = count.out
        hint = f"run `headwater quarantine list {name}`, which shows the reasons"
        message = f'{kind} "{name}" refuses {count}; see {quarantine_of(name)}'
        self._progress(Warned(name, message, hint))

    def _tell_late(self, view: str) -> None:
        count = self._late[view]
        count.told = count.out
        message = (
            f'view "{view}" left out {count} as late: the watermark had passed their time before'
            " they arrived"
        )
        hint = (
            "write LATE ROWS ACCEPT FOR INTERVAL '…' in the view, or a longer delay in WATERMARK"
            " FOR of the table, to take such rows; LATE ROWS DROP INTO name stores them"
        )
        self._progress(Warned(view, message, hint))
