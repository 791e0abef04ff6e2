"""Which rows a tick of *closed time* reads for a pattern: of the last few bounds of ``WITHIN``.

In: a bound view. Out: for each ``MATCH_RECOGNIZE`` in it, the distances from the watermark of the
view's newest commit at which its rows begin, and at which those begin that a match can have that
becomes final in the tick.
"""

from __future__ import annotations

from datetime import timedelta

from sqlglot import exp

from headwater.analyze.definitions import Catalog, View
from headwater.analyze.patterns.rows import rows_read
from headwater.analyze.query_parts import is_stateful, relations, union_branches
from headwater.analyze.time.event_time import MICROSECOND, NONE, source_watermark
from headwater.analyze.time.finality import Finality
from headwater.analyze.time.settling import Settled
from headwater.dialect.syntax import PatternRows
from headwater.patterns import MatchClause
from headwater.patterns.recent import can_be_recent

ROOM = 4
"""So many times ``WITHIN`` is read before the rows of a match, for searches to meet."""


class RecentMatches:
    """The patterns of a view, in the order in which their tables are filled.

    Attributes:
        cuts: by mention of a table in FROM, how far before the watermark its rows begin, the
            allowed lateness aside.
        distances: of each clause, how far before the watermark its rows begin, and those of a match
            that becomes final, in microseconds; None if it needs all rows.
    """

    def __init__(self, view: View, catalog: Catalog, allowed: timedelta | None) -> None:
        self._catalog, self._grace = catalog, allowed or NONE
        self._finality = Finality(catalog)
        self.cuts: dict[int, timedelta] = {}
        found = [
            self._distances(rows, branch)
            for branch in union_branches(view.query)
            for rows in branch.find_all(PatternRows)
        ]
        self.distances = found[::-1]

    def _distances(self, rows: PatternRows, branch: exp.Select) -> tuple[int, int] | None:
        clause: MatchClause = rows.args["clause"]
        settled, table = self._finality.settled(branch), self._table(rows, clause)
        if table is None or not isinstance(settled, Settled) or not can_be_recent(clause):
            return None
        assert clause.within is not None
        until = settled.after + clause.within + MICROSECOND
        since = until + ROOM * clause.within
        self.cuts[id(table)] = since
        first, last = ((each + self._grace) // MICROSECOND for each in (since, until))
        return first, last

    def _table(self, rows: PatternRows, clause: MatchClause) -> exp.Table | None:
        """The landed table whose rows, filtered and computed, a clause reads; None for another."""
        item, name = rows_read(rows), clause.time
        while isinstance(item, exp.Subquery):
            select = item.this
            if not isinstance(select, exp.Select) or is_stateful(select):
                return None
            (item,) = relations(select)
            column = next(each for each in select.selects if each.alias_or_name == name).unalias()
            if not isinstance(column, exp.Column):
                return None
            name = column.name
        if not isinstance(item, exp.Table) or not isinstance(item.this, exp.Identifier):
            return None
        return item if name == source_watermark(item.name, self._catalog) else None
