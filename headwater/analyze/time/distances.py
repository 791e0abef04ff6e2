"""How far apart the event times of one SELECT can be, by what its conditions compare.

In: a bound SELECT and the event-time columns of what it reads, subqueries of its expressions
included. Out: the greatest distance from one of them to another.

A distance follows from a chain of comparisons. A comparison in the ON of an outer join holds only
where the join found something; so it serves for distances from and to that side.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from sqlglot import exp

from headwater.analyze.time.bounds import Name, differences


@dataclass(frozen=True, slots=True)
class Distance:
    """``end - start <= most``, wherever an item of FROM is not NULL.

    Attributes:
        owner: alias of that item; empty for everywhere.
    """

    start: Name
    end: Name
    most: timedelta
    owner: str = ""


class Distances:
    """The distances between event times.

    Args:
        names: the event-time columns.
        steps: what is known of them directly.
    """

    def __init__(self, names: Collection[Name], steps: Iterable[Distance]) -> None:
        self._names = names
        self._steps = list(steps)
        self._known: dict[tuple[Name, Name], timedelta | None] = {}

    def most(self, start: Name, end: Name) -> timedelta | None:
        """Return the greatest ``end - start`` of a row that holds both, None if there is none."""
        if (start, end) not in self._known:
            self._known[start, end] = self._most(start, end)
        return self._known[start, end]

    def _most(self, start: Name, end: Name) -> timedelta | None:
        usable = [s for s in self._steps if s.owner in ("", start[0], end[0])]
        found: dict[Name, timedelta] = {start: timedelta(0)}
        for _ in self._names:
            for step in usable:
                if step.start in found:
                    by_step = found[step.start] + step.most
                    if step.end not in found or by_step < found[step.end]:
                        found[step.end] = by_step
        return found.get(end)


def steps_of(
    condition: exp.Expr | None, names: Collection[Name], owner: str = ""
) -> Iterator[Distance]:
    """Yield what a condition says of event times.

    Args:
        owner: the item whose ON it is, if the join may find nothing.
    """
    for lesser, greater, least in differences(condition):
        if lesser in names and greater in names and (not owner or owner in (lesser[0], greater[0])):
            yield Distance(greater, lesser, -least, owner)
