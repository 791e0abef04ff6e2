"""Deciding: the columns of its inputs by which a node tells rows apart.

They say which rows there are, and which belong together; what a node only computes or passes on is
not among them.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from headwater.algebra.nodes import (
    Aggregate,
    AsOf,
    Elements,
    Filter,
    Fixpoint,
    FlatMap,
    Join,
    Match,
    Node,
    Project,
    Scan,
    Self,
    Session,
    SetOperation,
    TimeWindows,
    Top,
    Union,
    Values,
    Window,
)
from headwater.algebra.scalars import names_in


def deciding(node: Node) -> list[AbstractSet[str]]:
    """Return, for each input of a node, the columns by which it tells its rows apart."""
    match node:
        case Scan() | Values() | Self():
            return []
        case Project() | Union():
            return [set() for _ in node.inputs]
        case Filter(_, predicate):
            return [names_in([predicate])]
        case Top(_, order):
            return [names_in(order)]
        case FlatMap(_, Elements(arrays)):
            return [names_in(arrays)]
        case FlatMap(_, TimeWindows(call)):
            return [names_in([call])]
        case Aggregate(_, keys):
            return [{*keys}]
        case Session(_, keys, time):
            return [{*keys, time}]
        case Window(_, partition, order):
            return [names_in([*partition, *order])]
        case Join(left, right, _, equal, residual):
            both = names_in([] if residual is None else [residual])
            return [
                (both & left.by_name.keys()) | names_in(each.left for each in equal),
                (both & right.by_name.keys()) | names_in(each.right for each in equal),
            ]
        case AsOf(_, _, equal, at, order, _, held):
            versions = [*order, *([] if held is None else [held])]
            return [
                names_in([at, *(each.left for each in equal)]),
                names_in([*versions, *(each.right for each in equal)]),
            ]
        case SetOperation() | Match() | Fixpoint():  # every column makes rows what they are
            return [each.by_name.keys() for each in node.inputs]
    raise NotImplementedError(type(node).__name__)
