"""Subqueries that only filter and rename → part of the SELECT around them.

In: a SELECT whose columns are resolved. Out: the same rows with fewer levels: ``SELECT f(x) FROM
(SELECT a AS x FROM t WHERE p) q`` becomes ``SELECT f(q.a) FROM t AS q WHERE p``. So a filter in a
WITH clause does not hide the table, its event time or a window from the planner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from headwater.algebra.scalars import conjunction, conjuncts
from headwater.analyze.correlated.subqueries import has_predicates
from headwater.analyze.names.scope import Relation
from headwater.analyze.query_parts import (
    is_aggregate,
    is_distinct,
    optional_before,
    stand_for,
    window_calls,
)
from headwater.analyze.typing import types as t
from headwater.dialect.syntax import WindowTable

MAX_NODES = 2_000
"""Largest expression part that merging may copy into the SELECT around it."""
_MAX_REPEATED = 500
"""How many nodes merging may add by writing definitions more than once: they multiply by level."""

_COLUMN_NODES = 3
"""Nodes of a column and its names."""


def merge_subqueries(
    select: exp.Select,
    relations: Sequence[Relation],
    bases: Mapping[int, tuple[exp.Select, Relation]],
) -> list[Relation]:
    """Merge the trivial subqueries in FROM into a SELECT, in place.

    Args:
        select: a SELECT whose columns are resolved.
        bases: by ``id``, the bound SELECTs that read one relation, and that relation.

    Returns:
        What it reads afterwards, under the same aliases.
    """
    merged: list[Relation] = []
    for relation in relations:
        window = _window(relation.node)
        inner = _trivial(relation.node if window is None else window.this)
        _, base = bases.get(id(inner), (None, None))
        if (
            inner is None
            or base is None
            or relation.broken
            or not _may_merge(select, relation, inner)
        ):
            merged.append(relation)
        elif window is None:
            merged.append(_merge(select, relation, inner, base))
        else:
            merged.append(_merge_below_window(select, relation, window, inner, base))
    return merged


def _window(node: exp.Expr) -> WindowTable | None:
    return node.this if isinstance(node, exp.Table) and isinstance(node.this, WindowTable) else None


def _trivial(node: exp.Expr) -> exp.Select | None:
    """Return the SELECT of a subquery that only filters and computes columns of one relation."""
    while isinstance(node, exp.Subquery):
        node = node.this
    if not isinstance(node, exp.Select) or is_aggregate(node) or is_distinct(node):
        return None
    if any(node.args.get(key) for key in ("joins", "having", "qualify", "limit", "offset")):
        return None
    if window_calls(node) or has_predicates(node):
        return None
    # a literal would read as a position in GROUP BY
    plain = (exp.Literal, exp.Neg, exp.Null, exp.Boolean)
    return None if any(isinstance(item.this, plain) for item in node.selects) else node


def _may_merge(select: exp.Select, relation: Relation, inner: exp.Select) -> bool:
    join = relation.node.parent
    if isinstance(join, exp.Join) and join.side or optional_before(select):
        return False  # what an outer join does not match is NULL, not f(NULL)
    sizes = {item.alias: sum(1 for _ in item.this.walk()) for item in inner.selects}
    return sum(sizes.values()) < MAX_NODES and _repeated(select, relation, sizes) <= _MAX_REPEATED


def _repeated(select: exp.Select, relation: Relation, sizes: Mapping[str, int]) -> int:
    """Return the nodes that merging adds for columns that are computed and used more than once."""
    names = (column.name for column in _columns(select) if column.table == relation.alias)
    uses = Counter(names)
    return sum(
        size * (uses[name] - 1)
        for name, size in sizes.items()
        if uses[name] > 1 and size > _COLUMN_NODES
    )


def _merge(select: exp.Select, relation: Relation, inner: exp.Select, base: Relation) -> Relation:
    outputs = _outputs(inner, base.alias, relation.alias)
    _replace_columns(select, relation.alias, outputs)
    _add_condition(select, inner, base.alias, relation.alias)
    node = base.node
    node.set("alias", exp.TableAlias(this=exp.to_identifier(relation.alias)))
    stand_for(node, relation.node)
    relation.node.replace(node)
    return replace(base, alias=relation.alias, node=node)


def _merge_below_window(
    select: exp.Select,
    relation: Relation,
    window: WindowTable,
    inner: exp.Select,
    base: Relation,
) -> Relation:
    input_alias = window.this.alias_or_name
    outputs = _outputs(inner, base.alias, relation.alias)
    time = outputs.get(window.args["time"].name)
    bounds = {name: field for name, field in relation.fields.items() if name not in outputs}
    taken = any(name in base.fields for name in bounds)
    if not isinstance(time, exp.Column) or _window(base.node) is not None or taken:
        return relation
    _replace_columns(select, relation.alias, outputs)
    _add_condition(select, inner, base.alias, relation.alias)
    column = time.copy()
    _rename(column, relation.alias, input_alias)
    window.set("time", column)
    node = base.node
    stand_for(node, window.this)
    node.set("alias", exp.TableAlias(this=exp.to_identifier(input_alias)))
    window.set("this", node)
    return replace(relation, fields={**base.fields, **bounds})


def _outputs(inner: exp.Select, old: str, new: str) -> dict[str, exp.Expr]:
    """Return the output expressions of a subquery by name, over its relation under a new alias."""
    found: dict[str, exp.Expr] = {}
    for item in inner.selects:
        value = exp.Paren(this=item.this.copy())
        _rename(value, old, new)
        found[item.alias] = value.this
    return found


def _rename(node: exp.Expr, old: str, new: str) -> None:
    for column in node.find_all(exp.Column):
        if column.table == old:
            column.set("table", exp.to_identifier(new))


def _replace_columns(select: exp.Select, alias: str, outputs: Mapping[str, exp.Expr]) -> None:
    for column in list(_columns(select)):
        output = outputs.get(column.name) if column.table == alias else None
        if output is None:
            continue
        node = output.copy()
        operator = (exp.Binary, exp.Unary, exp.Predicate)
        inside = isinstance(column.parent, operator) and not isinstance(column.parent, exp.Paren)
        if inside and isinstance(output, operator):
            node = exp.Paren(this=node)
            node.type = output.type
        column.replace(node)


def _columns(select: exp.Select) -> Iterator[exp.Column]:
    """Yield the columns that a SELECT itself uses, those of its subqueries aside."""
    clauses = ("where", "group", "having", "qualify", "order")
    roots = [*select.selects, *(select.args.get(key) for key in clauses)]
    for join in select.args.get("joins") or []:
        roots += [join.args.get("on"), join.this if isinstance(join.this, exp.Unnest) else None]
    for root in roots:
        if root is not None:
            yield from root.find_all(exp.Column)


def _add_condition(select: exp.Select, inner: exp.Select, old: str, new: str) -> None:
    where = inner.args.get("where")
    if where is None:
        return
    condition = exp.Paren(this=where.this.copy())
    _rename(condition, old, new)
    outer = select.args.get("where")
    parts = [*conjuncts(condition), *conjuncts(outer.this if outer is not None else None)]
    select.set("where", exp.Where(this=conjunction(parts)))
    select.args["where"].type = t.BOOLEAN
