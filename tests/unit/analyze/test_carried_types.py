"""Times of day, intervals and UUIDs: what stands for them, and what is refused."""

from __future__ import annotations

from itertools import pairwise

import pytest
from sqlglot import exp

from headwater.analyze.portable.rewrites import portable
from headwater.analyze.project import bind
from headwater.analyze.typing import types as t
from headwater.analyze.typing.functions.carried import canonical
from headwater.dialect import parse
from headwater.errors import ErrorGroup, HeadwaterError

TABLE = """
CREATE TABLE t (id BIGINT, n INTEGER, a TIMESTAMP, b TIMESTAMP, c TIME, u UUID, x VARCHAR, d DATE)
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
"""


def bound(select: str, dialect: str = "") -> exp.Query:
    head = f"-- dialect: {dialect}\n" if dialect else ""
    text = f"{head}{TABLE} CREATE STREAMING VIEW v AS {select};"
    return bind({"t.sql": parse(text, file="t.sql")}).views["v"].query


def condition(select: str, dialect: str = "") -> tuple[str, str]:
    with pytest.raises(HeadwaterError) as caught:
        bound(select, dialect)
    error = caught.value
    first = error.errors[0] if isinstance(error, ErrorGroup) else error
    return first.condition, first.hint


def test_what_stands_for_a_literal_sorts_as_the_times_do() -> None:
    written = [
        "0:0",
        "0:0:0.000001",
        "9:5",
        "09:05:00.25",
        "9:05:00.3",
        "9:5:1",
        "10:00",
        "23:59:59.9",
    ]
    carried = [canonical(each, t.TIME) for each in written]
    assert carried[:4] == ["00:00:00", "00:00:00.000001", "09:05:00", "09:05:00.25"]
    assert all(one < other for one, other in pairwise(carried))


@pytest.mark.parametrize("engine", ["spark", "duckdb", "trino"])
def test_no_engine_gets_a_type_that_it_does_not_have(engine: str) -> None:
    query = bound(
        "SELECT id, CAST(NULL AS TIME) AS e, CAST(x AS UUID) AS f, c FROM t"
        " WHERE a - b > INTERVAL '5' MINUTE UNION ALL SELECT id, NULL, u, NULL FROM t"
    )
    kinds = {each.this for each in portable(query, engine).find_all(exp.DataType)}
    assert not kinds & set(t.CARRIERS)


def test_an_interval_is_native_beside_a_time_and_micros_elsewhere() -> None:
    query = bound("SELECT id FROM t WHERE a + INTERVAL '1' HOUR > b AND a - b > INTERVAL '1' HOUR")
    text = portable(query, "duckdb").sql("duckdb")
    assert text.count("INTERVAL '1' HOUR") == 1
    assert "CAST(3600000000 AS BIGINT)" in text


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("SELECT a - b AS x FROM t", "UNSUPPORTED_TYPE"),
        ("SELECT id FROM t WHERE a - b > INTERVAL '1' MONTH", "UNSUPPORTED_SYNTAX"),
        ("SELECT id FROM t WHERE c > TIME '25:00'", "INVALID_LITERAL"),
        ("SELECT id FROM t WHERE u = UUID '12'", "INVALID_LITERAL"),
        ("SELECT id FROM t WHERE c > '09:00'", "TYPE_CLASH"),
        ("SELECT CAST(c AS VARCHAR) AS x FROM t", "UNSUPPORTED_CAST"),
        ("SELECT CAST(d AS TIME) AS x FROM t", "UNSUPPORTED_CAST"),
        ("SELECT CAST(x AS TIME(3)) AS x FROM t", "UNSUPPORTED_TYPE"),
        ("SELECT CAST(x AS CHAR(3)) AS x FROM t", "UNSUPPORTED_TYPE"),
        ("SELECT d + c AS x FROM t", "TYPE_CLASH"),
        ("SELECT id FROM t WHERE (a - b) * 1.5 > INTERVAL '1' DAY", "TYPE_CLASH"),
        ("SELECT date_trunc('day', c) AS x FROM t", "TYPE_CLASH"),
    ],
)
def test_what_is_refused(select: str, expected: str) -> None:
    found, hint = condition(select)
    assert (found, bool(hint)) == (expected, True)


def test_what_is_refused_in_other_dialects() -> None:
    average = "SELECT id FROM t GROUP BY id HAVING avg(a - b) > interval '1 day'"
    assert condition(average, "postgres")[0] == "TYPE_CLASH"
    part = "SELECT id, extract(hour FROM sum(a - b)) AS x FROM t GROUP BY id"
    assert condition(part, "postgres")[0] == "TYPE_CLASH"


@pytest.mark.parametrize(
    "select",
    [
        "SELECT c::varchar AS x, d + c AS y, a::time AS z FROM t WHERE c > '09:00'",
        "SELECT extract(epoch FROM a - b) AS x, extract(hour FROM a - b) AS y FROM t",
        "SELECT id FROM t WHERE a + '5 minutes'::interval > b",
        "SELECT id FROM t WHERE u = '12151FD2-7586-11e9-8f9e-2a86e4085a59'",
        "SELECT id FROM t WHERE b < a + interval '1 day' * 365 AND a - b < interval '10'",
    ],
)
def test_what_postgres_has(select: str) -> None:
    bound(select, "postgres")


@pytest.mark.parametrize(
    ("column", "encode"), [("c TIME", "PARQUET"), ("c ARRAY(UUID)", "JSON"), ("c INTERVAL", "JSON")]
)
def test_columns_that_are_not_read(column: str, encode: str) -> None:
    files = "WITH (connector = 'files', path = 't')"
    text = f"CREATE TABLE t ({column}) {files} FORMAT PLAIN ENCODE {encode};"
    with pytest.raises(HeadwaterError) as caught:
        bind({"t.sql": parse(text, file="t.sql")})
    error = caught.value
    first = error.errors[0] if isinstance(error, ErrorGroup) else error
    assert first.condition == "UNSUPPORTED_TYPE"
