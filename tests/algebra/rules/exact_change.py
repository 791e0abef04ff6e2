"""Exact change: joined rows with a key, over inputs whose rows come, change and go."""

from __future__ import annotations

import pytest

from headwater.algebra import change
from headwater.plan.rules import exact_change
from tests.algebra.query import trials
from tests.algebra.rule import Rule
from tests.fuzz import queries


def _as_it_is(patch: pytest.MonkeyPatch) -> None:
    """What was there before is read as it is now: what came in both inputs comes twice."""
    patch.setattr(change, "read", lambda node, _: node)


RULE = Rule(
    "exact change",
    (exact_change.RULE,),
    trials("exact change", queries.keyed),
    _as_it_is,
    cases=16,
)
