"""WHERE conditions between two sides of an inner join → ON.

In: a SELECT whose columns are resolved and typed. Out: the same rows from a SELECT whose inner
joins carry their own conditions, so that keys and time bounds of a join are found in one place.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.algebra.scalars import conjunction, conjuncts
from headwater.analyze.query_parts import aggregates, joins, optional_before, relations


def move_to_joins(select: exp.Select) -> None:
    """Move what WHERE says about an inner join and what stands before it into its ON, in place."""
    where = select.args.get("where")
    if where is None or not joins(select) or optional_before(select):
        return
    before = {relations(select)[0].alias_or_name}
    left = conjuncts(where.this)
    for join in select.args["joins"]:
        alias = join.this.alias_or_name
        if not join.side and not isinstance(join.this, exp.Unnest):
            moved = [node for node in left if _spans(node, alias, before)]
            left = [node for node in left if node not in moved]
            _attach(join, moved)
        before.add(alias)
    select.set("where", exp.Where(this=conjunction(left)) if left else None)


def _spans(condition: exp.Expr, alias: str, before: set[str]) -> bool:
    """Return whether a condition compares a joined relation with what stands before it."""
    if condition.find(exp.Query):
        return False
    tables = {column.table for column in condition.find_all(exp.Column)}
    return (
        alias in tables
        and tables <= {alias, *before}
        and len(tables) > 1
        and not aggregates(condition)
    )


def _attach(join: exp.Join, moved: Sequence[exp.Expr]) -> None:
    if not moved:
        return
    condition = join.args.get("on")
    join.set("on", conjunction([*conjuncts(condition), *moved]))
    join.set("kind", None)
