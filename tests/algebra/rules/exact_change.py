"""Exact change: joined rows with a key, over inputs whose rows come, change and go."""

from __future__ import annotations

import pytest

from headwater.plan.rules import exact_change
from headwater.plan.rules.join_patterns import RowsRead
from tests.algebra.mistakes import read_otherwise
from tests.algebra.query import trials
from tests.algebra.rule import Rule
from tests.fuzz import queries


def _never_both(patch: pytest.MonkeyPatch) -> None:
    """A change of the first item meets the others as they were: what came in both is missing."""
    read_otherwise(patch, {RowsRead.AFTER: RowsRead.BEFORE})


RULE = Rule(
    "exact change",
    (exact_change.RULE,),
    trials("exact change", queries.keyed),
    _never_both,
    cases=16,
)
