"""The rows of the clause: which rows are shown, and the values that measures read.

In: a table and its :class:`~headwater.patterns.matches.Matches`. Out: the result as a table. Each
navigation is one array of row numbers and one ``take``, each usual aggregate one pass over columns.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.patterns.clause import CLOSE, MATCH, MatchClause
from headwater.patterns.matches import MatchedRows, Matches, Numbers
from headwater.patterns.navigation import CLASSIFIER, Aggregation, Navigation, Reference
from headwater.patterns.totals import aggregate

NO_ROW = -1


def result(clause: MatchClause, table: pa.Table, matches: Matches) -> pa.Table:
    """Return the rows of the clause.

    Returns:
        With ``ONE ROW PER MATCH`` the columns of ``PARTITION BY``, otherwise all columns of the
        input; then ``_match``, ``_close`` if the matches have it, and ``clause.results``.
    """
    rows = _ResultRows(clause, table, matches)
    names = table.column_names if clause.all_rows else list(dict.fromkeys(clause.partition))
    columns = {name: table[name].take(pa.array(rows.source)) for name in names}
    columns[MATCH] = rows.numbers()
    if matches.close is not None:
        columns[CLOSE] = rows.closes()
    for name, reference in clause.results.items():
        columns[name] = rows.values(reference)
    return pa.table(columns)


class _ResultRows:
    """The rows that the clause shows.

    Attributes:
        source: the row of the input that each shows.
    """

    def __init__(self, clause: MatchClause, table: pa.Table, matches: Matches) -> None:
        self._clause, self._table, self._matches = clause, table, matches
        self._matched = MatchedRows(clause, table, matches)
        self._match, self._place = self._all_rows() if clause.all_rows else self._one_row()
        self.source = matches.first[self._match]
        if clause.all_rows:
            shift = self._place - matches.offsets[self._match]
            self.source = self.source + np.where(self._place >= 0, shift, 0)
        if len(matches.unmatched):
            self._add_unmatched()

    def _one_row(self) -> tuple[Numbers, Numbers]:
        matches = self._matches
        last = matches.offsets[1:] - 1
        return np.arange(len(matches)), np.where(matches.rows > 0, last, NO_ROW)

    def _all_rows(self) -> tuple[Numbers, Numbers]:
        matches = self._matches
        shown = np.maximum(matches.rows, 1 if self._clause.show_empty else 0)
        match = np.repeat(np.arange(len(matches)), shown)
        begins = np.cumsum(shown) - shown
        place = matches.offsets[match] + np.arange(len(match)) - begins[match]
        place = np.where(matches.rows[match] > 0, place, NO_ROW)
        if self._clause.program.excludes and len(place):
            hidden = np.append(self._matched.excluded, False)[place]
            match, place = match[~hidden], place[~hidden]
        return match, place

    def _add_unmatched(self) -> None:
        unmatched = self._matches.unmatched
        nowhere = np.full(len(unmatched), NO_ROW)
        order = np.concatenate([self._matches.first[self._match], unmatched])
        order = np.argsort(order, kind="stable")
        self._match = np.concatenate([self._match, nowhere])[order]
        self._place = np.concatenate([self._place, nowhere])[order]
        self.source = np.concatenate([self.source, unmatched])[order]

    def numbers(self) -> pa.Array:
        """Return ``MATCH_NUMBER()`` of each row; NULL for an unmatched one."""
        return _picked(self._matches.number, self._match)

    def closes(self) -> pa.Array:
        """Return the watermark at which each row is final."""
        assert self._matches.close is not None
        closes = np.append(self._matches.close, 0)[self._match]
        if len(self._matches.unmatched) and self._matches.row_close is not None:
            closes[self._match == NO_ROW] = self._matches.row_close[self._matches.unmatched]
        return pa.array(closes)

    def values(self, reference: Reference) -> pa.ChunkedArray | pa.Array:
        """Return what a reference reads, for each row."""
        if isinstance(reference, Navigation):
            return self._navigated(reference)
        if isinstance(reference, Aggregation):
            stop = self._place + 1
            if reference.final or not self._clause.all_rows:
                stop = self._matches.offsets[1:][self._match] if len(self._matches) else stop
            return aggregate(reference, self._matched, self._match, stop)
        return self.numbers()

    def _navigated(self, navigation: Navigation) -> pa.ChunkedArray | pa.Array:
        matches, match, place = self._matches, self._match, self._place
        if not len(matches):
            named = navigation.column == CLASSIFIER
            kind = pa.string() if named else self._table.schema.field(navigation.column).type
            return pa.nulls(len(match), kind)
        offsets = matches.offsets
        begin, end = offsets[match], offsets[match + 1]
        current = end - 1 if navigation.final else place
        found, labelled = self._labelled(navigation, begin, end, current)
        exists = (place >= 0) & found
        place = np.where(exists, labelled, 0) + navigation.physical
        if navigation.column == CLASSIFIER:
            exists &= (place >= begin) & (place < end)
            return self._matched.classifiers().take(_indices(place, exists))
        row = matches.first[match] + place - begin
        partition = matches.partition[match]
        exists &= (row >= matches.bounds[partition]) & (row < matches.bounds[partition + 1])
        return self._table[navigation.column].take(_indices(row, exists))

    def _labelled(
        self, navigation: Navigation, begin: Numbers, end: Numbers, current: Numbers
    ) -> tuple[npt.NDArray[np.bool_], Numbers]:
        """Return whether there is such a row in the match, and its place."""
        logical = navigation.logical
        if navigation.labels is None:
            place = current - logical if navigation.last else begin + logical
            return (place >= begin) & (place < end), place
        places, before = self._matched.labelled(navigation.labels)
        if navigation.last:
            nth = before[current + 1] - 1 - logical
            exists = nth >= before[begin]
        else:
            nth = before[begin] + logical
            exists = nth < before[end]
        if not len(places):
            return np.zeros(len(begin), bool), begin
        return exists, places[np.where(exists, nth, 0)]


def _indices(rows: Numbers, exists: npt.NDArray[np.bool_]) -> pa.Array:
    return pa.array(np.where(exists, rows, 0), mask=~exists)


def _picked(values: Numbers, index: Numbers) -> pa.Array:
    return pa.array(np.append(values, 0)[index], mask=index == NO_ROW)
