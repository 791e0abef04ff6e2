"""Shape → operator tree: what ``explain`` shows, with the mode, key and state of every operator.

In: a bound view and its shape.
Out: the root :class:`~headwater.plan.view_plan.Operator`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from sqlglot import exp

from headwater.analyze.bind.ordering import ties_left_out
from headwater.analyze.definitions import ChangelogMode, LateRows, View
from headwater.analyze.patterns.rows import rows_read
from headwater.analyze.query_parts import (
    conjuncts,
    is_aggregate,
    is_union_all,
    relations,
    union_branches,
    window_calls,
)
from headwater.analyze.time.dated import as_written
from headwater.analyze.time.versions import AS_OF
from headwater.dialect.parser import Headwater
from headwater.dialect.syntax import PatternRows, RecursiveRows, WorkingTable
from headwater.errors.words import duration
from headwater.patterns import MatchClause
from headwater.plan.query_shape import MICROSECOND, JoinBounds, RelationShape, Shape, aggregates
from headwater.plan.view_plan import Operator


def operators(
    view: View,
    shape: Shape,
    modes: Mapping[str, ChangelogMode],
    mode: ChangelogMode,
    key: tuple[str, ...],
    late: LateRows,
) -> Operator:
    """Return the operator tree of a bound view.

    Args:
        late: what happens to late rows.
    """
    scans = {
        f"{relation.name} ({_kind(relation)})": modes[relation.name] for relation in shape.relations
    }
    return _with_modes(_query(view.query, shape, mode, key, late), scans, mode)


def _with_modes(
    node: Operator, modes: Mapping[str, ChangelogMode], of_view: ChangelogMode
) -> Operator:
    """The same tree, in which what reads corrected rows passes corrections on."""
    inputs = tuple(_with_modes(each, modes, of_view) for each in node.inputs)
    mode = node.mode
    if node.name == "Scan":
        mode = modes.get(node.detail, mode)
    elif node.name == "MatchRecognize":
        mode = of_view
    elif mode is ChangelogMode.APPEND and any(each.mode is not mode for each in inputs):
        mode = ChangelogMode.RETRACT
    return replace(node, mode=mode, inputs=inputs)


def age(length: int) -> str:
    """Return what :attr:`Age.length` says, in words.

    Args:
        length: microseconds; one less than a whole millisecond where the bound itself is not taken.
    """
    strict = (length + 1) % 1000 == 0
    words = duration((length + strict) * MICROSECOND)
    return (
        f"less than {words} behind the watermark"
        if strict
        else f"at most {words} behind the watermark"
    )


def _text(node: exp.Expr) -> str:
    """An expression as a person reads it."""
    return ties_left_out(as_written(node)).sql(dialect=Headwater)


def _query(
    query: exp.Expr, shape: Shape, mode: ChangelogMode, key: tuple[str, ...], late: LateRows
) -> Operator:
    branches = union_branches(query)
    if len(branches) == 1:
        return _select(branches[0], shape, mode, key, late)
    if not is_union_all(query):
        return _set_operation(query, shape, mode, late)
    inputs = tuple(_select(branch, shape, _mode_of(branch), (), late) for branch in branches)
    return Operator("Union", "all rows of every branch", mode, inputs=inputs)


def _set_operation(query: exp.Expr, shape: Shape, mode: ChangelogMode, late: LateRows) -> Operator:
    while isinstance(query, exp.Subquery):
        query = query.this
    detail = "rows of both"
    if isinstance(query, exp.Except):
        detail = "rows of the first that the second does not have"
    elif isinstance(query, exp.Intersect):
        detail = "rows that both have"
    each = ", each once" if query.args.get("distinct") else ""
    sides = (query.this, query.expression)
    inputs = tuple(_query(side, shape, _mode_of(side), (), late) for side in sides)
    return Operator(type(query).__name__, f"{detail}{each}", mode, inputs=inputs)


def _mode_of(query: exp.Expr) -> ChangelogMode:
    """What a part of a query emits."""
    if not is_union_all(query):
        return ChangelogMode.RETRACT
    stateful = any(map(is_aggregate, union_branches(query)))
    return ChangelogMode.UPSERT if stateful else ChangelogMode.APPEND


def _select(
    select: exp.Select, shape: Shape, mode: ChangelogMode, key: tuple[str, ...], late: LateRows
) -> Operator:
    node = _from(select, shape, late)
    if where := select.args.get("where"):
        node = Operator("Filter", _text(where.this), inputs=(node,))
    if is_aggregate(select):
        node = _aggregate(select, shape, node, mode, key)
        if having := select.args.get("having"):
            node = Operator("Filter", _text(having.this), mode, key, inputs=(node,))
    elif select.args.get("distinct"):
        node = Operator("Deduplicate", "", mode, key, _state_of_distinct(shape), (node,))
    if windows := window_calls(select):
        calls = ", ".join(dict.fromkeys(_text(call) for call in windows))
        node = Operator("Over", calls, ChangelogMode.RETRACT, inputs=(node,))
    if qualify := select.args.get("qualify"):
        detail = _text(qualify.this)
        node = Operator("Filter", detail, ChangelogMode.RETRACT, inputs=(node,))
    if (limit := select.args.get("limit")) is not None:
        order = ", ".join(_text(item) for item in select.args["order"].expressions)
        detail = f"{limit.expression.name} by {order}"
        node = Operator("TopN", detail, ChangelogMode.RETRACT, inputs=(node,))
    names = [item.alias_or_name for item in select.selects]
    columns = ", ".join(name for name in names if not name.startswith("__"))  # ours: of a time
    return Operator("Project", columns, mode, key, inputs=(node,))


def _from(select: exp.Select, shape: Shape, late: LateRows) -> Operator:
    if select.args.get("from_") is None:
        return Operator("Constants", "one row")
    if shape.join and select is shape.select:
        return _join(shape.join, select, late)
    node = _item(select.args["from_"].this, shape, late)
    for join in select.args.get("joins") or []:
        if isinstance(join.this, exp.Unnest):
            node = Operator("Unnest", _text(join.this), inputs=(node,))
            continue
        if AS_OF in join.this.meta:
            node = _as_of(join, node, shape, late)
            continue
        on = join.args.get("on")
        name = f"Join ({join.side.lower()})" if join.side else "Join"
        mode = ChangelogMode.RETRACT if join.side else ChangelogMode.APPEND
        detail = _text(on) if on is not None else "true"
        node = Operator(name, detail, mode, inputs=(node, _item(join.this, shape, late)))
    return node


def _as_of(join: exp.Join, node: Operator, shape: Shape, late: LateRows) -> Operator:
    """The newest version up to the time of a row."""
    *keys, newest, _ = conjuncts(join.args.get("on"))
    terms = [_text(each) for each in (*keys, newest)]
    name = f"AsOfJoin ({join.side.lower()})" if join.side else "AsOfJoin"
    versions = _item(relations(join.this.this)[0], shape, late)
    detail = f"{' AND '.join(terms)}, the newest one"
    return Operator(name, detail, ChangelogMode.RETRACT, inputs=(node, versions))


def _item(item: exp.Expr, shape: Shape, late: LateRows) -> Operator:
    if isinstance(item, exp.Subquery):
        return _query(item.this, shape, _mode_of(item.this), (), late)
    if isinstance(item, PatternRows):
        return _matches(item, shape, late)
    if isinstance(item, RecursiveRows):
        return _recursion(item, shape, late)
    if isinstance(item, WorkingTable):
        return Operator("WorkingTable", item.this, mode=ChangelogMode.RETRACT)
    relation = next(r for r in shape.relations if r.table is item)
    return _scan(relation, late)


def _matches(item: PatternRows, shape: Shape, late: LateRows) -> Operator:
    clause: MatchClause = item.args["clause"]
    by = f" by {', '.join(clause.partition)}" if clause.partition else ""
    within = f", within {duration(clause.within)}" if clause.within else ""
    return Operator(
        "MatchRecognize",
        f"{', '.join(clause.names)}{by}, ordered by {clause.time}{within}",
        inputs=(_item(rows_read(item), shape, late),),
    )


def _recursion(item: RecursiveRows, shape: Shape, late: LateRows) -> Operator:
    """The rounds of a recursive query: the anchor, then the step until it adds no row."""
    union, mode = item.this, ChangelogMode.RETRACT
    how = "each row once" if union.args.get("distinct") else "all rows"
    sides = (_query(each, shape, mode, (), late) for each in (union.this, union.expression))
    return Operator("Recursion", f"{item.args['name']}, {how}", mode, inputs=tuple(sides))


def _kind(relation: RelationShape) -> str:
    if relation.source is None:
        return "view"
    if relation.source.external:
        return "external table"
    return "log table" if relation.source.kept else "source"


def _scan(relation: RelationShape, late: LateRows) -> Operator:
    detail = f"{relation.name} ({_kind(relation)})"
    if relation.event_time:
        detail += f", watermark {relation.event_time} - {duration(relation.delay)}"
    node = Operator("Scan", detail)
    if relation.within is not None:
        detail = f"{relation.within.column}: {age(relation.within.length)}"
        node = Operator("RecentFilter", detail, ChangelogMode.RETRACT, inputs=(node,))
    close = relation.event_time
    if window := relation.window:
        size, slide = window.size * MICROSECOND, window.slide * MICROSECOND
        every = f" every {duration(slide)}" if slide != size else ""
        detail = f"{window.kind} {duration(size)}{every} on {window.time}"
        node = Operator("Window", detail, inputs=(node,))
        close = "window_end"
    if close and not late.accept:
        grace = f" + {duration(late.allowed)}" if late.allowed else ""
        above = ">" if window else ">="
        node = Operator("LateFilter", f"{close}{grace} {above} _watermark", inputs=(node,))
    return node


def _aggregate(
    select: exp.Select, shape: Shape, node: Operator, mode: ChangelogMode, key: tuple[str, ...]
) -> Operator:
    calls = {_text(call): None for item in select.selects for call in aggregates(item)}
    group = select.args.get("group")
    keys = key or [_text(item) for item in (group.expressions if group else [])]
    state = f"one row per ({', '.join(keys)})" if keys else "one row"
    if mode is ChangelogMode.APPEND:
        state = f"one row per ({', '.join(key)}) of the windows still open"
    return Operator("Aggregate", ", ".join(calls), mode, key, state, (node,))


def _join(join: JoinBounds, select: exp.Select, late: LateRows) -> Operator:
    lower, upper = join.lower * MICROSECOND, join.upper * MICROSECOND
    detail = select.args["joins"][0].args.get("on")
    text = _text(detail) if detail is not None else "true"
    span = max(upper, timedelta(0)) - min(lower, timedelta(0))
    state = f"rows of both sides for {duration(span)} of event time"
    name = "IntervalJoin" + (" (left)" if join.outer else "")
    return Operator(
        name, text, state=state, inputs=(_scan(join.left, late), _scan(join.right, late))
    )


def _state_of_distinct(shape: Shape) -> str:
    by_time = shape.shows_event_times
    return "rows above the watermark" if by_time else "every row, in the view's own table"
