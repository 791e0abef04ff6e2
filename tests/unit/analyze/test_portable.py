"""Corrections of sqlglot's translation, as text; that the results agree is tested with Spark."""

import pytest

from headwater.analyze.portable.rewrites import FIXES, portable
from tests.unit.analyze.small_project import view


@pytest.mark.parametrize(
    ("expression", "dialect", "expected"),
    [
        ("distance / 2", "spark", "(d.distance DIV 2)"),
        ("distance / 2", "duckdb", "(d.distance // 2)"),
        ("distance / 2", "trino", "d.distance / 2"),
        ("round(dep_delay, 2)", "spark",
         "CASE WHEN ABS(d.dep_delay) < 1.797693e+306"
         " THEN (ROUND((d.dep_delay) * 1e2) / 1e2) ELSE d.dep_delay END"),
        ("round(dep_delay, 2)", "trino", "ROUND(d.dep_delay, 2)"),
        ("round(price, 1)", "spark", "CAST(ROUND(d.price, 1) AS DECIMAL(11, 2))"),
        ("floor(dep_delay)", "spark",
         "CASE WHEN ABS(d.dep_delay) < 4.503599627370496e15"
         " THEN CAST(FLOOR(d.dep_delay) AS DOUBLE) ELSE d.dep_delay END"),
        ("floor(price)", "spark", "FLOOR(d.price)"),
        ("greatest(price, 1, distance)", "spark",
         "CASE WHEN NOT d.price IS NULL AND NOT d.distance IS NULL"
         " THEN GREATEST(d.price, 1, d.distance) END"),
        ("regexp_like(origin, 'a[$]$')", "spark", "REGEXP_LIKE(d.origin, 'a\\\\$(?=\\\\n?\\\\z)')"),
        ("regexp_like(origin, 'a$')", "duckdb", "REGEXP_MATCHES(d.origin, 'a\\n?\\z')"),
        ("origin LIKE 'a\\_%'", "spark", "d.origin LIKE 'a\\\\\\\\_%' ESCAPE '\\\\'"),
        ("trim(LEADING 'x' FROM origin)", "duckdb", "LTRIM(d.origin, 'x')"),
        ("day_of_week(ts)", "spark", "(WEEKDAY(d.ts) + CAST(1 AS BIGINT))"),
        ("date_diff('minute', ts, ts)", "duckdb", "DATE_SUB('minute', d.ts, d.ts)"),
        ("count_if(price > 1)", "duckdb", "COUNT(CASE WHEN d.price > 1 THEN 1 END)"),
        ("trim(origin)", "trino", "TRIM(d.origin)"),
        ("substr(origin, -2)", "spark",
         "CASE WHEN LENGTH(d.origin) < 2 THEN '' ELSE SUBSTRING(d.origin, -2) END"),
        ("split_part(origin, '.', 2)", "spark", "GET(SPLIT(d.origin, '\\\\.'), 1)"),
        ("CAST(origin AS BOOLEAN)", "trino",
         "CAST(REGEXP_EXTRACT(d.origin, '^((?i:t|true|1|f|false|0))\\z') AS BOOLEAN)"),
        ("CAST(origin AS BOOLEAN)", "duckdb",
         "CAST(REGEXP_EXTRACT(d.origin, '^((?i:t|true|1|f|false|0))\\z', 1) AS BOOLEAN)"),
        ("CAST(origin AS BOOLEAN)", "spark",
         "CAST(CASE WHEN NOT REGEXP_LIKE(d.origin, '^((?i:t|true|1|f|false|0))\\\\z')"
         " THEN '?' || d.origin ELSE d.origin END AS BOOLEAN)"),
        ("if(distance > 1, 'a')", "spark", "IF(d.distance > 1, 'a', NULL)"),
        ("regexp_replace(origin, '(J)', '<$1>')", "duckdb",
         "REGEXP_REPLACE(d.origin, '(J)', '<\\1>', 'g')"),
        ("any_value(origin)", "spark", "MIN(d.origin)"),
        ("min_by(origin, ts)", "spark",
         "MIN_BY(d.origin, CASE WHEN NOT (d.ts) IS NULL"
         " THEN STRUCT(d.ts AS y, (d.origin) IS NULL AS n, d.origin AS x) END)"),
        ("max_by(origin, ts)", "duckdb",
         "ARG_MAX_NULL(d.origin, CASE WHEN NOT (d.ts) IS NULL"
         " THEN ROW(d.ts, NOT (d.origin) IS NULL, d.origin) END)"),
        ("max_by(ts, origin)", "trino",
         "MAX_BY(d.ts, CASE WHEN NOT (d.origin) IS NULL THEN ROW(d.origin, NOT (d.ts) IS NULL,"
         " COALESCE(d.ts, CAST('1970-01-01 UTC' AS TIMESTAMP WITH TIME ZONE))) END)"),
        ("array_agg(origin ORDER BY ts DESC)", "trino",
         "ARRAY_AGG(d.origin ORDER BY d.ts DESC, d.origin ASC)"),
        ("array_agg(DISTINCT origin ORDER BY origin DESC)", "duckdb",
         "ARRAY_AGG(DISTINCT d.origin ORDER BY d.origin DESC)"),
        ("array_agg(origin) FILTER (WHERE price > 1)", "spark",
         "NULLIF(ARRAY_SORT(COLLECT_LIST(CASE WHEN d.price > 1 THEN STRUCT(d.origin AS k0) END),"
         " (l, r) -> CASE WHEN l.k0 IS NULL AND NOT r.k0 IS NULL THEN 1"
         " WHEN NOT l.k0 IS NULL AND r.k0 IS NULL THEN -1"
         " WHEN l.k0 < r.k0 THEN -1 WHEN l.k0 > r.k0 THEN 1 ELSE 0 END).k0, ARRAY())"),
        ("listagg(origin, '-') WITHIN GROUP (ORDER BY origin DESC NULLS FIRST)", "spark",
         "ARRAY_JOIN(NULLIF(ARRAY_SORT(COLLECT_LIST(CASE WHEN NOT (d.origin) IS NULL"
         " THEN STRUCT(d.origin AS k0) END), (l, r) -> CASE"
         " WHEN l.k0 IS NULL AND NOT r.k0 IS NULL THEN -1"
         " WHEN NOT l.k0 IS NULL AND r.k0 IS NULL THEN 1"
         " WHEN l.k0 < r.k0 THEN 1 WHEN l.k0 > r.k0 THEN -1 ELSE 0 END).k0, ARRAY()), '-')"),
        ("listagg(origin, '-') WITHIN GROUP (ORDER BY ts)", "trino",
         "LISTAGG(d.origin, '-') WITHIN GROUP (ORDER BY d.ts, d.origin ASC)"),
        ("count(*) FILTER (WHERE price > 1) OVER (PARTITION BY origin)", "spark",
         "COUNT(CASE WHEN d.price > 1 THEN 1 END) OVER (PARTITION BY d.origin)"),
        ("max_by(origin, ts) FILTER (WHERE price > 1) OVER ()", "spark",
         "MAX_BY(d.origin, CASE WHEN d.price > 1 THEN CASE WHEN NOT (d.ts) IS NULL"
         " THEN STRUCT(d.ts AS y, NOT (d.origin) IS NULL AS n, d.origin AS x) END END) OVER ()"),
        ("price * price * 2", "duckdb",
         "CAST(CAST(d.price AS DECIMAL(38, 2)) * d.price AS DECIMAL(38, 4)) * 2"),
    ],
)  # fmt: skip
def test_corrections(expression: str, dialect: str, expected: str) -> None:
    query = portable(view(f"SELECT {expression} AS x FROM departures d").query, dialect)
    assert query.selects[0].this.sql(dialect) == expected


@pytest.mark.parametrize("dialect", FIXES)
def test_the_bound_query_is_not_changed_and_corrections_do_not_pile_up(dialect: str) -> None:
    query = view(
        "SELECT origin, sum(distance / 2) AS x, round(avg(dep_delay), 1) AS y FROM departures"
        " GROUP BY origin HAVING round(avg(dep_delay), 1) > 2"
    ).query
    before = query.sql()
    once = portable(query, dialect)
    assert query.sql() == before
    assert portable(once, dialect).sql(dialect) == once.sql(dialect)
