"""A search that does not know the first rows of a partition, and where it is sure of itself.

In: the rows of a partition from a time on. Out: a row from which every search goes on alike,
wherever it stood before. A match ends within ``WITHIN`` of its first row, so the searches that may
have come from earlier rows are few, and their ways mostly meet after some matches.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.patterns.clause import MatchClause
from headwater.patterns.navigation import MatchNumber
from headwater.patterns.search import Find, rows_on

if TYPE_CHECKING:
    from headwater.patterns.matches import Numbers


@dataclass(frozen=True, slots=True)
class RecentRows:
    """Which rows of each partition a table has, and which matches are asked for.

    Attributes:
        since: every row from this time on is there, in microseconds; maybe none before.
        until: only matches whose rows are all later are asked for.
    """

    since: int
    until: int


def can_be_recent(clause: MatchClause) -> bool:
    """Return whether a match depends on earlier rows by the place of the search alone.

    ``MATCH_NUMBER`` and ``^`` depend on all earlier rows. ``NEXT`` delays the end of a match
    beyond ``WITHIN``.
    """
    first = clause.program.first
    anchored = any(first(True, end) != first(False, end) for end in (False, True))
    counted = [*clause.results.values(), *(n for c in clause.conditions for n in c.names.values())]
    return not (
        clause.within is None
        or clause.lookahead
        or clause.show_unmatched
        or anchored
        or any(isinstance(each, MatchNumber) for each in counted)
    )


def sure_from(
    clause: MatchClause, find: Find, begins: Sequence[int], times: Numbers, recent: RecentRows
) -> int | None:
    """Return a row at which the search stands whatever came before; None if that is not certain.

    Args:
        clause: one that :func:`can_be_recent`.
        find: finds the match at a row.
        begins: the rows where a match may begin, ascending.
        times: of the rows.
        recent: which rows there are.
    """
    assert clause.within is not None
    count, first = len(times), clause.lookback  # rows before it read rows that are not there
    wanted = int(times.searchsorted(recent.until, side="right"))
    if wanted == count:
        return count
    if first > wanted:
        return None
    if clause.skip.to_next:
        return first
    before = int(times[first - 1]) if first else recent.since
    within = int(clause.within.total_seconds() * 1_000_000)
    taken = int(times.searchsorted(before + within, side="right"))

    def begin(row: int) -> int:
        at = bisect_left(begins, row)
        return begins[at] if at < len(begins) else count

    waiting = sorted({begin(row) for row in range(first, max(first, taken) + 1)})
    while len(waiting) > 1:
        row = heapq.heappop(waiting)
        if row >= wanted:
            return None
        after = begin(row + rows_on(find(row, 1), clause.skip, clause.program.variable_of))
        if after not in waiting:
            heapq.heappush(waiting, after)
    return waiting[0]
