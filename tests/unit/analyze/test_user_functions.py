"""CREATE FUNCTION: a call is the body with its arguments, wherever functions and views stand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from headwater.analyze.definitions import Catalog
from headwater.analyze.project import bind, bind_sound
from headwater.cli.main import main
from headwater.dialect import parse, parse_all, to_sql
from headwater.errors import EXIT_NO, EXIT_OK
from headwater.plan.at_rest import DIALECTS, at_rest
from headwater.plan.planner import plan_project
from headwater.project import read_project

TABLE = """
CREATE TABLE t (id BIGINT NOT NULL, a INTEGER, x DOUBLE, d DECIMAL(10, 2), s VARCHAR, ts TIMESTAMP,
  day DATE, r ROW(p BIGINT, q VARCHAR)) WITH (connector = 'files', path = 't')
FORMAT PLAIN ENCODE JSON;
"""
FUNCTIONS = """
CREATE FUNCTION twice(x BIGINT) RETURNS BIGINT RETURN x + x;
CREATE FUNCTION less(x BIGINT, y BIGINT) RETURNS BIGINT RETURN x - y;
CREATE FUNCTION net(gross DECIMAL(10, 2)) RETURNS DOUBLE LANGUAGE SQL RETURN gross * 0.908;
CREATE FUNCTION half(x DOUBLE) RETURNS DOUBLE RETURN x / 2;
CREATE FUNCTION four(x BIGINT) RETURNS BIGINT RETURN twice(twice(x));
CREATE FUNCTION answer() RETURNS BIGINT RETURN 42;
CREATE FUNCTION soon(t TIMESTAMP) RETURNS TIMESTAMP RETURN date_add('hour', 2, t);
CREATE FUNCTION size_of(x BIGINT) RETURNS VARCHAR
RETURN CASE WHEN x > 100 THEN 'large' WHEN x > 10 THEN 'medium' ELSE 'small' END;
CREATE FUNCTION part(r ROW(p BIGINT, q VARCHAR)) RETURNS BIGINT RETURN r.p * 2;
"""
SAME = {
    "twice(id)": "(id + id)",
    "twice(id) * 2": "(id + id) * 2",
    "twice(id + 1)": "((id + 1) + (id + 1))",
    "less(id, less(id, 1))": "(id - (id - CAST(1 AS BIGINT)))",
    "twice(a)": "(CAST(a AS BIGINT) + CAST(a AS BIGINT))",
    "net(d)": "CAST((d * 0.908) AS DOUBLE)",
    "half(id)": "(CAST(id AS DOUBLE) / 2)",
    "half(3)": "(3e0 / 2)",
    "twice(NULL)": "(CAST(NULL AS BIGINT) + CAST(NULL AS BIGINT))",
    "soon(ts)": "(ts + INTERVAL '2' HOUR)",
    "soon(day)": "(CAST(day AS TIMESTAMP) + INTERVAL '2' HOUR)",
    "answer()": "CAST(42 AS BIGINT)",
    "part(r)": "(r.p * 2)",
    "size_of(four(id))": "size_of(((id + id) + (id + id)))",
}
"""By call, the same expression without calls, or with fewer."""


def bound(*texts: str) -> Catalog:
    return bind({f"{n}.sql": parse(text, file=f"{n}.sql") for n, text in enumerate(texts)})


def view(query: str) -> str:
    return f"CREATE STREAMING VIEW v AS {query};"


def engines(catalog: Catalog) -> Mapping[str, str]:
    """The SELECT of view v in every engine, without needless brackets."""
    plan = plan_project(catalog)["v"]
    found = {each: at_rest(plan, catalog, each, final=False).text() for each in DIALECTS}
    return {
        each: "".join(sql.split()).replace("((", "(").replace("))", ")")
        for each, sql in found.items()
    }


@pytest.mark.parametrize(("call", "plain"), SAME.items())
def test_a_call_is_its_body_in_every_engine(call: str, plain: str) -> None:
    catalogs = [
        bound(TABLE, FUNCTIONS, view(f"SELECT id, {each} AS v FROM t")) for each in (call, plain)
    ]
    called, written = map(engines, catalogs)
    assert called == written
    kinds = [catalog.views["v"].fields for catalog in catalogs]
    assert kinds[0] == kinds[1]


def test_calls_stand_wherever_an_expression_stands() -> None:
    query = """SELECT size_of(twice(t.id)) AS size, twice(sum(t.id)) AS s, sum(twice(t.id)) AS u,
      twice(rank() OVER (ORDER BY size_of(twice(t.id)))) AS r
    FROM t JOIN (SELECT id FROM t WHERE half(x) > 1) AS b ON twice(b.id) = twice(t.id)
    WHERE twice(t.id) IN (SELECT twice(id) FROM t)
    GROUP BY size_of(twice(t.id)) HAVING twice(count(*)) > 2"""
    catalog = bound(view(query), FUNCTIONS, TABLE)
    assert not any("twice" in sql for sql in engines(catalog).values())


def test_functions_may_stand_in_any_order_and_file() -> None:
    calls = "CREATE FUNCTION b(x BIGINT) RETURNS BIGINT RETURN a(x);"
    called = "CREATE OR REPLACE FUNCTION IF NOT EXISTS a(x BIGINT) RETURNS BIGINT RETURN x + 1;"
    texts = [view("SELECT b(id) AS v FROM t"), calls, TABLE, called]
    assert engines(bound(*texts)) == engines(bound(*reversed(texts)))


def test_a_computed_column_is_the_expanded_expression() -> None:
    table = TABLE.replace("day DATE,", "day DATE, big AS twice(id), kind AS size_of(a),")
    columns = {column.name: column for column in bound(table, FUNCTIONS).sources["t"].columns}
    computed = columns["big"].computed
    assert computed is not None and to_sql(computed) == "(\n  t.id + t.id\n)"
    assert not columns["big"].nullable  # as that of id + id


def test_a_log_of_a_keyed_table_computes_too() -> None:
    table = """CREATE TABLE k (id BIGINT PRIMARY KEY, n BIGINT, big AS twice(n))
    WITH (connector = 'files', path = 'k') FORMAT UPSERT ENCODE JSON (delete_field = 'op');"""
    catalog = bound(table, FUNCTIONS)
    assert [field.name for field in catalog.views["k"].fields] == ["id", "n", "big"]


def test_another_dialect_calls_the_same_function() -> None:
    spark = "-- dialect: spark\n" + view("SELECT twice(`id`) AS v FROM t")
    assert engines(bound(TABLE, FUNCTIONS, spark)) == engines(
        bound(TABLE, FUNCTIONS, view("SELECT twice(id) AS v FROM t"))
    )


def test_a_changed_function_changes_the_views_that_use_it_and_no_other() -> None:
    views = view("SELECT four(id) AS v FROM t") + "CREATE STREAMING VIEW w AS SELECT id FROM t;"
    before, after, same = (
        plan_project(bound(TABLE, text, views))
        for text in (
            FUNCTIONS,
            FUNCTIONS.replace("RETURN x + x;", "RETURN x * 2;"),
            FUNCTIONS.replace("RETURN x + x;", "-- by adding\nRETURN x\n  + x;"),
        )
    )
    assert before["v"].fingerprint != after["v"].fingerprint
    assert before["w"].fingerprint == after["w"].fingerprint
    assert before["v"].fingerprint == same["v"].fingerprint


def test_the_text_of_a_view_defines_it_without_its_functions() -> None:
    catalog = bound(
        TABLE, FUNCTIONS, view("SELECT half(id) AS h, soon(ts) AS s, part(r) AS p FROM t")
    )
    again = bound(TABLE, catalog.views["v"].text + ";")
    assert again.views["v"].fields == catalog.views["v"].fields


def test_a_broken_function_blocks_its_callers_without_blame() -> None:
    wrong = """CREATE FUNCTION bad(x BIGINT) RETURNS BIGINT RETURN y;
    CREATE FUNCTION worse(x BIGINT) RETURNS BIGINT RETURN bad(x);"""
    table = """CREATE TABLE u (id BIGINT, b AS worse(id))
    WITH (connector = 'files', path = 'u') FORMAT PLAIN ENCODE JSON;"""
    views = view("SELECT worse(id) AS v FROM t") + "CREATE STREAMING VIEW w AS SELECT b FROM u;"
    found = bind_sound({"p": parse(TABLE + wrong + table + views)})
    assert [error.condition for error in found.errors] == ["UNKNOWN_COLUMN"]
    assert set(found.faults) == {"bad"}
    assert set(found.catalog.sources) == {"t"} and not found.catalog.views
    assert found.reads["worse"] == ["bad"] and found.reads["v"] == ["t", "worse"]


def test_a_function_that_cannot_be_parsed_blames_no_caller() -> None:
    text = (
        TABLE
        + "CREATE FUNCTION bad(x BIGINT) RETURNS RETURN x;"
        + view("SELECT bad(id) AS v FROM t")
    )
    statements, errors = parse_all(text)
    assert len(errors) == 1
    assert not bind_sound({"p": statements}, ("bad",)).errors


def test_check_counts_functions_and_says_what_a_broken_one_blocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "headwater.toml").write_text("")
    (tmp_path / "t.sql").write_text(TABLE)
    (tmp_path / "v.sql").write_text(view("SELECT twice(id) AS v FROM t"))
    functions = tmp_path / "functions.sql"
    functions.write_text(FUNCTIONS)
    assert main(["check"]) == EXIT_OK
    assert "9 functions" in capsys.readouterr().err
    functions.write_text("CREATE FUNCTION twice(x BIGINT) RETURNS VARCHAR RETURN x;")
    assert main(["check"]) == EXIT_NO
    assert 'view "v" is blocked by twice' in capsys.readouterr().err
    functions.write_text("CREATE FUNCTION twice(x BIGINT) RETURNS RETURN x;")
    broken = read_project(tmp_path).broken
    assert {name: each.state for name, each in broken.items()} == {
        "twice": "broken",
        "v": "blocked",
    }
    assert broken["v"].blocked_by == ("twice",)


def test_a_function_is_no_view_to_explain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "headwater.toml").write_text("")
    (tmp_path / "t.sql").write_text(TABLE + FUNCTIONS)
    assert main(["explain", "twice"]) != EXIT_OK
    assert "is a function, not a view" in capsys.readouterr().err
