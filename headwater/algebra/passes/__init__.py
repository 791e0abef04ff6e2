"""The passes: functions from tree to tree, each of which leaves what the tree means."""

from __future__ import annotations

from collections.abc import Callable

from headwater.algebra.nodes import Query
from headwater.algebra.passes.lower_filters import lower_filters
from headwater.algebra.passes.prune import prune

Pass = Callable[[Query], Query]

PASSES: tuple[Pass, ...] = (
    lower_filters,  # first: a column that only a filter reads is then read below the groups alone
    prune,  # last: what the others have left without a reader goes
)
"""In the order in which they run; each says why it stands where it does."""


def passed(query: Query) -> Query:
    """Return a tree after all passes."""
    for each in PASSES:
        query = each(query)
    return query
