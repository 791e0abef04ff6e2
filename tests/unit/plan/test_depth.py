"""Queries as deep as the parser lets through are planned; too deep is an error of one view."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from headwater.dialect.normalize import MAX_CHAIN
from headwater.plan import planner
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import read_sound
from headwater.plan.rules.contract import Facts
from headwater.plan.strategy import decide
from headwater.plan.view_plan import Decision, ViewPlan
from headwater.project import Project

TABLE = (
    "CREATE TABLE t (id BIGINT, a INTEGER, s VARCHAR)"
    " WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;\n"
)
LONG = {
    "concatenated": " || ".join(["s"] * (MAX_CHAIN - 1)),
    "added": " + ".join(["a"] * 40),  # each has a condition of its own
    "terms": " AND ".join(f"a <> {n}" for n in range(MAX_CHAIN - 1)),
    "cases": "".join(f"CASE WHEN a = {n} THEN {n} ELSE " for n in range(60)) + "0" + " END" * 60,
}


def read(folder: Path, **views: str) -> tuple[Project, dict[str, ViewPlan]]:
    """Read a project of some views."""
    (folder / "headwater.toml").write_text('name = "deep"\n')
    texts = (f"CREATE STREAMING VIEW {name} AS SELECT {q};\n" for name, q in views.items())
    (folder / "views.sql").write_text(TABLE + "".join(texts))
    return read_sound(folder)


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_what_the_parser_lets_through_is_planned_and_answered(text: str, tmp_path: Path) -> None:
    project, plans = read(tmp_path, v=f"id, {text} AS x FROM t")
    assert not project.errors
    _ = plans["v"].guarded_program
    query = at_rest(plans["v"], project.catalog, "duckdb").sql
    with duckdb.connect() as duck:
        duck.execute("CREATE TABLE t (id BIGINT, a INTEGER, s VARCHAR)")
        duck.execute("INSERT INTO t VALUES (1, 5, 'x')")
        assert len(duck.sql(query).fetchall()) == 1


def test_one_view_that_is_too_deep_takes_nothing_else_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_deep(facts: Facts) -> Decision:
        if facts.view.name == "deep":
            raise RecursionError
        return decide(facts)

    monkeypatch.setattr(planner, "decide", too_deep)
    project, plans = read(tmp_path, deep="id FROM t", sound="id FROM t")
    assert [*plans] == ["sound"]
    assert [each.condition for each in project.errors] == ["TOO_DEEP"]
    assert "views.sql:2" in str(project.errors[0])
