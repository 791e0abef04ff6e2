"""Fold: an aggregate or DISTINCT → how its table takes in what its inputs gain and lose.

In: a bound SELECT that groups what inner joins and UNION ALL give it.
Out: its :class:`~headwater.plan.program.FoldProgram`: the aggregated change, and per column
how it is folded into the state. Where inputs are corrected, the rows of the change have a sign, and
each group counts its rows, so that it goes with the last of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from sqlglot import exp

from headwater.algebra.change import SIGN, all_rows, has_change
from headwater.algebra.nodes import Aggregate, Project, Query, Scan, from_bottom
from headwater.analyze.definitions import Catalog, Field, View
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.query_parts import is_aggregate, is_distinct, optional, relations
from headwater.analyze.time.event_time import WINDOW_END
from headwater.analyze.typing.types import spark_type
from headwater.plan.program import (
    READS_CHANGE,
    READS_STATES,
    FoldProgram,
    StateColumn,
)
from headwater.plan.query_shape import Shape, ShapeKind, aggregates
from headwater.plan.rules.bags import BagChange, reads_bags
from headwater.plan.rules.contract import Engine, Facts, Rule, other_bound, window_kind
from headwater.plan.rules.exact_change import change_query, change_rows
from headwater.plan.rules.folds import Fold, fold_of, type_of
from headwater.plan.rules.tree_rewrites import union_all
from headwater.plan.sql.from_algebra import select_of
from headwater.plan.sql.late import late_queries
from headwater.plan.sql.render import print_sql, spark_expression

_CHANGED = "__changed"
_ROWS = exp.Count(this=exp.Star())
_STRICT = (exp.Column, exp.Identifier, exp.Literal, exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Mul)
"""What is NULL where a part of it is."""

Rename = Callable[[exp.Expr], exp.Expr]
"""Makes an expression over the items of FROM one over the changed rows."""


def is_folded(query: exp.Query, *, signed: bool) -> bool:
    """Return whether the table of a bound query can take in its change.

    Args:
        signed: whether rows that it reads also go.
    """
    return (
        isinstance(query, exp.Select)
        and _by_parts(query, signed=signed)
        and _has_folds(query, signed=signed)
    )


def _has_folds(select: exp.Select, *, signed: bool) -> bool:
    """Return whether a SELECT groups, and all that it computes of groups folds."""
    if is_aggregate(select) is is_distinct(select) or select.args.get("having"):
        return False
    return all(fold_of(call, signed=signed) for call in _calls(select).values())


def _by_parts(select: exp.Select, *, signed: bool) -> bool:
    """Return whether the change of FROM is that of one item after the other."""
    outer = any(optional(select)) and (signed or not _ignores_unmatched(select))
    return reads_bags(select) and not outer


def over_changed(tree: Query) -> tuple[Query, Query] | None:
    """Return the groups of a tree over a relation ``__changed``, and the rows below as a tree.

    Args:
        tree: of a view.

    Returns:
        Both; None if it is not made of groups of rows that have a change.
    """
    above, node = None, tree.root
    if isinstance(node, Project):
        above, node = node, node.input
    if not isinstance(node, Aggregate) or not all(map(has_change, from_bottom(node.input))):
        return None
    columns = node.input.columns
    scan = Scan(_CHANGED, tuple((each, each.name) for each in columns))
    groups = node.over([scan])
    rows = Query(node.input, tuple((each.name, each.name) for each in columns))
    return Query(above.over([groups]) if above else groups, tree.labels), rows


def _ignores_unmatched(select: exp.Select) -> bool:
    """Return whether a row without a match in the last LEFT JOIN is only a row of its group."""
    # If so, it does not matter whether that row stays once a match is found.
    *others, last = relations(select)
    if optional(select) != [False] * len(others) + [True]:
        return False
    alias, where, group = last.alias_or_name, select.args.get("where"), group_keys(select)
    asked = [*group, *([where] if where else [])]
    if any(column.table == alias for node in asked for column in node.find_all(exp.Column)):
        return False
    return all(_is_null_of(call, alias) for call in _calls(select).values())


def _is_null_of(call: exp.Expr, alias: str) -> bool:
    """Return whether an aggregate skips rows in which the columns of an item are NULL."""
    argument = (call.this if isinstance(call, exp.Filter) else call).this
    nodes = list(argument.walk())
    named = any(isinstance(node, exp.Column) and node.table == alias for node in nodes)
    return named and all(isinstance(node, _STRICT) for node in nodes)


def aggregate_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> FoldProgram:
    """Return how an aggregate takes in its change.

    Args:
        allowed: allowed lateness, or None if every row counts.
    """
    select = shape.select
    bags = BagChange(select, catalog, allowed)
    signed = not bags.appended(select)
    reads = READS_STATES if signed or shape.kind is ShapeKind.GENERAL else READS_CHANGE
    folding = _folding(view, select, bags.parts(select, signed=signed), signed=signed)
    return replace(folding, late=late_queries(shape, allowed), reads=reads)


def tree_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> FoldProgram:
    """Return how the groups of a tree take in its change.

    Args:
        allowed: allowed lateness, or None if every row counts.
    """
    found = over_changed(view.tree)
    assert found is not None
    groups, below = found
    select = portable(select_of(groups), "spark")
    assert isinstance(select, exp.Select)
    change = change_query(below, catalog, allowed)
    folding = _folding(view, select, [_over(select, change)], signed=True)
    every = change_rows(all_rows(below.root), below, catalog, allowed)
    whole = _folding(view, select, [_over(select, every)], signed=True)
    late = late_queries(shape, allowed)
    return replace(folding, late=late, reads=READS_STATES, whole_sql=whole.change_sql)


def _over(select: exp.Select, rows: exp.Query) -> exp.Select:
    """A SELECT over ``__changed``, which are some rows."""
    found = select.copy()
    found.args["from_"].this.replace(rows.subquery(_CHANGED))
    return found


def _folding(
    view: View, select: exp.Select, parts: Sequence[exp.Select], *, signed: bool
) -> FoldProgram:
    """How a SELECT of groups takes in changed rows.

    Args:
        select: the SELECT as Spark reads it.
        parts: the same over the rows that came and, if they are signed, went.
    """
    keys, calls = key_columns(select), _calls(select)
    counted = signed and bool(keys)
    if counted:
        calls.setdefault(_ROWS.sql(), _ROWS)
    folds = {text: fold for text, call in calls.items() if (fold := fold_of(call, signed=signed))}
    names = _state_names(select, folds)
    columns = _visible_columns(view, select, keys, folds, names)
    columns += _hidden_columns(select, keys, folds, names, {column.name for column in columns})
    query, renamed = _grouped(select, parts, list(calls.values()))
    items = [exp.alias_(renamed(key), keys[key.sql()]) for key in group_keys(select)]
    for text, call in calls.items():
        if fold := fold_of(renamed(call), signed=signed):
            pairs = zip(fold.parts, names[text], strict=True)
            items += [exp.alias_(spark_expression(part.partial), name) for part, name in pairs]
    query.set("expressions", items)
    if counted:  # rows that came and went may leave a group as it was
        changed = (
            exp.NEQ(this=exp.column(name, _CHANGED), expression=exp.Literal.number(0))
            for own in names.values()
            for name in own
        )
        query = exp.select("*").from_(query.subquery(_CHANGED)).where(exp.or_(*changed))
    rows = _identifier(names[_ROWS.sql()][0]) if counted else ""
    return FoldProgram(
        print_sql(query, "spark"),
        tuple(keys.values()),
        tuple(columns),
        # a group goes with its last row
        delete_when=f"t.{rows} + s.{rows} = 0" if counted else "",
        insert_when=f"s.{rows} > 0" if counted else "",
        holds={name: text for text, name in keys.items()}
        | {n: f"{text}: {n}" for text, own in names.items() for n in own},
    )


def _calls(select: exp.Select) -> dict[str, exp.Expr]:
    """The aggregates of a SELECT by their text."""
    return {call.sql(): call for item in select.selects for call in aggregates(item)}


def _grouped(
    select: exp.Select, parts: Sequence[exp.Select], calls: Sequence[exp.Expr]
) -> tuple[exp.Select, Rename]:
    """The changed rows in the groups of a SELECT, still without columns."""
    group = select.args.get("group")
    by = list(group.expressions) if group else []
    if is_distinct(select):
        by = [key for key in group_keys(select) if key.find(exp.Column)]
    query, renamed = _together(parts, [*by, *calls]) if len(parts) > 1 else (parts[0], _copied)
    query.set("distinct", None if calls else exp.Distinct())
    if calls:
        query.set("group", exp.Group(expressions=[renamed(key) for key in by]) if by else None)
    return query, renamed


def _copied(node: exp.Expr) -> exp.Expr:
    return node.copy()


def _together(parts: Sequence[exp.Select], used: Sequence[exp.Expr]) -> tuple[exp.Select, Rename]:
    """The rows of several parts, with the columns that are used of them."""
    columns = {column.sql(): column for node in used for column in node.find_all(exp.Column)}
    names = {text: f"c{number}" for number, text in enumerate(columns)}
    for part in parts:
        sign = [item for item in part.selects if item.alias == SIGN]
        items = [exp.alias_(column.copy(), names[text]) for text, column in columns.items()]
        part.set("expressions", [*items, *sign] or [exp.Literal.number(1)])
        part.set("distinct", None)
        part.set("group", None)

    def named(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column):
            return part
        column = exp.column(names[part.sql()], _CHANGED)
        column.type = part.type
        return column

    def renamed(node: exp.Expr) -> exp.Expr:
        return node.copy().transform(named)

    return exp.Select().from_(union_all(parts).subquery(_CHANGED)), renamed


def group_keys(select: exp.Select) -> list[exp.Expr]:
    """Return the expressions that identify a row: group keys, or all columns of a DISTINCT."""
    if select.args.get("distinct"):
        return list({(key := item.unalias()).sql(): key for item in select.selects}.values())
    group = select.args.get("group")
    keys = list(group.expressions) if group else []
    return [key for key in keys if not _is_other_bound(key, select, keys)]


def _is_other_bound(key: exp.Expr, select: exp.Select, keys: list[exp.Expr]) -> bool:
    """Return whether the other bound of the same window identifies it already."""
    other = other_bound(key)
    if other is None or other.sql() not in {item.sql() for item in keys}:
        return False
    if window_kind(select, other.table) == "cumulate":
        return False  # windows that start together end apart
    shown = {item.unalias().sql() for item in select.selects}
    if shown & {key.sql(), other.sql()}:
        return key.sql() not in shown
    return key.name == WINDOW_END


def key_columns(select: exp.Select) -> dict[str, str]:
    """Return by text of a key the name of its column, hidden if the query does not show it."""
    outputs = {item.unalias().sql(): item.alias_or_name for item in reversed(select.selects)}
    return {
        key.sql(): outputs.get(key.sql(), f"_state_key_{number}")
        for number, key in enumerate(group_keys(select))
    }


def _state_names(select: exp.Select, folds: Mapping[str, Fold]) -> dict[str, tuple[str, ...]]:
    """Aggregate text → its state columns; a visible column serves where it is the state."""
    shown = {item.unalias().sql(): item.alias_or_name for item in reversed(select.selects)}
    names: dict[str, tuple[str, ...]] = {}
    for number, (text, fold) in enumerate(folds.items()):
        if fold.value == "{0}" and text in shown:
            names[text] = (shown[text],)
        else:
            names[text] = tuple(f"_state_{number}_{part.suffix}" for part in fold.parts)
    return names


def _identifier(name: str) -> str:
    """Return a name as Spark SQL, in quotes if it needs them."""
    return exp.to_identifier(name).sql(dialect="spark")


def _values(
    folds: Mapping[str, Fold], names: Mapping[str, tuple[str, ...]], merged: bool
) -> dict[str, str]:
    """Aggregate text → its value, read from the change alone or from state and change merged."""
    values = {}
    for text, fold in folds.items():
        states = [
            part.merge.format(t=f"t.{own}", s=f"s.{own}") if merged else f"s.{own}"
            for part, own in zip(fold.parts, map(_identifier, names[text]), strict=True)
        ]
        values[text] = fold.value.format(*(f"({state})" for state in states))
    return values


def _visible_columns(
    view: View,
    select: exp.Select,
    keys: Mapping[str, str],
    folds: Mapping[str, Fold],
    names: Mapping[str, tuple[str, ...]],
) -> list[StateColumn]:
    inserts, updates = _values(folds, names, merged=False), _values(folds, names, merged=True)
    return [
        StateColumn(
            item.alias_or_name,
            spark_type(field.type),
            _over_state(item.unalias(), field, keys, inserts),
            _over_state(item.unalias(), field, keys, updates),
        )
        for item, field in zip(select.selects, view.fields, strict=True)
    ]


def _over_state(
    node: exp.Expr, field: Field, keys: Mapping[str, str], values: Mapping[str, str]
) -> str:
    """An output expression with its keys and aggregates read from ``s`` and ``t``."""

    def replace(part: exp.Expr) -> exp.Expr:
        text = part.sql()
        if text in keys:
            return exp.column(keys[text], "s")
        return spark_expression(values[text]) if text in values else part

    replaced = node.copy().transform(replace)
    if node.sql() in keys:
        return replaced.sql(dialect="spark")
    return f"CAST({replaced.sql(dialect='spark')} AS {spark_type(field.type)})"


def _hidden_columns(
    select: exp.Select,
    keys: Mapping[str, str],
    folds: Mapping[str, Fold],
    names: Mapping[str, tuple[str, ...]],
    shown: set[str],
) -> list[StateColumn]:
    hidden = [
        StateColumn(
            keys[key.sql()],
            spark_type(type_of(key)),
            f"s.{keys[key.sql()]}",
            f"s.{keys[key.sql()]}",
        )
        for key in group_keys(select)
        if keys[key.sql()] not in shown
    ]
    for text, fold in folds.items():
        for part, name in zip(fold.parts, names[text], strict=True):
            if name not in shown:
                update = part.merge.format(t=f"t.{name}", s=f"s.{name}")
                hidden.append(StateColumn(name, part.type, f"s.{name}", update))
    return hidden


def _applies(facts: Facts) -> str | None:
    """Aggregates and DISTINCT whose state can absorb a change."""
    signed = not facts.append_only
    if not facts.corrects or not is_folded(facts.view.query, signed=signed):
        return None
    reason = "the aggregated change is merged into the state by key"
    if facts.shape.kind is ShapeKind.GENERAL:
        reason = "the change of each input is joined with the others, aggregated and merged by key"
    return f"{reason}; removed rows are subtracted" if signed else reason


def _of_tree(facts: Facts) -> str | None:
    """Groups over outer joins and subqueries, whose rows go when something is found for them."""
    view = facts.view
    if view.is_delta or not facts.corrects or any(each.moves for each in facts.inputs):
        return None  # a Delta table that was kept by affected groups could not lose their names
    found = over_changed(view.tree)
    if found is None:
        return None
    if is_folded(select_of(view.tree), signed=not facts.append_only):
        return None  # the planner asks with that SELECT again: it may need no signs
    select = select_of(found[0])
    if not isinstance(select, exp.Select) or not _has_folds(select, signed=True):
        return None
    return "the rows that come and go are aggregated and merged by key"


RULE = Rule("fold", Engine.INCREMENTAL, _applies, aggregate_program)
OF_TREE = Rule("fold", Engine.INCREMENTAL, _of_tree, tree_program, by_tree=True)
