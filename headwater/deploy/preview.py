"""``headwater plan --diff``: the rows that would appear, vanish and change.

In: a project, its changes. Out: per view that is built anew, what its new SELECT gives over the
inputs that its newest commit has read, held against its rows. DuckDB computes it; a view that reads
a changed one, directly or not, is computed over the new rows of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from headwater.analyze.definitions import WATERMARK_COLUMN
from headwater.deploy.changes import BUILT, ProjectChanges
from headwater.deploy.watermarks import NewWatermarks, cut_of
from headwater.dialect.vocabulary import is_system_column
from headwater.plan.at_rest import at_rest
from headwater.plan.view_plan import ViewPlan
from headwater.serve.compare import Columns, subtraction, tolerant_difference
from headwater.serve.connection import duckdb_connection, quoted, rows_of
from headwater.serve.embedded import translated_errors
from headwater.serve.forecast import column_difference
from headwater.serve.iceberg import StoredIcebergTable
from headwater.serve.stored_table import StoredTable
from headwater.serve.verify import columns_of

if TYPE_CHECKING:
    import duckdb

    from headwater.lake.protocol.marker import Marker

_NEW, _OLD, _CUT = "@new", "@old", "@cut"
_NUMBERS = ("INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL")


@dataclass(frozen=True, slots=True)
class RowChanges:
    """What a new definition does to the rows of a view.

    Attributes:
        view: its name.
        columns: the columns compared: those of both definitions.
        appear: how many rows come, of which there was none with the same key.
        vanish: how many rows go, without one that takes their place.
        change: how many rows have other values under the same key.
        rows: some of them; first ``+`` or ``-``.
        left_out: columns that are approximate, and not compared.
        renamed: columns that only have another name now: that name, the old one.
        added: columns that only the new definition has.
        gone: columns that only the old definition has.
    """

    view: str
    columns: tuple[str, ...]
    appear: int
    vanish: int
    change: int
    rows: tuple[tuple[object, ...], ...]
    left_out: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def preview(changes: ProjectChanges, limit: int = 10) -> Iterator[RowChanges]:
    """Yield what becomes of the rows of each view that is built anew.

    Args:
        changes: the project held against the lake.
        limit: how many rows of each view to return.

    Raises:
        ServiceError: ``READ_FAILED``, ``SNAPSHOT_EXPIRED``.
    """
    built = [change.name for change in changes.changes if change.kind in BUILT]
    with duckdb_connection() as connection, translated_errors():
        new = _NewRows(connection, changes, built)
        for name in built:
            if (table := new.create(name)) is not None:
                renamed = changes.renamed_columns(name)
                yield _difference(connection, changes.plans[name], table, limit, renamed)


class _NewRows:
    """What the new SELECTs give, as temporary tables."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, changes: ProjectChanges, built: Sequence[str]
    ) -> None:
        self._connection, self._changes = connection, changes
        self._watermarks = NewWatermarks(connection, changes)
        self._made = set[str]()
        self._affected = set(built)
        for name, plan in changes.plans.items():
            if any(item.name in self._affected for item in plan.inputs):
                self._affected.add(name)

    def create(self, name: str) -> StoredTable | None:
        """Make the new rows of a view; return its table, None if it has no commit yet."""
        marker = self._changes.marker(name)
        if marker is None:
            return None
        self._has_new(name, marker)
        return self._changes.table(name)

    def _has_new(self, name: str, reader: Marker) -> bool:
        """Make the new rows of a view that has some; one without a commit reads as its reader."""
        plan, marker = self._changes.plans.get(name), self._changes.marker(name)
        if plan is None or (marker is not None and name not in self._affected):
            return False
        if name not in self._made:
            self._made.add(name)
            self._create(plan, marker or reader)
        return True

    def _create(self, plan: ViewPlan, marker: Marker) -> None:
        read = dict[str, str]()
        for item in plan.inputs:
            new = self._has_new(item.name, marker)
            read[item.name] = item.name + (_NEW if new else _CUT)
            if not new:
                self._create_cut(item.name, marker)
        select = at_rest(
            plan,
            self._changes.project.catalog,
            "duckdb",
            watermark=self._watermarks.of(plan, marker, read),
            relation=lambda name: quoted(read[name]),
        )
        if select.patterns:
            from headwater.serve.pattern_rows import create_matches

            create_matches(self._connection, select.patterns)
        made = quoted(plan.view.name + _NEW)
        self._connection.execute(f"CREATE TEMP TABLE {made} AS {select.sql}")

    def _create_cut(self, name: str, marker: Marker) -> None:
        """Make what a view has read of an input; a table that never landed has no rows."""
        if (table := self._changes.table(name)) is not None:
            columns = list(table.columns())
            table.create_view(self._connection, name + _CUT, cut_of(marker, name, table), columns)
            return
        fields = self._changes.project.catalog.sources[name].fields
        items = [f"CAST(NULL AS {f.type.sql('duckdb')}) AS {quoted(f.name)}" for f in fields]
        items.append(f"CAST(NULL AS TIMESTAMPTZ) AS {quoted(WATERMARK_COLUMN)}")
        empty = f"SELECT {', '.join(items)} WHERE false"
        self._connection.execute(f"CREATE OR REPLACE TEMP VIEW {quoted(name + _CUT)} AS {empty}")


def _difference(
    connection: duckdb.DuckDBPyConnection,
    plan: ViewPlan,
    table: StoredTable,
    limit: int,
    renamed: Mapping[str, str],
) -> RowChanges:
    name = plan.view.name
    compared = columns_of(plan)
    stored = [column for column in table.columns() if not is_system_column(column)]
    table.create_view(connection, name + _OLD, table.snapshot_id(), stored)
    renamed = {now: was for now, was in renamed.items() if was in stored}
    now_called = {was: now for now, was in renamed.items()}
    held = [now_called.get(column, column) for column in stored]
    gone = tuple(column for column in held if column not in compared.names)
    names = tuple(each for each in (*compared.names, *gone) if each not in compared.bounded)
    texts = _other_types(plan, table)
    floats, lists = (
        tuple(each for each in kind if each not in texts)
        for kind in (compared.floats, compared.lists)
    )
    exact = tuple(each for each in names if each not in (*floats, *lists))
    columns = Columns(names, exact, floats, lists=lists)
    old = f"SELECT {_listed(names, held, texts, renamed)} FROM {quoted(name + _OLD)}"
    new = f"SELECT {_listed(names, compared.names, texts)} FROM {quoted(name + _NEW)}"
    left_over = subtraction(columns, old, new)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE _left_over AS {left_over}")
    found = tolerant_difference(connection, columns, 0, limit)
    keys = [key for key in plan.stream_key if key in held]
    changed = _changed(connection, keys) if keys and len(keys) == len(plan.stream_key) else 0
    each_copy = "SELECT *, unnest(range(abs(_sign))) FROM _left_over"
    rows = rows_of(
        connection.sql(
            "SELECT CASE WHEN _sign > 0 THEN '-' ELSE '+' END AS \"±\", "
            f"{', '.join(map(quoted, names))} FROM ({each_copy})"
            f" ORDER BY {', '.join([*map(quoted, keys), '_sign DESC', 'ALL'][: len(keys) + 1])}"
            f" LIMIT {limit}"
        )
    )
    vanish, appear = found.surplus - changed, found.missing - changed
    added = tuple(each for each in compared.names if each not in held)
    counts = (appear, vanish, changed)
    return RowChanges(name, names, *counts, tuple(rows), compared.bounded, renamed, added, gone)


def _other_types(plan: ViewPlan, table: StoredTable) -> tuple[str, ...]:
    """The columns whose values are compared as texts: they had a type that cannot be compared."""
    if not isinstance(table, StoredIcebergTable):
        return ()
    differs = column_difference(table, None, plan.view.fields)
    kinds = {**differs.widened, **differs.retyped}.items()
    return tuple(
        name for name, both in kinds if not all(kind.startswith(_NUMBERS) for kind in both)
    )


def _listed(
    names: Sequence[str],
    held: Sequence[str],
    texts: Sequence[str],
    renamed: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Columns of one side; those that only the other side has are NULL."""

    def value(name: str) -> str:
        if name not in held:
            return "NULL"
        column = quoted(renamed.get(name, name))
        return f"CAST({column} AS VARCHAR)" if name in texts else column

    return ", ".join(f"{value(name)} AS {quoted(name)}" for name in names)


def _changed(connection: duckdb.DuckDBPyConnection, keys: list[str]) -> int:
    """How many keys have rows on both sides."""
    listed = ", ".join(map(quoted, keys))
    both = (
        f"SELECT {listed} FROM _left_over GROUP BY {listed}"
        " HAVING count(*) FILTER (_sign > 0) > 0 AND count(*) FILTER (_sign < 0) > 0"
    )
    return int(connection.sql(f"SELECT count(*) FROM ({both})").fetchall()[0][0])
