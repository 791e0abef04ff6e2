"""Which input holds the watermark of a view back, and since when.

In: the commits of its inputs, newest first. Out: the input with the least watermark, if another one
is further.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.lake.protocol.history import Commit


@dataclass(frozen=True, slots=True)
class HeldBack:
    """An input that a view waits for.

    Attributes:
        name: the input.
        since: when its watermark last moved, or its first commit that is kept.
    """

    name: str
    since: datetime


def held_back(histories: Mapping[str, Sequence[Commit]]) -> HeldBack | None:
    """Return what holds the watermark of a view back, None if its inputs are equally far.

    Args:
        histories: the commits of each input that has a watermark to give, newest first.
    """
    known = {name: commits for name, commits in histories.items() if commits}
    marks = {name: commits[0].marker.watermark for name, commits in known.items()}
    if len(set(marks.values())) < 2:
        return None
    name = min(marks, key=lambda each: (marks[each] is not None, marks[each] or 0))
    first = known[name][0]
    for commit in known[name]:
        if commit.marker.watermark != marks[name]:
            break
        first = commit
    return HeldBack(name, first.committed_at)
