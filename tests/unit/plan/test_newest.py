"""What a keyed table holds at rest where changes leave values out, judged by a loop over them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import duckdb
import pytest

from headwater.analyze.binder import bind
from headwater.analyze.definitions import DELETED, UPSERTED
from headwater.dialect import parse
from headwater.plan.at_rest import at_rest_sql
from headwater.plan.planner import plan_project

SQL = """
CREATE TABLE docs (id BIGINT, n BIGINT, body VARCHAR NOT NULL, raw VARBINARY, PRIMARY KEY (id))
WITH (connector = 'files', path = 'docs') FORMAT DEBEZIUM ENCODE JSON;
"""
LOG = (
    "id BIGINT, n BIGINT, body VARCHAR, raw BLOB, _change_type VARCHAR, _unchanged VARCHAR,"
    " _path VARCHAR, _row BIGINT"
)
LEFT_OUT = ("", "", "body", "raw", "body,raw")

Change = tuple[Any, ...]


def changes(seed: int, count: int = 60) -> list[Change]:
    """Return changes of a few keys, in the order in which they happened."""
    chance, made = random.Random(seed), []
    for number in range(count):
        place = f"{number // 4:03}", number % 4
        key = chance.randrange(3)
        if chance.random() < 0.15:
            made.append((key, None, None, None, DELETED, "", *place))
            continue
        left_out = chance.choice(LEFT_OUT)
        body = None if "body" in left_out else chance.choice(("x", "y"))
        raw = None if "raw" in left_out else chance.choice((b"1", b"", None))
        made.append((key, number, body, raw, UPSERTED, left_out, *place))
    return made


def held(log: Sequence[Change]) -> list[tuple[Any, ...]]:
    """Return the rows that are there after changes in the order of the input."""
    rows: dict[Any, tuple[Any, ...]] = {}
    for key, n, body, raw, kind, left_out, *_ in sorted(log, key=lambda change: change[-2:]):
        _, old_body, old_raw = rows.pop(key, (None, None, None))
        if kind == UPSERTED:
            body = old_body if "body" in left_out else body
            rows[key] = n, body, old_raw if "raw" in left_out else raw
    return sorted((key, *row) for key, row in rows.items())


@pytest.mark.parametrize("seed", range(20))
def test_a_value_left_out_is_the_newest_said_since_the_row_began(seed: int) -> None:
    catalog = bind({"test.sql": parse(SQL, file="test.sql")})
    plan = plan_project(catalog)["docs"]
    log = changes(seed)
    random.Random(seed).shuffle(log)
    with duckdb.connect() as duck:
        duck.execute(f"CREATE TABLE docs__changes ({LOG})")
        duck.executemany("INSERT INTO docs__changes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", log)
        found = duck.sql(at_rest_sql(plan, catalog, "duckdb")).fetchall()
    assert sorted(found) == held(log)


def test_only_what_can_be_left_out_costs_hidden_columns() -> None:
    catalog = bind({"test.sql": parse(SQL, file="test.sql")})
    columns = [column.name for column in plan_project(catalog)["docs"].columns]
    places = ["_state_path", "_state_row"]
    assert columns == [
        *("id", "n", "body", "raw"),
        *places,
        *(f"{place}_{column}" for column in ("body", "raw") for place in places),
    ]
