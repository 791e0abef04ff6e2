"""Rows into a table by key: a small table is written anew, a large one is changed in parts.

In: a temporary view with at most one row per key. Out: updates, deletes and inserts in the target
of a commit. A MERGE leaves delete files, one for each data file that it touches, which the next one
reads and writes again; of a small table one file with all rows costs less. A MERGE with an insert
clause is an outer join that reads and shuffles the whole table. Split, the change is broadcast: a
MERGE with matched clauses only changes the rows that exist, in one pass; what it wrote says which
these are; an append adds the others. A format whose commit is one statement is never split.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, DecimalType, DoubleType, FloatType

from headwater.lake.iceberg.changed_rows import rows_written
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.table import Table, Target

SMALL_VIEW = 50_000
"""Rows of a view that may be written anew in each tick: a few MB, kept as long as snapshots are."""
REWRITE_ALWAYS, REWRITE_SHARE = 2_000, 50
"""A small view is written anew (measured: 20 views of 20,000 rows, 1,000 of them changed a tick:
9.8 s by MERGE and more with each tick, 6.1 s so). Above so few rows that any commit weighs as much,
only for a change of at least one row in so many: old files stay a while."""
SPLIT_ABOVE = 500_000
"""Rows of the target from which the split form is faster (measured: 200,000 rows 0.4 s whole,
10 million rows 4.5 s whole and 1.6 s split)."""
BROADCAST_UP_TO = 1_000_000
"""Rows of a change that are sent to wherever the table is read. Spark's own bound is 10 MB, above
which it would send the whole table around instead."""


_THERE, _FOUND, _HELD = "__there", "__found", "__held"
SAME = "<=>"
"""How keys are compared: NULL is NULL."""


@dataclass(frozen=True, slots=True)
class Before:
    """A table before a change.

    Attributes:
        table: the table.
        rows: how many rows it holds, about; None if that is not known.
        rewrites: whether it may be written anew while it is small: nobody else writes to it, and
            the project overwrites tables at all.
    """

    table: Table
    rows: int | None
    rewrites: bool = False

    @classmethod
    def of(cls, table: Table, *, rewrites: bool = False) -> Before:
        """Look at a table as it is now.

        Args:
            rewrites: whether it may be written anew.
        """
        table.refresh()
        return cls(table, table.total_rows(), rewrites)


@dataclass(frozen=True, slots=True)
class Upsert:
    """How the rows of a temporary view ``s`` change a table ``t``.

    Attributes:
        source: name of the temporary view.
        keys: columns that identify a row in both; NULLs are equal; empty for a table of one row.
        updates: column → Spark SQL over ``t`` and ``s``, without the keys.
        inserts: column → Spark SQL over ``s``, keys included.
        delete_when: condition over ``t`` and ``s`` under which the row is deleted, or empty.
        insert_when: condition over ``s`` under which a new key is inserted, or empty for always;
            false of whatever deletes a row.
    """

    source: str
    keys: tuple[str, ...]
    updates: Mapping[str, str]
    inserts: Mapping[str, str]
    delete_when: str = ""
    insert_when: str = ""

    def merge_sql(self, target: str, *, insert: bool, hint: str = "", equal: str = SAME) -> str:
        """Return the MERGE statement.

        Args:
            insert: whether new keys are inserted too.
            hint: for the join, over ``c``, the change.
            equal: as for :func:`same_keys`.
        """
        clauses = []
        if self.delete_when:
            clauses.append(f"WHEN MATCHED AND {self.delete_when} THEN DELETE")
        if self.updates:
            sets = ", ".join(f"t.`{name}` = {value}" for name, value in self.updates.items())
            clauses.append(f"WHEN MATCHED THEN UPDATE SET {sets}")
        if insert:
            names = ", ".join(f"`{name}`" for name in self.inserts)
            when = f" AND {self.insert_when}" if self.insert_when else ""
            values = ", ".join(self.inserts.values())
            clauses.append(f"WHEN NOT MATCHED{when} THEN INSERT ({names}) VALUES ({values})")
        source = f"(SELECT {hint} * FROM {self.source} c)" if hint else self.source
        same = same_keys(self.keys, equal=equal)
        merge = f"MERGE INTO {target} t USING {source} s ON {same}"
        return "\n".join([merge, *clauses])

    def rewrite_sql(self, target: str, kinds: Mapping[str, DataType]) -> str:
        """Return the query of all rows of a table after the change, computed in one task.

        Args:
            target: the table.
            kinds: types of its columns. Decimals are cast to theirs, as MERGE does: what CASE
                makes of several has fewer fraction digits.
        """
        values = []
        for name, inserted in self.inserts.items():
            kind, kept = kinds[name], f"t.`{name}`"
            typed = (
                f"CAST({{}} AS {kind.simpleString()})" if isinstance(kind, DecimalType) else "{}"
            )
            added, changed = map(typed.format, (inserted, self.updates.get(name, kept)))
            of_one = f"WHEN s.{_THERE} IS NULL THEN {kept} WHEN t.{_THERE} IS NULL THEN {added}"
            values.append(f"CASE {of_one} ELSE {changed} END AS `{name}`")
        terms = []
        if self.delete_when:
            gone = f"t.{_THERE} AND s.{_THERE} AND {self.delete_when}"
            terms.append(f"NOT coalesce({gone}, false)")
        if self.insert_when:
            terms.append(f"(t.{_THERE} IS NOT NULL OR {self.insert_when})")
        before, change = (
            f"(SELECT /*+ COALESCE(1) */ *, true AS {_THERE} FROM {rows})"
            for rows in (target, self.source)
        )
        return (
            f"SELECT /*+ SHUFFLE_HASH(s) */ {', '.join(values)}"
            f" FROM {before} t FULL JOIN {change} s ON {same_keys(self.keys)}"
            f" WHERE {' AND '.join(terms) or 'true'}"
        )

    def insert_sql(self, source: str) -> str:
        """Return the query of the rows to insert.

        Args:
            source: what stands for ``s``.
        """
        values = ", ".join(f"{value} AS `{name}`" for name, value in self.inserts.items())
        where = f" WHERE {self.insert_when}" if self.insert_when else ""
        return f"SELECT {values} FROM {source} s{where}"


def upsert(session: SparkSession, target: Target, change: Upsert, before: Before) -> None:
    """Apply a change to the target of a commit.

    Args:
        session: where the change's temporary view is registered.
        before: the table before it.
    """
    if before.rows == 0:
        target.append(session.sql(change.insert_sql(change.source)))
    elif _is_rewritten(session, change, before):
        held = before.table.using(session).read(before.table.snapshot_id())
        held.createOrReplaceTempView(_HELD)
        kinds = {field.name: field.dataType for field in held.schema}
        target.replace(session.sql(change.rewrite_sql(_HELD, kinds)))
    elif _is_split(change, before):
        assert isinstance(before.table, LakeTable)
        _Split(session, target, change, before.table).run()
    else:
        session.sql(change.merge_sql(target.identifier, insert=True))


def _is_rewritten(session: SparkSession, change: Upsert, before: Before) -> bool:
    rows = before.rows
    if rows is None or rows > SMALL_VIEW or before.table.one_statement:
        return False
    if not before.rewrites or not _corrects(change):
        return False
    return rows <= REWRITE_ALWAYS or rows <= REWRITE_SHARE * session.table(change.source).count()


def _corrects(change: Upsert) -> bool:
    return bool(change.keys and (change.updates or change.delete_when))


def _is_split(change: Upsert, before: Before) -> bool:
    if before.table.one_statement or not change.keys:
        return False
    large = before.rows is not None and before.rows > SPLIT_ABOVE
    return large or not _corrects(change)


def same_keys(keys: Sequence[str], left: str = "t", right: str = "s", *, equal: str = SAME) -> str:
    """Return the condition that two rows have the same key.

    Args:
        keys: names of the key columns in both.
        left: alias of the one.
        right: alias of the other.
        equal: how two values are compared.
    """
    return " AND ".join(f"{left}.`{key}` {equal} {right}.`{key}`" for key in keys) or "true"


class _Split:
    """A change in parts: of the rows that are there, then of the others.

    Args:
        session: where the change's temporary view is registered.
    """

    def __init__(
        self, session: SparkSession, target: Target, change: Upsert, table: LakeTable
    ) -> None:
        self._session, self._target = session, target
        self._change, self._table = change, table
        without = " OR ".join(f"`{key}` IS NULL" for key in change.keys)
        counted = f"SELECT count(*), count_if({without}) FROM {change.source}"  # caches the change
        rows, nulls = session.sql(counted).collect()[0]
        self._hint = "/*+ BROADCAST(c) */" if rows <= BROADCAST_UP_TO else ""
        # faster: Spark hashes whole numbers as such, and looks only into partitions with the keys
        self._equal = SAME if nulls or self._has_floats() else "="

    def _has_floats(self) -> bool:
        """Whether partitions could be left out that hold the same key: of 0.0 the one of -0.0."""
        kinds = {
            each.name: each.dataType for each in self._session.table(self._change.source).schema
        }
        return any(isinstance(kinds[key], DoubleType | FloatType) for key in self._change.keys)

    def run(self) -> None:
        """Apply the change."""
        change, session = self._change, self._session
        if change.updates or change.delete_when:
            into = self._target.identifier
            merge = change.merge_sql(into, insert=False, hint=self._hint, equal=self._equal)
            session.sql(merge)
        with self._found() as found:
            found.createOrReplaceTempView(_FOUND)
            same = same_keys(change.keys, equal=self._equal)
            new = f"(SELECT s.* FROM {change.source} s LEFT ANTI JOIN {_FOUND} t ON {same})"
            self._target.append(session.sql(change.insert_sql(new)))

    def _found(self) -> AbstractContextManager[DataFrame]:
        """Give the keys that are there: where all of them were changed, in what was written.

        So the table is read once. A deleted key is not among them, and is not inserted either.
        """
        if not self._change.updates:
            return nullcontext(self._looked_up())
        self._table.refresh()
        return rows_written(self._table, self._table.head(self._target.identifier))

    def _looked_up(self) -> DataFrame:
        names = ", ".join(f"t.`{key}`" for key in self._change.keys)
        held = self._table.using(self._session).read(self._table.snapshot_id())
        held.createOrReplaceTempView(_HELD)
        return self._session.sql(
            f"SELECT {self._hint} {names} FROM {_HELD} t JOIN {self._change.source} c"
            f" ON {same_keys(self._change.keys, right='c', equal=self._equal)}"
        )
