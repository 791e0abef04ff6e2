"""A DuckDB that reads and cannot do anything else.

In: where to spill, how much memory. Out: a connection in UTC without access to files other than
those below the warehouse.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

MEMORY_LIMIT = "2GB"
"""What a query may hold in memory before it spills to disk."""


@contextmanager
def duckdb_connection(*, typed: bool = True) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an in-memory DuckDB in UTC; what does not fit in memory goes to a temporary folder.

    Args:
        typed: whether quotients of integers are written as such, as in the SELECT at rest. If not,
            ``/`` of a person is taken for one; then a floating point number by 0 is an error.
    """
    import duckdb

    with tempfile.TemporaryDirectory(prefix="headwater-") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY_LIMIT,
            "temp_directory": folder,
            "autoinstall_known_extensions": False,
            "preserve_insertion_order": False,
            # 7 / 2 is 3, as in Trino and in our dialect; it is 3.5 in DuckDB
            "integer_division": not typed,
        }
        with duckdb.connect(config=settings) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            yield connection


def rows_of(
    relation: duckdb.DuckDBPyRelation, batch_rows: int = 10_000
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a relation as Python values (maps as dicts), a batch in memory at a time.

    Goes through Arrow, because DuckDB's own way needs a time zone library that is not there.

    Args:
        relation: what to read; it runs when the first row is asked for.
        batch_rows: rows in memory at once.
    """
    # sum() of BIGINT is HUGEINT in DuckDB, which Arrow only has as a decimal
    wide = [str(kind) in ("HUGEINT", "UHUGEINT") for kind in relation.types]
    for batch in relation.to_arrow_reader(batch_rows):
        columns = [column.to_pylist(maps_as_pydicts="lossy") for column in batch.columns]
        for index in (number for number, is_wide in enumerate(wide) if is_wide):
            columns[index] = [None if v is None else int(v) for v in columns[index]]
        yield from zip(*columns, strict=True)


def quoted(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"
