"""Rule 6: append what the watermark has made final since the last tick.

In: a bound query whose rows are dated by an event time (:mod:`headwater.analyze.time.finality`).
Out: its :class:`~headwater.plan.program.ClosedTimeProgram`.

A row is final once the watermark is past its date by a fixed time, so the rows that become final in
a tick are those dated within a range. They are computed from the landed rows of another range, to
which the scans are cut: the landed tables are the only state.
"""

from __future__ import annotations

from datetime import timedelta

from sqlglot import exp

from headwater.analyze.definitions import Catalog, Emit, View
from headwater.analyze.time.finality import Settled
from headwater.plan.closing import closings, dated
from headwater.plan.program import AFTER, UPTO, ClosedTimeProgram
from headwater.plan.query_shape import MICROSECOND, RelationShape, Shape
from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.sql.late import late_queries
from headwater.plan.sql.render import batch_read, print_sql, render, spark_expression, without_zone


def closed_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> ClosedTimeProgram:
    """Return rule 6, for a query whose rows become final."""
    grace = allowed or timedelta(0)
    settled = closings(view.query, catalog)
    reaches = {mention: (one, reach) for one in settled for mention, reach in one.reads.items()}

    def moment(name: str, less: timedelta, like: RelationShape) -> exp.Expr:
        text = f"timestamp_micros({name} - {less // MICROSECOND})"
        kind = "TIMESTAMP_NTZ" if without_zone(like, catalog) else "TIMESTAMP"
        return spark_expression(text if kind == "TIMESTAMP" else f"CAST({text} AS {kind})")

    def read(relation: RelationShape) -> exp.Expr:
        found = reaches.get(id(relation.table))
        if found is None or relation.event_time is None:
            return batch_read(relation, relation.name, allowed)
        one, reach = found
        time, within = exp.column(relation.event_time), list[exp.Expr]()
        if reach.lowest is not None:
            low = moment(AFTER, grace + one.after - reach.lowest, relation)
            within.append(exp.GTE(this=time, expression=low))
        if reach.highest is not None:
            high = moment(UPTO, grace + one.after - reach.highest, relation)
            within.append(exp.LTE(this=time.copy(), expression=high))
        return batch_read(relation, relation.name, allowed, exp.and_(*within) if within else None)

    query = render(view.query, catalog, read)

    def final(one: Settled, date: exp.Expr, like: RelationShape) -> exp.Expr:
        start, end = (moment(name, grace + one.after, like) for name in (AFTER, UPTO))
        return exp.and_(
            exp.GT(this=date, expression=start), exp.LTE(this=date.copy(), expression=end)
        )

    query = dated(query, view.query, settled, catalog, final)
    return ClosedTimeProgram(print_sql(query, "spark"), late_queries(shape, allowed))


def _applies(facts: Facts) -> str | None:
    final = facts.emit is Emit.ON_WINDOW_CLOSE and facts.append_only and not facts.reads_source
    if final and facts.closing and all(isinstance(one, Settled) for one in facts.closing):
        return "rows are appended once the watermark has made them final"
    return None


RULE = Rule("rule 6, closed time", Engine.INCREMENTAL, _applies, closed_program)
