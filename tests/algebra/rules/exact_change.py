"""Exact change: joined rows with a key, over inputs whose rows come, change and go."""

from __future__ import annotations

import pytest

from headwater.plan.rules import exact_change
from headwater.plan.rules.exact_change import ExactChange
from headwater.plan.rules.join_patterns import RowsRead
from tests.algebra.query import trials
from tests.algebra.rule import Rule
from tests.fuzz import queries


def _never_both(patch: pytest.MonkeyPatch) -> None:
    """A change of the first item meets the others as they were: what came in both is missing."""
    reader, before = ExactChange._reader, {RowsRead.AFTER: RowsRead.BEFORE}
    patch.setattr(
        ExactChange,
        "_reader",
        lambda self, state, changing: reader(self, before.get(state, state), changing),
    )


RULE = Rule(
    "exact change",
    (exact_change.RULE,),
    trials("exact change", queries.keyed),
    _never_both,
    cases=16,
)
