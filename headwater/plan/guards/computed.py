"""Which expressions of a SELECT are computed of each row, and which of groups.

In: a bound SELECT. Out: its expressions by when they are computed, and what is known then.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.fallibility.nonzero_divisors import Facts, facts_of
from headwater.analyze.query_parts import aggregates, is_aggregate


def row_expressions(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield what is computed of each row that passes WHERE."""
    for join in select.args.get("joins") or []:
        if isinstance(join.this, exp.Unnest):
            yield from join.this.expressions
    if not is_aggregate(select):
        yield from (item.unalias() for item in select.selects)
        yield from _after(select)
        return
    group = select.args.get("group")
    keys = list(group.expressions) if group else []
    yield from keys
    seen = set(keys)
    for item in heads(select):
        calls = aggregates(item)
        for call in calls:
            yield call.parent if isinstance(call.parent, exp.Filter) else call
        if not calls and item not in seen:
            yield item


def _after(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield what QUALIFY and ORDER BY compute of each row; a name of an output is no such thing."""
    if (qualify := select.args.get("qualify")) is not None:
        yield qualify.this
    order = select.args.get("order")
    for item in order.expressions if order is not None else ():
        if any(column.table for column in item.find_all(exp.Column)):
            yield item.this


def other_expressions(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the expressions of a bound SELECT outside its list and WHERE."""
    if (having := select.args.get("having")) is not None:
        yield having.this
    if (group := select.args.get("group")) is not None:
        yield from group.expressions
    yield from _after(select)
    for join in select.args.get("joins") or []:
        yield from join.this.expressions if isinstance(join.this, exp.Unnest) else ()
        if (on := join.args.get("on")) is not None:
            yield on


def heads(select: exp.Select) -> list[exp.Expr]:
    """Return the expressions over groups: the SELECT list and HAVING."""
    having = select.args.get("having")
    return [item.unalias() for item in select.selects] + ([having.this] if having else [])


def sides(term: exp.Expr) -> list[exp.Expr]:
    """Return the operands of a comparison of two inputs, each of one; otherwise the term itself.

    Args:
        term: a term of ON or WHERE.
    """
    if isinstance(term, exp.Binary) and not isinstance(term, exp.Connector):
        operands = [term.this, term.expression]
        names = [{column.table for column in each.find_all(exp.Column)} for each in operands]
        if all(len(each) <= 1 for each in names):
            return operands
    return [term]


def facts_of_groups(select: exp.Select) -> Facts:
    """Return what HAVING says of aggregates; what it says of keys, their rows do not know yet."""
    having = select.args.get("having")
    terms = [term for term in conjuncts(having.this if having else None) if aggregates(term)]
    return facts_of(exp.and_(*terms)) if terms else frozenset()


def renamed(subquery: exp.Expr) -> list[str]:
    """Return the columns that the alias of a subquery names; empty if it names none."""
    alias = subquery.args.get("alias")
    return [each.name for each in alias.columns] if alias else []
