"""Rows whose unit has another name than their columns say.

In: the plan of a view and its table. Out: how many such rows there are. A row named otherwise is no
part of what a tick replaces, so it would stay beside the row that replaces it. Starts no JVM.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headwater.plan.identity import FORMAT, Order
from headwater.plan.program import UNIT, AffectedGroupsProgram
from headwater.plan.unit_name import UnitName
from headwater.serve.connection import duckdb_connection, quoted
from headwater.serve.doctor.unit_hash import (
    Hashes,
    first_hash,
    hash_bytes,
    hash_doubles,
    hash_ints,
    hash_longs,
)

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from headwater.lake.protocol.marker import Marker
    from headwater.plan.view_plan import ViewPlan
    from headwater.serve.stored_table import StoredTable

_ROWS, _BATCH = "__rows", 1 << 17
_SHORT = 18
"""Digits of a decimal that Spark hashes as a long."""

_Hash = Callable[["pa.Array", Hashes], Hashes]


def _numbers(dtype: type, hash_: Callable[[Any, Hashes], Hashes]) -> _Hash:
    return lambda values, seed: hash_(
        np.ascontiguousarray(values.to_numpy(zero_copy_only=False), dtype), seed
    )


def _texts(values: pa.Array, seed: Hashes) -> Hashes:
    return hash_bytes(values.to_pylist(), seed)


def _long_decimals(values: pa.Array, seed: Hashes) -> Hashes:
    whole = map(int, values.to_pylist())
    return hash_bytes(
        [each.to_bytes((each + (each < 0)).bit_length() // 8 + 1, signed=True) for each in whole],
        seed,
    )


_INTS, _LONGS = _numbers(np.int32, hash_ints), _numbers(np.int64, hash_longs)
_READ: dict[str, tuple[str, _Hash]] = {
    "BOOLEAN": ("CAST({} AS INTEGER)", _INTS),
    "INT": ("{}", _INTS),
    "DATE": ("CAST({} - DATE '1970-01-01' AS INTEGER)", _INTS),
    "BIGINT": ("{}", _LONGS),
    "TIMESTAMP": ("epoch_us({})", _LONGS),
    "TIMESTAMP_NTZ": ("epoch_us({})", _LONGS),
    "FLOAT": ("{}", _numbers(np.float32, hash_doubles)),
    "DOUBLE": ("{}", _numbers(np.float64, hash_doubles)),
    "STRING": ("encode({})", _texts),
    "BINARY": ("{}", _texts),
}
"""Spark type → how DuckDB reads a column of it, and how Spark hashes that."""


def misnamed(plan: ViewPlan, table: StoredTable) -> int | None:
    """Return how many rows of a view have a unit that is not the one of their columns.

    Args:
        plan: of the view.
        table: its table; the newest snapshot is read.

    Returns:
        None if nothing can be said: the view has no units, or the table lacks a column that they
        are named by, or has it as an array or a row.

    Raises:
        HeadwaterError: the table cannot be read.
    """
    names = plan.program.names if isinstance(plan.program, AffectedGroupsProgram) else ()
    kinds = {column.name: column.spark_type for column in plan.columns}
    used = list(dict.fromkeys(name for each in names for name in each.columns or ()))
    lacking = any(each.columns is None for each in names)
    lacking = lacking or not all(_read(kinds[name]) for name in used)
    if not names or lacking or UNIT not in table.columns():
        return None
    found = 0
    with duckdb_connection() as connection:
        table.create_view(connection, _ROWS, table.snapshot_id(), [*used, UNIT])
        kinds = {name: kinds[name] for name in used}
        for batch, own in named_rows(connection, f"SELECT * FROM {_ROWS}", kinds, names):
            unit = np.asarray(batch.column(UNIT)).view(np.uint64)
            right = np.zeros(batch.num_rows, bool)
            for name in own:
                right |= unit == name
            found += int(np.count_nonzero(~right))
    return found


def named_rows(
    connection: duckdb.DuckDBPyConnection,
    rows: str,
    kinds: Mapping[str, str],
    names: Sequence[UnitName],
) -> Iterator[tuple[pa.RecordBatch, list[Hashes]]]:
    """Yield batches of rows, with the units that they would have in each branch of a query.

    Args:
        connection: reads the rows.
        rows: their SELECT.
        kinds: Spark type of each column that is hashed.
        names: how units are named.
    """
    ways = {name: way for name, kind in kinds.items() if (way := _read(kind))}
    items = [f"{way[0].format(quoted(name))} AS {quoted(name)}" for name, way in ways.items()]
    read = f"SELECT * REPLACE ({', '.join(items)}) FROM ({rows})" if items else rows
    for batch in connection.sql(read).to_arrow_reader(_BATCH):
        hashes = {name: way[1] for name, way in ways.items()}
        yield batch, [_named(name, batch, hashes) for name in names]


def stored_otherwise(plan: ViewPlan, table: StoredTable, marker: Marker) -> str:
    """Return how the rows of a view differ from those that its commits write now.

    Args:
        plan: of the definition that the table holds.
        table: its table.
        marker: its newest.

    Returns:
        A clause; empty if the view can go on.

    Raises:
        HeadwaterError: the table cannot be read.
    """
    if marker.fingerprint.startswith(f"{FORMAT}:") or not plan.program.hidden or plan.view.changes:
        return ""
    if not plan.is_of(marker.fingerprint):
        return ""  # of another definition: it is built anew anyway
    now = plan.program.holds
    if plan.build(Order.WRITTEN).holds != now:
        return "its rows are stored by the order in which its terms are written"
    wrong = misnamed(plan, table)
    if wrong:
        return f"rows stored by another order of its terms: {wrong}"
    if wrong is None and plan.build(Order.REVERSED).holds != now:
        return "nothing tells by which order of its terms its rows are stored"
    return ""


def _read(kind: str) -> tuple[str, _Hash] | None:
    if match := re.fullmatch(r"DECIMAL\((\d+), ?\d+\)", kind):
        digits = "replace(CAST({} AS VARCHAR), '.', '')"
        if int(match[1]) > _SHORT:
            return digits, _long_decimals
        return f"CAST({digits} AS BIGINT)", _LONGS
    return _READ.get(kind)


def _named(name: UnitName, batch: pa.RecordBatch, ways: Mapping[str, _Hash]) -> Hashes:
    """The unit that rows would have in one branch of the query."""
    import pyarrow.compute as pc

    found = first_hash(batch.num_rows)
    if name.tag is not None:
        found = hash_ints(np.full(batch.num_rows, name.tag, np.int32), found)
    elif not name.columns:
        return np.zeros_like(found)  # all rows are one unit
    for column in name.columns or ():
        values = batch.column(column)
        there = np.asarray(pc.is_valid(values))
        found[there] = ways[column](values.drop_null(), found[there])
    return found
