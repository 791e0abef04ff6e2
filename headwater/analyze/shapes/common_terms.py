"""``(a = b AND x) OR (a = b AND y)`` in WHERE → ``a = b AND (x OR y)``.

In: a bound SELECT. Out: the same rows; the comparisons of columns that every branch of an OR has
stand for themselves, where joins and subqueries look for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.algebra.scalars import conjunction, conjuncts
from headwater.analyze.typing import types as t


def take_common_terms(select: exp.Select) -> None:
    """Take what all branches of an OR in WHERE have in common out of it, in place."""
    where = select.args.get("where")
    if where is None:
        return
    terms = [each for term in conjuncts(where.this) for each in _without_common(term)]
    where.set("this", conjunction(terms))


def _without_common(term: exp.Expr) -> list[exp.Expr]:
    """Return the terms that stand for one: those in common, and what is left of the branches."""
    branches = [conjuncts(branch) for branch in _branches(term)]
    first = branches[0]
    common = [each for each in first if _is_of_columns(each) and all(each in b for b in branches)]
    if len(branches) < 2 or not common:
        return [term]
    rest = [[each for each in branch if each not in common] for branch in branches]
    if not all(rest):
        return common  # one branch asks for nothing else
    return [*common, _either([conjunction(branch) for branch in rest])]


def _branches(term: exp.Expr) -> list[exp.Expr]:
    inner = term.unnest()
    if isinstance(inner, exp.Or):
        return [*_branches(inner.this), *_branches(inner.expression)]
    return [inner]


def _is_of_columns(term: exp.Expr) -> bool:
    sides = (term.this, term.expression) if isinstance(term, exp.EQ) else ()
    return bool(sides) and all(isinstance(side, exp.Column) for side in sides)


def _either(branches: Sequence[exp.Expr]) -> exp.Expr:
    found = branches[0]
    for branch in branches[1:]:
        found = exp.Or(this=found, expression=branch)
        found.type = t.BOOLEAN
    around = exp.Paren(this=found)
    around.type = t.BOOLEAN
    return around
