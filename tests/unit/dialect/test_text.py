"""What a file may look like before it is SQL, and how much of it."""

import subprocess
import sys

import pytest

from headwater.dialect import parse, to_sql
from headwater.errors import ErrorGroup, SqlError
from tests.support.steps import lines_run

VIEW = "CREATE STREAMING VIEW v AS SELECT a FROM t EMIT CHANGES"


def refused(text: str, **options: str) -> SqlError:
    with pytest.raises(SqlError) as caught:
        parse(text, file="v.sql", **options)
    return caught.value


@pytest.mark.parametrize(
    "text", ["", " \n\t", "-- nothing\n", "/* a\n b */", ";;\n ; -- x\n;", "\ufeff"]
)
def test_a_file_without_statements_is_empty(text):
    assert parse(text) == []


def test_byte_order_mark_and_windows_line_ends_change_nothing():
    text = "CREATE SOURCE s (\n  a BIGINT\n);\n" + VIEW
    assert parse("\ufeff" + text.replace("\n", "\r\n")) == parse(text)


def test_columns_are_counted_without_the_byte_order_mark():
    error = refused("\ufeffSELECT a\r\nFROM t WHERE")
    assert (error.span.line, error.span.column, error.span.text) == (2, 13, "FROM t WHERE")


def test_a_nul_character_is_refused_where_it_stands():
    error = refused("SELECT a,\n  'x\0y'")
    assert error.condition == "SYNTAX_ERROR"
    assert str(error.span) == "v.sql:2:5"


def test_a_file_of_five_megabytes_is_refused_at_once():
    text, conditions = "SELECT 1;\n" * 500_000, list[str]()
    lines = lines_run(lambda: conditions.append(refused(text).condition))
    assert conditions == ["TOO_LARGE"]
    assert lines < len(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 3000 + "1" + ")" * 3000,
        "SELECT " + "f(" * 3000 + "1" + ")" * 3000,
        "SELECT " + "CASE WHEN a THEN " * 3000 + "1" + " END" * 3000,
        "SELECT * FROM " + "(SELECT * FROM " * 199 + "t" + ")" * 199,
        "SELECT " + "[" * 3000 + "]" * 3000,
        "SELECT a" + "[1]" * 3000,
        "SELECT " + "NOT " * 3000 + "a",
        "SELECT " + "- " * 3000 + "1",
        "SELECT " + "x -> " * 3000 + "1",
        "SELECT " + ".".join(["a"] * 3000),
        "SELECT a" + " AT TIME ZONE 'UTC'" * 3000,
        "SELECT * FROM t" + " JOIN t" * 3000 + " ON TRUE" * 3000,
        " UNION ALL ".join(["SELECT a FROM t"] * 5000),
        " EXCEPT ".join(["SELECT a FROM t"] * 5000),
        "SELECT " + " AND ".join(["a"] * 5000),
        "SELECT " + " || ".join(["a"] * 5000),
    ],
    ids=lambda text: text[:20],
)
def test_nesting_and_chains_without_end_are_too_deep(text):
    conditions: list[str] = []
    lines = lines_run(lambda: conditions.append(refused(text).condition))
    assert conditions == ["TOO_DEEP"]
    assert lines < 300 * len(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 100 + "1" + ")" * 100,
        "SELECT * FROM " + "(SELECT * FROM " * 40 + "t" + ")" * 40,
        " UNION ALL ".join(["SELECT a FROM t"] * 400),
        "SELECT " + " AND ".join(["a"] * 400),
        "SELECT " + ", ".join(["a"] * 5000),
    ],
    ids=lambda text: text[:20],
)
def test_large_queries_within_the_limits_parse_and_print(text):
    (query,) = parse(text)
    assert parse(to_sql(query)) == [query]


def test_all_errors_of_a_file_are_found():
    with pytest.raises(ErrorGroup) as caught:
        parse(
            f"SELEC 1;\n{VIEW};\nDROP x;\nSELECT a FROM t;\nCREATE VIEW v AS SELECT 1", file="v.sql"
        )
    assert [str(error.span) for error in caught.value.errors] == [
        "v.sql:1:1",
        "v.sql:3:6",
        "v.sql:5:8",
    ]


def test_an_unfinished_quote_ends_the_search_but_not_what_came_before():
    with pytest.raises(ErrorGroup) as caught:
        parse("SELEC 1;\nSELECT 'a;\nSELEC 2", file="v.sql")
    assert [str(error.span) for error in caught.value.errors] == ["v.sql:1:1", "v.sql:2:8"]


def test_semicolons_in_strings_comments_and_names_do_not_split():
    text = """SELECT 'a;b', "c;d" -- e;f\n FROM t /* g;h */; SELECT 2"""
    assert len(parse(text)) == 2


def test_statements_know_their_place_in_a_file_of_many():
    text = f"-- first\n{VIEW};\n\n  DROP SOURCE  s;"
    with pytest.raises(SqlError) as caught:
        parse(text + "SELECT a FROM t WHERE", file="v.sql")
    assert str(caught.value.span) == "v.sql:4:39"


# dialects of the body


def test_the_first_line_names_the_dialect_of_every_query():
    text = '-- a file\n-- dialect: spark\nCREATE STREAMING VIEW v AS SELECT `a b`, "c" FROM t'
    (view,) = parse(text)
    assert to_sql(view, pretty=False).endswith("SELECT \"a b\", 'c' FROM t")


def test_an_option_names_the_dialect_of_one_query_and_is_not_kept():
    text = "CREATE STREAMING VIEW v WITH (format = 'delta', dialect = 'spark') AS SELECT `a` FROM t"
    spark, trino = parse(f"{text}; {VIEW}")
    assert [option.this for option in spark.args["options"]] == ["format"]
    assert trino == parse(VIEW)[0]
    assert parse(to_sql(spark)) == [spark]


@pytest.mark.parametrize(
    "dialect", ["trino", "spark", "duckdb", "postgres", "snowflake", "bigquery"]
)
def test_every_dialect_has_the_whole_grammar(dialect):
    text = (
        "CREATE STREAMING VIEW v (PRIMARY KEY (a)) FRESHNESS INTERVAL '5' SECOND LATE ROWS DROP AS "
        "SELECT a, COUNT(*) AS n FROM TUMBLE(t, ts, INTERVAL '1' MINUTE) GROUP BY a EMIT CHANGES"
    )
    assert parse(text, default_dialect=dialect) == parse(text)


def test_backslashes_in_spark_strings_do_not_end_them():
    (query,) = parse(r"SELECT 'it\'s; (' FROM t", default_dialect="spark")
    assert to_sql(query, pretty=False) == "SELECT 'it''s; (' FROM t"


def test_columns_of_sources_have_trino_types_in_every_dialect():
    source = "CREATE SOURCE s (ts TIMESTAMP)"
    assert parse(source, default_dialect="spark") == parse(source)


def test_an_unknown_dialect_is_refused_with_the_nearest():
    error = refused("-- dialect: sparc\nSELECT 1")
    assert (error.condition, error.hint, str(error.span)) == (
        "UNKNOWN_DIALECT",
        "did you mean spark?",
        "v.sql:1:13",
    )
    assert refused("SELECT 1", default_dialect="oracle").condition == "UNKNOWN_DIALECT"


# names


@pytest.mark.parametrize(
    "name", ["a.b", '"../x"', '"a b"', "_a", "a" * 64, "größe", '"con/"', "v__late", "V__Changes"]
)
def test_bad_names_are_refused(name):
    for create in ("STREAMING VIEW {} AS SELECT 1", "SOURCE {} (a BIGINT)", "SINK {} FROM v"):
        assert refused(f"CREATE {create.format(name)}").condition == "BAD_NAME"


def test_parsing_starts_no_jvm():
    code = (
        f"import sys\nfrom headwater.dialect import parse\nparse({VIEW!r})\n"
        "assert 'pyspark' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_parsing_is_fast():
    parse(VIEW)
    assert lines_run(lambda: parse(VIEW)) < 8_000


@pytest.mark.parametrize(
    ("dialect", "written", "meant"),
    [
        ("postgres", r"x LIKE 'a\_b'", r"x LIKE 'a\_b' ESCAPE '\'"),
        ("postgres", "x LIKE 'a_b'", "x LIKE 'a_b'"),
        ("postgres", "x LIKE y", r"x LIKE y ESCAPE '\'"),
        ("postgres", "x LIKE 'a!_' ESCAPE '!'", "x LIKE 'a!_' ESCAPE '!'"),
        ("duckdb", r"x LIKE 'a\_b'", r"x LIKE 'a\_b'"),
        ("spark", r"x NOT LIKE 'a\\_b'", r"NOT x LIKE 'a\_b' ESCAPE '\'"),
        ("postgres", "x ->> 'key'", "JSON_EXTRACT_SCALAR(x, '$.key' ERROR ON ERROR)"),
        (
            "spark",
            "get_json_object(x, '$.a[0].b')",
            "JSON_EXTRACT_SCALAR(x, '$.a[0].b' ERROR ON ERROR)",
        ),
        (
            "spark",
            "get_json_object(x, '$.a[*]')",
            "JSON_EXTRACT_SCALAR(x, '$.a[*]' ERROR ON ERROR)",
        ),
        ("trino", r"x LIKE 'a\_b'", r"x LIKE 'a\_b'"),
    ],
)
def test_literals_of_another_dialect_are_said_in_ours(
    dialect: str, written: str, meant: str
) -> None:
    text = f"-- dialect: {dialect}\nCREATE STREAMING VIEW v AS SELECT {written} AS z FROM t"
    (statement,) = parse(text, file="t.sql")
    assert meant in to_sql(statement, pretty=False)
