"""Where the boxes and lines of a graph go: from left to right, what is read before what reads it.

In: names, and pairs of them. Out: coordinates. A box stands one column after the last of its
inputs. A line that passes a column gets a place of its own there, so it crosses no box. Boxes are
sorted and moved towards the middle of their neighbours (the method of Sugiyama).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

WIDTH, HEIGHT = 192, 46
"""Size of a box."""
ACROSS, DOWN = 64, 14
"""Free space between two columns, and between two boxes of one column."""
LANE = 10
"""Height that a passing line takes."""
MARGIN = 4
_SWEEPS = 6

Item = str | tuple[int, int]
"""A box by its name, or the place of a line (its number) in a column."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line from an input to its reader.

    Attributes:
        source: the input.
        target: the reader.
        path: the line, as ``d`` of an SVG path.
    """

    source: str
    target: str
    path: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph with coordinates.

    Attributes:
        boxes: left upper corner of each box by name; column after column, from top to bottom.
        lines: the lines.
        width: width of all.
        height: height of all.
    """

    boxes: Mapping[str, tuple[int, int]]
    lines: Sequence[Line]
    width: int
    height: int


def draw(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> Drawing:
    """Place boxes and lines.

    Args:
        names: the boxes, inputs before what reads them.
        edges: pairs of input and reader.
    """
    rank: dict[str, int] = {}
    inputs = defaultdict(list)
    for source, target in edges:
        inputs[target].append(source)
    for name in names:
        rank[name] = max((rank[each] + 1 for each in inputs[name] if each in rank), default=0)
    edges = [(s, t) for s, t in edges if s in rank and t in rank and rank[s] < rank[t]]
    columns: list[list[Item]] = [[] for _ in range(max(rank.values(), default=-1) + 1)]
    for name in names:
        columns[rank[name]].append(name)
    chains: list[list[Item]] = []
    for number, (source, target) in enumerate(edges):
        passed: list[Item] = [(number, at) for at in range(rank[source] + 1, rank[target])]
        for at, item in enumerate(passed, rank[source] + 1):
            columns[at].append(item)
        chains.append([source, *passed, target])
    places = _placed(columns, chains)
    x = {at: MARGIN + at * (WIDTH + ACROSS) for at in range(len(columns))}
    boxes = {
        item: (x[at], round(places[item]))
        for at, column in enumerate(columns)
        for item in column
        if isinstance(item, str)
    }
    lines = [
        Line(s, t, _path([(x[rank[s] + n], places[i], i) for n, i in enumerate(chain)]))
        for (s, t), chain in zip(edges, chains, strict=True)
    ]
    bottom = max((places[i] + _height(i) for column in columns for i in column), default=0)
    width = len(columns) * (WIDTH + ACROSS) - ACROSS + 2 * MARGIN
    return Drawing(boxes, lines, max(width, 0), round(bottom) + MARGIN)


def _placed(columns: Sequence[list[Item]], chains: Sequence[list[Item]]) -> dict[Item, float]:
    """Sort each column by the middle of its neighbours, and return the top of each item."""
    before: dict[Item, list[Item]] = defaultdict(list)
    after: dict[Item, list[Item]] = defaultdict(list)
    for chain in chains:
        for left, right in pairwise(chain):
            before[right].append(left)
            after[left].append(right)
    places: dict[Item, float] = {}
    for column in columns:
        _stack(column, places, {})
    for sweep in range(_SWEEPS):
        forward = sweep % 2 == 0
        neighbours = before if forward else after
        for column in columns if forward else columns[::-1]:
            wanted = {
                item: sum(_middle(each, places) for each in found) / len(found) - _height(item) / 2
                for item in column
                if (found := neighbours[item])
            }
            column.sort(key=lambda item: wanted.get(item, places[item]))  # noqa: B023
            _stack(column, places, wanted)
    top = min(places.values(), default=0.0) - MARGIN
    return {item: place - top for item, place in places.items()}


def _stack(column: Sequence[Item], places: dict[Item, float], wanted: Mapping[Item, float]) -> None:
    """Put items below each other, as near as can be to the places that are wanted."""
    free = float("-inf")
    for item in column:
        places[item] = max(wanted.get(item, places.get(item, 0.0)), free)
        free = places[item] + _height(item) + DOWN
    off = [places[item] - place for item, place in wanted.items()]
    shift = sum(off) / len(off) if off else 0.0
    for item in column:
        places[item] -= shift


def _height(item: Item) -> int:
    return HEIGHT if isinstance(item, str) else LANE


def _middle(item: Item, places: Mapping[Item, float]) -> float:
    return places[item] + _height(item) / 2


def _path(points: Sequence[tuple[int, float, Item]]) -> str:
    """Return a smooth line through the items of a chain."""
    (x, top, first), *rest = points
    y = top + _height(first) / 2
    path = [f"M{x + WIDTH} {y:.0f}"]
    x += WIDTH
    for left, place, item in rest:
        to = place + _height(item) / 2
        half = (left - x) / 2
        path.append(f"C{x + half:.0f} {y:.0f} {left - half:.0f} {to:.0f} {left} {to:.0f}")
        x, y = left, to
        if not isinstance(item, str):
            path.append(f"H{left + WIDTH}")
            x = left + WIDTH
    return "".join(path)
