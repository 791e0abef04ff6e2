"""A DuckDB that reads and cannot do anything else.

In: where to spill, how much memory. Out: a connection in UTC without access to files other than
those below the warehouse.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.machine.preflight import available_memory

if TYPE_CHECKING:
    import duckdb

LEAST_MEMORY = 2 * 10**9
"""Bytes that a query may hold in any case; DuckDB does not spill those of ``count(DISTINCT x)``."""


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """What one query may take.

    Attributes:
        seconds: how long it may run; None for as long as it takes.
        memory: what it may hold in memory before it spills to disk; None for half of what is free.
        disk: what it may spill; None for whatever is free.
        threads: how many threads it runs in; None for one per core.
    """

    seconds: float | None = None
    memory: str | None = None
    disk: str | None = None
    threads: int | None = None


_limits: ContextVar[QueryLimits] = ContextVar("limits", default=QueryLimits())  # noqa: B039


@contextmanager
def limited(limits: QueryLimits) -> Iterator[None]:
    """Bound what each connection may take that this thread opens in the block.

    What runs for too long raises DuckDB's ``InterruptException``.
    """
    token = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(token)


@contextmanager
def duckdb_connection(*, typed: bool = True) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an in-memory DuckDB in UTC; what does not fit in memory goes to a temporary folder.

    Args:
        typed: whether quotients of integers are written as such, as in the SELECT at rest. If not,
            ``/`` of a person is taken for one; then a floating point number by 0 is an error.
    """
    import duckdb

    limits = _limits.get()
    with tempfile.TemporaryDirectory(prefix="headwater-") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": limits.memory or f"{max(LEAST_MEMORY, available_memory() // 2)}B",
            "temp_directory": folder,
            "autoinstall_known_extensions": False,
            "preserve_insertion_order": False,
            # 7 / 2 is 3, as in Trino and in our dialect; it is 3.5 in DuckDB
            "integer_division": not typed,
        }
        if limits.threads:
            settings["threads"] = limits.threads
        if limits.disk:
            settings["max_temp_directory_size"] = limits.disk
        with duckdb.connect(config=settings) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            with _interrupted_after(limits.seconds, connection):
                yield connection


@contextmanager
def _interrupted_after(
    seconds: float | None, connection: duckdb.DuckDBPyConnection
) -> Iterator[None]:
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


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
