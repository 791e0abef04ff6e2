"""Two relations compared as multisets, in DuckDB.

In: the rows of a view's table, the rows of its SELECT at rest, and how exact each column has to be.
Out: the rows that one side has and the other has not. One pass aggregates both sides with opposite
signs, so equal rows cancel out whatever their number; only what is left is looked at again, for
floating-point columns that differ in their last digits (summing in another order does that) and
sketches that differ within their bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.serve.connection import quoted, rows_of

if TYPE_CHECKING:
    import duckdb

FLOAT_TOLERANCE = 1e-9
"""Largest relative difference of two floating-point numbers that count as equal."""
FLOAT_NOISE = 1e-12
"""Absolute difference that always counts as equal: what is left where a sum cancels out to zero."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a comparison by how exact they have to be.

    Attributes:
        names: all of them, in order.
        exact: those that must be identical.
        floats: those that may differ by :data:`FLOAT_TOLERANCE`.
        bounded: those that must lie between ``<name>__lower`` and ``<name>__upper`` of the SELECT.
        lists: arrays whose elements may differ as ``floats`` may.
    """

    names: tuple[str, ...]
    exact: tuple[str, ...]
    floats: tuple[str, ...] = ()
    bounded: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RowDifference:
    """What two relations do not share.

    Attributes:
        rows: rows of the table, all of them.
        surplus: number of rows in the table that are not in the SELECT.
        missing: number of rows in the SELECT that are not in the table.
        surplus_rows: some of the surplus rows, as values in the order of ``Columns.names``.
        missing_rows: some of the missing rows.
    """

    rows: int
    surplus: int
    missing: int
    surplus_rows: tuple[tuple[object, ...], ...] = ()
    missing_rows: tuple[tuple[object, ...], ...] = ()


def compare(
    connection: duckdb.DuckDBPyConnection, columns: Columns, table: str, query: str, limit: int
) -> RowDifference:
    """Compare a table with a query as multisets of rows.

    Args:
        connection: where both can be read; temporary tables are made in it.
        columns: the columns and how exact they have to be.
        table: SQL that returns the rows of the table.
        query: SQL that returns the rows of the SELECT, with the bounds of bounded columns.
        limit: how many differing rows of each side to return.
    """
    left_over = subtraction(columns, table, query)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE _left_over AS {left_over}")
    rows = connection.sql(f"SELECT count(*) FROM ({table})").fetchall()[0][0]
    return tolerant_difference(connection, columns, int(rows), limit)


def subtraction(columns: Columns, table: str, query: str) -> str:
    """Return SQL of the rows without a twin on the other side; ``_sign`` counts them, signed.

    Args:
        table: SQL that returns the rows of the table.
        query: SQL that returns the rows of the SELECT, with the bounds of bounded columns.
    """
    names = [quoted(name) for name in columns.names]
    bounds = [quoted(f"{name}__{end}") for name in columns.bounded for end in ("lower", "upper")]
    ours = ", ".join([*names, *(f"NULL AS {bound}" for bound in bounds), "1 AS _sign"])
    theirs = ", ".join([*names, *bounds, "-1 AS _sign"])
    every = ", ".join([*names, *bounds])
    return (
        f"SELECT {every}, CAST(sum(_sign) AS BIGINT) AS _sign"
        f" FROM (SELECT {ours} FROM ({table}) AS ours"
        f" UNION ALL SELECT {theirs} FROM ({query}) AS theirs) AS both_sides"
        f" GROUP BY {every} HAVING sum(_sign) <> 0"
    )


def tolerant_difference(
    connection: duckdb.DuckDBPyConnection, columns: Columns, rows: int, limit: int
) -> RowDifference:
    """Say in what two relations differ, of which ``_left_over`` is the :func:`subtraction`.

    Args:
        connection: where ``_left_over`` is a temporary table.
        limit: how many differing rows of each side to return.
    """
    if columns.floats or columns.lists or columns.bounded:
        _forgive(connection, columns)
    totals = connection.sql(
        "SELECT coalesce(sum(_sign) FILTER (_sign > 0), 0),"
        " coalesce(-sum(_sign) FILTER (_sign < 0), 0) FROM _left_over"
    )
    surplus, missing = map(int, totals.fetchall()[0])
    names = ", ".join(map(quoted, columns.names))

    def some(condition: str) -> tuple[tuple[object, ...], ...]:
        query = f"SELECT {names} FROM _left_over WHERE {condition} ORDER BY ALL LIMIT {limit}"
        return tuple(rows_of(connection.sql(query)))

    return RowDifference(
        rows,
        surplus,
        missing,
        some("_sign > 0") if surplus else (),
        some("_sign < 0") if missing else (),
    )


def _forgive(connection: duckdb.DuckDBPyConnection, columns: Columns) -> None:
    """Take out of ``_left_over`` the pairs that are equal in exact columns and close in the others.

    Rows that are alike in all exact columns are paired in the order of the others.
    """
    exact = ", ".join(map(quoted, columns.exact))
    loose = [*map(quoted, (*columns.floats, *columns.lists, *columns.bounded))]
    order = ", ".join(loose)
    partition = f"_sign > 0, {exact}" if exact else "_sign > 0"
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE _numbered AS SELECT *, row_number() OVER"
        f" (PARTITION BY {partition} ORDER BY {order}) AS _nth FROM"
        " (SELECT * REPLACE (sign(_sign)::BIGINT AS _sign), unnest(range(abs(_sign))) AS _copy"
        " FROM _left_over)"
    )
    same = [f"a.{name} IS NOT DISTINCT FROM b.{name}" for name in map(quoted, columns.exact)]
    close = [_close(f"a.{name}", f"b.{name}") for name in map(quoted, columns.floats)]
    close += [_close_lists(f"a.{name}", f"b.{name}") for name in map(quoted, columns.lists)]
    close += [_within(name) for name in columns.bounded]
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE _pairs AS SELECT a.rowid AS ours, b.rowid AS theirs"
        " FROM _numbered a JOIN _numbered b ON a._nth = b._nth AND a._sign > 0 AND b._sign < 0 AND "
        + " AND ".join([*same, *close])
    )
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE _left_over AS SELECT * EXCLUDE (_nth, _copy) FROM _numbered"
        " WHERE rowid NOT IN (SELECT ours FROM _pairs UNION ALL SELECT theirs FROM _pairs)"
    )


def _close_lists(a: str, b: str) -> str:
    same = f"coalesce({_close(f'{a}[i]', f'{b}[i]')}, false)"
    close = f"list_bool_and(list_transform(range(1, len({a}) + 1), lambda i: {same}))"
    return f"({a} IS NOT DISTINCT FROM {b} OR (len({a}) = len({b}) AND {close}))"


def _close(a: str, b: str) -> str:
    return (
        f"({a} IS NOT DISTINCT FROM {b} OR (isfinite({a}) AND isfinite({b}) AND abs({a} - {b})"
        f" <= greatest({FLOAT_TOLERANCE} * greatest(abs({a}), abs({b})), {FLOAT_NOISE})))"
    )


def _within(name: str) -> str:
    a, b = f"a.{quoted(name)}", f"b.{quoted(name)}"
    lower, upper = f"b.{quoted(name + '__lower')}", f"b.{quoted(name + '__upper')}"
    return f"({a} IS NOT DISTINCT FROM {b} OR {a} BETWEEN {lower} AND {upper})"
