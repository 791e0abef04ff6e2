"""The matches of one partition, one after another, as AFTER MATCH SKIP says.

In: the codes of its rows. Out: for each match its first row and the ways of its rows. How a match
at a row is found depends on the conditions: :class:`ColumnSearch` takes columns alone,
:class:`~headwater.patterns.walker.Walker` walks through conditions that read the match so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from headwater.errors import SqlError
from headwater.patterns.automaton import (
    ENDED,
    START,
    START_OF_PARTITION,
    Automaton,
    Way,
    walk,
)
from headwater.patterns.clause import Skip
from headwater.patterns.program import DONE

Find = Callable[[int, int], "list[Way] | None"]
"""The ways of the match at a row, given the match's number; None if there is no match."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What was found at one row.

    Attributes:
        row: the row, from the partition's first.
        ways: of the rows of the match; none for an empty match; None if there is no match.
    """

    row: int
    ways: list[Way] | None


class ColumnSearch:
    """Finds matches whose conditions are columns.

    Args:
        automaton: of the pattern.
        codes: the variables that each row satisfies.
        limits: for each row the first row that is too late for a match from there; None without
            ``WITHIN``.
        whole: the first row is the partition's first.
    """

    def __init__(
        self, automaton: Automaton, codes: Sequence[int], limits: Sequence[int] | None, whole: bool
    ) -> None:
        self._automaton, self._codes, self._limits = automaton, codes, limits
        self._first = 0 if whole else -1
        self.states = automaton.alive(codes)
        self._ends: list[dict[int, int]] = []

    def begins(self) -> list[int]:
        """Return the rows at which a match may begin."""
        found = [row for row, state in enumerate(self.states) if state.begins]
        if not found or found[0] != 0:
            found.insert(0, 0)  # ^ holds there alone
        return found if found[-1] < len(self._codes) else found[:-1]

    def find(self, row: int, _number: int) -> list[Way] | None:
        """Return the ways of the preferred match at a row."""
        ways = walk(self.states, row, first=row == self._first)
        if ways is None or self._limits is None or row + len(ways) <= self._limits[row]:
            return ways
        return self._within(row, self._limits[row])

    def _within(self, row: int, limit: int) -> list[Way] | None:
        """Return the preferred of the matches that end in time."""
        if not self._ends:
            self._ends = self._earliest_ends()
        way: Way = START_OF_PARTITION if row == self._first else START
        ways: list[Way] = []
        while way != ENDED:
            at_end, ends = row == len(self._codes), self._ends[row]
            for step, fenced in self._automaton.steps_of(way, at_end=at_end):
                if step == DONE or ends.get(step, limit + 1) <= limit:
                    way = ENDED if step == DONE else step << 1 | fenced
                    break
            else:
                assert not ways  # a step is taken only if it leads to an end in time
                return None
            if way != ENDED:
                ways.append(way)
                row += 1
        return ways

    def _earliest_ends(self) -> list[dict[int, int]]:
        """Return, for each row, where the shortest match through each of its steps ends."""
        ends: list[dict[int, int]] = [{}]
        follow, count = self._automaton.program.follow, len(self._codes)
        for row in range(count - 1, -1, -1):
            behind, here = ends[-1], {}
            for step in _bits(self.states[row].bits):
                after = follow(step, row + 1 == count)
                here[step] = min(
                    row + 1 if each == DONE else behind.get(each, count + 1) for each, _ in after
                )
            ends.append(here)
        ends.reverse()
        return ends


def _bits(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def attempts(
    find: Find, begins: Sequence[int], skip: Skip, variable_of: Sequence[int], number: int = 1
) -> Iterator[Attempt]:
    """Yield what is found at each row where the search begins anew, if a match may begin there.

    Args:
        find: finds the match at a row.
        begins: the rows where a match may begin, ascending.
        skip: where to go on behind a match.
        variable_of: the variable of each step.
        number: the number of the first match.
    """
    row = 0
    for begin in begins:
        if begin < row:
            continue
        ways = find(begin, number)
        yield Attempt(begin, ways)
        row = begin + rows_on(ways, skip, variable_of)
        if ways is not None:
            number += 1


def rows_on(ways: Sequence[Way] | None, skip: Skip, variable_of: Sequence[int]) -> int:
    """Return how many rows the search goes on behind what was found at a row."""
    return _skipped(ways, skip, variable_of) if ways else 1


def _skipped(ways: Sequence[Way], skip: Skip, variable_of: Sequence[int]) -> int:
    if skip.to_next:
        return 1
    if skip.labels is None:
        return len(ways)
    rows = range(len(ways))
    for row in reversed(rows) if skip.last else rows:
        if variable_of[ways[row] >> 1] in skip.labels:
            if row == 0:
                raise SqlError(
                    "MATCH_FAILED",
                    f"AFTER MATCH SKIP TO {skip.variable} goes back to the first row of the match",
                    hint="write AFTER MATCH SKIP TO NEXT ROW",
                )
            return row
    raise SqlError(
        "MATCH_FAILED",
        f"AFTER MATCH SKIP TO {skip.variable} finds no row of {skip.variable} in the match",
        hint="write AFTER MATCH SKIP PAST LAST ROW, or make the variable part of every match",
    )
