"""Each rule over random changes in DuckDB; a planted mistake is seen; no rule is left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from headwater.analyze.definitions import View
from headwater.lake.iceberg.merge import Upsert
from headwater.plan import planner
from headwater.plan.program import FoldProgram, Program
from headwater.plan.rules import contract, fixed_point, registry
from tests.algebra.rule import Rule
from tests.algebra.rules import RULES
from tests.algebra.world import planned
from tests.support.sampling import some

TICKS = 6
SEED = "unit"


@pytest.mark.parametrize(
    ("rule", "number"),
    [(rule, number) for rule in RULES.values() for number in some(range(rule.cases), 2)],
    ids=lambda value: value.name if isinstance(value, Rule) else str(value),
)
def test_every_view_equals_its_select_after_every_tick(rule: Rule, number: int) -> None:
    trial = rule.trial(f"{SEED}-{number}", TICKS)
    assert trial.wrong() == "", trial


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_planted_mistake_is_seen(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    rule.mistake(monkeypatch)
    trials = (rule.trial(f"{SEED}-{number}", TICKS) for number in range(rule.cases))
    assert any(trial.wrong() for trial in trials)


def test_every_rule_of_the_planner_is_tried() -> None:
    covered = [each.name for rule in RULES.values() for each in rule.covers]
    # rounds run in Spark only: tests/spark/incremental/test_recursion.py has their random graphs
    covered.append(fixed_point.RULE.name)
    assert sorted(covered) == sorted(each.name for each in registry.RULES)


@pytest.mark.parametrize("name", [rule.name for rule in RULES.values() if rule.covers])
def test_the_trials_of_a_rule_are_kept_by_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    covered = {rule.name for rule in RULES[name].covers}
    deciding: set[str] = set()

    def program(rule: contract.Rule, view: View, *rest: Any) -> Program:
        if view.name in ("v", "docs"):
            deciding.add(rule.name)
        return written(rule, view, *rest)

    written = planner._program
    monkeypatch.setattr(planner, "_program", program)
    for number in range(RULES[name].cases if len(covered) > 1 else 5):
        assert RULES[name].trial(f"{SEED}-{number}", 0).wrong() == ""
    assert deciding >= covered
    # some streams have no state, and units can keep any query
    assert deciding == covered or name in ("streams", "affected groups")


@pytest.mark.parametrize("clause", ["delete_when", "insert_when"])
def test_a_clause_that_a_merge_leaves_out_is_seen(
    clause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("merge_sql", "rewrite_sql", "insert_sql"):
        monkeypatch.setattr(Upsert, name, without(clause, getattr(Upsert, name)))
    trials = (RULES["fold"].trial(f"{SEED}-{number}", TICKS) for number in range(40))
    assert any(trial.wrong() for trial in trials)


def without(clause: str, text: Callable[..., str]) -> Callable[..., str]:
    return lambda change, *args, **how: text(replace(change, **{clause: ""}), *args, **how)


WINDOWED = """
CREATE TABLE e (id BIGINT, k VARCHAR, ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 'e') FORMAT PLAIN ENCODE JSON;
CREATE TABLE f (id BIGINT) WITH (connector = 'files', path = 'f') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW v AS SELECT {}, count(*) AS n FROM TUMBLE(e, ts, INTERVAL '1' MINUTE)
GROUP BY {};
"""


@pytest.mark.parametrize(
    ("shown", "keys"),
    [
        ("window_start", ["window_start"]),
        ("window_end", ["window_end"]),
        ("window_start, window_end", ["window_start", "window_end"]),
        ("k, window_end", ["k", "window_end"]),
    ],
)
def test_a_window_is_a_key_whichever_bound_is_shown(shown: str, keys: list[str]) -> None:
    _, plans = planned(WINDOWED.format(shown, shown))
    program = plans["v"].program
    assert isinstance(program, FoldProgram)
    assert {*program.keys} == {*keys}


@pytest.mark.parametrize("joined", ["", " AS e LEFT JOIN f ON f.id = e.id"])
@pytest.mark.parametrize("shown", ["window_start", "window_end", "window_start, window_end"])
def test_windows_that_start_together_are_keyed_by_both_bounds(shown: str, joined: str) -> None:
    """The one that is not shown is kept beside the view: rows of two windows never are one."""
    growing = WINDOWED.format(shown, "window_start, window_end").replace(
        "TUMBLE(e, ts,", "CUMULATE(e, ts, INTERVAL '10' SECOND,"
    )
    _, plans = planned(growing.replace("\nGROUP", f"{joined}\nGROUP"))
    program = plans["v"].program
    assert isinstance(program, FoldProgram)
    assert sorted(program.holds[key] for key in program.keys) == ["window_end", "window_start"]
