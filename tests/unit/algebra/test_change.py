"""Changes of trees: what they are, and that a mistake in each formula is seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

import pytest
from sqlglot import exp

from headwater.algebra import change
from headwater.algebra.change import change_of, has_change, has_parts
from headwater.algebra.nodes import JoinKind, Query, from_bottom
from headwater.algebra.text import text_of
from headwater.analyze.rules.changelog import ChangelogModes
from headwater.plan.sql.change import rows_of
from headwater.plan.sql.render import print_sql
from tests.algebra.query import answer, definition, inputs, stamped, wrong
from tests.algebra.world import Kept, World, planned
from tests.fuzz import queries
from tests.fuzz.cases import Case, random_ticks
from tests.fuzz.schemas import Draw
from tests.support.sampling import some

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


def _null_is_no_part(patch: pytest.MonkeyPatch) -> None:
    """The part of NULL is not looked at."""
    right = change.equal_columns
    patch.setattr(
        change,
        "equal_columns",
        lambda *given: tuple(replace(each, null_safe=False) for each in right(*given)),
    )


def _stays(patch: pytest.MonkeyPatch) -> None:
    """What a part was before does not go."""
    patch.setattr(change, "_signed", lambda each, sign, right=change._signed: right(each, 1))


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
    "aggregate": (
        "SELECT q.n AS c0, count(*) AS c1"
        " FROM (SELECT k, count(*) AS n FROM u GROUP BY k) AS q GROUP BY q.n",
        _stays,
    ),
    "aggregate of NULL": (
        "SELECT count(q.k) AS c0, count(*) AS c1"
        " FROM (SELECT k, max(x) AS m FROM u GROUP BY k) AS q",
        _null_is_no_part,
    ),
    "distinct": ("SELECT count(*) AS c0 FROM (SELECT DISTINCT k FROM a) AS q", _as_it_is),
    "window": (
        "SELECT q.r AS c0, count(*) AS c1 FROM (SELECT rank() OVER (PARTITION BY k ORDER BY x) AS r"
        " FROM u) AS q GROUP BY q.r",
        _as_it_is,
    ),
    "set operation": (
        "SELECT count(*) AS c0 FROM (SELECT k FROM u EXCEPT SELECT k FROM p) AS q",
        _null_is_no_part,
    ),
}


@pytest.mark.parametrize(("text", "mistake"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_in_a_formula_is_seen(
    monkeypatch: pytest.MonkeyPatch, text: str, mistake: Mistake
) -> None:
    rule = planned(definition(Case(text, ())))[1]["v"].decision.rule.name
    assert rule == ("fold" if "count" in text else "exact change")
    assert not wrong_in_some(text)
    mistake(monkeypatch)
    assert wrong_in_some(text)


@pytest.mark.parametrize("number", some(range(48), 8))
def test_a_change_is_what_is_there_after_it_less_what_was_before(number: int) -> None:
    rnd = Draw(f"any-{number}")
    case = replace(Case(queries.query(rnd, 1).text, ()), ticks=random_ticks(rnd), schema=rnd.schema)
    catalog, plans = planned(definition(case))
    tree = catalog.views["v"].tree
    if not all(has_change(each) or has_parts(each) for each in from_bottom(tree.root)):
        return
    found = change_of(tree.root, ChangelogModes(catalog).appends)
    assert found is not None
    text = print_sql(rows_of(found, tree.labels, catalog, None), "spark")
    if "ARRAY_SORT" in text:
        return  # DuckDB sorts lists another way
    world = World(inputs(case.schema), [Kept.of(plans["v"])])
    try:
        before = Counter(_rows(world, answer(case, world.schema)))
        for tick in stamped(case.ticks, case.schema):
            world.tick(tick)
            now = Counter(_rows(world, answer(case, world.schema)))
            change_ = Counter[str]()
            for row in world.rows(world.sql(text)):
                *values, sign = row if found.sign else (*row, 1)
                change_[_plain(values)] += int(str(sign))
            assert {k: n for k, n in change_.items() if n} == {
                k: now[k] - before[k] for k in now | before if now[k] != before[k]
            }, case.query
            before = now
    finally:
        world.close()


def _rows(world: World, query: str) -> list[str]:
    return [*map(_plain, world.rows(f"SELECT * FROM ({query})"))]


def _plain(row: Sequence[object]) -> str:
    """A row as text; sums of floating-point numbers depend on the order of rows."""
    return repr([round(each, 6) + 0.0 if isinstance(each, float) else each for each in row])


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
