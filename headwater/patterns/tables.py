"""The rows of a clause for sorted rows, whole or in batches, as an engine takes them.

In: Arrow tables or batches whose rows are sorted by partition, event time and coordinates. Out: the
rows of :func:`headwater.patterns.measures.result`, in which the close of a match is a time; NULL if
the match is not final before further rows come.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import SqlError
from headwater.patterns.clause import CLOSE, MATCH, MatchClause
from headwater.patterns.finality import NEVER
from headwater.patterns.matcher import PatternMatcher, partition_bounds
from headwater.patterns.matches import Matches
from headwater.patterns.measures import result
from headwater.patterns.recent import RecentRows

ROWS_AT_ONCE = 200_000
"""So many rows are searched together, and more if they are of one partition."""

UNSURE = -1
"""Number of the match in the row of a partition whose earlier rows are needed."""

_FAILURE = re.compile(r"RuntimeError: \[(MATCH_FAILED|TOO_COMPLEX)\] (.*) \[(.*)\]")

_LAST_TIME = 253_402_300_799_999_999
"""The end of the year 9999, the last moment that every engine can show."""


class MatchedTables:
    """The rows of one clause, table by table.

    Args:
        clause: the clause.
        names: the columns of the result, in order.
        recent: the tables have recent rows only. A partition in which that may matter has one row
            with its key, and :data:`UNSURE` as the number of its match.
    """

    def __init__(
        self, clause: MatchClause, names: Sequence[str], recent: RecentRows | None = None
    ) -> None:
        self._clause, self._names, self._recent = clause, list(names), recent
        self._matcher = PatternMatcher(clause)

    def of(self, rows: pa.Table) -> pa.Table:
        """Return the rows of the clause for the partitions of a table."""
        rows = rows.combine_chunks()
        matches = self._matcher.matches(rows, closing=True, recent=self._recent)
        found = result(self._clause, rows, matches)
        at = found.column_names.index(CLOSE)
        found = found.set_column(at, CLOSE, _times(found[CLOSE])).select(self._names)
        return self._with_unsure(found, rows, matches) if matches.unsure else found

    def _with_unsure(self, found: pa.Table, rows: pa.Table, matches: Matches) -> pa.Table:
        first = rows.take(pa.array(matches.bounds[list(matches.unsure)]))
        columns = {
            field.name: first[field.name]
            if field.name in self._clause.partition
            else pa.nulls(first.num_rows, field.type)
            for field in found.schema
        }
        columns[MATCH] = pa.array([UNSURE] * first.num_rows)
        return pa.concat_tables([found, pa.table(columns).cast(found.schema)])

    def batches(
        self, batches: Iterable[pa.RecordBatch], schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the clause for a stream of rows, whole partitions at a time.

        Args:
            batches: the rows, a partition's together.
            schema: of the result.
        """
        waiting: list[pa.RecordBatch] = []
        count, enough = 0, ROWS_AT_ONCE
        for batch in batches:
            waiting.append(batch)
            count += batch.num_rows
            if count < enough:
                continue
            rows = pa.Table.from_batches(waiting).combine_chunks()
            last = int(partition_bounds(self._clause, rows)[-2])
            if last:
                yield from self.of(rows.slice(0, last)).cast(schema).to_batches()
            waiting = rows.slice(last).to_batches()
            count = rows.num_rows - last
            enough = max(ROWS_AT_ONCE, 2 * count)  # a partition's rows are copied log(n) times
        if count:
            yield from self.of(pa.Table.from_batches(waiting)).cast(schema).to_batches()


def matched_batches(
    clause: MatchClause,
    schema: pa.Schema,
    recent: RecentRows | None,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a clause; a function that Spark can send to its workers.

    Raises:
        RuntimeError: what the clause asks cannot be done, as :func:`failure_in` reads it.
    """
    try:
        yield from MatchedTables(clause, schema.names, recent).batches(batches, schema)
    except SqlError as error:
        raise RuntimeError(f"[{error.condition}] {error.message} [{error.hint}]") from None


def failure_in(text: str) -> tuple[str, str, str] | None:
    """Return condition, message and hint of what a worker says of a clause; None of other texts."""
    found = _FAILURE.search(text)
    return (found[1], found[2], found[3]) if found else None


def _times(closes: pa.ChunkedArray) -> pa.ChunkedArray:
    never = pc.greater(closes, min(_LAST_TIME, NEVER))
    known = pc.if_else(never, pa.scalar(None, pa.int64()), closes)
    return known.cast(pa.timestamp("us", "UTC"))
