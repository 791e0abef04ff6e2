"""Matches as columns.

In: what the search found. Out: :class:`Matches`, one entry per match, and :class:`MatchedRows`, one
entry per row of a match (a row that is in two matches has two).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.patterns.clause import MatchClause
from headwater.patterns.navigation import CLASSIFIER, Labels

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SearchStart:
    """Where the search in a partition begins, if its earlier matches are final.

    Attributes:
        skip: rows to pass over; conditions and measures may read them.
        number: the number of the first match.
        covered: rows that earlier matches took; they are not unmatched.
        whole: the table has the partition from its first row on.
    """

    skip: int = 0
    number: int = 1
    covered: int = 0
    whole: bool = True


@dataclass(frozen=True)
class Matches:
    """The matches in a table, in the order of partitions and of their first rows.

    Attributes:
        first: the first row of each match, as its place in the table.
        rows: the number of rows of each match; 0 for an empty one.
        number: ``MATCH_NUMBER()``.
        partition: the partition of each match.
        bounds: where each partition begins in the table, and the end of the last one.
        starts: where the search began, by partition.
        ways: of the rows of all matches, one match after another.
        unmatched: rows that are in no match, if the clause shows them.
        close: the watermark at which each match is final: no row that is accepted at or after it
            changes the match. Microseconds since 1970; ``NEVER`` if it takes rows that are not
            there. None if it was not asked for.
        row_close: for each row of the table, when the outcome of a search from it is final.
        unsure: partitions whose matches depend on rows that are not there; they have none here.
    """

    first: Numbers
    rows: Numbers
    number: Numbers
    partition: Numbers
    bounds: Numbers
    starts: Sequence[SearchStart]
    ways: Numbers
    unmatched: Numbers
    close: Numbers | None = None
    row_close: Numbers | None = None
    unsure: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def offsets(self) -> Numbers:
        """Where the rows of each match begin in ``ways``, and the end of the last one."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.rows)])

    @property
    def last(self) -> Numbers:
        """The last row of each match; of an empty one the row before ``first``."""
        return self.first + self.rows - 1


class MatchedRows:
    """The rows of all matches, one match after another."""

    def __init__(self, clause: MatchClause, table: pa.Table, matches: Matches) -> None:
        self._clause, self._table, self.matches = clause, table, matches
        self._labelled: dict[Labels, tuple[Numbers, Numbers]] = {}

    @cached_property
    def match(self) -> Numbers:
        """The match of each row."""
        return np.repeat(np.arange(len(self.matches)), self.matches.rows)

    @cached_property
    def row(self) -> Numbers:
        """The row of the table."""
        places = np.arange(len(self.match)) - self.matches.offsets[self.match]
        return self.matches.first[self.match] + places

    @cached_property
    def variable(self) -> Numbers:
        """The variable that each row matches."""
        variable_of = np.array(self._clause.program.variable_of, np.int64)
        found: Numbers = variable_of[self.matches.ways >> 1]
        return found

    @cached_property
    def excluded(self) -> npt.NDArray[np.bool_]:
        """Whether each row stands between ``{-`` and ``-}``."""
        crossed = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.matches.ways & 1)])
        inside = crossed[1:] - crossed[self.matches.offsets[self.match]]
        found: npt.NDArray[np.bool_] = inside % 2 == 1
        return found

    def has(self, labels: Labels) -> npt.NDArray[np.bool_]:
        """Return whether each row matches one of some variables."""
        if labels is None:
            return np.ones(len(self.variable), bool)
        found: npt.NDArray[np.bool_] = np.isin(self.variable, list(labels))
        return found

    def labelled(self, labels: Labels) -> tuple[Numbers, Numbers]:
        """Return the places of the rows of some variables, and how many stand before each place."""
        if labels not in self._labelled:
            has = self.has(labels)
            before = np.concatenate([np.zeros(1, np.int64), np.cumsum(has)])
            self._labelled[labels] = (np.flatnonzero(has), before)
        return self._labelled[labels]

    def classifiers(self) -> pa.Array:
        """Return the names of the variables that the rows match."""
        return pa.array(self._clause.names, pa.string()).take(pa.array(self.variable))

    def argument(self, column: str) -> pa.Array:
        """Return a column of the input, or the classifier, for the rows of the matches."""
        if column == CLASSIFIER:
            return self.classifiers()
        found = self._table[column].take(pa.array(self.row))
        return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
