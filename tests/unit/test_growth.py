"""Curves of growth: the exponent that fits, what bends, the lines of a cluster, the chart."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from bench.growth.__main__ import chart
from bench.growth.cluster import Model, Share
from bench.growth.curve import Curve, Point


def curve(*costs: float, axis: str = "rows") -> Curve:
    """What a step costs at 1, 10, 100, …"""
    points = tuple(Point(10**power, cost) for power, cost in enumerate(costs))
    return Curve(axis, "a tick", points)


@pytest.mark.parametrize(
    ("costs", "exponent", "bends"),
    [
        ((2.0, 2.0, 2.0), 0.0, False),
        ((0.1, 1.0, 10.0), 1.0, False),
        ((1.0, 10.0, 1000.0), 1.5, True),
        ((1.0, 0.1, 0.01), -1.0, False),
    ],
)
def test_an_exponent_is_a_slope_of_logarithms(
    costs: tuple[float, ...], exponent: float, bends: bool
) -> None:
    found = curve(*costs)
    assert found.exponent == pytest.approx(exponent)
    assert found.bends == bends
    assert ("BENDS" in found.lines()[-1]) == bends


def test_a_cost_below_a_millisecond_has_an_exponent() -> None:
    assert curve(0.0, 0.0).exponent == 0


def test_lines_of_a_cluster_are_those_of_what_was_measured() -> None:
    model = Model.fitted({tasks: Share(0.5 + tasks / 100, 4 + tasks / 10) for tasks in (2, 8, 32)})
    assert model.at(100).driver == pytest.approx(1.5)
    assert model.at(100).executors == pytest.approx(14)
    assert model.seconds(tasks=100, executors=50) == pytest.approx(1.5 + 14 / 50)
    # tasks that are fewer than the executors leave some of them idle
    assert model.seconds(tasks=8, executors=100) == pytest.approx(0.58 + 4.8 / 8)


def test_a_chart_has_a_line_per_curve_and_a_dot_per_point() -> None:
    drawn = ET.fromstring(chart([curve(1, 2, 4), curve(1, 1, 1, axis="keys")]))
    tags = [element.tag.rpartition("}")[2] for element in drawn.iter()]
    assert tags.count("polyline") == 2
    assert tags.count("circle") == 6
