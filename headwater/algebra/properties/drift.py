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
    AsOf,
    Computed,
    Elements,
    Filter,
    Fixpoint,
    FlatMap,
    Join,
    Match,
    Node,
    Project,
    Scalar,
    Scan,
    Self,
    Session,
    SetOperation,
    TimeWindows,
    Top,
    Union,
    Values,
    Window,
    from_bottom,
)
from headwater.algebra.scalars import names_in

_INEXACT = {exp.DType.FLOAT, exp.DType.DOUBLE}
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
        below = frozenset[str]().union(*(found[each] for each in node.inputs))
        if below & _decides(node):
            return None
        found[node] = _drifting(node, [found[each] for each in node.inputs])
    return found[root]


def _decides(node: Node) -> set[str]:
    """The columns below by which a node tells rows apart."""
    match node:
        case Filter(_, predicate):
            return names_in([predicate])
        case FlatMap(_, Elements(arrays)):
            return names_in(arrays)
        case FlatMap(_, TimeWindows(call)):
            return names_in([call])
        case Join(_, _, _, equal, residual):
            sides = [side for each in equal for side in (each.left, each.right)]
            return names_in([*sides, *_given(residual)])
        case AsOf(_, _, equal, at, order, _, held):
            sides = [side for each in equal for side in (each.left, each.right)]
            return names_in([*sides, at, *order, *_given(held)])
        case Aggregate(_, keys):
            return {*keys}
        case Session(_, keys, time):
            return {*keys, time}
        case SetOperation(left, right):
            return {each.name for side in (left, right) for each in side.columns}
        case Window(_, partition, order):
            return names_in([*partition, *order])
        case Top(_, order):
            return names_in(order)
        case Match(input) | Fixpoint(_, input):
            return {each.name for each in input.columns}
        case Scan() | Values() | Project() | Union() | Self():
            return set()
    raise NotImplementedError(type(node).__name__)


def _given(scalar: Scalar | None) -> list[Scalar]:
    return [] if scalar is None else [scalar]


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
    calls = value.find_all(exp.AggFunc)
    return any(isinstance(each, _SKETCHES) or _sums(each) for each in calls)


def _sums(call: exp.AggFunc) -> bool:
    kind = call.type
    inexact = isinstance(kind, exp.DataType) and kind.this in _INEXACT
    return inexact and not isinstance(call, _EXACT)
