"""What `sql` asks DuckDB for calls of the language's functions."""

from __future__ import annotations

import duckdb
import pytest

from headwater.analyze.typing import functions as f
from headwater.serve.called_functions import call_as_duckdb
from headwater.serve.embedded import parse_query

LINES = {each.name: each for each in f.FUNCTIONS.values() if each.texts is not None}
CALLS = [call for each in LINES.values() if each.kind == "scalar" for call, _ in each.examples]


@pytest.mark.parametrize("call", CALLS)
def test_every_line_of_the_table_of_functions_can_be_asked(call: str) -> None:
    query = parse_query(f"SELECT {call} AS x")
    call_as_duckdb(query)
    with duckdb.connect() as connection:
        assert len(connection.sql(query.sql(dialect="duckdb")).fetchall()) == 1


def test_calls_within_calls_and_aggregates_are_asked_too() -> None:
    query = parse_query("SELECT EVERY(is_nan(nan())) AS x, arg_max(1, 2) FILTER (WHERE true) AS y")
    call_as_duckdb(query)
    with duckdb.connect() as connection:
        assert connection.sql(query.sql(dialect="duckdb")).fetchall() == [(True, 1)]
