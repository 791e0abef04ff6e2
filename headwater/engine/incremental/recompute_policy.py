"""Recompute: whether a tick goes by its view's rule, or computes the whole view and overwrites it.

In: sizes that are known without a job: rows of the inputs, rows to read for their change, and once
they are counted the keys or units that the change touches. Out: the choice. Either way the table
holds the same rows, hidden columns included, so the next tick can choose anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.lake.iceberg.merge import SMALL_VIEW

CHANGED, TOUCHED, RECOMPUTED = "changed", "touched", "recomputed"
"""Counts in the marker: rows that the inputs gained and lost, or where it is more, those to read to
know them; keys or units touched; 1 if the whole view was computed."""


@dataclass(frozen=True, slots=True)
class RecomputeLimits:
    """Where computing the whole view becomes cheaper.

    Attributes:
        small: rows of all inputs together up to which one job over all of them is cheaper than the
            jobs that find and replace what changed.
        share: the same for the share of the inputs' rows that have to be read for the change, and
            for that of the view's rows that the change touches.
    """

    small: int
    share: float = 0.5

    def by_rows(self, rows: int, held: int | None) -> bool:
        """Return whether to recompute because there is little to read, and little to write.

        Args:
            rows: rows of all inputs.
            held: rows of the view's table; None if that is not known.
        """
        return rows <= self.small and held is not None and held <= SMALL_VIEW

    def by_change(self, changed: int, rows: int) -> bool:
        """Return whether to recompute because the change is much to read.

        Args:
            changed: rows to read for the change of the inputs.
            rows: rows of all inputs.
        """
        return changed >= self.share * rows

    def by_touched(self, touched: int, held: int | None) -> bool:
        """Return whether to recompute, once what the change touches was counted.

        Args:
            touched: keys or units.
            held: rows of the view's table, of which every key or unit has one at least; None if
                that is not known.
        """
        return bool(held) and touched >= self.share * (held or 0)


NEVER = RecomputeLimits(0, float("inf"))
"""No tick but the first recomputes."""
