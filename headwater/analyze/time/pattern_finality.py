"""When the matches of ``MATCH_RECOGNIZE`` are final, as an event time of theirs.

In: the event times of the rows that a clause reads. Out: ``_close``, the watermark at which no
accepted row can change the match any more, which the matcher computes; and the times of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headwater.analyze.time.distances import Distance
from headwater.analyze.time.event_time import MICROSECOND, NONE, Reach, Times
from headwater.analyze.time.settling import seen
from headwater.dialect.syntax import PatternRows
from headwater.patterns import MatchClause
from headwater.patterns.clause import CLOSE
from headwater.patterns.navigation import Navigation


def match_times(rows: PatternRows, times: Times) -> Times:
    """Return the event times of matches; none if the rows are not in the order of theirs.

    Args:
        rows: the matches.
        times: of the rows that the clause reads.
    """
    clause: MatchClause = rows.args["clause"]
    time = times.get(clause.time)
    if time is None:
        return {}
    longest = (clause.within or NONE) + MICROSECOND
    close = replace(
        time,
        column=CLOSE,
        kind="window_end",
        reads=seen(time, Reach(None, NONE)),
        ahead=time.ahead + longest,
        grid=None,
    )
    found = {CLOSE: close}
    for name in _of_rows(clause):
        reads = seen(time, Reach(None, longest))
        found[name] = replace(time, column=name, reads=reads, lag=time.lag + longest, grid=None)
    return found


def within_match(alias: str, rows: PatternRows, times: Times) -> Iterator[Distance]:
    """What is known of the times of a match and its close."""
    clause: MatchClause = rows.args["clause"]
    for name in _of_rows(clause):
        if name in times and clause.within is not None:
            yield Distance((alias, name), (alias, CLOSE), clause.within + MICROSECOND)
            yield Distance((alias, CLOSE), (alias, name), NONE)


def _of_rows(clause: MatchClause) -> list[str]:
    """Names of the values that are the event time of a row of the match, not far from its close.

    A match closes within the bound of its first row, unless it looks at rows behind the match.
    """
    if clause.within is None or clause.lookahead:
        return []
    named = [clause.time] if clause.all_rows else []
    read = ((name, each) for name, each in clause.results.items() if isinstance(each, Navigation))
    named += [name for name, each in read if each.column == clause.time and not each.physical]
    return named
