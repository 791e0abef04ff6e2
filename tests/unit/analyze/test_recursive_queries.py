"""WITH RECURSIVE: columns, types, names, and Materialize's words."""

from __future__ import annotations

import pytest

from headwater.analyze.project import bind
from headwater.analyze.typing.types import sql_type
from headwater.dialect import parse
from headwater.errors import HeadwaterError
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project
from headwater.plan.view_plan import ViewPlan

TABLES = """
CREATE TABLE e (src BIGINT, dst BIGINT, w INTEGER, n VARCHAR)
WITH (connector = 'files', path = 'e') FORMAT PLAIN ENCODE JSON;
CREATE TABLE r (src BIGINT) WITH (connector = 'files', path = 'r') FORMAT PLAIN ENCODE JSON;
"""


def plan_of(select: str, options: str = "", header: str = "") -> tuple[ViewPlan, str]:
    view = f"{header}\nCREATE STREAMING VIEW v {options} AS {select};"
    catalog = bind({"t.sql": parse(TABLES), "v.sql": parse(view)})
    plan = plan_project(catalog)["v"]
    return plan, " ".join(at_rest(plan, catalog, "trino").text().split())


def columns(select: str) -> list[tuple[str, str]]:
    plan, _ = plan_of(select)
    return [(field.name, sql_type(field.type)) for field in plan.view.fields]


def test_columns_have_the_types_of_anchor_and_step() -> None:
    select = """WITH RECURSIVE q (id, up, path) AS (
        SELECT 1, NULL, 'a' UNION ALL
        SELECT e.dst, q.id, q.path || e.n FROM q JOIN e ON e.src = q.id) SELECT * FROM q"""
    assert columns(select) == [("id", "BIGINT"), ("up", "BIGINT"), ("path", "VARCHAR")]


def test_names_without_a_list_are_those_of_the_anchor() -> None:
    step = "SELECT e.dst, q.n + 1 FROM q JOIN e ON e.src = q.id WHERE q.n < 9"
    select = f"WITH RECURSIVE q AS (SELECT src AS id, 0 AS n FROM e UNION ALL {step}) "
    assert columns(select + "SELECT * FROM q") == [("id", "BIGINT"), ("n", "INTEGER")]


def test_a_query_hides_a_table_of_its_name_and_does_not_read_it() -> None:
    select = """WITH RECURSIVE r AS (
        SELECT src FROM e UNION SELECT e.dst FROM r JOIN e ON e.src = r.src) SELECT * FROM r"""
    plan, _ = plan_of(select)
    assert plan.view.inputs == ("e",)


def test_a_name_that_a_table_inside_has_is_replaced() -> None:
    select = """WITH RECURSIVE first AS (SELECT src FROM r), q AS (
        WITH RECURSIVE r AS (
            SELECT src FROM first UNION SELECT e.dst FROM r JOIN e ON e.src = r.src)
        SELECT * FROM r) SELECT * FROM q"""
    plan, text = plan_of(select)
    assert set(plan.view.inputs) == {"r", "e"}
    assert "WITH RECURSIVE r_(src) AS ( SELECT first.src AS src FROM r AS first UNION" in text
    assert "FROM r_ AS r JOIN e" in text


def test_a_recursion_in_another_one_stands_beside_it() -> None:
    """Trino refuses one WITH RECURSIVE within another; a table named like the inner is not it."""
    select = """WITH RECURSIVE q AS (
        SELECT src FROM e UNION SELECT e.dst FROM q JOIN e ON e.src = q.src),
      s AS (SELECT src FROM q UNION SELECT r.src FROM s JOIN r ON r.src = s.src)
      SELECT a.src FROM s AS a JOIN s AS b ON b.src = a.src"""
    _, text = plan_of(select)
    assert text.count("WITH RECURSIVE q(src) AS (") == text.count("), s(src) AS (") == 2
    assert text.count("WITH") == 2


def test_words_of_materialize_are_the_same_recursion() -> None:
    body = "SELECT src, dst FROM e UNION SELECT q.a, e.dst FROM q JOIN e ON e.src = q.b"
    header = "-- dialect: materialize"
    theirs, _ = plan_of(
        f"WITH MUTUALLY RECURSIVE q (a bigint, b bigint) AS ({body}) SELECT * FROM q", "", header
    )
    ours, _ = plan_of(f"WITH RECURSIVE q (a, b) AS ({body}) SELECT * FROM q")
    assert theirs.columns == ours.columns
    assert theirs.decision.rule.name == ours.decision.rule.name == "fixed point"
    plan, text = plan_of(
        "WITH MUTUALLY RECURSIVE q (a numeric(10, 2)) AS (SELECT w FROM e UNION ALL"
        " SELECT q.a FROM q JOIN e ON q.a = e.w AND e.w < 0) SELECT * FROM q",
        header=header,
    )
    assert sql_type(plan.view.fields[0].type) == "DECIMAL(10, 2)"
    assert "CAST(e.w AS DECIMAL(10, 2))" in text


def test_types_that_grow_with_each_round_are_refused() -> None:
    with pytest.raises(HeadwaterError) as caught:
        columns("""WITH RECURSIVE q (id, x) AS (
            SELECT src, 1.5 FROM e UNION ALL
            SELECT e.dst, q.x * 1.5 FROM q JOIN e ON e.src = q.id) SELECT * FROM q""")
    assert caught.value.condition == "TYPE_CLASH"
    assert "CAST(x AS DECIMAL(2, 1))" in caught.value.hint


def test_the_limit_of_rounds_is_an_option() -> None:
    select = """WITH RECURSIVE q AS (
        SELECT src FROM e UNION SELECT e.dst FROM q JOIN e ON e.src = q.src) SELECT * FROM q"""
    found = [plan_of(select, options)[0] for options in ("", "WITH (max_recursion_depth = 7)")]
    assert [each.program.recursions[0].depth for each in found] == [100, 7]
    assert found[0].fingerprint == found[1].fingerprint


def test_other_engines_are_refused() -> None:
    select = """WITH RECURSIVE q AS (
        SELECT src FROM e UNION SELECT e.dst FROM q JOIN e ON e.src = q.src) SELECT * FROM q"""
    with pytest.raises(HeadwaterError) as caught:
        plan_of(select, "WITH (engine = 'incremental')")
    assert caught.value.condition == "ENGINE_CANNOT"
    plan, _ = plan_of(select, "WITH (engine = 'full')")
    assert len(plan.program.recursions) == 1
