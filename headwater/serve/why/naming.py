"""The numbers of the rows that decide each of some rows, in DuckDB.

In: a DuckDB with numbered inputs, a SELECT at rest over them, and the rows to explain. Out: tables
with the numbers. Where an equal row could take the place of one that goes, the rows that decide the
other are named too: without all that are named, the row is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from headwater.plan.sql.pattern_rows import take_out
from headwater.serve.connection import quoted
from headwater.serve.pattern_rows import create_matches
from headwater.serve.why.lineage import goes_with_its_rows, lineage
from headwater.serve.why.traced import WHY

if TYPE_CHECKING:
    import duckdb
    from sqlglot import exp

ROUNDS = 10
"""Equal rows that take the place of one another, before all rows are named."""
CUT, LEFT = "cut", "left"
"""Endings of the names of the inputs: all rows, and those without the rows that were named."""

Select = Callable[[str], "exp.Query"]
"""Gives the SELECT at rest over inputs whose names have an ending."""
Matching = Callable[[str, str], str]
"""Gives the query for some columns of the rows of a query that are explained, with their ``_n``."""


class Naming:
    """Names the rows that decide rows of one SELECT.

    Args:
        connection: has a view ``NAME@cut`` of each input, with a column ``__why``.
        inputs: names of the inputs.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        inputs: Iterable[str],
        select: Select,
        matching: Matching,
    ) -> None:
        self._connection, self._inputs = connection, tuple(inputs)
        self._select, self._matching = select, matching
        query = select(CUT)
        self._goes = goes_with_its_rows(query)
        self._create("@found", self._found(query))
        self._create("@named", _numbers("@found"))

    def copies(self, n: int) -> int:
        """Return how often the SELECT returns a row.

        Args:
            n: which one.
        """
        return self._count(f'FROM "@found" WHERE _n = {n}')

    def settle(self, n: int) -> bool:
        """Name the rows too that decide an equal row which would take the place of a row.

        Args:
            n: which one.

        Returns:
            Whether the row is there without any of the rows that are named.
        """
        if self._goes:
            return False
        copies, number, rounds = self.copies(n), -1, 0
        for name in self._inputs:
            gone = f'SELECT id FROM "@named" WHERE _n = {n} AND id IS NOT NULL'
            rows = f"SELECT * FROM {quoted(f'{name}@{CUT}')} WHERE {WHY} NOT IN ({gone})"
            view = quoted(f"{name}@{LEFT}")
            self._connection.execute(f"CREATE OR REPLACE TEMP VIEW {view} AS {rows}")
        while True:
            again = self._found(self._select(LEFT))
            self._create("@other", f"SELECT * FROM ({again}) WHERE _n = {n}")
            if self._count('FROM "@other"') < copies:
                return False
            before, number = number, self._count(f'FROM "@named" WHERE _n = {n}')
            if number == before:
                return True
            rounds += 1
            other = _numbers("@other") if rounds < ROUNDS else self._all(n)
            self._connection.execute(f'INSERT INTO "@named" FROM ({other}) EXCEPT FROM "@named"')

    def _all(self, n: int) -> str:
        """The query for the numbers of all rows."""
        rows = (f"SELECT {n} AS _n, {WHY} FROM {quoted(f'{name}@{CUT}')}" for name in self._inputs)
        return " UNION ALL ".join(rows)

    def _found(self, query: exp.Query) -> str:
        """The query for the numbers of rows; the matches that it reads are found at once."""
        traced, patterns = take_out(lineage(query), "duckdb")
        create_matches(self._connection, patterns)
        return self._matching(traced.sql("duckdb", identify=True), f"_n, {WHY}")

    def _create(self, name: str, query: str) -> None:
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {quoted(name)} AS {query}")

    def _count(self, source: str) -> int:
        return int(self._connection.sql(f"SELECT count(*) {source}").fetchall()[0][0])


def _numbers(table: str) -> str:
    numbers = f"SELECT _n, unnest({WHY}) AS id FROM {quoted(table)}"
    return f"SELECT DISTINCT * FROM ({numbers}) WHERE id IS NOT NULL"
