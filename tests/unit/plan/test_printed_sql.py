"""Text that Spark would read otherwise than it is meant."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from headwater.plan.sql.render import print_sql


@pytest.mark.parametrize("condition", ["(f)", "((f))", "f"])
def test_a_column_behind_where_is_no_list_of_an_alias(condition: str) -> None:
    query = parse_one(f"SELECT a FROM t WHERE {condition}")
    assert " ".join(print_sql(query, "spark").split()) == "SELECT a FROM t WHERE f"
    assert query.args["where"].sql() == f"WHERE {condition}", "the view keeps its text"
