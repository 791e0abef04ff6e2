"""When the rows of a table are computed anew, because another rule has written what it hides."""

from __future__ import annotations

from typing import cast

import pytest

from headwater.engine.follow_definition import followed
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Table
from headwater.plan.view_plan import ViewPlan
from tests.algebra.world import planned
from tests.fuzz.schemas import STANDARD

NO_TABLE = cast(Table, None)
"""The table of a view whose columns do not follow its log is not asked."""


def plan_of(query: str) -> ViewPlan:
    _, plans = planned(f"{STANDARD.definitions}CREATE STREAMING VIEW v AS {query};")
    return plans["v"]


FIRST = "row_number() OVER (PARTITION BY k ORDER BY x, id) AS n FROM a"
MEAN = "SELECT k, avg(x) AS mean FROM a GROUP BY k"
CASES = [
    (MEAN, "", False),
    (MEAN, "fold", False),
    (MEAN, "affected groups", True),
    (f"SELECT * FROM ({MEAN})", "fold", False),
    (f"SELECT q.k, q.x + 1 AS y FROM (SELECT k, x, id, {FIRST}) q WHERE q.n = 1", "", True),
    (f"SELECT q.k, q.x + 1 AS y FROM (SELECT k, x, id, {FIRST}) q WHERE q.n = 1", "top", False),
    ("SELECT id, x + 1 AS y FROM u", "affected groups", False),  # exact change hides nothing
]


@pytest.mark.parametrize(("query", "rule", "anew"), CASES, ids=range(len(CASES)))
def test_what_another_rule_has_written_is_computed_anew(query: str, rule: str, anew: bool) -> None:
    last = Marker("v", 1, 3, {}, {}, rule=rule, since={"c": 2})
    found = followed(plan_of(query), NO_TABLE, last)
    assert found.anew == anew
    assert found.evolved.since == {"c": 2}


def test_the_first_commit_has_nothing_to_do_anew() -> None:
    assert not followed(plan_of(f"SELECT * FROM ({MEAN})"), NO_TABLE, None).anew
