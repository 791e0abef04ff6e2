"""Filters stand below the groups whose keys they ask for.

``HAVING k > 3``, and WHERE around a subquery that groups by ``k``, choose rows as well as groups:
then no group is made that nobody sees. Groups that are read twice stay as they are, computed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set as AbstractSet

from sqlglot import exp

from headwater.algebra.nodes import Aggregate, Filter, Node, Project, Query, Scalar, from_bottom
from headwater.algebra.scalars import conjunction, conjuncts


def lower_filters(query: Query) -> Query:
    """Return a tree in which a filter over keys stands below their groups."""
    order = from_bottom(query.root)
    readers = Counter(below for node in order for below in node.inputs)
    made: dict[Node, Node] = {}
    shared: set[Node] = set()
    for node in order:
        inputs = [made[each] for each in node.inputs]
        if isinstance(node, Filter):
            made[node] = _filtered(inputs[0], node.predicate, shared)
        else:
            made[node] = node if inputs == [*node.inputs] else node.over(inputs)
        if readers[node] > 1:
            shared.add(made[node])
    return Query(made[query.root], query.labels)


def _filtered(node: Node, predicate: Scalar, shared: AbstractSet[Node]) -> Node:
    """The rows of a node for which a predicate is true."""
    terms = conjuncts(predicate)
    passed = set[str]() if node in shared else _passed(node)
    below = [each for each in terms if (reads := _reads(each)) and reads <= passed]
    if not below:
        return _joined(node, predicate, shared)
    lowered = conjunction([each.copy() for each in below])
    found = node.over([_filtered(node.inputs[0], lowered, shared)])
    rest = [each.copy() for each in terms if not any(each is one for one in below)]
    return _joined(found, conjunction(rest), shared) if rest else found


def _joined(node: Node, predicate: Scalar, shared: AbstractSet[Node]) -> Filter:
    """A filter; of two, one that asks for what the lower one asks for first."""
    if not isinstance(node, Filter) or node in shared:
        return Filter(node, predicate)
    terms = [*conjuncts(node.predicate), *conjuncts(predicate)]
    return Filter(node.input, conjunction([each.copy() for each in terms]))


def _passed(node: Node) -> set[str]:
    """The columns by which rows of a node can be chosen below it."""
    match node:
        case Aggregate(_, keys):
            return {*keys}
        case Project(_, outputs):
            return {each.name for each in outputs if each.passed}
    return set()


def _reads(scalar: Scalar) -> set[str]:
    return {each.name for each in scalar.find_all(exp.Column)}
