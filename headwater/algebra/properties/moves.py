"""Moves: whether the watermark alone can change the rows of a tree."""

from __future__ import annotations

from headwater.algebra.nodes import Node, Scan, from_bottom
from headwater.dialect.syntax import ViewWatermark


def moves(root: Node) -> bool:
    """Return whether rows come, go or change as the watermark moves on, and nothing else."""
    scans = (each.ages for each in from_bottom(root) if isinstance(each, Scan))
    return shows_watermark(root) or any(each.within or each.dated for each in scans)


def shows_watermark(root: Node) -> bool:
    """Return whether a value of a tree is computed from the watermark itself."""
    return any(
        scalar.find(ViewWatermark) is not None
        for node in from_bottom(root)
        for scalar in node.scalars
    )
