"""Curves: what a step costs against the size of something, and the exponent that fits.

In: points. Out: a table and a chart. A cost that grows like size^e has the exponent e: 0 means that
the size does not matter, 1 that twice the size costs twice as much.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

BEND = 1.1
"""An exponent of the last two points above this is a curve that bends upwards."""


@dataclass(frozen=True, slots=True)
class Point:
    """One size, and what a step costs at it.

    Attributes:
        size: how many of what the axis counts.
        cpu: CPU seconds, compiling of bytecode left out.
        wall: seconds, None where a process was watched from outside.
    """

    size: float
    cpu: float
    wall: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """What a step costs along one axis.

    Attributes:
        axis: what grows.
        step: what is measured, with what stays the same.
        points: in the order of their sizes.
    """

    axis: str
    step: str
    points: tuple[Point, ...]

    @property
    def exponent(self) -> float:
        """Exponent that fits all points: the slope of a line through their logarithms."""
        return _slope(self.points)

    @property
    def last_exponent(self) -> float:
        """Exponent between the last two points."""
        return _slope(self.points[-2:])

    @property
    def bends(self) -> bool:
        """Whether the cost grows faster than the size at the end."""
        return self.last_exponent > BEND

    def lines(self) -> list[str]:
        """Return the curve as lines of a table."""
        head = f"{self.axis}: {self.step}"
        rows = [
            f"  {point.size:>13,.0f}  {point.cpu:8.3f} CPU s"
            + (f"  {point.wall:8.3f} s" if point.wall is not None else "")
            for point in self.points
        ]
        bend = "  BENDS UPWARDS" if self.bends else ""
        ends = f"  exponent {self.exponent:.2f}, at the end {self.last_exponent:.2f}{bend}"
        return [head, *rows, ends]


def _slope(points: Sequence[Point]) -> float:
    sizes = [math.log(point.size) for point in points]
    costs = [math.log(max(point.cpu, 0.001)) for point in points]  # a millisecond is the least told
    return statistics.linear_regression(sizes, costs).slope
