"""Queries that raise on no row: what would fail is NULL instead.

In: a bound query. Out: a copy that gives the same where nothing fails. Rows on which something
fails are left out by the guard (:mod:`headwater.plan.guards.bad_rows`); a group, or a row of a
window, has NULL in the column that cannot be computed.
"""

from __future__ import annotations

from typing import TypeVar, cast

from sqlglot import exp

from headwater.analyze.failing.failing_rows import safely
from headwater.analyze.fallibility.fallible import SAFE, can_fail, sum_leaves_type
from headwater.analyze.fallibility.nonzero_divisors import PROVEN
from headwater.analyze.query_parts import is_over
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_AROUND = (exp.Filter, exp.Window)
Tree = TypeVar("Tree", bound=exp.Expr)


def tolerant(query: Tree, *, sums: bool = True) -> Tree:
    """Return a query that raises on no row, whatever an engine computes first.

    Args:
        query: a bound query, guarded or not; not changed.
        sums: whether the sum of a group that leaves its type is NULL; otherwise it raises. One over
            the rows of a window is NULL in any case: no table holds its state.
    """
    root = exp.Paren(this=query.copy())
    for division in root.find_all(exp.Div, exp.Mod):
        if division.meta.pop(PROVEN, None):  # an engine may compute it ahead of the proof
            division.meta.pop(SAFE, None)
    for node in reversed(list(root.walk(bfs=True))):
        if sum_leaves_type(node):
            if sums or is_over(node):
                _sum_within(node)
        elif can_fail(node) and not node.find_ancestor(exp.Try):
            # what stands in TRY is a condition of the guard, which looks at what fails
            kind = type_of(node)
            tried = safely(node.copy())
            node.replace(tried)
            tried.type = kind
    return cast(Tree, root.this.pop())


def has_sums(query: exp.Query) -> bool:
    """Return whether a query has a sum of groups that can leave its type."""
    return any(
        sum_leaves_type(each) and not is_over(each) for each in query.find_all(exp.Sum, exp.Avg)
    )


def _sum_within(node: exp.Expr) -> None:
    """Replace a sum by one that is NULL beyond its type, in place."""
    if isinstance(node, exp.Avg):
        node.meta[SAFE] = True  # its engine's SQL has the sum
        return
    kind, argument = type_of(node), node.this
    outer = node
    while isinstance(outer.parent, _AROUND) and outer.arg_key == "this":
        outer = outer.parent
    if kind.this is t.Type.DECIMAL:
        _put_around(outer, exp.Try(), kind)  # its engine's SQL adds up exactly
        return
    item = argument.expressions[0] if isinstance(argument, exp.Distinct) else argument
    wide = t.decimal(t.MAX_PRECISION, 0)
    _put_around(item, exp.Cast(to=wide.copy()), wide)
    for part in (node, outer):
        part.type = wide
    _put_around(outer, exp.TryCast(to=kind.copy(), safe=True), kind)


def _put_around(node: exp.Expr, wrapper: exp.Expr, kind: exp.DataType) -> None:
    """Put a node into another one of some type, in place: what stands in it is still to be seen."""
    node.replace(wrapper)
    wrapper.set("this", node)
    wrapper.type = kind
