"""Closed time: append what the watermark has made final since the last tick.

In: a bound query whose rows are dated by an event time, or are final at once
(:mod:`headwater.analyze.time.finality`). Out: its :class:`~headwater.plan.program.Program`.

A row is final once the watermark is past its date by a fixed time, so the rows that become final in
a tick are those dated within a range. They are computed from the landed rows of another range, to
which the scans are cut: the landed tables are the only state. Rows that are final at once, as the
pairs of a join, follow from the rows that came, and from others within the bounds of the join.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from sqlglot import exp

from headwater.analyze.definitions import Catalog, Emit, View
from headwater.analyze.query_parts import relations, union_branches
from headwater.analyze.time.event_time import NONE, Reach
from headwater.analyze.time.finality import Finality
from headwater.analyze.time.settling import Settled
from headwater.analyze.typing.types import spark_type
from headwater.plan.closing import dated
from headwater.plan.program import AFTER, READS_PINNED, READS_STATES, UPTO, ClosedTimeProgram
from headwater.plan.query_shape import MICROSECOND, RelationShape, Shape, ShapeKind, relations_of
from headwater.plan.rules.bags import BagChange
from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.rules.recent_matches import RecentMatches
from headwater.plan.rules.tree_rewrites import union_all
from headwater.plan.sql.late import late_queries
from headwater.plan.sql.pattern_rows import take_out, with_recent
from headwater.plan.sql.render import batch_read, print_sql, render, spark_expression, without_zone


def closed_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> ClosedTimeProgram:
    """Return how final rows are appended, for a query whose rows become final."""
    writer = _Writer(catalog, allowed)
    parts = [part for branch in union_branches(view.query) for part in writer.parts(branch)]
    query, patterns = take_out(union_all(parts), "spark")
    if patterns:
        recent = RecentMatches(view, catalog, allowed)
        writer.cuts = recent.cuts
        cut = [part for branch in union_branches(view.query) for part in writer.parts(branch)]
        patterns = with_recent(patterns, union_all(cut), recent.distances)
    reads = READS_STATES if writer.reads_changes else READS_PINNED
    late = late_queries(shape, allowed)
    grids = writer.grids() if not writer.reads_changes else ()
    return ClosedTimeProgram(print_sql(query, "spark"), late, reads, grids, patterns)


class _Writer:
    """Writes the rows that a tick appends.

    Attributes:
        reads_changes: whether some of them follow from what has come.
        cuts: by mention in FROM, how far before the watermark rows are read at most.
    """

    def __init__(self, catalog: Catalog, allowed: timedelta | None) -> None:
        self._catalog, self._allowed = catalog, allowed
        self._finality = Finality(catalog)
        self._grace = allowed or NONE
        self._settled: list[Settled] = []
        self.reads_changes = False
        self.cuts: Mapping[int, timedelta] = {}

    def grids(self) -> tuple[tuple[int, int], ...]:
        """Return the watermarks at which something can become final; empty for any."""
        found = []
        for one in self._settled:
            if one.grid is None:
                return ()
            first, apart = one.grid
            found.append(((first + one.after + self._grace) // MICROSECOND, apart // MICROSECOND))
        return tuple(found)

    def parts(self, branch: exp.Select) -> Iterator[exp.Query]:
        """Yield the rows of a branch that a tick appends."""
        one = self._finality.settled(branch)
        if isinstance(one, Settled):
            self._settled.append(one)
            yield self._dated(branch, one)
        if one is None or (isinstance(one, Settled) and one.unless):
            self.reads_changes = True
            yield from self._changes(branch)

    def _dated(self, branch: exp.Select, one: Settled) -> exp.Select:
        def read(relation: RelationShape) -> exp.Expr:
            reach = one.reads.get(id(relation.table))
            if since := self.cuts.get(id(relation.table)):
                reach = Reach(one.after - since, NONE)
            if reach is None or relation.event_time is None:
                return batch_read(relation, relation.name, self._allowed)
            low, high = (
                None if bound is None else self._moment(name, one.after - bound, relation)
                for name, bound in ((AFTER, reach.lowest), (UPTO, reach.highest))
            )
            return batch_read(relation, relation.name, self._allowed, _within(relation, low, high))

        def condition(one: Settled, date: exp.Expr, kind: exp.DataType) -> exp.Expr:
            start, end = (
                _at(name, self._grace + one.after, spark_type(kind)) for name in (AFTER, UPTO)
            )
            after = exp.GT(this=date, expression=start)
            return exp.and_(after, exp.LTE(this=date.copy(), expression=end))

        rendered = render(branch, self._catalog, read)
        assert isinstance(rendered, exp.Select)
        return dated(rendered, branch, one, condition, whole=False)

    def _changes(self, branch: exp.Select) -> list[exp.Select]:
        """The rows that the rows that came make with others, all parts found."""
        inner = branch.copy()
        for join in inner.args.get("joins") or []:
            if join.side:
                join.set("side", None)
                join.set("kind", None)
        scope = self._finality.scope(inner)
        timed = {each.alias: each for each in relations_of(inner, self._catalog) if each.event_time}
        items = [each.alias_or_name for each in relations(inner)]

        def cut(relation: RelationShape, changing: int) -> exp.Expr | None:
            """How old a row can be that a row in time meets."""
            other = timed.get(items[changing])
            if self._allowed is None or other is None or relation.alias not in timed:
                return None
            names = ((each.alias, each.event_time or "") for each in (relation, other))
            most = scope.distances.most(*names)
            low = None if most is None else self._moment(AFTER, most, relation)
            return _within(relation, low, None)

        change = BagChange(inner, self._catalog, self._allowed, cut)
        return change.parts(inner)

    def _moment(self, name: str, less: timedelta, relation: RelationShape) -> exp.Expr:
        kind = "TIMESTAMP_NTZ" if without_zone(relation, self._catalog) else "TIMESTAMP"
        return _at(name, self._grace + less, kind)


def _at(name: str, less: timedelta, kind: str) -> exp.Expr:
    text = f"timestamp_micros({name} - {less // MICROSECOND})"
    return spark_expression(text if kind == "TIMESTAMP" else f"CAST({text} AS {kind})")


def _within(
    relation: RelationShape, low: exp.Expr | None, high: exp.Expr | None
) -> exp.Expr | None:
    time = exp.column(relation.event_time or "")
    found: list[exp.Expr] = []
    if low is not None:
        found.append(exp.GTE(this=time.copy(), expression=low))
    if high is not None:
        found.append(exp.LTE(this=time.copy(), expression=high))
    return exp.and_(*found) if found else None


def _applies(facts: Facts) -> str | None:
    if not facts.append_only or facts.reads_source:
        return None
    if facts.emit is Emit.ON_WINDOW_CLOSE:
        if facts.closing and all(one is None or isinstance(one, Settled) for one in facts.closing):
            return "rows are appended once the watermark has made them final"
        return None
    if facts.shape.kind is ShapeKind.INTERVAL_JOIN and facts.timed:
        return "event times bound how far back a row looks for its match"
    return None


RULE = Rule("closed time", Engine.INCREMENTAL, _applies, closed_program)
