"""Mistakes that several tests plant in the product."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from headwater.plan.rules.exact_change import ExactChange
from headwater.plan.rules.join_patterns import RowsRead


def read_otherwise(patch: pytest.MonkeyPatch, states: Mapping[RowsRead, RowsRead]) -> None:
    """Let a change be joined with other rows of the items that do not change.

    Args:
        patch: undoes it.
        states: by the rows that are to be read, those that are.
    """
    reader = ExactChange._reader
    patch.setattr(
        ExactChange,
        "_reader",
        lambda self, state, changing: reader(self, states.get(state, state), changing),
    )
