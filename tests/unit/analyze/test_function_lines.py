"""Lines of the table of functions: how they are called, how they fail, what dialects mean."""

from __future__ import annotations

import re

import duckdb
import pytest
from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.analyze.inference.catalogue import find, instead
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.project import bind
from headwater.analyze.query_parts import is_aggregate
from headwater.analyze.typing import functions as f
from headwater.analyze.typing.functions.elsewhere import ELSEWHERE
from headwater.dialect import parse
from headwater.errors import HeadwaterError
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project

TABLE = """
CREATE TABLE t (g INTEGER, i INTEGER, d DOUBLE, s VARCHAR, ts TIMESTAMP, t2 TIMESTAMP, dt DATE)
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
"""
TABLES = parse(TABLE)
ROWS = """
(1, 1, 2.0, '00ff', '2024-01-31 10:00:00', '2024-02-29 09:00:00', '2024-01-31'),
(1, 2, 4.5, 'zz', '2024-02-29 23:59:59', '2024-03-01 00:00:00', '2024-02-29'),
(2, 5, -1.0, '', '2023-12-31 23:00:00', '2024-01-01 01:00:00', '2023-12-31'),
(2, NULL, NULL, NULL, NULL, '2024-01-01 01:00:00', NULL),
(2, 7, 0.5, '6162', '2024-05-05 12:00:00', '2024-04-05 13:00:00', '2024-05-05')
"""
LINES = [
    each for node, each in f.FUNCTIONS.items() if each.texts is not None and node not in f.INTERNAL
]


@pytest.fixture(scope="module")
def duck() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(
        "CREATE TABLE t (g INT, i INT, d DOUBLE, s VARCHAR, ts TIMESTAMP, t2 TIMESTAMP, dt DATE)"
    )
    connection.execute(f"INSERT INTO t VALUES {ROWS}")
    return connection


def bound(select: str, dialect: str = "trino", more: str = "") -> Catalog:
    view = f"CREATE STREAMING VIEW v {more} AS {select}"
    return bind({"t": TABLES, "v": parse(view, file="v", default_dialect=dialect)})


def in_duckdb(select: str, dialect: str = "trino", more: str = "") -> str:
    catalog = bound(select, dialect, more)
    return at_rest(plan_project(catalog)["v"], catalog, "duckdb", final=False).text()


@pytest.mark.parametrize("function", LINES, ids=lambda each: each.name)
def test_a_line_without_a_node_of_sqlglot_is_a_call_by_name(function: f.Function) -> None:
    node = next(each for each, entry in f.FUNCTIONS.items() if entry is function)
    needed = [word for word in function.params if not word.endswith("?")]
    text = f"{function.name}({', '.join('abcdefgh'[: len(needed)])})"
    (view,) = parse(f"CREATE STREAMING VIEW v AS SELECT {text} AS x FROM t")
    value = view.args["expression"].selects[0].unalias()
    if node.__module__.startswith("sqlglot"):
        assert type(value) is node
    else:
        assert isinstance(value, exp.Anonymous)
        assert f.by_name(value.name) == (node, function)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("every(i > 0)", "bool_and(i > 0)"),
        ("some(i > 0)", "bool_or(i > 0)"),
        ("arg_min(s, i)", "min_by(s, i)"),
        ("argmax(s, i)", "max_by(s, i)"),
        ("bit_xor(i)", "bitwise_xor_agg(i)"),
        ("string_agg(s, ',' ORDER BY i)", "listagg(s, ',') WITHIN GROUP (ORDER BY i)"),
        ("listagg(s, ',')", "listagg(s, ',') WITHIN GROUP (ORDER BY s ASC)"),
        *(("min(DISTINCT i)", "min(i)"), ("arg_max(DISTINCT s, i)", "max_by(s, i)")),
        *(("every(DISTINCT i > 0)", "every(i > 0)"), ("max_by(DISTINCT s, i)", "max_by(s, i)")),
        ("yow(max(dt))", "year_of_week(max(dt))"),
        ("extract(DOW FROM max(dt))", "day_of_week(max(dt))"),
        ("floor(max(ts) TO DAY)", "date_trunc('day', max(ts))"),
        ("format_datetime(max(ts), 'yyyy-MM')", "date_format(max(ts), '%Y-%m')"),
        ("TIMESTAMPDIFF(HOUR, min(ts), max(ts))", "date_diff('hour', min(ts), max(ts))"),
    ],
)
def test_another_name_means_the_same(written: str, meant: str) -> None:
    left, right = (
        bound(f"SELECT {text} AS x FROM t GROUP BY g").views["v"].query.sql("trino")
        for text in (written, meant)
    )
    assert left == right


@pytest.mark.parametrize(
    "call",
    [
        *("from_hex(s)", "chr(i - 3)", "hamming_distance(s, '00ff')", "url_decode('%' || s)"),
        *("width_bucket(d, i, 2, 3)", "sequence(1, i, 0)", "slice(split(s, 'z'), 1, i - 3)"),
        "date_add('year', i * 3000, ts)",
    ],
)
def test_what_fails_in_trino_fails_or_is_left_out(
    call: str, duck: duckdb.DuckDBPyConnection
) -> None:
    select = f"SELECT i, cardinality(split(CAST(i AS VARCHAR), ',')) AS n, {call} AS x FROM t"
    rows = duck.execute(in_duckdb(select)).fetchall()
    assert 0 < len(rows) < 5
    assert any(row[0] is None for row in rows)  # NULL is no failure
    with pytest.raises(duckdb.Error, match="failed"):
        duck.execute(in_duckdb(select, more="ON ERROR FAIL")).fetchall()


@pytest.mark.parametrize("engine", ["spark", "duckdb"])
@pytest.mark.parametrize(
    "function", [each for each in LINES if each.kind == "aggregate"], ids=lambda each: each.name
)
def test_an_aggregate_is_one_in_the_sql_of_each_engine(function: f.Function, engine: str) -> None:
    call = f"{function.name}({', '.join('i' for _ in function.params)})"
    query = portable(bound(f"SELECT {call} AS x FROM t").views["v"].query, engine)
    assert all(map(is_aggregate, query.find_all(exp.Select)))


def test_composed_aggregates_take_filter_and_over(duck: duckdb.DuckDBPyConnection) -> None:
    calls = ("corr(d, i)", "geometric_mean(d)", "bitwise_or_agg(i)")
    for call in calls:
        where = " FILTER (WHERE i > 1)"
        some = f"SELECT g, {call}{where} AS x FROM t GROUP BY g"
        all_ = f"SELECT g, {call} AS x FROM t WHERE i > 1 GROUP BY g"
        over = f"SELECT DISTINCT g, {call}{where} OVER (PARTITION BY g) AS x FROM t"
        found = [
            sorted((row[0], str(row[1])) for row in duck.execute(in_duckdb(sql)).fetchall())
            for sql in (some, all_, over)
        ]
        assert found[0] == found[1] == found[2], call
        assert len(found[0]) == 2


@pytest.mark.parametrize(
    "call",
    [
        *("md5(s)", "sha256(s)", "datediff('month', ts, t2)", "date_diff('day', ts, t2)"),
        *("datediff('year', ts, t2)", "date_diff('week', ts, t2)", "date_diff('hour', ts, t2)"),
        *("strftime(ts, '%Y-%m')", "ln(i)"),
        "strptime('2024-01-0' || CAST(i AS VARCHAR), '%Y-%m-%d')",
    ],
)
def test_the_dialect_of_duckdb_means_what_duckdb_means(
    call: str, duck: duckdb.DuckDBPyConnection
) -> None:
    select = f"SELECT i, {call} AS x FROM t"
    own, ours = (
        duck.execute(f"{sql} ORDER BY 1").fetchall()
        for sql in (select, in_duckdb(select, "duckdb"))
    )
    assert own == ours


@pytest.mark.parametrize(
    ("dialect", "written", "meant"),
    [
        *(
            ("postgres", "left(s, 2)", "substr(s, 1, 2)"),
            ("spark", "left(s, 2)", "substr(s, 1, 2)"),
        ),
        ("postgres", "right(s, 2)", "CASE WHEN length(s) < 2 THEN s ELSE substr(s, -2) END"),
        ("trino", "s ILIKE 'A%'", "lower(s) LIKE 'a%'"),
        ("postgres", "s NOT ILIKE 'A%'", "NOT lower(s) LIKE 'a%'"),
        *(("postgres", "log(d)", "log10(d)"), ("duckdb", "log(d)", "log10(d)")),
        ("spark", "ln(d)", "CASE WHEN d > 0 THEN ln(d) END"),
        ("spark", "log10(d)", "CASE WHEN d > 0 THEN log10(d) END"),
        ("spark", "dayofweek(dt)", "(day_of_week(CAST(dt AS DATE)) % 7 + 1)"),
        ("spark", "date_format(ts, 'yyyy-MM-dd')", "date_format(ts, '%Y-%m-%d')"),
        ("spark", "datediff(dt, dt)", "date_diff('day', CAST(dt AS DATE), CAST(dt AS DATE))"),
        ("spark", "date_add(dt, 3)", "CAST(dt AS DATE) + INTERVAL '3' DAY"),
        ("spark", "array_join(split(s, 'x'), ',')", "array_join(regexp_split(s, 'x'), ',')"),
        ("spark", "array_distinct(split(s, 'x'))", "array_distinct(regexp_split(s, 'x'))"),
        ("spark", "timestampdiff(HOUR, ts, t2)", "date_diff('hour', ts, t2)"),
        ("postgres", "md5(s)", "lower(to_hex(md5(to_utf8(s))))"),
        ("spark", "sha2(s, 256)", "lower(to_hex(sha256(to_utf8(s))))"),
        ("postgres", "string_agg(s, ',')", "listagg(s, ',')"),
        ("spark", "split(s, 'x')[0]", "regexp_split(s, 'x')[1]"),
        ("duckdb", "string_split(s, 'x')[1]", "element_at(split(s, 'x'), 1)"),
        (
            "spark",
            "transform(split(s, 'x'), y -> length(y))",
            "transform(regexp_split(s, 'x'), y -> length(y))",
        ),
        (
            "duckdb",
            "list_filter(string_split(s, 'x'), y -> y > 'a')",
            "filter(split(s, 'x'), y -> y > 'a')",
        ),
    ],
)
def test_a_word_of_a_dialect_is_read_as_it_means(dialect: str, written: str, meant: str) -> None:
    left, right = (
        bound(f"SELECT {text} AS x FROM t", name).views["v"].query.sql("trino")
        for text, name in ((written, dialect), (meant, "trino"))
    )
    assert left == right


@pytest.mark.parametrize("call", ["arg_min({}, {})", "arg_max({}, {})", "min_by({}, {})"])
def test_arg_min_of_duckdb_passes_over_null(call: str, duck: duckdb.DuckDBPyConnection) -> None:
    select = f"SELECT g, {call.format('nullif(i, 1)', 'ts')} AS x FROM t GROUP BY g"
    own = sorted(duck.execute(select).fetchall())
    assert sorted(duck.execute(in_duckdb(select, "duckdb")).fetchall()) == own


@pytest.mark.parametrize(("name", "call"), ELSEWHERE.items())
def test_what_other_systems_name_otherwise_is_in_the_language(name: str, call: str) -> None:
    names = {*f.names(), "cast", "unnest", "case", "like"}
    called = {each.lower() for each in re.findall(r"(\w+)\(", call)}
    assert called <= names or not called
    assert name == name.lower()
    assert f.by_name(name) is None


def test_functions_are_found_by_name_alias_and_word() -> None:
    assert [each.name for each in find("every")] == ["bool_and"]
    assert {each.name for each in find("base64")} >= {"to_base64", "from_base64url"}
    assert "levenshtein_distance" in {each.name for each in find("insert")}
    assert len(find("")) > 150
    assert instead("to_char").startswith("date_format")


@pytest.mark.parametrize("name", sorted({each.name for each in f.FUNCTIONS.values()}))
def test_a_call_with_nulls_is_typed_or_refused(name: str) -> None:
    for count in range(1, 5):
        for others in ("NULL", "i", "s"):
            call = f"{name}({', '.join(['NULL', *[others] * (count - 1)])})"
            try:
                bound(f"SELECT coalesce({call}, NULL) AS x, {call} AS y FROM t")
            except HeadwaterError as error:
                assert error.condition != "INTERNAL_ERROR"
