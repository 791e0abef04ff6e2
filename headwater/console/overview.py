"""The first page: the graph of a project, and its numbers.

In: a reading of a project. Out: boxes and lines with states, and sums over all relations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headwater.analyze.definitions import CHANGES
from headwater.console.graph import HEIGHT, WIDTH, Line, draw
from headwater.console.project_reader import ProjectReading
from headwater.console.text import rate as rate_in_words
from headwater.serve.status import Status

TONES: Mapping[str, str] = {
    **dict.fromkeys(("running", "done", "external"), "good"),
    **dict.fromkeys(("starting", "backing off", "blocked", "paused"), "warn"),
    **dict.fromkeys(("failed", "broken", "unreadable"), "bad"),
}
"""How a state is coloured; the others are calm."""
IN_PLACE = "read in place"
"""What is said of a SOURCE, which has no table."""
_SEVERITY = ("good", "calm", "warn", "bad")


@dataclass(frozen=True, slots=True)
class Box:
    """A relation in the graph.

    Attributes:
        name: its name.
        kind: ``source``, ``table``, ``view`` or ``sink``.
        state: its state; of a keyed table, that of its log if the log is in trouble.
        note: what is worth a number in the box: rows/s, commits behind, quarantined rows.
        problem: the last error, or an empty text.
        x: left edge.
        y: upper edge.
        before: the inputs of it, for the left arrow key.
        after: what reads it, for the right arrow key.
    """

    name: str
    kind: str
    state: str
    note: str
    problem: str
    x: int
    y: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Graph:
    """The graph of a project, placed.

    Attributes:
        boxes: its boxes, column after column.
        lines: its lines.
        width: width of all.
        height: height of all.
        box_width: width of a box.
        box_height: height of a box.
    """

    boxes: Sequence[Box]
    lines: Sequence[Line]
    width: int
    height: int
    box_width: int = WIDTH
    box_height: int = HEIGHT


def reads_of(look: ProjectReading) -> Mapping[str, Sequence[str]]:
    """Return by name what each relation reads, also of what the project leaves out."""
    catalog = look.project.catalog
    reads: dict[str, Sequence[str]] = dict.fromkeys(catalog.sources, ())
    reads |= {name: view.inputs for name, view in catalog.views.items()}
    reads |= {name: (sink.view,) for name, sink in catalog.sinks.items()}
    for name in look.project.broken:
        defined = look.project.definitions.get(name)
        reads[name] = defined.reads if defined else ()
    return reads


def graph_of(look: ProjectReading) -> Graph:
    """Return the graph of a project; the log of a keyed table is not shown if nothing else is."""
    reads = reads_of(look)
    names = [name for name in reads if not name.endswith(CHANGES)]
    edges = [
        (each.removesuffix(CHANGES), name)
        for name in names
        for each in dict.fromkeys(reads[name])
        if each.removesuffix(CHANGES) != name
    ]
    placed = draw(_in_order(names, edges), edges)
    statuses = {each.name: each for each in look.relations}
    boxes = [
        Box(
            name,
            *_shown(look, name, [statuses[n] for n in (name, name + CHANGES) if n in statuses]),
            *at,
            before=next((source for source, target in edges if target == name), ""),
            after=next((target for source, target in edges if source == name), ""),
        )
        for name, at in sorted(placed.boxes.items(), key=lambda each: each[1])
    ]
    return Graph(boxes, placed.lines, placed.width, placed.height)


def _shown(look: ProjectReading, name: str, found: Sequence[Status]) -> tuple[str, str, str, str]:
    """Return kind, state, note and problem of a box; a keyed table is shown with its log."""
    if not found:
        broken = look.project.broken.get(name)
        state = broken.state if broken else IN_PLACE
        return _kind(look, name), state, "", broken.reason if broken else ""
    worst = max(found, key=lambda each: _SEVERITY.index(TONES.get(each.state, "calm")))
    bad = sum(each.quarantined or 0 for each in found)
    rate = max(each.rate or 0 for each in found)
    lag = found[0].lag
    notes = (
        f"{bad:,} quarantined" if bad else "",
        f"{lag:,} behind" if lag else "",
        f"{rate_in_words(rate)} rows/s" if rate else "",
    )
    note = next(filter(None, notes), found[0].kind)
    return found[0].kind, worst.state, note, worst.problem


def _kind(look: ProjectReading, name: str) -> str:
    if name in look.project.broken:
        return look.project.broken[name].kind
    catalog = look.project.catalog
    return "sink" if name in catalog.sinks else "view" if name in catalog.views else "source"


def _in_order(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> list[str]:
    """Sort names so that inputs come before what reads them; definitions with errors may not."""
    inputs: dict[str, list[str]] = {name: [] for name in names}
    for source, target in edges:
        if source in inputs:
            inputs[target].append(source)
    found: dict[str, None] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        for each in inputs[name]:
            if each not in found and each not in above:
                visit(each, (*above, name))
        found.setdefault(name)

    for name in names:
        visit(name, ())
    return list(found)


def sums(look: ProjectReading) -> Mapping[str, object]:
    """Return what the strip of numbers shows."""
    tables = [each for each in look.relations if each.kind == "table"]
    states = Counter(TONES.get(each.state, "calm") for each in look.relations)
    return {
        "relations": len(look.relations),
        "bad": states["bad"],
        "rate": sum(each.rate or 0 for each in tables),
        "late": sum(each.late or 0 for each in look.relations if each.kind == "view"),
        "quarantined": sum(each.quarantined or 0 for each in look.relations),
        "lag": max((each.lag or 0 for each in look.relations), default=0),
    }
