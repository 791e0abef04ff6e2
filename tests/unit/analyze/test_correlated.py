"""Subqueries that read columns of the query around them: DuckDB judges what they became."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.errors import SqlError
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project

NAMES = {"l": "a INTEGER, b BIGINT, c VARCHAR", "r": "d INTEGER, e BIGINT, f VARCHAR"}
NAMES |= {"t": "i INTEGER, j BIGINT, k VARCHAR", "g": "id INTEGER, xs {}"}
ROWS = {
    "l": "(1, 1, 'x'), (1, 2, NULL), (2, 3, 'y'), (NULL, 4, 'x'), (3, NULL, 'z'), (2, 3, 'y')",
    "r": "(1, 1, 'x'), (1, 3, 'x'), (2, NULL, 'y'), (NULL, 3, NULL), (4, 5, 'z'), (2, 2, 'x')",
    "t": "(1, 2, 'x'), (2, 3, 'y'), (NULL, 3, 'x'), (3, NULL, NULL), (60, 4, 'x'), (2, 1, 'q')",
    "g": "(1, [1, 2, 2]), (2, []), (3, NULL), (4, [NULL, 3])",
}
LISTS = ("ARRAY(INTEGER)", "INTEGER[]")


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name, columns in NAMES.items():
            connection.execute(f"CREATE TABLE {name} ({columns.format(LISTS[1])})")
            connection.execute(f"INSERT INTO {name} VALUES {ROWS[name]}")
        yield connection


def ours(select: str, dialect: str = "duckdb") -> str:
    tables = "".join(
        f"CREATE TABLE {name} ({columns.format(LISTS[0])})"
        f" WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;"
        for name, columns in NAMES.items()
    )
    catalog = bind({"t": parse(tables), "v": parse(f"CREATE STREAMING VIEW v AS {select}")})
    return at_rest(plan_project(catalog)["v"], catalog, dialect, final=False).text()


def rows(duck: duckdb.DuckDBPyConnection, select: str) -> list[str]:
    return sorted(map(str, duck.execute(select).fetchall()))


SAME = "(d = a) IS NOT FALSE AND (e = b) IS NOT FALSE"
FOUND = f"""CASE WHEN EXISTS (SELECT 1 FROM r WHERE d = a AND e = b) THEN TRUE
WHEN EXISTS (SELECT 1 FROM r WHERE {SAME}) THEN NULL ELSE FALSE END"""
ROWS_OF_VALUES = {
    "SELECT a, (a, b) IN (SELECT d, e FROM r) AS x FROM l": f"SELECT a, {FOUND} AS x FROM l",
    "SELECT a FROM l WHERE (a, b) IN (SELECT d, e FROM r) OR c = 'z'": (
        f"SELECT a FROM l WHERE {FOUND} OR c = 'z'"
    ),
    "SELECT a FROM l WHERE (a, b) NOT IN (SELECT d, e FROM r)": (
        f"SELECT a FROM l WHERE NOT {FOUND}"
    ),
    "SELECT a FROM l WHERE NOT ((a, b) IN (SELECT d, e FROM r)) OR c = 'z'": (
        f"SELECT a FROM l WHERE NOT {FOUND} OR c = 'z'"
    ),
    "SELECT a FROM l WHERE NOT ((a, b) IN (SELECT d, e FROM r) OR c = 'z')": (
        f"SELECT a FROM l WHERE NOT ({FOUND} OR c = 'z')"
    ),
    "SELECT a, b FROM l GROUP BY a, b HAVING (a, b) NOT IN (SELECT d, e FROM r)": (
        f"SELECT a, b FROM l GROUP BY a, b HAVING NOT {FOUND}"
    ),
    "SELECT a, b, j FROM l LEFT JOIN t ON i = a AND (a, b) NOT IN (SELECT d, e FROM r)": (
        f"SELECT a, b, j FROM l LEFT JOIN t ON i = a AND NOT {FOUND}"
    ),
}
"""What is asked of rows of values, and the same for DuckDB, for which NULL in them is a value."""


@pytest.mark.parametrize("dialect", ["duckdb", "trino"])  # DuckDB can read both
@pytest.mark.parametrize(("select", "same"), ROWS_OF_VALUES.items())
def test_membership_of_rows_is_unknown_where_a_null_decides(
    select: str, same: str, dialect: str, duck: duckdb.DuckDBPyConnection
) -> None:
    assert rows(duck, ours(select, dialect)) == rows(duck, same)


@pytest.mark.parametrize("truth", ["IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"])
def test_a_truth_is_asked_of_null_in_trino_as_elsewhere(
    truth: str, duck: duckdb.DuckDBPyConnection
) -> None:
    select = f"SELECT a, (a < b) {truth} AS t FROM l WHERE (c > 'x') {truth} OR b > 2"
    text = ours(select, "trino")
    assert " IS TRUE" not in text
    assert rows(duck, text) == rows(duck, select)


CASES = Path(__file__).with_name("correlated.sql").read_text().split("\n\n", 1)[1]


@pytest.mark.parametrize("select", CASES.strip().removesuffix(";").split(";\n"))
def test_a_correlated_query_gives_the_rows_of_duckdb(
    select: str, duck: duckdb.DuckDBPyConnection
) -> None:
    assert rows(duck, ours(select)) == rows(duck, select)


@pytest.mark.parametrize(
    ("select", "words"),
    [
        ("SELECT a FROM l SEMI JOIN r ON d = a", "name of its table"),
        (
            "SELECT a FROM l LEFT ANTI JOIN r ON r.d = l.a FULL JOIN t ON t.i = l.a",
            "beside a RIGHT",
        ),
        ("SELECT a FROM l LEFT JOIN t ON t.i = l.a ANTI JOIN r USING (d)", "USING behind"),
        ("SELECT id, (SELECT sum(x) FROM UNNEST(xs) AS u (x)) AS n FROM g", "in FROM, in ON"),
        ("SELECT id, EXISTS (SELECT max(x) FROM UNNEST(xs) AS u (x)) FROM g", "in FROM, in ON"),
        ("SELECT a FROM l WHERE EXISTS (SELECT nosuch FROM r WHERE r.d = l.b)", "nosuch"),
        ("SELECT a FROM l WHERE a IN (SELECT d FROM r WHERE e < l.b LIMIT 1)", "without ORDER BY"),
        ("SELECT a, v FROM l, LATERAL (SELECT d AS v FROM r WHERE e < l.z) AS q", '"z"'),
    ],
)
def test_what_is_not_rewritten_keeps_its_error(select: str, words: str) -> None:
    with pytest.raises(SqlError, match=words):
        ours(select)
