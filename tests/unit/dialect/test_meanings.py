"""The same words mean something else in another dialect: what they give there, run in DuckDB."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from typing import Any

import duckdb
import pytest

from headwater.analyze.bind.project import bind
from headwater.analyze.portable.rewrites import portable
from headwater.dialect import parse
from headwater.errors import ErrorGroup, SqlError

TABLE = """
CREATE TABLE t (i INTEGER, j INTEGER, n INTEGER, x DOUBLE, s VARCHAR, u VARCHAR, ts TIMESTAMP)
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;"""
ROW = (
    "SELECT 7::INT AS i, 2::INT AS j, NULL::INT AS n, 2.5::DOUBLE AS x, 'abc' AS s,"
    " NULL::VARCHAR AS u, TIMESTAMP '2026-11-29 10:00:00' AS ts"  # a Sunday
)


def value(dialect: str, expression: str) -> Any:
    """Return what an expression in a dialect gives over the one row."""
    text = f"-- dialect: {dialect}\nCREATE STREAMING VIEW v AS SELECT {expression} AS x FROM t"
    view = bind({"t.sql": parse(TABLE), "v.sql": parse(text)}).views["v"]
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE t AS {ROW}")
        rows = database.execute(portable(view.query, "duckdb").sql("duckdb")).fetchall()
    return rows[0][0]


@pytest.mark.parametrize(
    ("dialects", "expression", "expected"),
    [
        ("postgres spark duckdb snowflake bigquery", "ts >= '2026-11-29'", True),
        ("postgres spark", "ts BETWEEN '2026-11-28' AND '2026-11-29 09:00:00'", False),
        ("postgres duckdb", "ts NOT IN ('2026-11-29', '2026-11-29 10:00:00')", False),
        ("postgres spark duckdb", "greatest(i, n)", 7),
        ("postgres spark duckdb", "least(n, j, i)", 2),
        ("postgres spark duckdb", "greatest(n, NULL)", None),
        ("snowflake bigquery trino", "greatest(i, n)", None),
        ("snowflake", "greatest_ignore_nulls(i, n)", 7),
        ("postgres duckdb", "concat(s, u, 'd')", "abcd"),
        ("spark snowflake bigquery trino", "concat(s, u, 'd')", None),
        ("postgres duckdb spark trino", "concat_ws('-', s, u)", "abc"),
        ("snowflake", "concat_ws('-', s, u)", None),
        ("snowflake", "concat_ws('-', s, s)", "abc-abc"),
        ("postgres duckdb spark trino snowflake", "s || u", None),
        ("postgres spark duckdb bigquery", "substr(s, 0)", "abc"),
        ("spark bigquery", "substr(s, 0, 2)", "ab"),
        ("duckdb postgres", "substr(s, 0, 2)", "a"),
        ("spark duckdb bigquery snowflake", "substr(s, -2)", "bc"),
        ("postgres", "substr(s, -2)", "abc"),
        ("postgres", "substr(s, -1, 3)", "a"),
        ("postgres", "substr(s, -5, 3)", ""),
        ("spark duckdb", "substr(s, -5)", "abc"),
        ("spark duckdb", "substr(s, -5, 3)", "a"),
        ("bigquery", "substr(s, -5, 2)", "ab"),
        ("spark duckdb postgres snowflake", "split_part(s, 'b', 5)", ""),
        ("spark duckdb", "regexp_extract(s, '(x)', 1)", ""),
        ("postgres bigquery", r"'a_b' LIKE 'a\_b'", True),
        ("postgres", r"'axb' NOT LIKE 'a\_b'", True),
        ("spark", r"'axb' LIKE 'a\_b'", False),
        ("duckdb", r"'a_b' LIKE 'a\_b'", False),
        ("postgres duckdb", r"regexp_replace(s, '(b)', '<\1>', 'g')", "a<b>c"),
        ("snowflake", "regexp_like(s, 'b')", False),
        ("snowflake", "regexp_like(s, 'a.c')", True),
        ("postgres duckdb", "extract(dow FROM ts)", 0),
        ("spark", "extract(dow FROM ts)", 1),
        ("bigquery", "extract(dayofweek FROM ts)", 1),
        ("postgres duckdb", "extract(isodow FROM ts)", 7),
        ("postgres", "CAST(12.345::numeric AS VARCHAR)", "12.345"),
        ("duckdb", "CAST(12.3456::numeric AS VARCHAR)", "12.346"),
        ("spark", "CAST(CAST(12.5 AS decimal) AS string)", "13"),
        ("bigquery", "CAST(CAST(i AS NUMERIC) AS STRING)", "7.000000000"),
        ("bigquery", "1.5 / 2.5 = 0.6", True),
        ("postgres trino", "i / j", 3),
        ("spark duckdb snowflake bigquery", "i / j", 3.5),
        ("duckdb", "i / 2.5", 2.8),
        ("duckdb", "CAST(i AS DECIMAL(5, 2)) / 0.0", math.inf),
        ("duckdb postgres spark snowflake", "CAST(ts AS DATE) + 3", date(2026, 12, 2)),
        ("duckdb postgres", "CAST(ts AS DATE) - 29", date(2026, 10, 31)),
        ("postgres trino spark duckdb", "-i % j", -1),
        ("postgres duckdb", "-2 ^ 2", 4.0),
        ("spark", "-2 ^ 2", -4),
        ("spark", "i IS NOT NULL", True),
        ("duckdb postgres snowflake spark", "s || i || CAST(1.50 AS DECIMAL(3, 2))", "abc71.50"),
        ("duckdb postgres spark", "(i > 1) || s || CAST(ts AS DATE)", "trueabc2026-11-29"),
        ("duckdb postgres snowflake", "CAST(ts AS DATE) - DATE '2026-11-01'", 28),
        ("duckdb", "extract(epoch FROM ts)", 1795946400.0),
        ("postgres", "extract(epoch FROM ts)", Decimal("1795946400.000000")),
        ("duckdb postgres spark", "date_part('hour', ts)", 10),
        ("duckdb postgres", "date_part('dow', ts)", 0),
        ("trino postgres duckdb snowflake", "CAST(CAST(2.5 AS DECIMAL(3, 1)) AS INTEGER)", 3),
        ("trino postgres duckdb snowflake", "CAST(CAST(-2.5 AS DECIMAL(3, 1)) AS INTEGER)", -3),
        ("spark", "CAST(CAST(-2.5 AS DECIMAL(3, 1)) AS INTEGER)", -2),
        ("spark", "CAST(x AS BIGINT)", 2),
        ("trino postgres", "CAST(s AS VARCHAR(2))", "ab"),
        ("trino postgres spark duckdb", "CAST('-32768' AS SMALLINT) - 1", -32769),
        ("trino spark", "CAST(i AS TINYINT)", 7),
        ("spark", "collect_list(s)", ["abc"]),
        ("spark", "collect_list(u)", []),
        ("spark", "collect_set(s)", ["abc"]),
        ("snowflake", "array_agg(u)", []),
        ("trino duckdb", "array_agg(u)", [None]),
        ("duckdb spark", "CAST(s AS VARCHAR(2))", "abc"),
        ("postgres spark duckdb snowflake", "s LIKE ANY ('x%', 'a_c')", True),
        ("postgres", r"s LIKE ANY (ARRAY['a\_c', 'x'])", False),
        ("duckdb postgres", "s NOT LIKE ALL ('x%', 'ab')", True),
        ("duckdb postgres", "s ILIKE ANY ('X', 'A%')", True),
        ("postgres risingwave materialize", "u IS NOT NULL", False),
        ("risingwave materialize", "i / j", 3),
        ("risingwave materialize", "greatest(i, n)", 7),
        ("risingwave materialize", "substr(s, -1, 3)", "a"),
        ("postgres materialize", """'{"a": {"b": [7, "x"]}}'::jsonb -> 'a' -> 'b' ->> 1""", "x"),
        ("postgres", """'{"a": {"b": 7}}'::json #>> '{a, b}'""", "7"),
        ("postgres", """('{"a": 7}'::jsonb -> 'a')::int + 1""", 8),
        ("postgres duckdb", """'{"a": null}' ->> 'a'""", None),
        ("duckdb", """'{"a": {"b": true}}' ->> '$.a.b'""", "true"),
        ("spark", """get_json_object('{"a": "x"}', '$.a')""", "x"),
        ("trino", """json_extract_scalar('{"a": 7}', '$.a' ERROR ON ERROR)""", "7"),
        ("trino", "json_extract_scalar('no JSON', '$.a')", None),
        # what Flink 2.3 answered
        ("flink", "i / j", 3),
        ("flink", "-i % j", -1),
        ("flink", "AVG(x)", 2.5),
        ("flink", "greatest(i, n)", None),
        ("flink", "SUBSTRING(s, 0, 2)", "ab"),
        ("flink", "SUBSTRING(s, i - 7)", "abc"),
        ("flink", "SUBSTRING(s, -2)", "bc"),
        ("flink", "SUBSTRING(s, -7, 4)", ""),
        ("flink", r"'a_b' LIKE 'a\_b'", False),
        ("flink", "SPLIT_INDEX('a,b', ',', 0)", "a"),
        ("flink", "SPLIT_INDEX('a,b', ',', 2)", None),
        ("flink", "SPLIT_INDEX('', ',', 0)", None),
        ("flink", """JSON_VALUE('{"a": 1.50}', '$.a')""", "1.50"),
        ("flink", """JSON_VALUE('{"a": {"b": 1}}', '$.a')""", None),
        ("flink", """JSON_VALUE('{"a": "7"}', 'lax $.a' RETURNING INTEGER)""", 7),
        ("flink", """JSON_VALUE('{"a": "x"}', '$.a' RETURNING INTEGER NULL ON ERROR)""", None),
        ("flink", "ARRAY[1, 2][3]", None),
        ("flink", "ARRAY[1, 2][1]", 1),
        ("flink", "CONCAT_WS('-', s, u, 'b')", "abc-b"),
        ("flink", "EXTRACT(DOW FROM ts)", 1),
        ("flink", "DAYOFWEEK(ts)", 1),
        ("flink", "EXTRACT(ISODOW FROM ts)", 7),
        ("flink", "CAST(-2.7e0 AS INT)", -2),
        ("flink", "CAST(2.7 AS INT)", 2),
        ("flink", "TIMESTAMPDIFF(HOUR, TIMESTAMP '2026-11-29 11:30:00', ts)", -1),
        ("flink", "TIMESTAMPADD(DAY, 3, DATE '2026-01-31')", date(2026, 2, 3)),
        ("flink", "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm')", "2026-11-29 10:00"),
        ("flink", "FROM_UNIXTIME(1767322800)", "2026-01-02 03:00:00"),
        ("flink", "LOG(2, 8)", 3.0),
        ("flink", "LOG(1)", 0.0),
        ("flink", "REGEXP_REPLACE('abab', '(a)', '$1x')", "$1xb$1xb"),
        ("flink", "REGEXP_EXTRACT(s, '(b)(c)', 2)", "c"),
        ("flink", "REGEXP_EXTRACT(s, 'x', 0)", None),
        ("flink", "REGEXP(s, 'b')", True),
        ("flink", "MD5('a')", "0cc175b9c0f1b6a831c399e269772661"),
        ("flink", "SHA1('a')", "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"),
        (
            "flink",
            "SHA256('a')",
            "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
        ),
        ("flink", "IF(n IS NULL, IFNULL(n, 3), 4)", 3),
        ("flink", "`s` || 'd'", "abcd"),
        ("flink", "CHAR_LENGTH(s) + POSITION('b' IN s) + LOCATE('c', s) + INSTR(s, 'c')", 11),
        ("flink", "CEIL(2.1) + FLOOR(-2.1)", 0),
        ("flink", "EXTRACT(YEAR FROM FLOOR(ts TO MONTH))", 2026),
        ("flink", "HOUR(TO_TIMESTAMP_LTZ(1767322800123, 3))", 3),
        ("flink", "EXTRACT(HOUR FROM TO_TIMESTAMP_LTZ(3600000 * i, 3))", 7),
    ],
)
def test_what_a_dialect_means(dialects: str, expression: str, expected: object) -> None:
    found = {dialect: value(dialect, expression) for dialect in dialects.split()}
    assert found == dict.fromkeys(found, expected)


@pytest.mark.parametrize(
    ("dialect", "expression", "message"),
    [
        ("postgres", "i::numeric", "numeric without digits keeps those of each value"),
        ("postgres", "regexp_replace(s, 'a', 'b')", "regexp_replace without the flag 'g'"),
        ("duckdb", "regexp_replace(s, 'a', 'b')", "regexp_replace without the flag 'g'"),
        ("spark", "i | j & i", "&, ^ and | stand beside each other"),
        ("spark", "split_part(s, 'b', -1)", "split_part counts parts from 1"),
        ("snowflake", "regexp_like(s, u)", "the pattern of regexp_like is no literal"),
        ("flink", "AVG(i)", "avg of INTEGER has other digits in Flink"),
        ("flink", "STDDEV_POP(i)", "stddev_pop of INTEGER has other digits in Flink"),
        ("flink", "SPLIT_INDEX(s, u, 1)", "SPLIT_INDEX takes a text and a number as written"),
        ("flink", "REGEXP_REPLACE(s, 'a', u)", "the replacement of REGEXP_REPLACE is no literal"),
        ("flink", "TIMESTAMPDIFF(MONTH, ts, ts)", "MONTH of timestampdiff is another one"),
    ],
)
def test_what_depends_on_more_than_the_text_is_refused(
    dialect: str, expression: str, message: str
) -> None:
    with pytest.raises((SqlError, ErrorGroup)) as raised:
        value(dialect, expression)
    errors = raised.value.errors if isinstance(raised.value, ErrorGroup) else [raised.value]
    assert isinstance(errors[0], SqlError)
    assert errors[0].condition == "NOT_PORTABLE"
    assert errors[0].message.startswith(message)
    assert errors[0].hint
