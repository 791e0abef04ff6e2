"""Rule 3: aggregates that do not fold, run again for the keys touched."""

from __future__ import annotations

import pytest

from headwater.plan import strategy
from headwater.plan.rules import simple_programs
from tests.algebra.query import trials
from tests.algebra.rule import Rule
from tests.fuzz import queries


def _keys_of_before(patch: pytest.MonkeyPatch) -> None:
    """The keys touched are looked for among the rows that were there before."""
    wrong = type("Wrong", (), {"CHANGE": simple_programs.RowsRead.BEFORE})
    patch.setattr(simple_programs, "RowsRead", wrong)


RULE = Rule(
    "keys",
    (strategy.affected_keys,),
    trials("keys", queries.grouped),
    _keys_of_before,
)
