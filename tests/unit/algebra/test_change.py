"""Changes of trees: what they are, and that a mistake in each formula is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import pytest
from sqlglot import exp

from headwater.algebra import change
from headwater.algebra.change import change_of
from headwater.algebra.nodes import JoinKind, Query
from headwater.algebra.text import text_of
from tests.algebra.query import definition, wrong
from tests.algebra.world import planned
from tests.fuzz.cases import Case, random_ticks
from tests.fuzz.schemas import Draw

Mistake = Callable[[pytest.MonkeyPatch], None]


def wrong_in_some(text: str) -> bool:
    """Whether a query is wrong for some changes."""
    ticks = (random_ticks(Draw(seed), 8) for seed in range(4))
    return any(wrong(Case(text, each, rule="exact change")) for each in ticks)


def _left_as_it_is(patch: pytest.MonkeyPatch) -> None:
    """A row that found nothing before stays when it finds something."""
    right = change._of_left
    patch.setattr(change, "_of_left", lambda *given: islice(right(*given), 2))


def _untouched(patch: pytest.MonkeyPatch) -> None:
    """Rows of the left side are not looked at when what they match changes."""
    right = change._of_left
    patch.setattr(change, "_of_left", lambda node, left, _: right(node, left, None))


def _never_null(patch: pytest.MonkeyPatch) -> None:
    """NOT IN is asked again only for values that are equal."""
    patch.setattr(change, "_may_be", lambda of: exp.EQ(this=of.left, expression=of.right))


def _only_left(patch: pytest.MonkeyPatch) -> None:
    """A full join forgets what its right side has alone."""
    patch.setattr(change, "_as_left", lambda node, _: replace(node, kind=JoinKind.LEFT))


def _as_it_is(patch: pytest.MonkeyPatch) -> None:
    """What was there before is read as it is now."""
    patch.setattr(change, "read", lambda node, _: node)


MISTAKES: dict[str, tuple[str, Mistake]] = {
    "inner": ("SELECT t0.id AS c0, t1.id AS c1 FROM u t0 JOIN u t1 ON t0.k = t1.k", _as_it_is),
    "left": (
        "SELECT t0.id AS c0, t1.id AS c1 FROM u t0 LEFT JOIN u t1 ON t0.k = t1.k",
        _left_as_it_is,
    ),
    "full": ("SELECT t0.id AS c0, t1.id AS c1 FROM p t0 FULL JOIN p t1 ON t0.k = t1.k", _only_left),
    "semi": (
        "SELECT t0.id AS c0 FROM u t0 WHERE EXISTS (SELECT 1 FROM u s WHERE s.x = t0.x + 1)",
        _untouched,
    ),
    "anti": (
        "SELECT t0.id AS c0 FROM u t0 WHERE NOT EXISTS (SELECT 1 FROM a s WHERE s.k = t0.k)",
        _untouched,
    ),
    "null-aware": (
        "SELECT t0.id AS c0 FROM p t0 WHERE t0.x NOT IN (SELECT s.x + 1 FROM p s WHERE s.k = t0.k)",
        _never_null,
    ),
    "mark": (
        "SELECT t0.id AS c0, t0.x IN (SELECT x FROM u WHERE k = t0.k) AS c1 FROM u t0",
        _left_as_it_is,
    ),
}


@pytest.mark.parametrize(("text", "mistake"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_in_a_formula_is_seen(
    monkeypatch: pytest.MonkeyPatch, text: str, mistake: Mistake
) -> None:
    assert planned(definition(Case(text, ())))[1]["v"].decision.rule.name == "exact change"
    assert not wrong_in_some(text)
    mistake(monkeypatch)
    assert wrong_in_some(text)


def test_the_change_of_a_left_join_as_text() -> None:
    text = "SELECT t0.id, t1.x FROM p t0 LEFT JOIN a t1 ON t1.k = t0.k"
    tree = planned(definition(Case(text, ())))[1]["v"].view.tree
    found = change_of(tree.root, lambda name: name == "a")
    assert found is not None
    labels = ((each.name, each.name) for each in found.node.columns)
    assert text_of(Query(found.node, tuple(labels))) == EXPECTED


EXPECTED = """\
show id, x, __sign
Union id, x, __sign
├─ Project id, x, __sign
│  └─ Project id, k, x, k_2, __sign
│     └─ Join left: k = k_2
│        ├─ Scan p change: id, k, __sign
│        └─ Scan a before: x, k_2 = k
├─ Project id, x, __sign
│  └─ Project id, k, x, k_2, __sign := 1
│     └─ Join left: k = k_2
│        ├─ #1 Join semi: k = k_2
│        │  ├─ Scan p: id, k
│        │  └─ Scan a change: x, k_2 = k
│        └─ Scan a: x, k_2 = k
└─ Project id, x, __sign
   └─ Project id, k, x, k_2, __sign := -1
      └─ Join left: k = k_2
         ├─ see #1
         └─ Scan a before: x, k_2 = k"""
