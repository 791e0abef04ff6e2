"""The SELECT at rest: what a view must hold, written for another engine.

In: a plan, a dialect (``trino``, ``duckdb`` or ``spark``), the watermark of a commit and where the
inputs are.
Out: SQL text. Lateness is a WHERE over ``_watermark``, finality a WHERE over the commit's
watermark, and rows on which an expression fails are left out by one more (the plan's guard);
nothing else differs from what the analyst wrote, except that a comparison computes approximate
aggregates exactly, with the bounds in which the view's sketch must lie (:func:`comparisons`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp, parse_one

from headwater.algebra.ages import Age
from headwater.analyze.definitions import Catalog, OnError
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.portable.trino import in_micros
from headwater.analyze.query_parts import union_branches
from headwater.analyze.time.settling import Settled, Unsettled
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.types import elements
from headwater.dialect.syntax import PatternRows, ViewWatermark
from headwater.errors import ConfigError, SqlError
from headwater.plan.closing import closing, dated
from headwater.plan.program import PatternStep
from headwater.plan.query_shape import MICROSECOND, RelationShape, ShapeKind, aggregates
from headwater.plan.rules.contract import Engine
from headwater.plan.rules.folds import APPROXIMATE, DISTINCT_ERROR, RANK_ERROR
from headwater.plan.sql.native_patterns import UNTIL, native
from headwater.plan.sql.pattern_rows import take_out
from headwater.plan.sql.recursion import native_recursion
from headwater.plan.sql.render import (
    batch_read,
    fields_of,
    in_time,
    interval,
    print_sql,
    render,
    spark_expression,
    timestamp,
    where,
)
from headwater.plan.sql.windows import assign
from headwater.plan.tolerant import tolerant
from headwater.plan.view_plan import ViewPlan

DIALECTS = ("trino", "duckdb", "spark")
LOWER, UPPER = "__lower", "__upper"
_CLOSES = (ShapeKind.AGGREGATE, ShapeKind.DISTINCT)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How one column of a view is compared with its SELECT at rest.

    Attributes:
        column: the column's name.
        kind: ``exact``; ``float`` (within 1e-9 relative: sums of doubles depend on their order);
            ``floats``, an array of them; or ``approximate``: the DuckDB query also returns
            ``<column>__lower`` and ``<column>__upper``, and the view's value must lie between them.
    """

    column: str
    kind: str


@dataclass(frozen=True, slots=True)
class AtRest:
    """A SELECT at rest.

    Attributes:
        view: whose it is.
        dialect: of its text.
        sql: its text.
        patterns: the tables of matches that it reads.
    """

    view: str
    dialect: str
    sql: str
    patterns: tuple[PatternStep, ...] = ()

    def text(self) -> str:
        """Return its text where it reads no table of matches.

        Raises:
            SqlError: ``QUERY_REFUSED`` for patterns in a dialect that has none.
        """
        if self.patterns:
            raise SqlError(
                "QUERY_REFUSED",
                f"with patterns, the SELECT at rest is no single query of {self.dialect}",
                hint=f"run: headwater explain {self.view} --at-rest trino",
            )
        return self.sql


def at_rest(
    plan: ViewPlan,
    catalog: Catalog,
    dialect: str,
    *,
    watermark: int | None = None,
    final: bool = True,
    relation: Callable[[str], str] | None = None,
    bounds: bool = False,
) -> AtRest:
    """Return the SELECT whose rows a view must equal.

    Args:
        dialect: ``trino``, ``duckdb`` or ``spark``.
        watermark: the watermark in the commit's marker, microseconds; None if it had none yet.
        final: False leaves the finality bound out (everything is taken as closed).
        relation: gives the text that reads an input, for example with its snapshot; default: its
            name.
        bounds: whether approximate columns are exact and come with their bounds (DuckDB, Trino).

    Raises:
        ConfigError: ``UNKNOWN_DIALECT``.
    """
    query = rendered(
        plan, catalog, dialect, watermark=watermark, final=final, relation=relation, bounds=bounds
    )
    if dialect == "trino":
        text = print_sql(native(native_recursion(query)).transform(in_micros), dialect)
        return AtRest(plan.view.name, dialect, text)
    named_query, patterns = take_out(native_recursion(query), dialect)
    return AtRest(plan.view.name, dialect, print_sql(named_query, dialect), patterns)


def rendered(
    plan: ViewPlan,
    catalog: Catalog,
    dialect: str,
    *,
    watermark: int | None = None,
    final: bool = True,
    relation: Callable[[str], str] | None = None,
    bounds: bool = False,
) -> exp.Query:
    """Return the tree of the SELECT at rest, with patterns as nodes.

    Args:
        dialect: see :func:`at_rest`, also for the other arguments.

    Raises:
        ConfigError: ``UNKNOWN_DIALECT``.
    """
    if dialect not in DIALECTS:
        raise ConfigError(
            "UNKNOWN_DIALECT",
            f"no SELECT at rest for {dialect}",
            hint=f"use one of {', '.join(DIALECTS)}",
        )
    named = relation or (lambda name: name)

    def read(item: RelationShape) -> exp.Expr:
        name = _dated(item, named(item.name), dialect, watermark, final=final)
        if dialect == "spark":
            recent = _within(item.ages.recent, watermark, final=final)
            return batch_read(item, name, plan.lateness, recent)
        recent = _within(item.ages.within, watermark, final=final)
        return _read(item, plan, dialect, name, recent)

    written = plan.view.query
    if plan.view.on_error != OnError.FAIL:
        written = tolerant(plan.guard.query if plan.guard else written)
    own = portable(written, dialect)
    query = render(own, catalog, read)
    for clock in list(query.find_all(ViewWatermark)):
        clock.replace(_ago(0, type_of(clock), watermark, final=final))
    closes = plan.final and plan.decision.engine is Engine.INCREMENTAL
    if final and not closes:
        _only_final(query, plan, catalog, watermark)
    if dialect == "duckdb" or bounds:
        _exactly(query, dialect, bounds)
    if final and closes:
        query = _only_dated(query, own, closing(written, catalog), plan, watermark)
    assert isinstance(query, exp.Query)
    return query


def comparisons(plan: ViewPlan) -> tuple[Comparison, ...]:
    """Return how each visible column of a view is compared, in order."""
    return tuple(
        Comparison(field.name, _comparison(item, field.type))
        for item, field in zip(plan.shape.select.selects, plan.view.fields, strict=True)
    )


def _comparison(item: exp.Expr, kind: exp.DataType) -> str:
    if any(call.find(*APPROXIMATE) for call in aggregates(item.unalias())):
        return "approximate"
    if kind.this in FLOATS:
        return "float"
    listed = kind.this is exp.DataType.Type.ARRAY and elements(kind)[0].this in FLOATS
    return "floats" if listed else "exact"


def _within(age: Age | None, watermark: int | None, *, final: bool) -> exp.Expr | None:
    """The condition that the watermark has not left a row behind; None for rows of any age."""
    if age is None:
        return None
    least = _ago(age.length, age.type, watermark, final=final)
    return exp.GTE(this=exp.column(age.column), expression=least)


def _ago(length: int, kind: exp.DataType, watermark: int | None, *, final: bool) -> exp.Expr:
    """The watermark less some microseconds; NULL before the first one."""
    if watermark is not None:
        return timestamp(watermark - length, kind)
    if final:
        return exp.cast(exp.null(), kind.copy())
    clock = exp.Placeholder(this="watermark")
    if not length:
        return clock
    return exp.Sub(this=clock, expression=spark_expression(interval(length * MICROSECOND)))


def _dated(
    item: RelationShape, name: str, dialect: str, watermark: int | None, *, final: bool
) -> str:
    """What an input is read from, with the columns that compare its rows with the watermark."""
    if not item.ages.dated:
        return name
    conditions = [(_within(age, watermark, final=final), age.flag) for age in item.ages.dated]
    columns = [exp.alias_(each, flag).sql(dialect=dialect) for each, flag in conditions if each]
    return f"(SELECT *, {', '.join(columns)} FROM {name}) AS dated"


def _read(
    item: RelationShape, plan: ViewPlan, dialect: str, name: str, recent: exp.Expr | None
) -> exp.Expr:
    cut = [recent.sql(dialect=dialect)] if recent is not None else []
    late = []
    if item.event_time and plan.lateness is not None:
        close = "window_end" if item.window else item.event_time
        late = [in_time(close, plan.lateness, ends=item.window is not None)]
    if item.window is None:
        terms = where(*cut, *late)
        query = parse_one(f"SELECT * FROM {name}{terms}", dialect=dialect)
        return query if terms or item.ages.dated else query.args["from_"].this
    rows = f"(SELECT * FROM {name}{where(*cut)}) AS recent" if cut else name
    windows = assign(dialect, item.window, rows)
    return parse_one(f"SELECT * FROM ({windows}) AS windows{where(*late)}", dialect=dialect)


def _only_dated(
    query: exp.Query,
    own: exp.Query,
    settled: Sequence[Settled | Unsettled | None],
    plan: ViewPlan,
    watermark: int | None,
) -> exp.Query:
    """Leave out what the commit's watermark had not made final yet, as *closed time* does.

    Args:
        settled: when the rows of each branch are final, by the query as it was written. A dialect
            can have forms from which that is not seen, as DuckDB's for two arrays side by side.
    """

    def final(one: Settled, date: exp.Expr, kind: exp.DataType) -> exp.Expr:
        if watermark is None:
            return exp.false()
        least = (one.after + plan.late.allowed) // MICROSECOND
        return exp.LTE(this=date, expression=timestamp(watermark - least, kind))

    holder = exp.Paren(this=query)
    branches = zip(union_branches(query), union_branches(own), settled, strict=True)
    for branch, select, one in branches:
        if isinstance(one, Settled):
            for rows in branch.find_all(PatternRows):
                least = (one.after + plan.late.allowed) // MICROSECOND
                rows.meta[UNTIL] = None if watermark is None else watermark - least
            place = exp.Placeholder()
            branch.replace(place)
            place.replace(dated(branch, select, one, final, whole=True))
    found = holder.this
    assert isinstance(found, exp.Query)
    return found


def _only_final(query: exp.Query, plan: ViewPlan, catalog: Catalog, watermark: int | None) -> None:
    """Leave out what the commit's watermark had not made final yet."""
    join = plan.shape.join
    if join and join.outer:
        matched = exp.column(join.right.event_time or "", join.right.alias).is_(exp.null()).not_()
        unmatched = _passed(join.left, join.left.event_time, catalog, watermark, join.wait)
        _add_where(query, exp.or_(matched, unmatched))
    elif plan.decision.engine is Engine.STREAMING and plan.shape.kind in _CLOSES:
        for item in plan.shape.relations:
            close = "window_end" if item.window else item.event_time
            _add_where(query, _passed(item, close, catalog, watermark))


def _passed(
    item: RelationShape, close: str | None, catalog: Catalog, watermark: int | None, wait: int = 0
) -> exp.Expr:
    """The condition that a watermark has passed a time column by ``wait`` microseconds."""
    if not watermark:
        return exp.false()
    like = fields_of(item, catalog)[item.event_time or ""].type
    limit = timestamp(watermark - wait, like)
    return exp.LTE(this=exp.column(close or "", item.alias), expression=limit)


def _add_where(query: exp.Query, term: exp.Expr) -> None:
    select = next(query.find_all(exp.Select))
    select.where(term, copy=False)


FLOATS = (exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT)


def _exactly(query: exp.Query, dialect: str, bounds: bool) -> None:
    """Replace approximate aggregates by exact ones, and add their bounds as columns."""
    select = next(query.find_all(exp.Select))
    extra: list[exp.Expr] = []
    for item in select.selects:
        if bounds and any(call.find(*APPROXIMATE) for call in aggregates(item.unalias())):
            ends = [_exact(item.unalias().copy(), dialect, side) for side in (-1, 1)]
            for name, end in ((LOWER, "LEAST"), (UPPER, "GREATEST")):
                both = exp.func(end, *(value.copy() for value in ends))
                extra.append(exp.alias_(both, item.alias_or_name + name))
    for item in list(select.selects):
        item.replace(_exact(item, dialect, 0))
    select.set("expressions", [*select.selects, *extra])


def _exact(node: exp.Expr, dialect: str, side: int) -> exp.Expr:
    """An expression with approximate aggregates made exact, or a bound of them (side -1, 1)."""

    def replace(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.ApproxDistinct):
            count = f"count(DISTINCT {part.this.sql(dialect=dialect)})"
            if side:
                count = f"CAST(round({count} * {1 + side * DISTINCT_ERROR}) AS BIGINT) + {side}"
            return parse_one(f"({count})" if side else count, dialect=dialect)
        if isinstance(part, exp.ApproxQuantile):
            share = float(part.args["quantile"].name) + side * RANK_ERROR
            share = round(min(max(share, 0.0), 1.0), 6)
            if dialect == "trino":
                return _trino_quantile(_ranked(part.this).sql(dialect=dialect), share)
            return exp.func("quantile_disc", _ranked(part.this), exp.Literal.number(share))
        return part

    return node.transform(replace)


def _trino_quantile(value: str, share: float) -> exp.Expr:
    """The value of a rank: Trino has sketches for it only."""
    rank = f"GREATEST(1, CAST(CEIL({share} * COUNT({value})) AS INTEGER))"
    values = f"ARRAY_SORT(ARRAY_AGG({value}) FILTER (WHERE NOT {value} IS NULL))"
    return parse_one(f"ELEMENT_AT({values}, {rank})", dialect="trino")


def _ranked(value: exp.Expr) -> exp.Expr:
    """What a sketch ranks: NaN has no rank in it."""
    if type_of(value).this not in FLOATS:
        return value.copy()
    number = exp.Not(this=exp.IsNan(this=value.copy()))
    return exp.Case(ifs=[exp.If(this=number, true=value.copy())])
