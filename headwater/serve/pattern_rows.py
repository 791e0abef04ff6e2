"""Tables of matches in DuckDB: ``MATCH_RECOGNIZE`` over sorted rows.

In: the steps of a SELECT at rest, whose rows DuckDB can read. Out: tables in the connection.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from headwater.patterns.tables import MatchedTables
from headwater.plan.program import PatternStep


def create_matches(connection: duckdb.DuckDBPyConnection, steps: Sequence[PatternStep]) -> None:
    """Create the tables of matches that a query reads.

    Args:
        connection: where the rows that they are found in can be read.
        steps: innermost first.
    """
    for step in steps:
        rows = connection.sql(step.sql).to_arrow_table()
        names = [name for name, _ in step.columns]
        found = MatchedTables(step.clause, names).of(rows)
        connection.register(f"{step.name}_rows", found)
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {step.name} AS FROM {step.name}_rows")
        connection.unregister(f"{step.name}_rows")
