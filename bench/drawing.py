"""Charts for the documentation, as SVG: lines, growth and stacked bars.

In: figures by name. Out: the text of a file. No library of the project draws, and three charts are
not worth one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, log10

COLOURS = (
    *("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b"),
    *("#d62728", "#17becf", "#7f7f7f", "#bcbd22"),
)
_FONT = 'font-family="sans-serif" font-size="12"'
_INK = "#555"
_LEFT, _TOP, _WIDTH, _ROW = 250, 40, 480, 26


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    across: str,
    up: str,
    marks: Sequence[float],
) -> str:
    """Draw lines through points.

    Args:
        series: points by name; x begins at 0, y lies between the first and the last mark.
        across: what x is, with its unit.
        up: what y is.
        marks: values of y with a line of their own.
    """
    height, left = 260, 60
    most = max(x for points in series.values() for x, _ in points) * 1.05

    def place(x: float, y: float) -> tuple[float, float]:
        share = (y - marks[0]) / (marks[-1] - marks[0])
        return left + x / most * _WIDTH, _TOP + height * (1 - share)

    parts = [_text(left, 20, up)]
    for mark in marks:
        x, y = place(0, mark)
        parts += [_line((x, y), (x + _WIDTH, y)), _text(x - 8, y + 4, f"{mark:g}", "end")]
    for step in range(0, int(most) + 1, _step(most)):
        x, y = place(step, marks[0])
        parts.append(_text(x, y + 18, str(step), "middle"))
    parts.append(_text(left + _WIDTH / 2, _TOP + height + 38, across, "middle"))
    for colour, points in zip(COLOURS, series.values(), strict=False):
        parts += _path(colour, [place(*point) for point in points])
    parts += _legend([*series], left + _WIDTH - 150, _TOP + height - 20 * len(series))
    return _svg(left + _WIDTH + 20, _TOP + height + 50, parts)


def growth(series: Mapping[str, Sequence[tuple[float, float]]], across: str, up: str) -> str:
    """Draw how much more something costs the more there is, both as factors by powers of ten.

    Args:
        series: size and cost by name.
        across: what the factor of the sizes is of.
        up: what the factor of the costs is of.
    """
    height, left, decade = 320, 60, 80
    grown = {
        name: [(log10(size / points[0][0]), log10(cost / points[0][1])) for size, cost in points]
        for name, points in series.items()
    }
    widest = ceil(max(x for points in grown.values() for x, _ in points))

    def place(x: float, y: float) -> tuple[float, float]:
        return left + x * _WIDTH / widest, _TOP + height - (y + 0.5) * decade

    parts = [_text(left, 20, up)]
    for power in range(4):
        x, y = place(0, power)
        parts += [_line((x, y), (left + _WIDTH, y)), _text(x - 8, y + 4, f"{10**power}", "end")]
    for power in range(widest + 1):
        x, y = place(power, -0.5)
        parts += [_line((x, _TOP), (x, y)), _text(x, y + 18, f"{10**power:,}", "middle")]
    parts.append(_text(left + _WIDTH / 2, _TOP + height + 38, across, "middle"))
    parts.append(_line(place(0, 0), place(3, 3)))  # twice the size, twice the cost
    for colour, points in zip(COLOURS, grown.values(), strict=False):
        parts += _path(colour, [place(*point) for point in points])
    parts += _legend([*series], left + _WIDTH + 10, _TOP)
    return _svg(left + _WIDTH + 150, _TOP + height + 50, parts)


def stacked(rows: Mapping[str, Mapping[str, float]], unit: str) -> str:
    """Draw a bar of parts for each row.

    Args:
        rows: the parts of each row by name, all with the same names.
        unit: of the parts.
    """
    most = max(sum(parts.values()) for parts in rows.values()) * 1.05
    bottom = _TOP + _ROW * len(rows)
    found = _legend([*next(iter(rows.values()))], _LEFT, 8, beside=True)
    for step in range(0, int(most) + 1, _step(most)):
        x = _LEFT + step / most * _WIDTH
        found += [
            _line((x, _TOP - 6), (x, bottom)),
            _text(x, bottom + 16, f"{step} {unit}", "middle"),
        ]
    for row, (name, parts) in enumerate(rows.items()):
        y, x = _TOP + _ROW * row, float(_LEFT)
        found.append(_text(_LEFT - 8, y + 14, name, "end"))
        for colour, value in zip(COLOURS, parts.values(), strict=False):
            width = value / most * _WIDTH
            found.append(_box(x, y, width, _ROW - 8, colour))
            x += width
    return _svg(_LEFT + _WIDTH + 30, bottom + 30, found)


def _path(colour: str, places: Sequence[tuple[float, float]]) -> list[str]:
    """A line through places, with a dot at each."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *dots]


def _step(most: float) -> int:
    return next(step for step in (1, 2, 5, 10, 20, 50, 100, 200) if most / step <= 8)


def _legend(names: Sequence[str], x: float, y: float, *, beside: bool = False) -> list[str]:
    found = []
    for number, name in enumerate(names):
        found += [_box(x, y, 12, 12, COLOURS[number]), _text(x + 18, y + 11, name)]
        x, y = (x + 30 + 7 * len(name), y) if beside else (x, y + 18)
    return found


def _box(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" fill="{colour}"/>'


def _line(one: tuple[float, float], other: tuple[float, float]) -> str:
    ends = f'x1="{one[0]:.1f}" y1="{one[1]:.1f}" x2="{other[0]:.1f}" y2="{other[1]:.1f}"'
    return f'<line {ends} stroke="#ddd"/>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} {_FONT} fill="{_INK}">{escape(text)}</text>'


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"'
    ground = f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>'
    return "\n".join([f'{head} width="{width:.0f}">', ground, *parts, "</svg>", ""])
