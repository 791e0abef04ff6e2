"""Inputs stand to the left, no two boxes in one place, and no line passes through a box."""

from __future__ import annotations

import random
import re
from itertools import combinations

import pytest

from headwater.console.graph import HEIGHT, WIDTH, draw


def random_graph(seed: int) -> tuple[list[str], list[tuple[str, str]]]:
    chance = random.Random(seed)
    names = [f"n{number}" for number in range(chance.randint(1, 40))]
    edges = {
        (chance.choice(names[:at]), name)
        for at, name in enumerate(names)
        if at
        for _ in range(chance.randint(0, 3))
    }
    return names, sorted(edges)


@pytest.mark.parametrize("seed", range(30))
def test_boxes_are_apart_and_inputs_are_to_the_left(seed: int) -> None:
    names, edges = random_graph(seed)
    found = draw(names, edges)
    assert set(found.boxes) == set(names)
    for (x, y), (other_x, other_y) in combinations(found.boxes.values(), 2):
        assert abs(x - other_x) >= WIDTH or abs(y - other_y) >= HEIGHT
    for source, target in edges:
        assert found.boxes[source][0] + WIDTH <= found.boxes[target][0]
    for x, y in found.boxes.values():
        assert 0 <= x <= found.width - WIDTH and 0 <= y <= found.height - HEIGHT


@pytest.mark.parametrize("seed", range(30))
def test_a_line_that_passes_a_column_crosses_no_box_there(seed: int) -> None:
    found = draw(*random_graph(seed))
    for line in found.lines:
        # a straight piece: it begins where the curve before it ends
        for y, right in re.findall(r" (\d+)H(\d+)", line.path):
            left = int(right) - WIDTH
            for name, (x, top) in found.boxes.items():
                if x == left and name not in (line.source, line.target):
                    assert not top <= int(y) <= top + HEIGHT


def test_nothing_is_a_drawing_too() -> None:
    assert draw([], []).boxes == {}


def test_definitions_that_read_each_other_end() -> None:
    found = draw(["a", "b"], [("a", "b"), ("b", "a")])
    assert set(found.boxes) == {"a", "b"}
