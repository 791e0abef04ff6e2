"""What `sql` asks DuckDB for calls of the language's functions."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from headwater.analyze.typing import functions as f
from headwater.serve.called_functions import call_as_duckdb
from headwater.serve.embedded import parse_query
from tests.unit.docs.test_function_entries import EXAMPLES, sales, shown

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


AS_DUCKDB_ANSWERS = {
    "upper('straße')",
    "replace('ab', '', '-')",
    "substr('ab', -5)",
    "split_part('a/b/c', '/', 9)",
    "length(to_utf8('åre'))",
    "regexp_replace('17 EUR', '([0-9]+) EUR', '\\$$1')",
    "regexp_extract('order', '[0-9]+')",
    "date_trunc('week', date(TIMESTAMP '2026-11-25 17:30:45'))",
    "date_diff('hour', TIMESTAMP '2026-11-25 17:30:45', TIMESTAMP '2026-11-25 20:00:00')",
    "date_add('month', 1, DATE '2024-01-31')",
    "10 / nullif(4, 0)",
    "json_extract_scalar('{\"a\": 12.10}', '$.a')",
    "json_extract_scalar('{\"a\": {\"b\": 7}}', '$.a')",
    "TRY(1 / 0)",
    "date_parse('25.11.2026 17:30', '%d.%m.%Y %H:%i')",
    "parse_datetime('2026-11-25 17:30', 'yyyy-MM-dd HH:mm')",
    "median(price)",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY price)",
    "avg(price)",
    "approx_percentile(price, 0.5)",
}
"""Examples that a view answers otherwise, since `sql` knows no types. None is added."""


@pytest.mark.parametrize(("call", "result", "kind"), EXAMPLES)
def test_an_example_gives_the_result_of_a_view(call: str, result: str, kind: str) -> None:
    query = parse_query(f"SELECT {call} AS x FROM sales{' LIMIT 1' * (kind == 'scalar')}")
    call_as_duckdb(query)
    order = " ORDER BY price" * (kind == "window")
    try:
        found: list[Any] = sales().sql(query.sql(dialect="duckdb") + order).to_arrow_table()["x"]
        same = ", ".join(shown(each.as_py()) for each in found) == result
    except duckdb.Error:
        same = False
    assert same is (call not in AS_DUCKDB_ANSWERS)
