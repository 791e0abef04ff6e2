"""Columns that nobody reads go: from scans, projections, aggregates, windows and unions.

A subtree that is read twice keeps what either of its readers needs, and stays one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import replace

from headwater.algebra.nodes import (
    Aggregate,
    AsOf,
    Computed,
    Filter,
    Fixpoint,
    FlatMap,
    Join,
    Match,
    Node,
    Project,
    Query,
    Scan,
    Self,
    Session,
    SetOperation,
    Top,
    Union,
    Values,
    Window,
    from_bottom,
)
from headwater.algebra.properties.deciding import deciding
from headwater.algebra.scalars import names_in, passed_on


def prune(query: Query) -> Query:
    """Return a tree whose nodes have the columns that are read, and those that make rows."""
    order = from_bottom(query.root)
    needs: dict[Node, set[str]] = defaultdict(set)
    needs[query.root] |= {name for _, name in query.labels}
    read: dict[Node, list[AbstractSet[str]]] = {}
    for node in reversed(order):
        read[node] = _read(node, needs[node])
        for below, names in zip(node.inputs, read[node], strict=True):
            needs[below] |= names
    made: dict[Node, Node] = {}
    for node in order:
        inputs = [
            _scan(below, names) if isinstance(below, Scan) else made[below]
            for below, names in zip(node.inputs, read[node], strict=True)
        ]
        made[node] = _pruned(node, inputs, needs[node])
    return Query(made[query.root], query.labels)


def _read(node: Node, needed: AbstractSet[str]) -> list[AbstractSet[str]]:
    """What a node reads of each of its inputs, if so much is needed of it."""
    match node:
        case Project(_, outputs):
            return [names_in(each.value for each in outputs if each.name in needed)]
        case Aggregate(_, keys):
            return [{*keys, *names_in(each.value for each in _measures(node, needed))}]
        case Window(input, frame=frame, calls=calls):
            kept = [each.value for each in calls if each.name in needed]
            read = names_in([*kept, *([frame] if frame else [])]).union(*deciding(node))
            return [(needed & input.by_name.keys()) | (read if kept else set())]
        case Union(parts):
            places = _places(node, needed)
            return [{part.columns[at].name for at in places} for part in parts]
    both = zip(node.inputs, deciding(node), strict=True)
    return [(needed & below.by_name.keys()) | decides for below, decides in both]


def _scan(node: Scan, needed: Collection[str]) -> Scan:
    """A scan of what one reader needs: others have scans of their own."""
    return replace(node, reads=tuple(each for each in node.reads if each[0].name in needed))


def _pruned(node: Node, inputs: list[Node], needed: Collection[str]) -> Node:
    """The node over other inputs, with what is needed of it."""
    match node:
        case Scan():
            return _scan(node, needed)
        case Values() | Self():
            return node
        case Project(_, outputs):
            kept = tuple(each for each in outputs if each.name in needed)
            if all(each.passed for each in kept) and [each.name for each in kept] == [
                each.name for each in inputs[0].columns
            ]:
                return inputs[0]
            return Project(inputs[0], kept)
        case Filter() | Top() | FlatMap() | Session() | Join() | AsOf():
            return node.over(inputs)
        case Match() | Fixpoint() | SetOperation():
            return _exact(node, inputs)
        case Aggregate(_, keys):
            return Aggregate(inputs[0], keys, _measures(node, needed))
        case Window(calls=calls):
            kept = tuple(each for each in calls if each.name in needed)
            return replace(node, input=inputs[0], calls=kept) if kept else inputs[0]
        case Union(parts, given):
            places = _places(node, needed)
            kept_parts = [
                _only(each, [part.columns[at].name for at in places])
                for each, part in zip(inputs, parts, strict=True)
            ]
            return Union(tuple(kept_parts), tuple(given[at] for at in places))
    raise NotImplementedError(type(node).__name__)


def _measures(node: Aggregate, needed: Collection[str]) -> tuple[Computed, ...]:
    """The measures that are needed; without keys one at least, which makes it one row."""
    kept = tuple(each for each in node.measures if each.name in needed)
    return kept if kept or node.keys else node.measures[:1]


def _places(node: Union, needed: Collection[str]) -> list[int]:
    """The places of the columns that are needed; one at least, for SQL has no rows of none."""
    kept = [at for at, each in enumerate(node.given) if each.name in needed]
    return kept or [0]


def _exact(node: Match | Fixpoint | SetOperation, inputs: list[Node]) -> Node:
    """A node that reads its inputs by place, over inputs with the same columns in order."""
    own = [
        _only(each, [c.name for c in was.columns])
        for each, was in zip(inputs, node.inputs, strict=True)
    ]
    return node.over(own)


def _only(node: Node, names: list[str]) -> Node:
    """Return a node with just these columns in this order."""
    if [each.name for each in node.columns] == names:
        return node
    return Project(node, tuple(passed_on(node.by_name[each]) for each in names))
