"""Shape and decision → program: the Spark SQL that keeps a view, one builder per engine and rule.

In: the bound view, its shape, its allowed lateness.
Out: a program of :mod:`headwater.plan.program`.
"""

from __future__ import annotations

from datetime import timedelta

from sqlglot import exp, parse_one

from headwater.analyze.definitions import Catalog, View
from headwater.analyze.query_parts import conjuncts
from headwater.plan.program import (
    AffectedKeysProgram,
    FullProgram,
    LinearProgram,
    StreamingProgram,
)
from headwater.plan.query_shape import MICROSECOND, JoinBounds, RelationShape, Shape
from headwater.plan.rules.exact_change import ExactChange
from headwater.plan.rules.fold import group_keys
from headwater.plan.rules.join_patterns import RowsRead
from headwater.plan.sql.late import late_queries, own_filters
from headwater.plan.sql.render import (
    WINDOW,
    batch_read,
    interval,
    print_sql,
    render,
    streaming_read,
)

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

    def read(relation: RelationShape) -> exp.Expr:
        return streaming_read(relation, catalog, own_filters(relation), grace)

    query = render(view.query, catalog, read)
    _settle_where(query, shape)
    if shape.join and shape.join.outer:
        _hold_unmatched(query, shape.join)
    if shape.window:
        _group_by_struct(query, shape)
    delays = {relation.name: relation.delay for relation in shape.relations}
    return StreamingProgram(print_sql(query, "spark"), delays, grace, stateful=True, late=late)


def linear_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> LinearProgram:
    """Return rule 1: change in, change out."""
    change = ExactChange(view.query, catalog, allowed).change(view.query)
    return LinearProgram(print_sql(change, "spark"), late_queries(shape, allowed))


def full_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> FullProgram:
    """Return the recomputation of a view over its whole inputs."""
    query = render(
        view.query, catalog, lambda relation: batch_read(relation, relation.name, allowed)
    )
    return FullProgram(print_sql(query, "spark"))


def affected_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> AffectedKeysProgram:
    """Return rule 3, for a query whose keys are all among its columns."""
    outputs = {item.unalias().sql(): item.alias_or_name for item in shape.select.selects}
    keys = group_keys(shape.select)
    names = {key.sql(): outputs[key.sql()] for key in keys}
    changed = render(
        view.query,
        catalog,
        lambda relation: batch_read(relation, relation.name + RowsRead.CHANGE.value, allowed),
    )
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


def _hold_unmatched(query: exp.Query, join: JoinBounds) -> None:
    """Let a left row that ON rules out by itself wait for the bound, as every unmatched one does.

    Spark 4.1.3 would return it at once. Such terms are written as equal to the lower bound, which
    holds for every pair: so they are about both rows, and Spark's optimizer does not take that
    apart.
    """
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
    """Whether a term compares the two rows, or is about the right one alone."""
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
