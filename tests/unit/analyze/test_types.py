"""Types: canonical forms, names in each system, common types, types of expressions, nullability."""

import pytest
from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.types import canonical, common_type
from tests.unit.analyze.small_project import view


def kind(text: str) -> exp.DataType:
    return canonical(exp.DataType.build(text, dialect="trino"))


@pytest.mark.parametrize(
    ("sql", "spark", "iceberg", "duckdb", "trino"),
    [
        ("INTEGER", "INT", "int", "INTEGER", "INTEGER"),
        ("BIGINT", "BIGINT", "long", "BIGINT", "BIGINT"),
        ("REAL", "FLOAT", "float", "FLOAT", "REAL"),
        ("VARCHAR", "STRING", "string", "VARCHAR", "VARCHAR"),
        ("VARBINARY", "BINARY", "binary", "BLOB", "VARBINARY"),
        ("TIMESTAMP", "TIMESTAMP_NTZ", "timestamp", "TIMESTAMP", "TIMESTAMP(6)"),
        (
            "TIMESTAMP WITH TIME ZONE",
            "TIMESTAMP",
            "timestamptz",
            "TIMESTAMPTZ",
            "TIMESTAMP(6) WITH TIME ZONE",
        ),
        (
            "DECIMAL(12, 2)",
            "DECIMAL(12, 2)",
            "decimal(12, 2)",
            "DECIMAL(12, 2)",
            "DECIMAL(12, 2)",
        ),
        ("ARRAY(BIGINT)", "ARRAY<BIGINT>", "list<long>", "BIGINT[]", "ARRAY(BIGINT)"),
        (
            "MAP(VARCHAR, DOUBLE)",
            "MAP<STRING, DOUBLE>",
            "map<string, double>",
            "MAP(VARCHAR, DOUBLE)",
            "MAP(VARCHAR, DOUBLE)",
        ),
        (
            "ROW(a INTEGER, b ARRAY(VARCHAR))",
            "STRUCT<a: INT, b: ARRAY<STRING>>",
            "struct<a: int, b: list<string>>",
            "STRUCT(a INTEGER, b VARCHAR[])",
            "ROW(a INTEGER, b ARRAY(VARCHAR))",
        ),
    ],
)
def test_names_in_each_system(sql: str, spark: str, iceberg: str, duckdb: str, trino: str) -> None:
    one = kind(sql)
    assert t.sql_type(one) == sql
    assert t.spark_type(one) == spark
    assert t.iceberg_type(one) == iceberg
    assert t.duckdb_type(one) == duckdb
    assert t.trino_type(one) == trino


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("TEXT", "VARCHAR"),
        ("STRING", "VARCHAR"),
        ("TIMESTAMP(6)", "TIMESTAMP"),
        ("DECIMAL(5)", "DECIMAL(5, 0)"),
        ("DECIMAL", "DECIMAL(38, 0)"),
        ("ROW(A INTEGER)", "ROW(a INTEGER)"),
    ],
)
def test_spellings(written: str, kept: str) -> None:
    assert t.sql_type(kind(written)) == kept


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("SMALLINT", "INTEGER"),
        ("VARCHAR(3)", "VARCHAR"),
        ("CHAR(3)", "VARCHAR"),
        ("JSON", "VARCHAR"),
        ("ARRAY(JSON)", "ARRAY(VARCHAR)"),
        ("ROW(a JSON)", "ROW(a VARCHAR)"),
    ],
)
def test_columns_hold_what_the_records_say(written: str, kept: str) -> None:
    assert t.sql_type(t.declared(exp.DataType.build(written, dialect="trino"))) == kept


@pytest.mark.parametrize("text", ["TINYINT", "CHAR(3)", "JSON", "ARRAY(JSON)", "DECIMAL(50, 2)"])
def test_refused_types_say_what_to_write(text: str) -> None:
    with pytest.raises(t.TypeRefused) as refused:
        kind(text)
    assert refused.value.hint.startswith("write ")


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        ("INTEGER", "BIGINT", "BIGINT"),
        ("BIGINT", "DOUBLE", "DOUBLE"),
        ("BIGINT", "DECIMAL(10, 2)", "DECIMAL(21, 2)"),
        ("DECIMAL(10, 2)", "DECIMAL(12, 1)", "DECIMAL(13, 2)"),
        ("DECIMAL(10, 2)", "REAL", "REAL"),
        ("DATE", "TIMESTAMP", "TIMESTAMP"),
        ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITH TIME ZONE"),
        ("ARRAY(INTEGER)", "ARRAY(BIGINT)", "ARRAY(BIGINT)"),
        ("VARCHAR", "INTEGER", None),
        ("BOOLEAN", "INTEGER", None),
        ("DATE", "VARCHAR", None),
        ("ARRAY(INTEGER)", "ARRAY(VARCHAR)", None),
    ],
)
def test_common_types(left: str, right: str, both: str | None) -> None:
    for kinds in ([kind(left), kind(right)], [kind(right), kind(left)]):
        merged = common_type(kinds)
        assert (merged and t.sql_type(merged)) == both
    assert common_type([t.NULL, kind(left)]) == kind(left)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("distance", "BIGINT?"),
        ("flight", "VARCHAR"),
        ("distance + 1", "BIGINT?"),
        ("1 + 1", "INTEGER"),
        ("3000000000", "BIGINT"),
        ("1.50", "DECIMAL(3, 2)"),
        ("1e0", "DOUBLE"),
        ("price + 1", "DECIMAL(13, 2)?"),
        ("price * 1.5", "DECIMAL(12, 3)?"),
        ("price * dep_delay", "DOUBLE?"),
        ("distance / 2", "BIGINT?"),
        ("distance / 2e0", "DOUBLE?"),
        ("- price", "DECIMAL(10, 2)?"),
        ("flight || 'x'", "VARCHAR"),
        ("length(flight)", "BIGINT"),
        ("ts + INTERVAL '1' HOUR", "TIMESTAMP WITH TIME ZONE"),
        ("date_trunc('day', ts)", "TIMESTAMP WITH TIME ZONE"),
        ("date(ts)", "DATE"),
        ("hour(ts)", "BIGINT"),
        ("extract(year FROM ts)", "BIGINT"),
        ("date_diff('minute', ts, ts)", "BIGINT"),
        ("coalesce(dep_delay, 0)", "DOUBLE"),
        ("coalesce(dep_delay, distance)", "DOUBLE?"),
        ("nullif(flight, 'x')", "VARCHAR?"),
        ("CASE WHEN distance > 1 THEN 1 ELSE 2.5 END", "DECIMAL(11, 1)"),
        ("CASE WHEN distance > 1 THEN 'a' END", "VARCHAR?"),
        ("if(distance > 1, 'a', NULL)", "VARCHAR?"),
        ("CASE flight WHEN 'a' THEN 1 ELSE 0 END", "INTEGER"),
        ("distance IS NULL", "BOOLEAN"),
        ("distance > 1", "BOOLEAN?"),
        ("distance IS DISTINCT FROM 1", "BOOLEAN"),
        ("flight LIKE 'A%'", "BOOLEAN"),
        ("flight IN ('a', 'b')", "BOOLEAN"),
        ("NOT flight = 'x'", "BOOLEAN"),
        ("distance BETWEEN 1 AND 2", "BOOLEAN?"),
        ("CAST(flight AS BIGINT)", "BIGINT"),
        ("TRY_CAST(flight AS BIGINT)", "BIGINT?"),
        ("CAST(NULL AS DATE)", "DATE?"),
        ("TIMESTAMP '2013-01-01 00:00:00'", "TIMESTAMP"),
        ("TIMESTAMP '2013-01-01 00:00:00.123456'", "TIMESTAMP"),
        ("TIMESTAMP '2013-01-01 00:00:00 UTC'", "TIMESTAMP WITH TIME ZONE"),
        ("DATE '2013-01-01'", "DATE"),
        ("split(flight, ',')", "ARRAY(VARCHAR)"),
        ("cardinality(tags)", "BIGINT?"),
        ("round(price, 1)", "DECIMAL(11, 2)?"),
        ("floor(price)", "DECIMAL(9, 0)?"),
        ("greatest(distance, dep_delay)", "DOUBLE?"),
        ("json_extract_scalar(flight, '$.a.b')", "VARCHAR?"),
        ("from_unixtime(distance)", "TIMESTAMP WITH TIME ZONE?"),
        ("plane.seats", "INTEGER?"),
    ],
)
def test_type_and_nullability(expression: str, expected: str) -> None:
    (field,) = view(f"SELECT {expression} AS x FROM departures").fields
    assert t.sql_type(field.type) + ("?" if field.nullable else "") == expected


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ("count(*)", "BIGINT"),
        ("count(DISTINCT dest)", "BIGINT"),
        ("sum(distance)", "BIGINT?"),
        ("sum(price)", "DECIMAL(38, 2)?"),
        ("sum(dep_delay)", "DOUBLE?"),
        ("avg(distance)", "DOUBLE?"),
        ("min(ts)", "TIMESTAMP WITH TIME ZONE"),
        ("max(dest)", "VARCHAR?"),
        ("min(flight) FILTER (WHERE distance > 1)", "VARCHAR?"),
        ("count_if(distance > 1)", "BIGINT"),
        ("bool_and(distance > 1)", "BOOLEAN?"),
        ("stddev(dep_delay)", "DOUBLE?"),
        ("approx_distinct(dest)", "BIGINT"),
        ("approx_percentile(dep_delay, 0.95)", "DOUBLE?"),
        ("sum(distance) / count(*)", "BIGINT?"),
        ("coalesce(sum(distance), 0)", "BIGINT"),
    ],
)
def test_type_and_nullability_of_aggregates(aggregate: str, expected: str) -> None:
    query = f"SELECT origin, {aggregate} AS x FROM departures GROUP BY origin"
    field = view(query).fields[1]
    assert t.sql_type(field.type) + ("?" if field.nullable else "") == expected


def test_without_group_by_an_aggregate_can_be_null() -> None:
    assert [
        f.nullable for f in view("SELECT min(ts) AS a, count(*) AS n FROM departures").fields
    ] == [
        True,
        False,
    ]


def test_the_right_side_of_a_left_join_can_be_null() -> None:
    v = view(
        "SELECT d.flight, l.flight AS landed FROM departures d LEFT JOIN landings l"
        " ON l.flight = d.flight AND l.ts BETWEEN d.ts AND d.ts + INTERVAL '1' DAY"
    )
    assert [field.nullable for field in v.fields] == [False, True]
