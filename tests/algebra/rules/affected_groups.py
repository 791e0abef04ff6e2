"""Affected groups: any query, run again for the units of rows that the change touches."""

from __future__ import annotations

import pytest

from headwater.plan.rules import affected_groups
from headwater.plan.rules.join_patterns import patterns
from tests.algebra.query import trials
from tests.algebra.rule import Rule
from tests.fuzz import queries
from tests.fuzz.correlated import correlated
from tests.fuzz.schemas import Draw


def _found_nothing(patch: pytest.MonkeyPatch) -> None:
    """The rows that an outer join finds nothing for any more are not touched."""
    patch.setattr(
        "headwater.plan.rules.affected_groups.patterns",
        lambda sides, unused=(): tuple(
            [p for p in found if all(part.null_after is None for part in p)] or found
            for found in patterns(sides, unused)
        ),
    )


def _query(rnd: Draw) -> queries.Query:
    """One of four reads columns of the query around in subqueries."""
    return queries.query(rnd) if rnd.random() < 0.75 else correlated(rnd)


RULE = Rule(
    "affected groups",
    (affected_groups.RULE,),
    trials("affected groups", _query),
    _found_nothing,
    cases=14,
)
