"""Shape and decision → program: the Spark SQL that keeps a view, one builder per engine and rule.

In: the bound view, its shape, its allowed lateness.
Out: a program of :mod:`headwater.plan.program`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from sqlglot import exp

from headwater.analyze.definitions import Catalog, Field, View
from headwater.analyze.shape import conjuncts
from headwater.analyze.types import spark_type
from headwater.plan.aggregates import Fold, fold_of, type_of
from headwater.plan.late import late_queries, own_filters
from headwater.plan.program import (
    AffectedKeysProgram,
    AggregateProgram,
    FullProgram,
    LinearProgram,
    StateColumn,
    StreamingProgram,
)
from headwater.plan.render import (
    WINDOW,
    batch_read,
    print_sql,
    render,
    spark_expression,
    streaming_read,
)
from headwater.plan.shape import Relation, Shape, aggregates

KEYS = "__keys"


def streaming_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> StreamingProgram:
    """Return the Structured Streaming query of a view.

    Args:
        view: the bound view.
        shape: its shape.
        catalog: where its relations are defined.
        allowed: allowed lateness, or None where every row counts (stateless queries only).
    """
    late = late_queries(shape, allowed)
    if shape.kind == "linear":
        query = render(
            view.query, catalog, lambda relation: batch_read(relation, relation.name, allowed)
        )
        return StreamingProgram(print_sql(query, "spark"), late=late)
    grace = allowed or timedelta(0)

    def read(relation: Relation) -> exp.Expr:
        return streaming_read(relation, catalog, own_filters(relation), grace)

    query = render(view.query, catalog, read)
    _settle_where(query, shape)
    if shape.window:
        _group_by_struct(query, shape)
    delays = {relation.name: relation.delay for relation in shape.relations}
    return StreamingProgram(print_sql(query, "spark"), delays, grace, stateful=True, late=late)


def linear_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> LinearProgram:
    """Return rule 1: the query over the change of its inputs."""
    query = render(view.query, catalog, _change_reader(allowed))
    return LinearProgram(print_sql(query, "spark"), late_queries(shape, allowed))


def full_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> FullProgram:
    """Return the recomputation of a view over its whole inputs."""
    query = render(
        view.query, catalog, lambda relation: batch_read(relation, relation.name, allowed)
    )
    return FullProgram(print_sql(query, "spark"))


def aggregate_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> AggregateProgram:
    """Return rule 2, for a query whose aggregates all fold."""
    select = shape.select
    calls = {call.sql(): fold_of(call) for item in select.selects for call in aggregates(item)}
    folds = {text: fold for text, fold in calls.items() if fold}
    keys = _key_columns(select)
    names = _state_names(select, folds)
    columns = _visible_columns(view, select, keys, folds, names)
    columns += _hidden_columns(select, keys, folds, names, {column.name for column in columns})
    query = render(view.query, catalog, _change_reader(allowed))
    _replace_projections(query, select, keys, folds, names)
    return AggregateProgram(
        print_sql(query, "spark"),
        tuple(keys.values()),
        tuple(columns),
        late_queries(shape, allowed),
    )


def affected_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> AffectedKeysProgram:
    """Return rule 3, for a query whose keys are all among its columns."""
    outputs = {item.unalias().sql(): item.alias_or_name for item in shape.select.selects}
    keys = group_keys(shape.select)
    names = {key.sql(): outputs[key.sql()] for key in keys}
    changed = render(view.query, catalog, _change_reader(allowed))
    touched = next(changed.find_all(exp.Select))
    touched.set("expressions", [exp.alias_(key.copy(), names[key.sql()]) for key in keys])
    touched.set("distinct", exp.Distinct())
    for clause in ("group", "having"):
        touched.set(clause, None)
    same = [
        exp.NullSafeEQ(this=key.copy(), expression=exp.column(names[key.sql()], KEYS))
        for key in keys
    ]
    query = render(
        view.query, catalog, lambda relation: batch_read(relation, relation.name, allowed)
    )
    everything = print_sql(query, "spark")
    join = exp.Join(this=exp.to_table(KEYS), side="LEFT", kind="SEMI", on=exp.and_(*same))
    next(query.find_all(exp.Select)).append("joins", join)
    return AffectedKeysProgram(
        print_sql(changed, "spark"),
        print_sql(query, "spark"),
        everything,
        tuple(names.values()),
        complete=not shape.select.args.get("having"),
        late=late_queries(shape, allowed),
    )


def _change_reader(allowed: timedelta | None) -> Callable[[Relation], exp.Expr]:
    return lambda relation: batch_read(relation, f"{relation.name}__change", allowed)


def _settle_where(query: exp.Query, shape: Shape) -> None:
    """Move WHERE terms to where a streaming query needs them.

    Spark pushes nothing down in a streaming view (a pushed filter would remove heartbeats): the
    filters of one relation already stand below its watermark, and an inner join's terms belong into
    ON.
    """
    select = next(query.find_all(exp.Select))
    where = select.args.get("where")
    pushed = {term.sql() for relation in shape.relations for term in own_filters(relation)}
    rest = [term for term in conjuncts(where.this if where else None) if term.sql() not in pushed]
    if rest and shape.join and not shape.join.outer:
        join = select.args["joins"][0]
        join.set("on", exp.and_(*conjuncts(join.args.get("on")), *rest))
        join.set("kind", None)
        rest = []
    select.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)


def _group_by_struct(query: exp.Query, shape: Shape) -> None:
    """Group by Spark's window struct: only the struct carries the watermark to the operator."""
    alias = next(r.alias for r in shape.relations if r.window is shape.window)
    select = next(query.find_all(exp.Select))
    struct = exp.column(WINDOW, alias)
    ends = {"window_start": "start", "window_end": "end"}
    keys = [
        key
        for key in select.args["group"].expressions
        if not (isinstance(key, exp.Column) and key.table == alias and key.name in ends)
    ]
    select.set("group", exp.Group(expressions=[struct, *keys]))
    for column in list(select.find_all(exp.Column)):
        if (
            column.table == alias
            and column.name in ends
            and column.find_ancestor(exp.Select) is select
        ):
            column.replace(
                exp.Dot(this=struct.copy(), expression=exp.to_identifier(ends[column.name]))
            )


def group_keys(select: exp.Select) -> list[exp.Expr]:
    """Return the expressions that identify a row: group keys, or all columns of a DISTINCT."""
    if select.args.get("distinct"):
        return list({(key := item.unalias()).sql(): key for item in select.selects}.values())
    group = select.args.get("group")
    keys = list(group.expressions) if group else []
    return [key for key in keys if not _is_other_bound(key, select, keys)]


def _is_other_bound(key: exp.Expr, select: exp.Select, keys: list[exp.Expr]) -> bool:
    """Whether the other bound of the same window identifies it already."""
    bounds = ("window_start", "window_end")
    if not (isinstance(key, exp.Column) and key.name in bounds):
        return False
    other = exp.column(bounds[1 - bounds.index(key.name)], key.table).sql()
    if other not in {item.sql() for item in keys}:
        return False
    shown = {item.unalias().sql() for item in select.selects}
    return key.sql() not in shown if other in shown else key.name == "window_end"


def _key_columns(select: exp.Select) -> dict[str, str]:
    """Key expression text → name of its column, hidden if the query does not show it."""
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


def _values(
    folds: Mapping[str, Fold], names: Mapping[str, tuple[str, ...]], merged: bool
) -> dict[str, str]:
    """Aggregate text → its value, read from the change alone or from state and change merged."""
    values = {}
    for text, fold in folds.items():
        states = [
            part.merge.format(t=f"t.{name}", s=f"s.{name}") if merged else f"s.{name}"
            for part, name in zip(fold.parts, names[text], strict=True)
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


def _replace_projections(
    query: exp.Query,
    original: exp.Select,
    keys: Mapping[str, str],
    folds: Mapping[str, Fold],
    names: Mapping[str, tuple[str, ...]],
) -> None:
    """Make the query return its keys and partial aggregates instead of its columns."""
    items = [exp.alias_(key.copy(), keys[key.sql()]) for key in group_keys(original)]
    for text, fold in folds.items():
        for part, name in zip(fold.parts, names[text], strict=True):
            items.append(exp.alias_(spark_expression(part.partial), name))
    next(query.find_all(exp.Select)).set("expressions", items)
