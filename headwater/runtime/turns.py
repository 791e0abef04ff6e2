"""Which views take their turn: not those that are paused, nor those that are fresh enough.

In: the views of a project, what the catalog says of pauses. Out: per tick, the views that rest.
What reads a resting view reads the rows that it has.

A view with FRESHNESS ticks when its last tick is that long ago. A view that it reads, and that has
a FRESHNESS too, must be as fresh: the shortest wish reaches up. When a view with FRESHNESS is due,
so is all that it reads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence

from headwater.analyze.definitions import View

LOOK_EVERY = 1.0
"""Seconds for which what the catalog says of pauses is taken as true."""


def wishes(views: Mapping[str, View]) -> dict[str, float]:
    """Return how fresh views have to be, in seconds; those that are always due are left out.

    Args:
        views: in topological order.
    """
    found = {
        name: view.freshness.total_seconds()
        for name, view in views.items()
        if view.freshness is not None
    }
    for name, view in reversed(list(views.items())):
        for read in view.inputs:
            if name in found and read in found:
                found[read] = min(found[read], found[name])
    return found


class Turns:
    """Says which views rest. Not for several threads, but for :meth:`is_paused`.

    Args:
        views: in topological order.
        paused: returns the names of paused views.
        hurry: whether all that is not paused is always due, as in ``run --once``.
        now: the clock.
    """

    def __init__(
        self,
        views: Mapping[str, View],
        paused: Callable[[], Collection[str]],
        *,
        hurry: bool,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._views, self._look, self._now = views, paused, now
        self.wishes = {} if hurry else wishes(views)
        self._paused: tuple[float, Collection[str]] = (float("-inf"), ())
        self._last: dict[str, float] = {}

    def is_paused(self, name: str) -> bool:
        """Return whether a view is paused."""
        return name in self._pauses()

    def resting(self, names: Sequence[str]) -> frozenset[str]:
        """Return those views that rest now.

        Args:
            names: of views that are maintained together, in topological order.
        """
        paused, now = self._pauses(), self._now()
        due = {name for name in names if now - self._last.get(name, -1e9) >= self._wish(name)}
        due -= set(paused)
        for name in reversed(names):
            if name in due and name in self.wishes:
                due |= {read for read in self._views[name].inputs if read in names} - set(paused)
        return frozenset(names) - due

    def took(self, names: Collection[str]) -> None:
        """Note that views have had their turn."""
        self._last |= dict.fromkeys(names, self._now())

    def _wish(self, name: str) -> float:
        return self.wishes.get(name, 0.0)

    def _pauses(self) -> Collection[str]:
        at, names = self._paused
        if self._now() - at >= LOOK_EVERY:
            names = self._look()
            self._paused = (self._now(), names)
        return names
