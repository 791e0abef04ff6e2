"""Affected groups for Top-N: the first rows are among those held and those that came."""

from __future__ import annotations

import pytest

from headwater.plan.rules import top
from tests.algebra.query import trials
from tests.algebra.rule import Rule
from tests.fuzz import queries


def _only_what_came(patch: pytest.MonkeyPatch) -> None:
    """What the table holds is not ranked with what came."""
    patch.setattr(top, "CURRENT", "(SELECT * FROM __current WHERE false)")


RULE = Rule(
    "top",
    (top.RULE,),
    trials("first rows", queries.first),
    _only_what_came,
)
