"""Which joined rows a change can touch: a FROM clause with one item replaced by its change.

In: how the items of a FROM clause are joined. Out: patterns; each says for every item which of its
rows stand there, or that its columns are NULL. The rows of all patterns together hold every joined
row that is there before a change and not after it, or the other way round.

A joined row differs for one of two reasons: it holds a row that changed, or an outer join found
nothing for it and found something before. So the row of each outer join's optional side is taken
both as it was found and as NULL (Griffin and Kumar, "Algebraic change propagation for semijoin and
outerjoin queries", SIGMOD Record 1998, derive exact changes; a superset is enough here).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from headwater.algebra.nodes import RowsRead


@dataclass(frozen=True, slots=True)
class PatternItem:
    """What stands for one item of FROM.

    Attributes:
        state: the rows that are joined; None if nothing is, and its columns are NULL.
        null_after: number of the join after which its columns are NULL, None if they are not.
    """

    state: RowsRead | None
    null_after: int | None = None


Pattern = tuple[PatternItem, ...]

LATERAL = "LATERAL"
"""Side of an UNNEST, which changes only with the row that it unnests."""

_ABSENT = PatternItem(None, -1)


def patterns(
    sides: Sequence[str], unused: Collection[int] = ()
) -> tuple[list[Pattern], list[Pattern]]:
    """Return the patterns of all joined rows, and of those that a change can touch.

    Together they hold every joined row that is there before or after a change, and every one that
    is there only before or only after it.

    Args:
        sides: per item its join's side: empty, ``LEFT``, ``RIGHT``, ``FULL`` or :data:`LATERAL`;
            the first is not looked at.
        unused: items on the optional side of a LEFT JOIN whose columns nobody asks for but their
            own join's condition: whether they were found is all the same.
    """
    known: list[Pattern] = [(PatternItem(RowsRead.ANY),)]
    touched: list[Pattern] = [(PatternItem(RowsRead.CHANGE),)]
    for number, side in enumerate(sides[1:], 1):
        changed = () if side == LATERAL else (PatternItem(RowsRead.CHANGE),)
        found, found_touched = (
            _joined(known, PatternItem(RowsRead.ANY)),
            _joined(touched, PatternItem(RowsRead.ANY)),
        )
        found_changed = [pattern for part in changed for pattern in _joined(known, part)]
        before = (known, touched)
        if number in unused:
            known, touched = [], []
        else:
            known, touched = found, [*found_touched, *found_changed]
        if side in ("LEFT", "FULL"):
            known = known + _joined(before[0], _ABSENT)
            touched = touched + _joined(before[1], _ABSENT)
            touched += _joined(before[0], PatternItem(RowsRead.CHANGE, number))
        if side in ("RIGHT", "FULL"):
            nothing = (_ABSENT,) * number
            known = [*known, (*nothing, PatternItem(RowsRead.ANY))]
            touched = [*touched, (*nothing, PatternItem(RowsRead.CHANGE))]
            touched += [_only_last(pattern, number) for pattern in found_touched]
    return list(dict.fromkeys(known)), list(dict.fromkeys(touched))


def _joined(patterns: Sequence[Pattern], part: PatternItem) -> list[Pattern]:
    return [(*pattern, part) for pattern in patterns]


def _only_last(pattern: Pattern, number: int) -> Pattern:
    """The same joined rows, from which everything before the last item is NULL."""
    before = (
        PatternItem(part.state, number if part.null_after is None else part.null_after)
        for part in pattern[:-1]
    )
    return (*before, pattern[-1])
