"""Spark raises on exactly the rows on which an expression is said to fail, and so does DuckDB."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from sqlglot import exp

from headwater.analyze.failing.failing_rows import fails, safe
from headwater.analyze.fallibility.nonzero_divisors import mark_proven
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.project import bind
from headwater.analyze.typing.types import duckdb_type, spark_type
from headwater.dialect import parse

TABLE = """
CREATE TABLE t (id INTEGER, i INTEGER, j INTEGER, b BIGINT, c BIGINT, d DOUBLE, e DOUBLE,
  p DECIMAL(10, 2), s VARCHAR)
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
"""
TEXTS = (
    *("12", "-7", "+5", " 12 ", "12.5", ".5", "5.", "1e3", "1e400", "x", "", "NaN", "inf", "1.5d"),
    *("1_000", "12\n", "99999999999", "9223372036854775808", "true", "F", "yes", "1", "0x10"),
    *("2020-02-30", "2020-02-29", "2020-1-3", "2020-01-01T05:06:07Z", "2020-01-01 05:06:07.123456"),
    *("2020-01-01 24:00:00", "05:06", "2020", "2020-01-01 23:59:60", "2020-01-01T05:06:07+05:00"),
    *("1234567.895", " 2020-01-01 05:06 ", "2020-01-01 05:06:07 Europe/Paris", None),
)
INT, LONG = 2**31, 2**63
NUMBERS: tuple[tuple[Any, ...], ...] = (
    (1, 1, 1, 1, 1.5, 0.5, "1.50"),
    (0, 0, 0, 0, 0.0, -0.0, "0.00"),
    (7, 0, 7, 0, 7.0, 0.0, "-0.01"),
    (INT - 1, 1, LONG - 1, 1, 1e300, 1e-300, "99999999.99"),
    (-INT, -1, -LONG, -1, -1e300, 2.0, "-99999999.99"),
    (INT - 1, INT - 1, LONG - 1, LONG - 1, float("nan"), 1.0, "5.55"),
    (-INT, -INT, -LONG, -LONG, float("inf"), 1.0, "5.45"),
    (65536, 65536, 2**32, 2**32, 9.3e18, 3.0, "2.00"),
    (3, -2, 2**31, -3, 2147483647.4, -4.0, "3.00"),
    (None, 0, None, 0, None, 0.0, None),
    (1, None, 1, None, 1.0, None, "1.00"),
)
ROWS = [
    (number, *NUMBERS[number % len(NUMBERS)], TEXTS[number % len(TEXTS)])
    for number in range(max(len(NUMBERS), len(TEXTS)))
]
EXPRESSIONS = """
i + j | i - j | i * j | b + c | b - c | b * c | i / j | b / c | d / e | i % 3 | d % e | -i | -b
abs(i) | abs(b) | i + 1 | b * 2 | 10 / i | i / j / 2 | (i + j) * i | CAST(b AS INTEGER)
CAST(s AS INTEGER) | CAST(s AS BIGINT) | CAST(s AS DOUBLE) | CAST(s AS DECIMAL(8, 2))
CAST(s AS BOOLEAN) | CAST(s AS DATE) | CAST(s AS TIMESTAMP) | CAST(s AS TIMESTAMP WITH TIME ZONE)
CAST(round(d) AS INTEGER) | CAST(round(d) AS BIGINT) | CAST(p AS DECIMAL(4, 1))
CAST(round(p) AS INTEGER) | CAST(b AS DECIMAL(12, 2)) | CAST(i AS DECIMAL(5, 0))
from_unixtime(b) | CASE WHEN j <> 1 THEN i / j END | CASE i / j WHEN 0 THEN 0 ELSE 1 / j END
if(j = 1, 0, i / j) | coalesce(i / j, 1 / j) | coalesce(i, i / j) | j <> 1 AND i / j > 1
j = 1 OR i / j > 1 | i / j > 1 AND j <> 0 | nullif(i / j, 1) | TRY_CAST(s AS INTEGER) + i
s = 'x' OR CAST(s AS INTEGER) > 1 | d + i / j | i / j + d
b > 1 AND CASE WHEN j <> 1 THEN 1 / j END > 0 | CAST(CAST(i / j AS VARCHAR) AS INTEGER)
i / j > 0 AND i / j > 1 | 1 / (i / j)
"""
LISTED = [text.strip() for line in EXPRESSIONS.strip().split("\n") for text in line.split("|")]


def bound(text: str) -> exp.Expr:
    view = f"CREATE STREAMING VIEW v AS SELECT {text} AS x FROM t;"
    found = bind({"t.sql": parse(TABLE + view)}).views["v"].query.selects[0].this
    mark_proven(found)
    return found


def columns(text: str, dialect: str) -> str:
    """The value without failing as text, and whether it fails."""
    node = bound(text)
    kind = (spark_type if dialect == "spark" else duckdb_type)(node.type)
    condition = fails(node)
    value = portable(safe(node), dialect).sql(dialect)
    failed = portable(condition, dialect).sql(dialect) if condition is not None else "false"
    shown = "STRING" if dialect == "spark" else "VARCHAR"
    return f"CAST(CAST({value} AS {kind}) AS {shown}), {failed}"


def told(dialect: str) -> str:
    shown = ", ".join(columns(text, dialect) for text in LISTED)
    return f"SELECT id, {shown} FROM t ORDER BY id"


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> list[Any]:
    schema = "id int, i int, j int, b bigint, c bigint, d double, e double, p string, s string"
    frame = spark.createDataFrame(ROWS, schema).coalesce(1)
    frame.withColumn("p", frame.p.cast("decimal(10,2)")).createOrReplaceTempView("t")
    return spark.sql(told("spark")).collect()


def test_spark_and_duckdb_fail_on_the_same_rows(rows: list[Any]) -> None:
    duck = duckdb.connect()
    duck.execute("SET TimeZone = 'UTC'")
    duck.execute(
        "CREATE TABLE t (id INT, i INT, j INT, b BIGINT, c BIGINT, d DOUBLE, e DOUBLE,"
        " p DECIMAL(10, 2), s VARCHAR)"
    )
    duck.executemany(f"INSERT INTO t VALUES ({', '.join('?' * 9)})", ROWS)
    others = duck.sql(told("duckdb")).fetchall()
    wrong = []
    for row, other in zip(rows, others, strict=True):
        for at, text in enumerate(LISTED):
            (value, bad), (same, worse) = row[2 * at + 1 :][:2], other[2 * at + 1 :][:2]
            if bad is not worse or (value is None) != (same is None):
                wrong.append((text, ROWS[row[0]], f"spark {value} {bad}", f"duckdb {same} {worse}"))
    assert wrong == []


def test_spark_raises_on_the_rows_that_fail_and_on_no_other(
    spark: SparkSession, rows: list[Any]
) -> None:
    wrong, failed = [], 0
    for at, text in enumerate(LISTED):
        plain = portable(bound(text), "spark").sql("spark")
        bad = [row[0] for row in rows if row[2 * at + 2]]
        failed += len(bad)
        tried = [[row[0] for row in rows if not row[2 * at + 2]], *([each] for each in bad[:1])]
        for number, ids in enumerate(tried):
            listed = ", ".join(map(str, ids))
            try:
                spark.sql(f"SELECT {plain} FROM t WHERE id IN ({listed})").collect()
                raised = False
            except (PySparkException, Py4JJavaError):
                raised = True
            if raised != (number > 0):
                wrong.append((text, [ROWS[each] for each in ids], f"raised: {raised}"))
    assert wrong == []
    assert failed > len(LISTED)
