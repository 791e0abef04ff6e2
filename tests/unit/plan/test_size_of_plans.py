"""What is written of a column that is used many times, and is made of columns used many times."""

from __future__ import annotations

import re

import duckdb
import pytest

from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project
from headwater.plan.view_plan import ViewPlan

TABLES = """
CREATE TABLE t (x INTEGER, y INTEGER) WITH (connector = 'files', path = 't')
FORMAT PLAIN ENCODE JSON;
CREATE TABLE u (x INTEGER) WITH (connector = 'files', path = 'u') FORMAT PLAIN ENCODE JSON;
"""
FEW, MANY = 8, 24
DEPTH = 3


def levels(uses: int, depth: int) -> str:
    """A subquery with a column ``z``, each level of which uses the one below many times."""
    query = "SELECT x, y, x * y + 1 AS z FROM t"
    for level in range(depth):
        query = f"SELECT x, y, x + {' + '.join(['z'] * uses)} AS z FROM ({query}) AS q{level}"
    return query


SHAPES = {
    "SELECT": "SELECT x, {sum} AS s FROM ({query}) AS q",
    "WHERE": "SELECT x FROM ({query}) AS q WHERE {product} > 5",
    "WHERE with AND": "SELECT x FROM ({query}) AS q WHERE {both}",
    "GROUP BY": "SELECT {sum} AS s, count(*) AS n FROM ({query}) AS q GROUP BY {sum}",
    "ON": "SELECT q.y FROM ({query}) AS q JOIN u ON {sum} = u.x",
    "CASE": "SELECT x, CASE WHEN {product} > 1 THEN {sum} ELSE z END AS s FROM ({query}) AS q",
    "an aggregate": "SELECT x, sum({sum}) AS s FROM ({query}) AS q GROUP BY x",
}


def plan(query: str) -> ViewPlan:
    view = f"CREATE STREAMING VIEW v AS {query};"
    return plan_project(bind({"v.sql": parse(TABLES + view, file="v.sql")}))["v"]


def of_shape(name: str, uses: int, depth: int = DEPTH) -> ViewPlan:
    each = {
        "sum": " + ".join(["z"] * uses),
        "product": " * ".join(["z"] * uses),
        "both": " AND ".join(f"z <> {number}" for number in range(uses)),
    }
    return plan(SHAPES[name].format(query=levels(uses, depth), **each))


def sizes(found: ViewPlan) -> dict[str, int]:
    """Characters without white space, since indentation grows with the depth of brackets."""
    guard = found.guard
    assert guard is not None
    texts = {
        "query": found.view.query.sql(),
        "guard": guard.query.sql("trino"),
        "causes": str([bad.causes for bad in guard.bad]),
        "combined": str(guard.combined),
        "program": str(found.guarded_program),
    }
    return {part: len(re.sub(r"\s|\\n", "", text)) for part, text in texts.items()}


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_written_grows_with_the_uses_of_a_column(name: str) -> None:
    few, many = sizes(of_shape(name, FEW)), sizes(of_shape(name, MANY))
    grown = {part: round(many[part] / max(few[part], 1), 1) for part in few}
    assert max(grown.values()) <= 1.3 * MANY / FEW, grown


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_written_does_not_multiply_by_level(name: str) -> None:
    few, many = sizes(of_shape(name, MANY)), sizes(of_shape(name, MANY, 2 * DEPTH))
    grown = {part: round(many[part] / max(few[part], 1), 1) for part in few}
    # each level has a condition, which computes the levels below it
    assert max(grown.values()) <= 2**2, grown


@pytest.mark.parametrize("name", ["SELECT", "WHERE", "CASE"])
def test_shared_definitions_find_the_same_rows(name: str) -> None:
    found = of_shape(name, 9)
    guarded = at_rest(found, bind({"t.sql": parse(TABLES)}), "duckdb").text()
    assert "list_transform" in guarded.lower()
    rows = [(1, 2), (0, 0), (0, 1), (70000, 70000), (None, 1), (900000, 1), (-1, 1)]
    raised = []
    with duckdb.connect() as connection:
        for row in rows:
            connection.execute("CREATE OR REPLACE TABLE t (x INT, y INT)")
            connection.execute("INSERT INTO t VALUES (?, ?)", row)
            kept = connection.sql(guarded).fetchall()
            try:
                expected = connection.sql(found.view.query.sql("duckdb")).fetchall()
            except duckdb.Error:
                raised.append(row)
                expected = []
            assert kept == expected
    assert 0 < len(raised) < len(rows)
