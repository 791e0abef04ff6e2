"""Fold: aggregates and DISTINCT whose table takes in what its inputs gain and lose."""

from __future__ import annotations

import pytest

from headwater.plan.rules import fold
from tests.algebra.query import trials
from tests.algebra.rule import Rule
from tests.fuzz import queries
from tests.fuzz.queries import Query
from tests.fuzz.schemas import Draw


def _nothing_goes(patch: pytest.MonkeyPatch) -> None:
    """A row that goes is added, not subtracted."""
    patch.setattr("headwater.plan.rules.folds.SIGN", "1")


def _query(rnd: Draw) -> Query:
    """Every third one within a level that only names its columns."""
    found = queries.folded(rnd)
    if rnd.random() < 0.67:
        return found
    return Query(f"WITH w AS ({found.text}) SELECT * FROM w", found.kinds)


RULE = Rule(
    "fold",
    (fold.RULE,),
    trials("fold", _query),
    _nothing_goes,
    cases=16,
)
