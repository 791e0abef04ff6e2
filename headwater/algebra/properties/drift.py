"""Drift: columns that a second computation over the same rows may give other last digits.

Sums of floating-point numbers depend on the order of rows, and sketches do. A change computes
again what the rows of before had made. Where such a column decides which rows there are, the answer
may be another one, and the change is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from headwater.algebra.nodes import (
    Aggregate,
    Computed,
    Node,
    Project,
    Scalar,
    Union,
    Window,
    from_bottom,
)
from headwater.algebra.properties.deciding import deciding
from headwater.algebra.scalars import is_floating, names_in

_SKETCHES = (exp.ApproxDistinct, exp.ApproxQuantile)
_EXACT = (
    *(exp.Min, exp.Max, exp.AnyValue, exp.ArgMin, exp.ArgMax, exp.ArrayAgg),
    *(exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue),
    *(exp.PercentRank, exp.CumeDist, exp.PercentileDisc),
)
"""Calls that give values they were given, or count rows."""


def drifting(root: Node) -> frozenset[str] | None:
    """Return the columns of a tree that drift; None if one decides which rows there are."""
    found: dict[Node, frozenset[str]] = {}
    for node in from_bottom(root):
        below = [found[each] for each in node.inputs]
        if any(some & decides for some, decides in zip(below, deciding(node), strict=True)):
            return None
        found[node] = _drifting(node, below)
    return found[root]


def _drifting(node: Node, below: list[frozenset[str]]) -> frozenset[str]:
    match node:
        case Project(_, made):
            return frozenset(_reading(made, below[0]))
        case Aggregate(_, _, made) | Window(calls=made):
            some = {each.name for each in made if _drifts(each.value)}
            passed = below[0] & node.by_name.keys()
            return passed.union(some, _reading(made, below[0]))
        case Union(parts, given):
            pairs = [zip(part.columns, given, strict=True) for part in parts]
            own = zip(below, pairs, strict=True)
            return frozenset(to.name for some, each in own for of, to in each if of.name in some)
    return frozenset[str]().union(*below) & node.by_name.keys()


def _reading(made: Iterable[Computed], drifting: frozenset[str]) -> Iterator[str]:
    return (each.name for each in made if names_in([each.value]) & drifting)


def _drifts(value: Scalar) -> bool:
    return any(
        isinstance(each, _SKETCHES) or (is_floating(each.type) and not isinstance(each, _EXACT))
        for each in value.find_all(exp.AggFunc)
    )
