"""Moves: whether the watermark alone can change the rows of a tree."""

from __future__ import annotations

from headwater.algebra.nodes import Node, Scan, from_bottom, nodes_of
from headwater.dialect.syntax import ViewWatermark


def moves(root: Node) -> bool:
    """Return whether rows come, go or change as the watermark moves on, and nothing else."""
    ages = [each.ages for each in nodes_of(root, Scan)]
    return shows_watermark(root) or any(each.within or each.dated for each in ages)


def shows_watermark(root: Node) -> bool:
    """Return whether a value of a tree is computed from the watermark itself."""
    return any(map(asks_clock, from_bottom(root)))


def asks_clock(node: Node) -> bool:
    """Return whether a node itself computes something from the watermark."""
    return any(each.find(ViewWatermark) for each in node.scalars)
