"""Affected keys: aggregates that do not fold, run again for the keys touched."""

from __future__ import annotations

import pytest

from headwater.algebra.change import ChangeTree, read
from headwater.algebra.nodes import Node, RowsRead
from headwater.plan.rules import affected_keys
from tests.algebra.query import trials
from tests.algebra.rule import Rule
from tests.fuzz import queries


def _keys_of_before(patch: pytest.MonkeyPatch) -> None:
    """The keys touched are looked for among the rows that were there before."""

    def before(root: Node, _: object) -> ChangeTree:
        return ChangeTree(read(root, RowsRead.BEFORE))

    patch.setattr(affected_keys, "change_of", before)


RULE = Rule(
    "affected keys",
    (affected_keys.RULE,),
    trials("keys", queries.grouped),
    _keys_of_before,
)
