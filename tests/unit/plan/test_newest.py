"""What a keyed table holds at rest where changes leave values out, judged by a loop over them."""

from __future__ import annotations

import random

import duckdb
import pytest

from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project
from tests.support.left_out import changes, held

SQL = """
CREATE TABLE docs (id BIGINT, n BIGINT, body VARCHAR NOT NULL, raw VARBINARY, PRIMARY KEY (id))
WITH (connector = 'files', path = 'docs') FORMAT DEBEZIUM ENCODE JSON;
"""
LOG = (
    "id BIGINT, n BIGINT, body VARCHAR, raw BLOB, _change_type VARCHAR, _unchanged VARCHAR,"
    " _path VARCHAR, _row BIGINT"
)


TRUNCATES = SQL.replace("JSON", "JSON (truncate = 'apply')")
REPLACES = SQL.replace("JSON", "JSON (snapshot = 'replace')")
BOTH = SQL.replace("JSON", "JSON (snapshot = 'replace', truncate = 'apply')")


@pytest.mark.parametrize(
    ("sql", "truncates", "snapshots"),
    [(SQL, 0, 0), (TRUNCATES, 0.1, 0), (REPLACES, 0, 0.1), (BOTH, 0.1, 0.1)],
)
@pytest.mark.parametrize("seed", range(20))
def test_a_value_left_out_is_the_newest_said_since_the_row_began(
    seed: int, sql: str, truncates: float, snapshots: float
) -> None:
    catalog = bind({"test.sql": parse(sql, file="test.sql")})
    plan = plan_project(catalog)["docs"]
    log = changes(seed, truncates=truncates, snapshots=snapshots)
    random.Random(seed).shuffle(log)
    kinds = LOG.replace("_path", "_snapshot BIGINT, _snapshot_end BIGINT, _path")
    with duckdb.connect() as duck:
        duck.execute(f"CREATE TABLE docs__changes ({kinds if snapshots else LOG})")
        values = ", ".join("?" * len(log[0]))
        duck.executemany(f"INSERT INTO docs__changes VALUES ({values})", log)
        found = duck.sql(at_rest(plan, catalog, "duckdb").text()).fetchall()
    assert sorted(found) == held(log)


def test_columns_that_no_order_tells_apart_can_be_truncated_too() -> None:
    sql = TRUNCATES.replace("n BIGINT", "n ARRAY(VARCHAR)")
    catalog = bind({"test.sql": parse(sql, file="test.sql")})
    text = at_rest(plan_project(catalog)["docs"], catalog, "duckdb").text()
    assert text.count("ORDER BY") == 4 and '"n" ASC' not in text


def test_only_what_can_be_left_out_costs_hidden_columns() -> None:
    catalog = bind({"test.sql": parse(SQL, file="test.sql")})
    columns = [column.name for column in plan_project(catalog)["docs"].columns]
    places = ["_state_path", "_state_row"]
    assert columns == [
        *("id", "n", "body", "raw"),
        *places,
        *(f"{place}_{column}" for column in ("body", "raw") for place in places),
    ]
