"""The same words mean something else in another dialect: what they give there, run in DuckDB."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from headwater.analyze.portable.rewrites import portable
from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.errors import ErrorGroup, SqlError
from tests.dialects.cases import CASES, COLUMNS

TABLE = """
CREATE TABLE t (i INTEGER, j INTEGER, n INTEGER, x DOUBLE, s VARCHAR, u VARCHAR, ts TIMESTAMP)
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;"""


def value(dialect: str, expression: str) -> Any:
    """Return what an expression in a dialect gives over the one row."""
    text = f"-- dialect: {dialect}\nCREATE STREAMING VIEW v AS SELECT {expression} AS x FROM t"
    view = bind({"t.sql": parse(TABLE), "v.sql": parse(text)}).views["v"]
    with duckdb.connect() as database:
        row = ", ".join(f"{each} AS {name}" for name, each in COLUMNS.items())
        database.execute(f"CREATE TABLE t AS SELECT {row}")
        rows = database.execute(portable(view.query, "duckdb").sql("duckdb")).fetchall()
    return rows[0][0]


@pytest.mark.parametrize(("dialects", "expression", "expected"), CASES)
def test_what_a_dialect_means(dialects: str, expression: str, expected: object) -> None:
    found = {dialect: value(dialect, expression) for dialect in dialects.split()}
    assert found == dict.fromkeys(found, expected)


@pytest.mark.parametrize(
    ("dialect", "expression"),
    [
        ("flink", "TO_TIMESTAMP('2026-02-30 00:00:00')"),
        ("flink", "FROM_BASE64('!!!')"),
        ("postgres", "make_date(i + 2019, j, 30)"),
        ("spark", "i DIV (i - 7)"),
        ("spark", "pmod(i, i - 7)"),
    ],
)
def test_what_fails_makes_a_bad_row(dialect: str, expression: str) -> None:
    with pytest.raises(duckdb.Error):
        value(dialect, expression)


@pytest.mark.parametrize(
    ("dialect", "expression", "message"),
    [
        ("postgres", "x::numeric", "numeric without digits keeps those of each value"),
        ("postgres", "regexp_replace(s, 'a', 'b')", "regexp_replace without the flag 'g'"),
        ("duckdb", "regexp_replace(s, 'a', 'b')", "regexp_replace without the flag 'g'"),
        ("spark", "i | j & i", "&, ^ and | stand beside each other"),
        ("spark", "split_part(s, 'b', -1)", "split_part counts parts from 1"),
        ("snowflake", "regexp_like(s, u)", "the pattern of regexp_like is no literal"),
        ("flink", "AVG(i)", "avg of INTEGER has other digits in Flink"),
        ("flink", "STDDEV_POP(i)", "stddev_pop of INTEGER has other digits in Flink"),
        ("flink", "FROM_UNIXTIME(i, 'yyyy')", "FROM_UNIXTIME takes seconds only"),
        ("flink", "SPLIT_INDEX(s, u, 1)", "SPLIT_INDEX takes a text and a number as written"),
        ("flink", "REGEXP_REPLACE(s, 'a', u)", "the replacement of REGEXP_REPLACE is no literal"),
        ("flink", "ARRAY_SORT(ARRAY[3, 1], FALSE)", "an array is sorted upwards only"),
        ("flink", "ARRAY_SORT(ARRAY[3, 1], i > 1)", "how the array is sorted is no literal"),
        ("flink", "ARRAY_SLICE(ARRAY[3, 1], -1)", "a part of an array has places as written"),
        ("flink", "CHR(i)", "chr takes a number up to 255 as written"),
        ("flink", "TRUNCATE(x, 2)", "truncate takes no number of digits"),
        ("flink", "TO_TIMESTAMP(s, 'yy-MM-dd')", "the pattern of TO_TIMESTAMP is not one"),
        ("flink", "TO_TIMESTAMP(s, u)", "the pattern of TO_TIMESTAMP is not one"),
        ("flink", "TO_TIMESTAMP_LTZ(i, 6)", "TO_TIMESTAMP_LTZ takes seconds or milliseconds"),
        ("duckdb", "trunc(x, 2)", "truncate takes no number of digits"),
        ("postgres", "round(x)", "round of DOUBLE rounds halves to even numbers"),
        ("postgres", "mode() WITHIN GROUP (ORDER BY i)", "mode takes any of the values that tie"),
        ("postgres", "jsonb_agg(coalesce(s, 'x'))", "s is a text or JSON"),
        ("spark", "to_json(array(struct(i)))", "to_json leaves out fields of a row that are NULL"),
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


@pytest.mark.parametrize(
    ("dialect", "name"), [("duckdb", "bit_count"), ("postgres", "make_date"), ("flink", "bin")]
)
def test_a_function_that_is_unknown_is_named(dialect: str, name: str) -> None:
    with pytest.raises((SqlError, ErrorGroup), match=f"function {name} does not exist"):
        value(dialect, f"{name}(i)")
