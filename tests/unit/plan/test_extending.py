"""A rule, a pass, a refusal, an aggregate and a function from outside: one entry of a table each.

Only tables are changed here, never code. That a foreign program's writer maintains a view is shown
with Spark in ``tests/spark/incremental/test_foreign_rule.py``.
"""

from __future__ import annotations

import pytest
from sqlglot import exp

from headwater.analyze.bind import passes
from headwater.analyze.bind.passes import Pass, SelectBinding
from headwater.analyze.definitions import Catalog
from headwater.analyze.project import bind
from headwater.analyze.rules import bound_rules
from headwater.analyze.rules.contract import Checked
from headwater.analyze.typing import types as t
from headwater.analyze.typing.functions import FUNCTIONS, Function
from headwater.dialect import parse, to_sql
from headwater.errors import SqlError
from headwater.plan.explain import explain, program_sql
from headwater.plan.planner import plan_project
from headwater.plan.rules import registry
from headwater.plan.rules.folds import COUNT, FOLDS, Fold, StatePart
from headwater.plan.view_plan import ViewPlan
from tests.algebra import query as algebra
from tests.fuzz.cases import Case, random_ticks
from tests.fuzz.schemas import Draw
from tests.support.counting import RULE, CountProgram

TABLES = """
CREATE TABLE people (name VARCHAR, age BIGINT)
WITH (connector = 'files', path = 'people') FORMAT PLAIN ENCODE JSON;
"""


def bound(query: str) -> Catalog:
    text = f"{TABLES}CREATE STREAMING VIEW v AS {query};"
    return bind({"outside.sql": parse(text, file="outside.sql")})


def plan(query: str) -> ViewPlan:
    return plan_project(bound(query))["v"]


def refused(query: str) -> str:
    """The condition under which the binder refuses a view."""
    with pytest.raises(SqlError) as caught:
        bound(query)
    return caught.value.condition


def test_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    query = "SELECT count(*) AS n FROM people"
    assert plan(query).decision.rule.name == "fold"
    monkeypatch.setattr(registry, "RULES", (RULE, *registry.RULES))
    decided = plan(query)
    assert decided.decision.rule is RULE
    assert "incremental (count rows)" in explain(decided)
    assert isinstance(decided.program, CountProgram)
    assert program_sql(decided.program) == {
        "rows gained": "SELECT count(*) AS n FROM people__change"
    }
    assert [column.name for column in decided.columns] == ["n"]
    other = plan("SELECT age, count(*) AS n FROM people GROUP BY age")
    assert other.decision.rule.name == "fold"


def _without_doubts(binding: SelectBinding) -> None:
    """Take terms of WHERE that are TRUE for what they are: none."""
    where = binding.select.args.get("where")
    if where is not None and where.this == exp.true():
        binding.select.set("where", None)


def test_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    query = "SELECT name FROM people WHERE TRUE"
    assert "WHERE" in to_sql(bound(query).views["v"].query)
    added = Pass("no doubts", _without_doubts, ("types",), ("no doubts",))
    monkeypatch.setattr(passes, "PASSES", (*passes.PASSES, added))
    assert "WHERE" not in to_sql(bound(query).views["v"].query)


def _no_initials(checked: Checked) -> None:
    """Refuse columns whose names are one letter."""
    for field in checked.view.fields:
        if len(field.name) == 1:
            message = f'column "{field.name}" says too little'
            checked.report.add("BAD_NAME", message, checked.statement, "give it a word")


def test_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    query = "SELECT name AS n FROM people"
    assert bound(query)
    monkeypatch.setattr(bound_rules, "RULES", (*bound_rules.RULES, _no_initials))
    assert refused(query) == "BAD_NAME"


def _entry(name: str, params: tuple[str, ...], result: exp.DataType, **rest: object) -> Function:
    return Function(  # type: ignore[arg-type]
        name, f"{name}(x)", "An example.", (), params=params, result=lambda given: result, **rest
    )


def test_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    query = "SELECT soundex(name) AS heard FROM people"
    assert refused(query) == "UNKNOWN_FUNCTION"
    monkeypatch.setitem(FUNCTIONS, exp.Soundex, _entry("soundex", ("text",), t.VARCHAR))
    planned = plan(query)
    assert planned.view.fields[0].type == t.VARCHAR
    assert "SOUNDEX(people.name) AS heard" in program_sql(planned.program)["change"]
    assert refused("SELECT soundex(age) AS heard FROM people") == "TYPE_CLASH"


def _bits(call: exp.Expr, condition: str) -> Fold | None:
    if condition:
        return None
    partial = call.sql(dialect="spark")
    return Fold((StatePart("bits", "BIGINT", partial, "coalesce({t} | {s}, {t}, {s})"),))


def test_an_aggregate(monkeypatch: pytest.MonkeyPatch) -> None:
    query = "SELECT t0.k AS c0, bitwise_or_agg(t0.x) AS c1 FROM a t0 GROUP BY t0.k"
    entry = _entry("bitwise_or_agg", ("integer",), t.BIGINT, kind="aggregate", nullable="always")
    monkeypatch.setitem(FUNCTIONS, exp.BitwiseOrAgg, entry)
    over_people = "SELECT name, bitwise_or_agg(age) AS bits FROM people GROUP BY name"
    assert plan(over_people).decision.rule.name == "affected keys"
    monkeypatch.setitem(FOLDS, exp.BitwiseOrAgg, _bits)
    assert plan(over_people).decision.rule.name == "fold"
    # the right answer is DuckDB's, where the aggregate has another name
    in_duckdb = query.replace("bitwise_or_agg", "bit_or")
    monkeypatch.setattr(algebra, "for_duckdb", lambda text: in_duckdb)
    cases = [Case(query, random_ticks(Draw(seed), 8), rule="fold") for seed in range(5)]
    assert [algebra.wrong(case) for case in cases] == [""] * 5
    adds = Fold((StatePart("bits", "BIGINT", "bit_or(x)", COUNT),))
    monkeypatch.setitem(FOLDS, exp.BitwiseOrAgg, lambda call, condition: adds)
    assert any(map(algebra.wrong, cases))
