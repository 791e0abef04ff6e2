"""Appends: whether the rows of a tree only come, while those of what it reads only come."""

from __future__ import annotations

from collections.abc import Callable

from headwater.algebra.nodes import (
    Aggregate,
    AsOf,
    Filter,
    Fixpoint,
    FlatMap,
    Join,
    JoinKind,
    Match,
    Node,
    Project,
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
from headwater.algebra.properties.moves import asks_clock


def only_appends(root: Node, appends: Callable[[str], bool]) -> bool:
    """Return whether no row of a tree ever goes or changes.

    Args:
        root: its root.
        appends: whether a relation only gains rows.
    """
    return all(_only_adds(each, appends) for each in from_bottom(root))


def _only_adds(node: Node, appends: Callable[[str], bool]) -> bool:
    """Whether a node loses no row while its inputs lose none."""
    if asks_clock(node):
        return False
    match node:
        case Scan(relation, ages=ages):
            return appends(relation) and not ages.moves
        case Join(kind=kind):
            return kind is JoinKind.INNER  # otherwise a partner that comes changes a row
        case Aggregate(measures=measures):
            return not measures
        case Values() | Project() | Filter() | FlatMap() | Union():
            return True
        case Window() | Top() | SetOperation() | Session() | AsOf() | Match() | Fixpoint() | Self():
            return False
    raise NotImplementedError(type(node).__name__)
