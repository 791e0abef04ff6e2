"""Filters stand below the groups whose keys they ask for.

``HAVING k > 3``, and WHERE around a subquery that groups by ``k``, choose rows as well as groups:
then no group is made that nobody sees. Groups that are read twice stay as they are, computed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set as AbstractSet

from headwater.algebra.nodes import Aggregate, Filter, Node, Project, Query, Scalar, from_bottom
from headwater.algebra.scalars import conjunction, conjuncts, names_in


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
    """The rows of a node for which a predicate is true; two filters are one."""
    if isinstance(node, Filter) and node not in shared:
        return _filtered(node.input, _both(node.predicate, predicate), shared)
    terms = conjuncts(predicate)
    passed = set[str]() if node in shared else _passed(node)
    below = [each for each in terms if (reads := names_in([each])) and reads <= passed]
    if not below:
        return Filter(node, predicate)
    found = node.over([_filtered(node.inputs[0], _both(*below), shared)])
    rest = [each for each in terms if not any(each is one for one in below)]
    return Filter(found, _both(*rest)) if rest else found


def _both(*terms: Scalar) -> Scalar:
    """Copies of terms, joined by AND in the order in which they are asked."""
    return conjunction([part.copy() for term in terms for part in conjuncts(term)])


def _passed(node: Node) -> set[str]:
    """The columns by which rows of a node can be chosen below it."""
    match node:
        case Aggregate(_, keys):
            return {*keys}
        case Project(_, outputs):
            return {each.name for each in outputs if each.passed}
    return set()
