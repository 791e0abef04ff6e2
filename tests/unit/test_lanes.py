"""The fast lane covers every rule, operator, connector, format, step of a commit and sink."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
from pyspark.java_gateway import launch_gateway

from headwater.algebra.nodes import Join, from_bottom
from headwater.analyze.connectors.encodings import ENCODINGS
from headwater.analyze.connectors.registry import CONNECTORS, SINKS
from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.lake.protocol.commit import CRASH_POINTS
from headwater.plan.planner import plan_project
from headwater.plan.rules.registry import RULES
from headwater.plan.view_plan import ViewPlan
from headwater.testing import slt
from tests.conftest import WITH_JVM
from tests.lanes import entries, fast, is_fast

TESTS = Path(__file__).parents[1]
WITH_SERVERS = {"kafka", "redis"}
"""Connectors whose Spark tests need a server: they are in the lane of the services."""


@cache
def plans(file: str) -> tuple[ViewPlan, ...]:
    """Return the plans of all views that an ``.slt`` file defines."""
    records = slt.parse((TESTS / file).read_text(encoding="utf-8"), file)
    texts = ["\n".join(r.body) for r in records if r.verb == "statement" and r.arguments == ("ok",)]
    files = {f"{n}.sql": parse(text, file=f"{n}.sql") for n, text in enumerate(texts)}
    return tuple(plan_project(bind(files)).values())


def all_files() -> list[str]:
    return [str(path.relative_to(TESTS)) for path in sorted((TESTS / "slt").rglob("*.slt"))]


def operators(plan: ViewPlan) -> set[str]:
    """The kinds of nodes of a view, and of joins."""
    nodes = from_bottom(plan.view.tree.root)
    return {type(node).__name__ for node in nodes} | {
        f"{node.kind} join" for node in nodes if isinstance(node, Join)
    }


def planned(files: list[str]) -> tuple[set[str], set[str]]:
    """Return the rules and the operators of the views in some files."""
    found = [plan for file in files for plan in plans(file)]
    rules = {plan.decision.rule.name for plan in found}
    return rules, {name for plan in found for name in operators(plan)}


def test_every_rule_and_operator_that_any_file_has_is_in_the_fast_lane() -> None:
    every, some = all_files(), [file for file in all_files() if file in entries()]
    assert planned(some) == planned(every)


def test_every_rule_has_an_entry() -> None:
    """Also those of views straight from a SOURCE, which no ``.slt`` file has."""
    assert set(fast()["rule"]) == {rule.name for rule in RULES}


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("connector", {n for n, each in CONNECTORS.items() if each.built} - WITH_SERVERS),
        ("format", {name.upper() for name in ENCODINGS} - {"RAW"}),
        ("commit", {*CRASH_POINTS}),
        ("sink", {*SINKS}),
    ],
)
def test_each_has_a_test_in_the_fast_lane(kind: str, wanted: set[str]) -> None:
    assert wanted <= set(fast()[kind])


def test_every_entry_exists() -> None:
    missing = []
    for entry in entries():
        path, _, test = entry.partition("::")
        names = {
            node.name
            for node in (ast.walk(ast.parse((TESTS / path).read_text())) if test else ())
            if isinstance(node, ast.FunctionDef)
        }
        if not (TESTS / path).is_file() or (test and test.partition("[")[0] not in names):
            missing.append(entry)
    assert missing == []


def test_a_test_is_fast_by_its_file_its_name_or_its_parameters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed = frozenset({"spark/a.py", "spark/b.py::one", "spark/b.py::two[x]", "slt/c/d.slt"})
    monkeypatch.setattr("tests.lanes.entries", lambda: listed)
    asked = ["spark/a.py::any", "spark/b.py::one[x]", "spark/b.py::two[x]", "spark/b.py::two[y]"]
    asked += ["spark/b.py::other", "slt/test_slt.py::test_slt[c/d.slt]"]
    asked += ["slt/test_slt.py::test_slt[c/e.slt]"]
    assert [is_fast(f"tests/{node}") for node in asked] == [1, 1, 1, 0, 0, 1, 0]


def test_a_test_without_a_jvm_cannot_start_one(request: pytest.FixtureRequest) -> None:
    items = request.session.items
    if any(item.get_closest_marker(each) for item in items for each in WITH_JVM):
        pytest.skip("tests that may start a JVM run in the same process")
    with pytest.raises(pytest.fail.Exception, match="without a JVM"):
        launch_gateway()
