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
)
from headwater.dialect.syntax import ViewWatermark


def only_appends(node: Node, appends: Callable[[str], bool]) -> bool:
    """Return whether no row of a tree ever goes or changes.

    Args:
        node: its root.
        appends: whether a relation only gains rows.
    """
    if any(each.find(ViewWatermark) for each in node.scalars):
        return False
    match node:
        case Scan(relation, ages=ages):
            return appends(relation) and not ages.moves
        case Join(kind=kind) if kind is not JoinKind.INNER:
            return False  # a partner that comes changes a row that is there
        case Aggregate(measures=measures) if measures:
            return False
        case Window() | Top() | SetOperation() | Session() | AsOf() | Match() | Fixpoint() | Self():
            return False
        case Values() | Project() | Filter() | FlatMap() | Union() | Join() | Aggregate():
            return all(only_appends(each, appends) for each in node.inputs)
    raise NotImplementedError(type(node).__name__)
