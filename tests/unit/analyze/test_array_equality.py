"""Arrays are equal as in Trino: NULL if a NULL decides, whatever an engine takes for equal."""

from __future__ import annotations

import duckdb
import pytest

from headwater.analyze.portable.rewrites import portable
from headwater.analyze.project import bind
from headwater.dialect import parse

TABLE = """
CREATE TABLE t (a ARRAY(INTEGER), b ARRAY(BIGINT))
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW v AS SELECT a = b AS same, a <> b AS other FROM t;
"""


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("[1, 2]", "[1, 2]", True),
        ("[1, 2]", "[2, 1]", False),
        ("[1]", "[1, 2]", False),
        ("[]", "[]", True),
        ("[1, NULL]", "[1, NULL]", None),
        ("[1, NULL]", "[2, NULL]", False),
        ("[1, NULL]", "[1]", False),
        ("NULL", "[1]", None),
    ],
)
def test_a_null_element_makes_equality_unknown(left: str, right: str, same: bool | None) -> None:
    query = portable(bind({"t.sql": parse(TABLE)}).views["v"].query, "duckdb")
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE t AS SELECT {left}::INT[] AS a, {right}::BIGINT[] AS b")
        found = database.execute(query.sql("duckdb")).fetchone()
    assert found == (same, None if same is None else not same)


@pytest.mark.parametrize(
    ("value", "same"),
    [("{'p': 1, 'q': [2]}", True), ("{'p': 1, 'q': [NULL]}", None), ("{'p': 2, 'q': NULL}", False)],
)
@pytest.mark.parametrize(
    ("text", "otherwise"),
    [("r = s", None), ("r IN (s)", None), ("CASE r WHEN s THEN TRUE ELSE FALSE END", False)],
)
def test_rows_are_equal_field_by_field(
    text: str, otherwise: bool | None, value: str, same: bool | None
) -> None:
    table = f"""
CREATE TABLE t (r ROW(p INTEGER, q ARRAY(INTEGER)), s ROW(p INTEGER, q ARRAY(INTEGER)))
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW v AS SELECT {text} AS same FROM t;
"""
    query = portable(bind({"t.sql": parse(table)}).views["v"].query, "duckdb")
    kind = "STRUCT(p INTEGER, q INTEGER[])"
    with duckdb.connect() as database:
        one = "{'p': 1, 'q': [2]}"
        database.execute(f"CREATE TABLE t AS SELECT {one}::{kind} AS r, {value}::{kind} AS s")
        found = database.execute(query.sql("duckdb")).fetchone()
    assert found == (otherwise if same is None else same,)
