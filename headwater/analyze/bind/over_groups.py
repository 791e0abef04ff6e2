"""Subqueries in expressions over groups: the groups become a subquery, and each a row of it.

In: a bound SELECT that groups. Out: if HAVING or the SELECT list holds IN, EXISTS or a scalar
subquery that reads its keys, the same as a filter of the groups::

    SELECT k, count(*) AS n FROM t GROUP BY k HAVING count(*) IN (SELECT x FROM u)
    SELECT _groups.k1 AS k, _groups.v1 AS n
    FROM (SELECT k AS k1, count(*) AS v1 FROM t GROUP BY k) AS _groups
    WHERE _groups.v1 IN (SELECT x FROM u)

So an expression with a subquery is always one over rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.correlated.subqueries import outer_columns, predicates, query_of
from headwater.analyze.inference.nullable import nullable
from headwater.analyze.names.scope import NULLABLE
from headwater.analyze.query_parts import is_aggregate, is_over, unused_alias
from headwater.analyze.typing.common_type import named, type_of


def lift_groups(select: exp.Select) -> None:
    """Turn the groups of a bound SELECT into a subquery if an expression asks it, in place."""
    if not is_aggregate(select) or not any(map(_asks_of_groups, _heads(select))):
        return
    having = select.args.get("having")
    terms = conjuncts(having.this if having is not None else None)
    after = [term for term in terms if any(predicates(term))]
    before = [term for term in terms if not any(predicates(term))]
    groups = _Groups(select)
    select.set("having", exp.Having(this=exp.and_(*after)) if after else None)
    for head in _heads(select):
        groups.read(head)
    condition = select.args.get("having")
    inner = exp.Select(expressions=groups.items)
    for key in ("from_", "joins", "where", "group"):
        inner.set(key, select.args.get(key))
        select.set(key, None)
    if before:
        inner.set("having", exp.Having(this=exp.and_(*before)))
    select.set("from_", exp.From(this=inner.subquery(groups.alias, copy=False)))
    select.set("having", None)
    if condition is not None:
        select.set("where", exp.Where(this=condition.this))


def _heads(select: exp.Select) -> list[exp.Expr]:
    """The clauses that look at groups; ORDER BY names outputs."""
    clauses = (select.args.get(key) for key in ("having", "qualify"))
    return [*select.selects, *(clause for clause in clauses if clause is not None)]


def _asks_of_groups(head: exp.Expr) -> bool:
    """Return whether there is a subquery beside scalar ones that say the same of all groups."""
    found = list(predicates(head))
    return any(not isinstance(each, exp.Query) or outer_columns(query_of(each)) for each in found)


class _Groups:
    """The columns of the subquery: keys, and the aggregates that are asked for.

    Attributes:
        alias: its name.
        items: its SELECT list.
    """

    def __init__(self, select: exp.Select) -> None:
        self.alias = unused_alias(select, "_groups")
        self.items: list[exp.Expr] = []
        self._columns: dict[exp.Expr, exp.Column] = {}
        group = select.args.get("group")
        self._grouped = group is not None
        for number, key in enumerate(group.expressions if group is not None else [], 1):
            self._add(key, f"k{number}")

    def read(self, head: exp.Expr) -> None:
        """Replace keys and aggregates by columns, in place."""
        stack = list(head.iter_expressions())
        while stack:
            node = stack.pop()
            if node in self._columns:
                node.replace(self._columns[node].copy())
            elif isinstance(node, (exp.AggFunc, exp.Filter)) and not is_over(node):
                self._add(node, f"v{len(self.items) + 1}")
                node.replace(self._columns[node].copy())
            elif isinstance(node, exp.Query):
                stack.extend(_from_around(node))
            else:
                stack.extend(node.iter_expressions())

    def _add(self, node: exp.Expr, name: str) -> None:
        column = exp.column(name, self.alias)
        column.type = type_of(node)
        column.meta[NULLABLE] = nullable(node, self._grouped)
        self._columns[node.copy()] = column
        self.items.append(named(node, name))


def _from_around(query: exp.Query) -> Iterator[exp.Expr]:
    while isinstance(query, exp.Subquery):
        query = query.this
    yield from outer_columns(query)
