"""Fold: aggregates and DISTINCT whose table takes in what its inputs gain and lose."""

from __future__ import annotations

import pytest

from headwater.plan.rules import fold
from tests.algebra.query import trials
from tests.algebra.rule import Rule
from tests.fuzz import queries


def _nothing_goes(patch: pytest.MonkeyPatch) -> None:
    """A row that goes is added, not subtracted."""
    patch.setattr("headwater.plan.rules.folds.SIGN", "1")


RULE = Rule(
    "fold",
    (fold.RULE,),
    trials("fold", queries.folded),
    _nothing_goes,
    cases=16,
)
