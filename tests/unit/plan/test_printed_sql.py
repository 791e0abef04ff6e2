"""Text that Spark would read otherwise than it is meant."""

from __future__ import annotations

import duckdb
import pytest
from sqlglot import exp, parse_one

from headwater.plan.at_rest import at_rest
from headwater.plan.sql.render import print_sql
from tests.algebra.world import planned


@pytest.mark.parametrize("condition", ["(f)", "((f))", "f"])
def test_a_column_behind_where_is_no_list_of_an_alias(condition: str) -> None:
    query = parse_one(f"SELECT a FROM t WHERE {condition}")
    assert " ".join(print_sql(query, "spark").split()) == "SELECT a FROM t WHERE f"
    assert query.args["where"].sql() == f"WHERE {condition}", "the view keeps its text"


TABLE = """
CREATE TABLE t (k BIGINT, r ARRAY(ROW(p INTEGER, q VARCHAR)), a ARRAY(INTEGER), b ARRAY(VARCHAR))
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW v AS SELECT k, x, y FROM t LEFT JOIN UNNEST({}) AS e (x, y) ON true;
"""


@pytest.mark.parametrize("arrays", ["r", "a, b", "filter(r, x -> x.p > k AND x.q <> 'none')"])
def test_rows_of_a_long_value_are_no_value_that_has_a_name(arrays: str) -> None:
    catalog, plans = planned(TABLE.format(arrays), as_written=True)
    plan = plans["v"]
    for text in (plan.program.texts()["change"], at_rest(plan, catalog, "spark").text()):
        (view,) = parse_one(text, dialect="spark").find_all(exp.Lateral)
        assert isinstance(view.this, exp.Inline)
    text = at_rest(plan, catalog, "duckdb").text()
    with duckdb.connect() as duck:
        duck.execute(
            "CREATE TABLE t (k BIGINT, r STRUCT(p INT, q VARCHAR)[], a INT[], b VARCHAR[])"
        )
        duck.execute("INSERT INTO t VALUES (1, [{p: 2, q: 'x'}], [2], ['x']), (2, NULL, NULL, [])")
        assert sorted(duck.sql(text).fetchall()) == [(1, 2, "x"), (2, None, None)]
