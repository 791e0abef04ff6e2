"""``headwater plan --diff``: the rows that would appear, vanish and change.

In: a project, its changes. Out: per view that is built anew, what its new SELECT gives over the
inputs that its newest commit has read, held against its rows. DuckDB computes it; a view that reads
a changed one is computed over the new rows of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.deploy.changes import BUILT, ProjectChanges
from headwater.plan.sql.at_rest import at_rest
from headwater.plan.view_plan import ViewPlan
from headwater.serve.compare import Columns, subtraction, tolerant_difference
from headwater.serve.connection import duckdb_connection, quoted, rows_of
from headwater.serve.embedded import translated_errors
from headwater.serve.stored_table import StoredTable
from headwater.serve.verify import NO_SNAPSHOT, columns_of

if TYPE_CHECKING:
    import duckdb

    from headwater.lake.protocol.marker import Marker

_NEW, _OLD, _CUT = "@new", "@old", "@cut"


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
    """

    view: str
    columns: tuple[str, ...]
    appear: int
    vanish: int
    change: int
    rows: tuple[tuple[object, ...], ...]
    left_out: tuple[str, ...] = ()


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
        for name in built:
            table = changes.table(name)
            marker = table.marker() if table else None
            if table is None or marker is None:
                continue
            plan = changes.plans[name]
            _create_new(connection, plan, changes, marker, built)
            yield _difference(connection, plan, table, limit)


def _create_new(
    connection: duckdb.DuckDBPyConnection,
    plan: ViewPlan,
    changes: ProjectChanges,
    marker: Marker,
    built: list[str],
) -> None:
    """Make a temporary table of what the new SELECT gives."""
    for item in plan.inputs:
        if item.name not in built and (table := changes.table(item.name)) is not None:
            newest = table.newest()
            position = changes.renames.cut(marker.cut_to).get(
                item.name, str(newest.snapshot_id) if newest else ""
            )
            at = int(position) if position not in ("", NO_SNAPSHOT) else None
            table.create_view(connection, item.name + _CUT, at, list(table.columns()))

    def relation(name: str) -> str:
        return quoted(name + (_NEW if name in built else _CUT))

    watermark = marker.watermark
    select = at_rest(
        plan, changes.project.catalog, "duckdb", watermark=watermark, relation=relation
    )
    if select.patterns:
        from headwater.serve.pattern_rows import create_matches

        create_matches(connection, select.patterns)
    connection.execute(f"CREATE TEMP TABLE {quoted(plan.view.name + _NEW)} AS {select.sql}")


def _difference(
    connection: duckdb.DuckDBPyConnection, plan: ViewPlan, table: StoredTable, limit: int
) -> RowChanges:
    name = plan.view.name
    compared = columns_of(plan)
    held = [column for column in table.columns() if not column.startswith("_")]
    table.create_view(connection, name + _OLD, table.snapshot_id(), held)
    gone = tuple(column for column in held if column not in compared.names)
    names = tuple(each for each in (*compared.names, *gone) if each not in compared.bounded)
    columns = Columns(names, (*compared.exact, *gone), compared.floats, lists=compared.lists)
    old = f"SELECT {_listed(names, held)} FROM {quoted(name + _OLD)}"
    new = f"SELECT {_listed(names, compared.names)} FROM {quoted(name + _NEW)}"
    left_over = subtraction(columns, old, new)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE _left_over AS {left_over}")
    found = tolerant_difference(connection, columns, 0, limit)
    keys = [key for key in plan.stream_key if key in held]
    changed = _changed(connection, keys) if keys and len(keys) == len(plan.stream_key) else 0
    rows = rows_of(
        connection.sql(
            "SELECT CASE WHEN _sign > 0 THEN '-' ELSE '+' END AS \"±\", "
            f"{', '.join(map(quoted, names))} FROM _left_over"
            f" ORDER BY {', '.join([*map(quoted, keys), '_sign DESC', 'ALL'][: len(keys) + 1])}"
            f" LIMIT {limit}"
        )
    )
    vanish, appear = found.surplus - changed, found.missing - changed
    return RowChanges(name, names, appear, vanish, changed, tuple(rows), compared.bounded)


def _listed(names: tuple[str, ...], held: list[str] | tuple[str, ...]) -> str:
    """Columns of one side; those that only the other side has are NULL."""
    return ", ".join(quoted(name) if name in held else f"NULL AS {quoted(name)}" for name in names)


def _changed(connection: duckdb.DuckDBPyConnection, keys: list[str]) -> int:
    """How many keys have rows on both sides."""
    listed = ", ".join(map(quoted, keys))
    both = (
        f"SELECT {listed} FROM _left_over GROUP BY {listed}"
        " HAVING count(*) FILTER (_sign > 0) > 0 AND count(*) FILTER (_sign < 0) > 0"
    )
    return int(connection.sql(f"SELECT count(*) FROM ({both})").fetchall()[0][0])
