"""Queries that raise on no row: what would fail is NULL instead.

In: a bound query. Out: a copy that gives the same where nothing fails. Rows on which something
fails are left out by the guard (:mod:`headwater.plan.bad_rows`); a group, or a row of a window, has
NULL in the column that cannot be computed.
"""

from __future__ import annotations

from typing import TypeVar, cast

from sqlglot import exp

from headwater.analyze.failing.failing_rows import safely
from headwater.analyze.failing.fallible import SAFE, can_fail, sum_leaves_type
from headwater.analyze.failing.nonzero_divisors import PROVEN
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_AROUND = (exp.Filter, exp.Window)
Tree = TypeVar("Tree", bound=exp.Expr)


def tolerant(query: Tree, *, sums: bool = True) -> Tree:
    """Return a query that raises on no row, whatever an engine computes first.

    Args:
        query: a bound query, guarded or not; not changed.
        sums: whether a sum that leaves its type is NULL; otherwise it raises.
    """
    root = exp.Paren(this=query.copy())
    for division in root.find_all(exp.Div, exp.Mod):
        if division.meta.pop(PROVEN, None):  # an engine may compute it ahead of the proof
            division.meta.pop(SAFE, None)
    for node in reversed(list(root.walk(bfs=True))):
        if node.find_ancestor(exp.Try):
            continue  # a condition of the guard, which looks at what fails
        if can_fail(node):
            kind = type_of(node)
            tried = safely(node.copy())
            node.replace(tried)
            tried.type = kind
        elif sums and sum_leaves_type(node):
            _sum_within(node)
    return cast(Tree, root.this.pop())


def has_sums(query: exp.Query) -> bool:
    """Return whether a query has a sum that can leave its type."""
    return any(map(sum_leaves_type, query.find_all(exp.Sum, exp.Avg)))


def _sum_within(node: exp.Expr) -> None:
    """Replace a sum by one that is NULL beyond its type, in place."""
    if isinstance(node, exp.Avg):
        node.meta[SAFE] = True  # its engine's SQL has the sum
        return
    kind, argument = type_of(node), node.this
    if kind.this is t.Type.DECIMAL:
        attempt = exp.Try(this=node.copy())
        node.replace(attempt)
        attempt.type = kind
        return
    item = argument.expressions[0] if isinstance(argument, exp.Distinct) else argument
    wide = t.decimal(t.MAX_PRECISION, 0)
    inner = exp.Cast(this=item.copy(), to=wide.copy())
    inner.type = wide
    item.replace(inner)
    node.type = wide
    outer = node
    while isinstance(outer.parent, _AROUND) and outer.arg_key == "this":
        outer = outer.parent
        outer.type = wide
    within = exp.TryCast(this=outer.copy(), to=kind.copy(), safe=True)
    outer.replace(within)
    within.type = kind
