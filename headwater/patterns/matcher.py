"""The rows of a ``MATCH_RECOGNIZE`` clause, for rows of its input.

In: a checked clause and an Arrow table with the clause's input columns, sorted by partition, event
time and coordinates. Out: :class:`Matches`, and from them the rows of the clause as a table. It
reads and writes columns; Python sees one number per row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headwater.patterns.automaton import Automaton, Way
from headwater.patterns.clause import MatchClause
from headwater.patterns.finality import NEVER, Closing
from headwater.patterns.matches import Matches, Numbers, SearchStart
from headwater.patterns.recent import RecentRows, sure_from
from headwater.patterns.search import ColumnSearch, attempts
from headwater.patterns.walker import WalkedConditions, Walker

MICROSECOND = timedelta(microseconds=1)
NO_TIME = NEVER


@dataclass
class _Found:
    first: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    number: list[int] = field(default_factory=list)
    partition: list[int] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)
    row_close: list[Numbers] | None = None
    unsure: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class _Rows:
    """The rows of a table as the search reads them.

    Attributes:
        codes: the variables that each row may satisfy.
        times: event times, if they matter.
        columns: the values that walked conditions read.
    """

    codes: Numbers
    times: Numbers | None
    columns: Mapping[str, list[Any]]

    def part(self, low: int, high: int) -> _Rows:
        """Return the rows from one up to another."""
        times = None if self.times is None else self.times[low:high]
        columns = {name: column[low:high] for name, column in self.columns.items()}
        return _Rows(self.codes[low:high], times, columns)


class PatternMatcher:
    """Finds the matches of one clause, in any number of tables.

    Args:
        clause: the clause.
    """

    def __init__(self, clause: MatchClause) -> None:
        self.clause = clause
        self._automaton = Automaton(clause.program)
        walked = any(condition.walked for condition in clause.conditions)
        self._walked = WalkedConditions(clause.conditions) if walked else None

    def matches(
        self,
        table: pa.Table,
        *,
        starts: Sequence[SearchStart] | None = None,
        closing: bool = False,
        recent: RecentRows | None = None,
    ) -> Matches:
        """Return the matches in a table.

        Args:
            table: rows with the input columns of the clause, sorted.
            starts: where the search begins, by partition; by default at its first row.
            closing: say when each match is final.
            recent: the table has recent rows only; a partition in which that may matter is named.

        Raises:
            SqlError: ``MATCH_FAILED`` or ``TOO_COMPLEX``, what the clause asks cannot be done.
        """
        bounds = partition_bounds(self.clause, table)
        names = self._walked.columns if self._walked else ()
        timed = closing or self.clause.within is not None
        rows = _Rows(
            self._codes(table),
            microseconds(table[self.clause.time]) if timed else None,
            {name: table[name].to_pylist() for name in names},
        )
        begun = list(starts or [SearchStart()] * (len(bounds) - 1))
        found = _Found(row_close=[] if closing else None)
        for index in range(len(bounds) - 1):
            low, high = int(bounds[index]), int(bounds[index + 1])
            part = rows.part(low, high) if len(bounds) > 2 else rows
            if recent is not None:
                begun[index] = self._start(part, recent, found, index)
            self._search(part, low, begun[index], found)
            found.partition += [index] * (len(found.first) - len(found.partition))
        return self._made(table, bounds, begun, found)

    def _start(self, rows: _Rows, recent: RecentRows, found: _Found, partition: int) -> SearchStart:
        """Where a search of recent rows begins; at the end if it is not sure of itself."""
        search, columns, _ = self._searches(rows, whole=False, closing=False)
        assert rows.times is not None
        row = sure_from(self.clause, search.find, columns.begins(), rows.times, recent)
        if row is None:
            found.unsure.append(partition)
        return SearchStart(skip=len(rows.codes) if row is None else row, whole=False)

    def _searches(
        self, rows: _Rows, *, whole: bool, closing: bool
    ) -> tuple[ColumnSearch | Walker, ColumnSearch, list[int] | None]:
        """What finds matches, the search by columns alone, and the limits of WITHIN."""
        codes = rows.codes.tolist()
        limits = None if self.clause.within is None else _limits(rows.times, self.clause.within)
        columns = ColumnSearch(self._automaton, codes, limits, whole)
        if self._walked is None:
            return columns, columns, limits
        prune = None if closing else (lambda row: columns.states[row].bits)
        walker = Walker(self._automaton, self._walked, codes, rows.columns, limits, whole, prune)
        return walker, columns, limits

    def _search(self, rows: _Rows, low: int, start: SearchStart, found: _Found) -> None:
        codes, closing = rows.codes.tolist(), found.row_close is not None
        search, columns, limits = self._searches(rows, whole=start.whole, closing=closing)
        walker = search if isinstance(search, Walker) else None
        closes = None
        if closing and rows.times is not None:
            closes = Closing(self.clause, self._automaton, codes, rows.times, limits, start, walker)
        begins = columns.begins() if closes is None else closes.begins()
        variable_of, number = self.clause.program.variable_of, start.number
        begins = [row for row in begins if row >= start.skip]
        for attempt in attempts(search.find, begins, self.clause.skip, variable_of, number):
            if closes is not None:
                closes.note(attempt)
            if attempt.ways is None:
                continue
            found.first.append(low + attempt.row)
            found.rows.append(len(attempt.ways))
            found.number.append(number)
            found.ways += attempt.ways
            number += 1
        if closes is not None and found.row_close is not None:
            found.row_close.append(closes.by_row())

    def _made(
        self, table: pa.Table, bounds: Numbers, starts: Sequence[SearchStart], found: _Found
    ) -> Matches:
        first, rows = np.array(found.first, np.int64), np.array(found.rows, np.int64)
        unmatched = np.zeros(0, np.int64)
        if self.clause.show_unmatched:
            covered = np.zeros(table.num_rows + 1, np.int64)
            np.add.at(covered, first, 1)
            np.add.at(covered, first + np.maximum(rows, 1), -1)
            before = np.array([max(each.skip, each.covered) for each in starts], np.int64)
            np.add.at(covered, bounds[:-1], 1)
            np.add.at(covered, np.minimum(bounds[:-1] + before, bounds[1:]), -1)
            unmatched = np.flatnonzero(np.cumsum(covered[:-1]) == 0)
        row_close = None
        if found.row_close is not None:
            row_close = np.concatenate([np.zeros(0, np.int64), *found.row_close])
        return Matches(
            first=first,
            rows=rows,
            number=np.array(found.number, np.int64),
            partition=np.array(found.partition, np.int64),
            bounds=bounds,
            starts=starts,
            ways=np.array(found.ways, np.int64),
            unmatched=unmatched,
            close=None if row_close is None else row_close[first],
            row_close=row_close,
            unsure=tuple(found.unsure),
        )

    # columns of the table as numbers

    def _codes(self, table: pa.Table) -> Numbers:
        codes = np.zeros(table.num_rows, np.int64)
        for variable, condition in enumerate(self.clause.conditions):
            if condition.column is None:
                codes |= np.int64(1 << variable)
            else:
                column = table[condition.column]
                if pa.types.is_null(column.type):
                    continue
                holds = pc.fill_null(column, False).to_numpy()
                codes |= holds.astype(np.int64) << np.int64(variable)
        return codes


def partition_bounds(clause: MatchClause, table: pa.Table) -> Numbers:
    """Return where the partitions of a sorted table begin, and the end of the last one."""
    count = table.num_rows
    if count == 0:
        return np.zeros(1, np.int64)
    changes = np.zeros(count, bool)
    changes[0] = True
    for name in clause.partition:
        changes[1:] |= _differs(table[name].combine_chunks())
    return np.append(np.flatnonzero(changes), count).astype(np.int64)


def _limits(times: Numbers | None, within: timedelta) -> list[int]:
    """Return for each row the first row that is too late for a match from there."""
    assert times is not None
    until = np.where(times == NO_TIME, times, times + within // MICROSECOND)
    limits = np.searchsorted(times, until, side="right")
    found: list[int] = np.where(times == NO_TIME, np.arange(len(times)), limits).tolist()
    return found


def microseconds(column: pa.ChunkedArray) -> Numbers:
    """Return event times as microseconds, numbers as they are; NULL, which sorts last, is late."""
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("us"))
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    found: Numbers = pc.fill_null(column.cast(pa.int64()), NO_TIME).to_numpy()
    return found


def _differs(column: pa.Array) -> npt.NDArray[np.bool_]:
    """Return for each value but the first whether it is another one than the value before."""
    before, after = column[:-1], column[1:]
    if pa.types.is_null(column.type):
        return np.zeros(len(after), bool)
    if pa.types.is_nested(column.type):
        values = column.to_pylist()
        return np.array([one != other for one, other in pairwise(values)], bool)
    other = pc.fill_null(pc.not_equal(before, after), False)
    if pa.types.is_floating(column.type):  # NaN is one key
        nan = pc.and_(pc.is_nan(before), pc.is_nan(after))
        other = pc.and_not(other, pc.fill_null(nan, False))
    nulls = pc.xor(pc.is_null(before), pc.is_null(after))
    found: npt.NDArray[np.bool_] = np.asarray(pc.or_(other, nulls))
    return found
