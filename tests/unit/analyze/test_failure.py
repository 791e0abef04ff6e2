"""Which expressions can fail, and on which rows: a table, and random rows judged by DuckDB."""

from __future__ import annotations

import random

import duckdb
import pytest
from sqlglot import exp

from headwater.analyze.failing.failing_rows import fails, is_certain, safe
from headwater.analyze.fallibility.nonzero_divisors import mark_proven
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.portable.texts import WHITE_SPACE
from headwater.analyze.project import bind
from headwater.dialect import parse

TABLE = """
CREATE TABLE t (i INTEGER, j INTEGER, k INTEGER NOT NULL, b BIGINT, c BIGINT, d DOUBLE, e DOUBLE,
  p DECIMAL(10, 2), v DECIMAL(38, 0), w DECIMAL(38, 10), s VARCHAR, n VARCHAR NOT NULL, day DATE,
  ts TIMESTAMP WITH TIME ZONE)
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
"""


def bound(text: str) -> exp.Expr:
    """A column of a view of one expression."""
    view = f"CREATE STREAMING VIEW v AS SELECT {text} AS x FROM t;"
    found = bind({"t.sql": parse(TABLE + view)}).views["v"].query.selects[0].this
    mark_proven(found)
    return found


def condition(text: str, dialect: str = "trino") -> str:
    """When an expression fails, as SQL; empty if it cannot."""
    found = fails(bound(text))
    return portable(found, dialect).sql(dialect) if found is not None else ""


TOTAL = """
i | i / 2 | i / -3 | 10 / nullif(i, 0) | i % nullif(j, 0) | d / 2e0 | TRY_CAST(s AS INTEGER)
lower(s) | CASE WHEN j <> 0 THEN i % j END | CASE WHEN j = 0 THEN 0 ELSE i % j END
if(j = 0, 0, i % j) | CASE WHEN j > 0 THEN i % j WHEN j < 0 THEN -(b % j % 2) + 1 END
j <> 0 AND i % j > 1 | CASE WHEN j = 0 OR i IS NULL THEN 0 ELSE i % j END | j = 0 OR i % j > 1
0 < j AND i % j = 1 | d / e | d % e | d / 0e0 | 1e0 / i | round(i) | round(d, 2) | round(p, 1)
ts + INTERVAL '400' DAY | INTERVAL '2' YEAR + ts | from_unixtime(i) + INTERVAL '1' HOUR
s LIKE n | s LIKE 'a!_%' ESCAPE '!' | i % -1 | length(s) / -1 | mod(b, nullif(c, 0))
CASE WHEN j IS NOT NULL AND 0 <> j THEN CAST(i AS DOUBLE) / CAST(j AS DOUBLE) END
i / greatest(j, 1) | i % coalesce(nullif(j, 0), 1) | CAST(i AS BIGINT) + j | CAST(i AS BIGINT) * j
CAST(i AS VARCHAR) | CAST('12' AS INTEGER) | DATE '2020-01-01' | CAST(day AS VARCHAR) | d * e
d + e | length(s) + 1 | year(ts) * 100 + month(ts) | p * 2 | p + p | CAST(i AS DOUBLE)
CAST(i AS DECIMAL(12, 2)) | CAST(b AS DECIMAL(21, 2)) | date_diff('second', ts, ts) * 1000
CASE WHEN b >= 1 THEN 1e0 / b END | from_unixtime(i) | CAST(ts AS DATE)
CAST(TRY_CAST(s AS INTEGER) AS BIGINT) + 1 | abs(d) | -d | -p
"""
FALLIBLE = """
i / j | i % j | i / 0 | 1 / k | i / length(s) | i + 1 | i + j | b * 2 | b + c
b - c | -i | abs(i) | -b | CAST(s AS INTEGER) | CAST(s AS BIGINT) | CAST(s AS DOUBLE)
CAST(s AS DECIMAL(8, 2)) | CAST(n AS DATE) | CAST(s AS BOOLEAN) | CAST(s AS TIMESTAMP)
CAST(s AS TIMESTAMP WITH TIME ZONE) | from_unixtime(b) | CAST(b AS INTEGER)
CAST(round(d) AS BIGINT) | CAST(p AS DECIMAL(4, 1)) | CASE WHEN i <> 0 THEN i / j END
CASE WHEN j >= 0 THEN i / j END | CASE WHEN j <> 1 THEN i / j END | j <> 0 OR i / j > 1
j = 0 AND i / j > 1 | if(j <> 0, 0, i / j) | coalesce(i / j, 0) | i / coalesce(nullif(j, 0), 0)
i / greatest(j, 0) | 1 / (i - j) | i / -1 | b / nullif(c, 0) | CASE WHEN c <> 0 THEN b / c END
if(c = 0, 0, b / c) | round(b, -1) | round(w) | v + 1 | w % v | v - v | s LIKE n ESCAPE '!'
ts + INTERVAL '20000' YEAR | from_unixtime(b) + INTERVAL '1' HOUR | CAST(v AS DECIMAL(38, 10))
"""


def listed(texts: str) -> list[str]:
    return [text.strip() for line in texts.strip().split("\n") for text in line.split("|")]


@pytest.mark.parametrize("text", listed(TOTAL))
def test_needs_no_guard(text: str) -> None:
    assert condition(text) == ""


@pytest.mark.parametrize("text", listed(FALLIBLE))
def test_is_guarded(text: str) -> None:
    assert condition(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 / k", "t.k = 0"),
        (
            "CAST(n AS DATE)",
            f"TRY_CAST(REGEXP_EXTRACT(TRIM(BOTH '{WHITE_SPACE}' FROM t.n),"
            r" '^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2})\z') AS DATE) IS NULL",
        ),
        ("b + c", "NOT t.b IS NULL AND NOT t.c IS NULL AND TRY(t.b + t.c) IS NULL"),
        ("i > 1 AND 1 / k > 1", "COALESCE((t.i > 1), TRUE) AND t.k = 0"),
        ("i > 1 OR 1 / k > 1", "NOT (COALESCE((t.i > 1), FALSE)) AND t.k = 0"),
        ("coalesce(i, 1 / k)", "t.i IS NULL AND t.k = 0"),
        ("d + 1 / k", "NOT t.d IS NULL AND t.k = 0"),
        ("1 / k + d", "t.k = 0"),
        ("if(i > 1, 1 / k, 0)", "COALESCE((t.i > 1), FALSE) AND t.k = 0"),
    ],
)
def test_condition(text: str, expected: str) -> None:
    assert condition(text) == expected


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("i / j", True),
        ("CAST(s AS INTEGER) + 1", True),
        ("CASE WHEN i > 1 THEN 1 / j END", True),
        ("1 / j IS NULL", False),
        ("i BETWEEN 1 AND 1 / j", False),
        ("concat(s, CAST(1 / j AS VARCHAR))", False),
        ("substr(CAST(1 / j AS VARCHAR), 1, 2)", True),
        ("max(1 / j)", True),
        ("max_by(1 / j, i)", False),
        ("array_agg(i ORDER BY 1 / j)", False),
    ],
)
def test_what_spark_may_leave_out_is_not_certain(text: str, certain: bool) -> None:
    assert is_certain(bound(text)) is certain


JUDGED = """
i % j | i + j | i * j | b + c | b * c | b - c | -i | abs(b) | i + 1 | (i + j) * k | i % j % k
i % (j * k) | 1 + i % j | CAST(b AS INTEGER) | CAST(b AS INTEGER) + 1
CASE WHEN j <> 0 THEN i % j END | if(j = 0, 0, i % j) | b % k + k
CASE WHEN i > 0 THEN b % j WHEN j = 0 THEN c % k ELSE i + 1 END | coalesce(i % j, 1 % k)
coalesce(1, i % j) | i % j > 1 | nullif(i % j, 1) | CAST(round(d) AS INTEGER)
CAST(round(d) AS BIGINT) | TRY_CAST(s AS INTEGER) + 1 | CAST(p AS DECIMAL(4, 1))
CASE i % j WHEN 0 THEN 1 ELSE 1 % k END | i % j BETWEEN 0 AND 3 | from_unixtime(c)
i % j IN (1, 2) | i + j + k | i + i + j + k + i + i | (b - c) * i + b - j
CAST(b + c AS INTEGER) + i | i % j + i % j + i | b + c - i + c
"""
INT, LONG = 2**31, 2**63
INTS = (*range(-3, 4), 1, 0, None, INT - 1, -INT, 65536)
LONGS = (*range(-3, 4), 0, None, LONG - 1, -LONG, 2**32, 2**31, -INT, 10**13)
DOUBLES = (0.0, -0.0, None, 1.5, 1e300, float("nan"), 9.3e18, 2147483647.4, -2147483648.6)
DECIMALS = ("0.00", "1.50", "-0.01", "99999999.99", "999.94", "999.95", None)
COLUMNS = "i INT, j INT, k INT, b BIGINT, c BIGINT, d DOUBLE, p DECIMAL(10, 2), s VARCHAR"


def rows() -> list[tuple[object, ...]]:
    rnd = random.Random(11)
    one = lambda values: rnd.choice(values)  # noqa: E731
    # DuckDB does not take the least integer modulo -1, which is 0
    ints = [number for number in INTS if number not in (None, -1)]
    texts = ("1", "x", " 2147483647", "1.5", None)
    return [
        (*(one(INTS), one([*ints, None]), one(ints)), *(one(LONGS), one(LONGS), one(DOUBLES)),
         *(one(DECIMALS), one(texts)))
        for _ in range(80)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def duck() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(f"CREATE TABLE rows (id INT, {COLUMNS})")
    numbered = [(number, *row) for number, row in enumerate(rows())]
    connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", numbered)
    return connection


@pytest.mark.parametrize("text", listed(JUDGED))
def test_fails_where_duckdb_raises_and_nowhere_else(
    duck: duckdb.DuckDBPyConnection, text: str
) -> None:
    node = bound(text)
    plain = portable(node, "duckdb").sql("duckdb")
    failing = condition(text, "duckdb") or "false"
    value = portable(safe(node), "duckdb").sql("duckdb")
    told = duck.sql(f"SELECT id, ({failing}) FROM rows AS t ORDER BY id").fetchall()
    duck.sql(f"SELECT {value} FROM rows AS t").to_arrow_table()
    wrong = []
    for number, fails_there in told:
        # a table of its own: DuckDB computes constants, and whole vectors, ahead of conditions
        duck.execute(f"CREATE OR REPLACE TABLE one AS FROM rows WHERE id = {number}")
        try:
            duck.sql(f"SELECT {plain} FROM one AS t").to_arrow_table()
            raised = False
        except duckdb.Error:
            raised = True
        if fails_there is not raised:
            wrong.append((rows()[number], f"fails: {fails_there}", f"raised: {raised}"))
    assert wrong == []
