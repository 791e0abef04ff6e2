"""The shape of a bound query: its relations, window, group keys, time-bounded join.

In: the canonical query of a :class:`~headwater.analyze.definitions.View`.
Out: a :class:`Shape`, from which the planner chooses an engine and the renderers write SQL. A query
that is none of the known shapes is refused here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from sqlglot import exp

from headwater.algebra.ages import Age, Ages
from headwater.algebra.nodes import RowsRead
from headwater.algebra.scalars import conjuncts
from headwater.analyze.correlated.subqueries import has_predicates
from headwater.analyze.definitions import Catalog, Emit, Source, View
from headwater.analyze.query_parts import (
    is_aggregate,
    is_distinct,
    is_over,
    is_stateful,
    joins,
    relations,
    union_branches,
    unlike_union_all,
    window_calls,
)
from headwater.analyze.rules.changelog import effective_emit
from headwater.analyze.time.bounds import time_bounds
from headwater.analyze.time.dated import ages_of
from headwater.dialect import span_of
from headwater.dialect.syntax import PatternRows, RecursiveRows, WindowTable
from headwater.errors import SqlError
from headwater.plan.windows import TimeWindow, window_of

MICROSECOND = timedelta(microseconds=1)

TOLD = timedelta(days=1_000_000)
"""The delay that Spark is given for landed rows: so large that no row ever moves its watermark.

Only heartbeats do. Rows of a backlog are ahead of their table's watermark, as other rows of the
backlog are still to come; Spark would take them for progress and drop those."""


@dataclass(frozen=True, slots=True)
class RelationShape:
    """One mention of a source, table or view in a query.

    Attributes:
        name: what it names.
        alias: the name its columns are qualified by.
        source: its definition when it is a source or table, None for a view.
        window: the window assigned to its rows, if any.
        table: its node in the query.
        select: the SELECT it stands in.
        columns: names of its columns that the SELECT uses, without the window's.
        ages: which of its rows, by the view's watermark, and what compares them with it.
        state: which of its rows are read, in the change of a query.
    """

    name: str
    alias: str
    source: Source | None
    window: TimeWindow | None
    table: exp.Table
    select: exp.Select
    columns: tuple[str, ...]
    ages: Ages = Ages()
    state: RowsRead = RowsRead.AFTER

    @property
    def event_time(self) -> str | None:
        """Name of the event-time column of the source's watermark, if it has one."""
        watermark = self.source.watermark if self.source else None
        return watermark.column if watermark else None

    @property
    def tells_lateness(self) -> bool:
        """Whether its rows are landed, with the watermark that they met."""
        return bool(self.event_time and self.source and self.source.kept)

    @property
    def delay(self) -> timedelta:
        """How far the source's watermark stays behind its newest event time."""
        watermark = self.source.watermark if self.source else None
        return watermark.delay if watermark else timedelta(0)

    @property
    def spark_delay(self) -> timedelta:
        """How far Spark's watermark stays behind the event times that it sees."""
        return TOLD if self.tells_lateness else self.delay


@dataclass(frozen=True, slots=True)
class JoinBounds:
    """The event times that meet in an interval join: ``lower <= right - left <= upper``.

    Attributes:
        left: the preserved or first relation.
        right: the second relation.
        outer: True for a LEFT JOIN.
        lower: least distance, already adjusted to be inclusive, microseconds.
        upper: greatest distance, already adjusted to be inclusive.
    """

    left: RelationShape
    right: RelationShape
    outer: bool
    lower: int
    upper: int

    @property
    def wait(self) -> int:
        """How far the watermark must be past a left row before it is known to be unmatched.

        Spark counts in whole milliseconds: one more than an inclusive bound, a strict bound itself.
        """
        return -(-(self.upper + 1) // 1000) * 1000


class ShapeKind(StrEnum):
    """The one operator with state that a query has; ``general`` for any other query."""

    LINEAR = "linear"
    AGGREGATE = "aggregate"
    DISTINCT = "distinct"
    INTERVAL_JOIN = "interval join"
    GENERAL = "general"


@dataclass(frozen=True, slots=True)
class NotSingle:
    """Why a query is not made around one operator with state: the error, if it had to be."""

    error: SqlError


@dataclass(frozen=True, slots=True)
class Shape:
    """What a query is made of.

    Attributes:
        kind: what kind of query it is.
        relations: every relation mentioned, in order.
        select: the outermost SELECT; for a UNION ALL its first branch.
        window: the window its groups are keyed by, if any.
        join: the interval join, if it is one.
    """

    kind: ShapeKind
    relations: tuple[RelationShape, ...]
    select: exp.Select
    window: TimeWindow | None = None
    join: JoinBounds | None = None

    @property
    def recent(self) -> dict[str, Age]:
        """By name the inputs of which it reads the newest rows only, and which those are."""
        return {each.name: each.ages.recent for each in self.relations if each.ages.recent}

    @property
    def dated(self) -> dict[str, tuple[Age, ...]]:
        """By name of an input, the columns that compare its rows with the watermark."""
        return {each.name: each.ages.dated for each in self.relations if each.ages.dated}

    @property
    def shows_event_times(self) -> bool:
        """Whether every relation has an event time, and it is among the columns."""
        columns = [item.unalias() for item in self.select.selects]
        shown = {(item.table, item.name) for item in columns if isinstance(item, exp.Column)}
        return all((each.alias, each.event_time) in shown for each in self.relations)


def shape_of(view: View, catalog: Catalog, emit: Emit | None = None) -> Shape:
    """Return the shape of a bound view's query.

    Args:
        emit: when its rows appear, if that is decided already.

    Raises:
        SqlError: ``NOT_YET`` for a query that no engine maintains yet.
    """
    emit = emit or effective_emit(view, catalog)
    mentioned = tuple(relations_of(view.query, catalog))
    select = union_branches(view.query)[0]
    found = _single(view.query, select, mentioned, emit)
    if isinstance(found, Shape):
        return found
    streams = any(each.source and not each.source.kept for each in mentioned)
    if streams:
        raise found.error
    return Shape(ShapeKind.GENERAL, mentioned, select)


def _single(
    query: exp.Query, select: exp.Select, mentioned: tuple[RelationShape, ...], emit: Emit
) -> Shape | NotSingle:
    """The shape of a query that has at most one operator with state."""
    for inner in query.find_all(exp.Select):
        if inner is not select and is_stateful(inner):
            hint = "make it a view of its own"
            return _not_single(inner, "a subquery that aggregates or joins", hint)
    if clause := query.find(PatternRows):
        hint = "land the input: CREATE TABLE instead of CREATE SOURCE"
        return _not_single(clause, "MATCH_RECOGNIZE over a SOURCE", hint)
    if rows := query.find(RecursiveRows):
        return _not_single(rows, "WITH RECURSIVE over a SOURCE", "land the input")
    if other := unlike_union_all(query):
        return _not_single(other, "a set operation other than UNION ALL", "use EMIT CHANGES")
    if any(map(has_predicates, query.find_all(exp.Select))):
        return _not_single(query, "a view with subqueries in expressions", "use EMIT CHANGES")
    if window_calls(select) or select.args.get("limit"):
        return _not_single(select, "a view with OVER or LIMIT", "use EMIT CHANGES over tables")
    if isinstance(query, exp.Union) and is_stateful(select):
        return _not_single(query, "a UNION of aggregates", "make each branch a view of its own")
    if joins(select):
        bounds = _join_bounds(select, mentioned, emit)
        if isinstance(bounds, NotSingle):
            return bounds
        return Shape(ShapeKind.INTERVAL_JOIN, mentioned, select, join=bounds)
    if is_aggregate(select):
        window = _group_window(select, mentioned)
        return Shape(ShapeKind.AGGREGATE, mentioned, select, window=window)
    kind = ShapeKind.DISTINCT if is_distinct(select) else ShapeKind.LINEAR
    return Shape(kind, mentioned, select)


def aggregates(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the outermost aggregate calls below ``node``, with their FILTER where they have one."""
    for found in node.find_all(exp.AggFunc):
        if found.find_ancestor(exp.Select) is not _enclosing(node) or is_over(found):
            continue
        yield found.parent if isinstance(found.parent, exp.Filter) else found


def columns_of(node: exp.Expr, alias: str) -> set[str]:
    """Return the names of the columns below ``node`` that ``alias`` qualifies."""
    return {column.name for column in node.find_all(exp.Column) if column.table == alias}


def _enclosing(node: exp.Expr) -> exp.Expr | None:
    return node if isinstance(node, exp.Select) else node.find_ancestor(exp.Select)


def relations_of(query: exp.Query, catalog: Catalog) -> Iterator[RelationShape]:
    """Yield every mention of a relation in a bound query, outer SELECTs first.

    Raises:
        SqlError: ``NOT_YET`` for a window that no engine maintains yet.
    """
    for select in query.find_all(exp.Select, bfs=False):
        used: dict[str, set[str]] = {}
        for column in select.find_all(exp.Column):
            used.setdefault(column.table, set()).add(column.name)
        for item in relations(select):
            if isinstance(item, exp.Table):
                yield _relation(item, select, used.get(item.alias_or_name, set()), catalog)


def _relation(
    table: exp.Table, select: exp.Select, used: set[str], catalog: Catalog
) -> RelationShape:
    window = window_of(table.this) if isinstance(table.this, WindowTable) else None
    inner = table.this.this if isinstance(table.this, WindowTable) else table
    if not isinstance(inner, exp.Table):
        hint = "make the subquery a view of its own"
        if window and window.kind == "tumble":
            hint += f", or group by date_trunc('hour', {window.time})"
        raise _not_yet(table, "a window over this subquery", hint)
    alias = table.alias_or_name
    ages = ages_of(inner)
    used = used - {each.flag for each in ages.dated}
    if window:
        used = used - {"window_start", "window_end"} | {window.time}
    return RelationShape(
        inner.name,
        alias,
        catalog.sources.get(inner.name),
        window,
        table,
        select,
        tuple(sorted(used)),
        ages,
        RowsRead(inner.db),
    )


def _group_window(select: exp.Select, mentioned: tuple[RelationShape, ...]) -> TimeWindow | None:
    """The window whose start or end is among the group keys."""
    group = select.args.get("group")
    keys = (
        {(key.table, key.name) for key in group.expressions if isinstance(key, exp.Column)}
        if group
        else set()
    )
    for relation in mentioned:
        if relation.window and keys & {
            (relation.alias, "window_start"),
            (relation.alias, "window_end"),
        }:
            return relation.window
    return None


def _join_bounds(
    select: exp.Select, mentioned: tuple[RelationShape, ...], emit: Emit
) -> JoinBounds | NotSingle:
    joined = joins(select)
    if len(joined) > 1 or len(mentioned) != 2:
        return _not_single(
            joined[-1], "a join of more than two streams", "join two of them in a view of its own"
        )
    join, (left, right) = joined[0], mentioned
    if left.name == right.name:
        return _not_single(
            join, f"a join of {left.name} with itself", "land the input twice under two names"
        )
    if join.side not in ("", "LEFT") or join.kind not in ("", "INNER", "OUTER"):
        return _not_single(
            join, f"a {(join.side + ' ' + join.kind).strip()} join of streams", "use INNER or LEFT"
        )
    if join.side and emit is Emit.CHANGES:
        return _not_single(join, "a LEFT JOIN with EMIT CHANGES", "write EMIT ON WINDOW CLOSE")
    if is_aggregate(select) or is_distinct(select):
        return _not_single(select, "an aggregate over a join", "make the join a view of its own")
    condition = join.args.get("on")
    if not join.side and (where := select.args.get("where")):
        condition = exp.and_(condition, where.this) if condition else where.this
    bounds = time_bounds(condition, {_time(left)}, {_time(right)})
    timed = left.event_time and right.event_time
    if not timed or bounds is None or bounds.lower is None or bounds.upper is None:
        times = (".".join(_time(side)) for side in (left, right))
        error = SqlError(
            "UNBOUNDED_STATE",
            f"the join of {left.name} and {right.name} does not bound their distance in event time",
            hint="add … AND {1} BETWEEN {0} AND {0} + INTERVAL '1' HOUR".format(*times),
            span=span_of(join),
        )
        return NotSingle(error)
    if not _has_equality(condition, left.alias, right.alias):
        hint = f"add an equality: … AND {left.alias}.k = {right.alias}.k"
        return _not_single(join, "an interval join without an equality of its sides", hint)
    lower, upper = bounds.lower // MICROSECOND, bounds.upper // MICROSECOND
    if join.side and upper % 1000 not in (0, 999):
        return _not_single(
            join, "a LEFT JOIN bounded by fractions of a millisecond", "round the bound"
        )
    return JoinBounds(left, right, join.side == "LEFT", lower, upper)


def _has_equality(condition: exp.Expr | None, left: str, right: str) -> bool:
    """Return whether a condition equates a value of each side, by which Spark splits the rows."""
    for term in conjuncts(condition):
        if isinstance(term, (exp.EQ, exp.NullSafeEQ)):
            tables = [{c.table for c in side.find_all(exp.Column)} for side in _sides(term)]
            if tables in ([{left}, {right}], [{right}, {left}]):
                return True
    return False


def _sides(term: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    return term.this, term.expression


def _time(relation: RelationShape) -> tuple[str, str]:
    return relation.alias, relation.event_time or "ts"


def _not_single(node: exp.Expr, what: str, hint: str) -> NotSingle:
    return NotSingle(_not_yet(node, what, hint))


def _not_yet(node: exp.Expr, what: str, hint: str) -> SqlError:
    return SqlError("NOT_YET", f"not supported: {what}", hint=hint, span=span_of(node))
