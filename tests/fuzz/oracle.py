"""The oracle of the fuzz: DuckDB, asked the text of a random query as it is written.

In: the text of a query in Headwater's SQL. Out: text for DuckDB. Nearly all of it means the same
and is asked word for word; what does not is written anew by :mod:`tests.support.author_meaning`,
out of a tree that plain sqlglot parsed. No code of the product is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import duckdb
from sqlglot import parse_one

from tests.fuzz.schemas import Row
from tests.support.author_meaning import TRINO, as_trino

_DIFFERENT = re.compile(
    r"\b(any_value|arbitrary|m(in|ax)_by|array_agg|listagg|cardinality|(first|last)_value)\("
    r"|ignore nulls|unnest\(.*,|order by coalesce",
    re.IGNORECASE,
)


def open_duckdb() -> duckdb.DuckDBPyConnection:
    """Open DuckDB as it answers what the fuzz asks."""
    duck = duckdb.connect()
    duck.execute("SET TimeZone = 'UTC'")
    # its 2.0.0 fails where they decide: CASE WHEN x IS NULL THEN 'none' END > 'v'
    duck.execute("SET disabled_optimizers = 'statistics_propagation'")
    return duck


@cache
def for_duckdb(text: str) -> str:
    """Return a query as DuckDB answers it.

    Args:
        text: a query in Headwater's SQL.
    """
    if not _DIFFERENT.search(text):
        return text
    return as_trino(parse_one(text, dialect=TRINO)).sql("duckdb")


def insert(duck: duckdb.DuckDBPyConnection, name: str, rows: Sequence[Row]) -> None:
    """Insert rows into a table of DuckDB.

    Args:
        duck: where it is.
        name: of the table.
        rows: what it gains, maybe nothing.
    """
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        duck.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
