"""The four rules of the streaming engine: queries whose state the watermark bounds, or without any.

In: the bound view, its shape, its allowed lateness.
Out: a :class:`~headwater.plan.program.StreamingProgram`.
"""

from __future__ import annotations

from datetime import timedelta

from sqlglot import exp, parse_one

from headwater.algebra.scalars import conjuncts
from headwater.analyze.definitions import Catalog, Emit, View
from headwater.analyze.typing.types import spark_type
from headwater.plan.program import StreamingProgram
from headwater.plan.query_shape import MICROSECOND, JoinBounds, RelationShape, Shape, ShapeKind
from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.sql.late import late_queries, own_filters
from headwater.plan.sql.render import (
    WINDOW,
    batch_read,
    interval,
    print_sql,
    render,
    streaming_read,
    without_zone,
)

DECLARED = "__declared"
"""Name of the subquery whose times get the types of the view."""


def streaming_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> StreamingProgram:
    """Return the Structured Streaming query of a bound view.

    Args:
        allowed: allowed lateness, or None if every row counts (stateless queries only).
    """
    late = late_queries(shape, allowed)
    if shape.kind is ShapeKind.LINEAR:
        query = render(
            view.query, catalog, lambda relation: batch_read(relation, relation.name, allowed)
        )
        return StreamingProgram(print_sql(query, "spark"), late=late)
    grace = allowed or timedelta(0)

    def read(relation: RelationShape) -> exp.Expr:
        return streaming_read(relation, catalog, own_filters(relation), grace)

    query = render(view.query, catalog, read)
    _settle_where(query, shape)
    if shape.join and shape.join.outer:
        _hold_unmatched(query, shape.join)
    if shape.window:
        _group_by_struct(query, shape)
    if any(without_zone(relation, catalog) for relation in shape.relations):
        query = _as_declared(query, view)
    delays = {relation.name: relation.spark_delay for relation in shape.relations}
    return StreamingProgram(print_sql(query, "spark"), delays, grace, stateful=True, late=late)


def _as_declared(query: exp.Query, view: View) -> exp.Query:
    """Give times that were read as TIMESTAMP in UTC the types that the view has for them."""
    items = []
    for name, kind in ((each.name, spark_type(each.type)) for each in view.fields):
        column: exp.Expr = exp.column(name)
        if "TIMESTAMP_NTZ" in kind:
            column = exp.alias_(exp.cast(column, kind, dialect="spark"), name)
        items.append(column)
    return exp.select(*items).from_(query.subquery(DECLARED, copy=False))


def _settle_where(query: exp.Query, shape: Shape) -> None:
    """Move WHERE terms to the place where a streaming query needs them."""
    # Spark pushes nothing down in a streaming view: a pushed filter would remove heartbeats.
    # The filters of one relation already stand below its watermark; an inner join's terms belong
    # into ON.
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


def _hold_unmatched(query: exp.Query, join: JoinBounds) -> None:
    """Let a left row that ON rules out by itself wait for the bound, as unmatched rows do."""
    # Spark 4.1.3 would return it at once. Such terms are written as equal to the lower bound, which
    # holds for every pair. So they are about both rows, and Spark's optimizer does not take that
    # apart.
    node = next(query.find_all(exp.Select)).args["joins"][0]
    of_pairs, others = list[exp.Expr](), list[exp.Expr]()
    for term in conjuncts(node.args["on"]):
        (of_pairs if _is_of_pairs(term, join) else others).append(term)
    if not others:
        return
    left, right = (
        exp.column(side.event_time or "", side.alias) for side in (join.left, join.right)
    )
    least = parse_one(interval(join.lower * MICROSECOND), dialect="spark")
    bound = exp.GTE(this=right, expression=exp.Add(this=left, expression=least))
    held = exp.NullSafeEQ(this=exp.paren(exp.and_(*others)), expression=exp.paren(bound))
    node.set("on", exp.and_(*of_pairs, held))


def _is_of_pairs(term: exp.Expr, join: JoinBounds) -> bool:
    """Return whether a term compares the two rows, or is about the right one alone."""
    named = {column.table for column in term.find_all(exp.Column)}
    compares = isinstance(term, (exp.Binary, exp.Between)) and not term.find(exp.Connector)
    return join.right.alias in named and (join.left.alias not in named or compares)


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


def _linear(facts: Facts) -> str | None:
    """Filter, project, unnest, union all: each row on its own."""
    fits = facts.streams and facts.shape.kind is ShapeKind.LINEAR and facts.append_only
    return "append-only and stateless: each row on its own" if fits else None


def _window_close(facts: Facts) -> str | None:
    """Aggregates over windows that are final when the watermark closes them."""
    closes = facts.shape.window and facts.emit is Emit.ON_WINDOW_CLOSE and facts.reads_source
    if closes and facts.streams and facts.timed and not facts.aggregates_distinct:
        return "rows are final once closed, so Spark's state can forget them"
    return None


def _interval_join(facts: Facts) -> str | None:
    """Joins whose event times are bounded on both sides."""
    fits = facts.reads_source and facts.shape.kind is ShapeKind.INTERVAL_JOIN and facts.timed
    return "event times bound how long a row waits for its match" if fits else None


def _deduplicate(facts: Facts) -> str | None:
    """DISTINCT with the event time among the columns."""
    distinct = facts.reads_source and facts.shape.kind is ShapeKind.DISTINCT
    if distinct and facts.shape.shows_event_times:
        return "the watermark bounds how long a row is remembered"
    return None


LINEAR = Rule("streaming", Engine.STREAMING, _linear, streaming_program)
WINDOW_CLOSE = Rule("streaming", Engine.STREAMING, _window_close, streaming_program)
INTERVAL_JOIN = Rule("streaming", Engine.STREAMING, _interval_join, streaming_program)
DEDUPLICATE = Rule("streaming", Engine.STREAMING, _deduplicate, streaming_program)
