"""When a match is final: the watermark at which no accepted row can change it any more.

In: a partition's rows and what was found at one of them. Out: microseconds. A row is accepted if
its time is not before the watermark. So what was found is final once every row that it depends on
lies before the watermark. These are the rows of the match, the rows that a preferred alternative
reaches before it fails, and rows that conditions or measures read at a distance. With ``WITHIN``,
no row after the first row's time and the bound matters. A match also waits for the ones before
it, since these decide where it may begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headwater.patterns.automaton import START, START_OF_PARTITION, Automaton
from headwater.patterns.clause import MatchClause
from headwater.patterns.matches import Matches, Numbers, SearchStart
from headwater.patterns.program import DONE
from headwater.patterns.search import Attempt
from headwater.patterns.walker import Walker

NEVER = int(np.iinfo(np.int64).max)
"""The close of a match that depends on rows that are not there."""


class Closing:
    """Says of each search in a partition when its outcome is final.

    Args:
        clause: the clause.
        automaton: of its pattern.
        codes: the variables that each row may satisfy.
        times: of the rows.
        limits: for each row the first row that is too late for a match from there.
        start: where the search begins.
        walker: finds the matches if conditions read the match so far.
    """

    def __init__(
        self,
        clause: MatchClause,
        automaton: Automaton,
        codes: Sequence[int],
        times: Numbers,
        limits: Sequence[int] | None,
        start: SearchStart,
        walker: Walker | None,
    ) -> None:
        self._clause, self._automaton = clause, automaton
        self._codes, self._times, self._limits = codes, times, limits
        self._start, self._walker = start, walker
        self._latest: list[dict[int, int]] = []
        self._noted: list[tuple[int, int]] = []

    def begins(self) -> list[int]:
        """Return the rows at which a match may begin, given rows that are not there yet."""
        first = self._automaton.program.first(False, False)
        if any(step == DONE for step, _ in first):
            return list(range(len(self._codes)))
        mask = 0
        for step, _ in first:
            mask |= self._automaton.variable_bits[step]
        found = [row for row, code in enumerate(self._codes) if code & mask]
        return found if found[:1] == [0] or not self._codes else [0, *found]

    def note(self, attempt: Attempt) -> None:
        """Take what a search found; the searches of a partition come in order."""
        looked = self._walker.looked if self._walker else self._looked(attempt)
        self._noted.append((attempt.row, self._close(attempt.row, looked)))

    def by_row(self) -> Numbers:
        """Return, for each row, when the outcome of a search from it is final.

        A search waits for the ones before it. One that no row can begin is decided by its own row.
        """
        ahead, count = self._clause.lookahead, len(self._codes)
        closes = np.full(count, NEVER)
        if not self._clause.program.reads_end:
            closes[: max(0, count - ahead)] = np.minimum(self._times[ahead:], NEVER - 1) + 1
        for row, close in self._noted:
            closes[row] = close
        closes[: self._start.skip] = 0
        found: Numbers = np.maximum.accumulate(closes)
        return found

    def _close(self, row: int, looked: int) -> int:
        if self._clause.program.reads_end:
            return NEVER
        count, ahead = len(self._codes), self._clause.lookahead
        close = 0
        if self._limits is not None and looked >= self._limits[row]:
            within = int(self._clause.within.total_seconds() * 1_000_000)  # type: ignore[union-attr]
            close = int(self._times[row]) + within + 1
            looked = self._limits[row] - 1
        if looked + ahead >= count:
            return NEVER
        return min(NEVER, max(close, int(self._times[looked + ahead]) + 1))

    def _looked(self, attempt: Attempt) -> int:
        """Return the last row that decides what was found; the number of rows if it is missing."""
        if not self._latest:
            self._latest = self._latest_rows()
        row = attempt.row
        way = START_OF_PARTITION if row == 0 and self._start.whole else START
        looked = row if attempt.ways is None else row + max(0, len(attempt.ways) - 1)
        ways = [*(attempt.ways or ()), -1 if attempt.ways is not None else None]
        for taken in ways:
            latest = self._latest[row]
            for step, _ in self._automaton.steps_of(way, at_end=row == len(self._codes)):
                if taken is not None and step == (DONE if taken == -1 else taken >> 1):
                    break
                looked = max(looked, latest.get(step, row))
            if taken is None:
                break
            way, row = taken, row + 1
        return looked

    def _latest_rows(self) -> list[dict[int, int]]:
        """Return, for each row, the last row that the ways through each of its steps reach.

        A step that is not there fails at the row itself.
        """
        nothing: dict[int, int] = {}
        latest, behind = [nothing], nothing
        plans: dict[int, list[tuple[int, list[int]]]] = {}
        for row in range(len(self._codes) - 1, -1, -1):
            code = self._codes[row]
            plan = plans.get(code)
            if plan is None:
                plan = plans[code] = self._plan(code)
            here = nothing
            if plan:
                here = {}
                for step, after in plan:
                    reached = row
                    for each in after:
                        reached = max(reached, behind.get(each, row + 1))
                    here[step] = reached
            latest.append(here)
            behind = here
        latest.reverse()
        return latest

    def _plan(self, code: int) -> list[tuple[int, list[int]]]:
        """Return the steps that a row takes, each with the steps that look at the next row."""
        follow = self._automaton.program.follow
        return [
            (step, [each for each, _ in follow(step, False) if each != DONE])
            for step, bit in enumerate(self._automaton.variable_bits)
            if code & bit
        ]


@dataclass(frozen=True, slots=True)
class LaterSearch:
    """Where a later search over more rows of a partition goes on.

    Attributes:
        needs: the first row that a later table must have, as its place in this one; the
            partition's end if it needs none.
        start: where the search begins in such a table.
    """

    needs: int
    start: SearchStart


def resume(clause: MatchClause, matches: Matches, watermark: int) -> list[LaterSearch]:
    """Return, by partition, where the search goes on behind what is final at a watermark.

    Args:
        clause: the clause.
        matches: found with ``closing``.
        watermark: in microseconds.
    """
    assert matches.row_close is not None
    waiting = np.flatnonzero(matches.row_close > watermark)
    places = np.searchsorted(waiting, matches.bounds[:-1])
    begins = np.searchsorted(matches.first, matches.bounds[:-1])
    found = []
    for partition, before in enumerate(matches.starts):
        low, high = int(matches.bounds[partition]), int(matches.bounds[partition + 1])
        place = places[partition]
        row = min(int(waiting[place]), high) if place < len(waiting) else high
        begin, end = int(begins[partition]), int(np.searchsorted(matches.first, row))
        needs = max(low, row - clause.lookback)
        taken = int(np.max(matches.last[begin:end] + 1, initial=low + before.covered))
        start = SearchStart(
            skip=row - needs,
            number=before.number + end - begin,
            covered=max(0, taken - needs),
            whole=before.whole and needs == low,
        )
        found.append(LaterSearch(needs, start))
    return found
