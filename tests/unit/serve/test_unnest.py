"""UNNEST in `headwater sql` means what it means in Trino."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from headwater.serve.embedded import parse_query
from headwater.serve.unnest import unnest_as_trino

TABLE = """
CREATE TABLE t AS
SELECT 1 AS id, [{'p': 1, 'q': 'a'}, NULL] AS rs, MAP {'a': 1} AS m, [1, 2] AS xs, ['u'] AS ys
UNION ALL SELECT 2, NULL, NULL, NULL, ['z']
"""


@pytest.fixture
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(TABLE)
        yield connection


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT u.p, u.q FROM t CROSS JOIN UNNEST(rs) AS u(p, q)", [(1, "a"), (None, None)]),
        ("SELECT u.q FROM t, UNNEST(rs) AS u", [("a",), (None,)]),
        ("SELECT a, b FROM t, UNNEST(xs, ys) AS u(a, b)", [(1, "u"), (2, None), (None, "z")]),
        ("SELECT a, q FROM t, UNNEST(xs, rs) AS u(a, p, q)", [(1, "a"), (2, None)]),
        ("SELECT k, v FROM t CROSS JOIN UNNEST(m) AS u(k, v)", [("a", 1)]),
        ("SELECT x FROM UNNEST(split('a,b', ',')) AS u(x)", [("a",), ("b",)]),
        ("WITH w AS (SELECT * FROM t) SELECT p FROM w, UNNEST(w.rs) AS u(p, q)", [(1,), (None,)]),
        ("SELECT (SELECT count(*) FROM UNNEST(t.xs) AS u(x)) AS n FROM t", [(2,), (0,)]),
    ],
)  # fmt: skip
def test_rows_become_columns_and_arrays_stand_side_by_side(
    duck: duckdb.DuckDBPyConnection, sql: str, rows: list[tuple[object, ...]]
) -> None:
    query = parse_query(sql)
    unnest_as_trino(duck, query)
    found = duck.execute(query.sql("duckdb")).fetchall()
    assert sorted(map(repr, found)) == sorted(map(repr, rows))
