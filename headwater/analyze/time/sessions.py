"""``SESSION`` in FROM → a subquery that finds gaps and islands.

In: a bound window table. Out: a bound subquery with the columns of its input, and those of the
session of each row. A session is all rows of a key of which each comes less than the gap after the
one before; it reaches from its first row to the gap after its last.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.analyze.definitions import Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.inference.infer import infer
from headwater.analyze.names.scope import Relation, column_of, named_subquery
from headwater.analyze.query_parts import relations
from headwater.analyze.time.event_time import WINDOW_END, WINDOW_START
from headwater.analyze.typing import types as t
from headwater.dialect.syntax import WindowTable

SESSION = "session"
"""Key of the ``meta`` of a subquery that stands for a session: its gap, an ``exp.Interval``."""
TIME = "session_time"
"""Key of the same: the name of the event time."""

_GAPS, _NUMBERED, _BEFORE, _NUMBER = "__gaps", "__numbered", "__before", "__session"


def session_of(
    window: WindowTable, inner: Relation, alias: str, report: Diagnostics
) -> exp.Subquery:
    """Return what stands for a session window.

    Args:
        window: a bound window table of the kind ``session``.
        inner: its input.
        alias: its name.
    """
    time, gap = window.args["time"].name, window.args["size"]
    keys = [key.name for key in window.args.get("partition_by") or []]
    fields = list(inner.fields.values())

    def over(source: str, call: exp.Expr, *more: str, ordered: bool) -> exp.Window:
        by = [column_of(source, inner.fields[key]) for key in keys]
        by += [column_of(source, Field(name, t.BIGINT, nullable=False)) for name in more]
        order = exp.Order(expressions=[exp.Ordered(this=at(source), nulls_first=False)])
        return exp.Window(
            this=call, partition_by=by or None, order=order if ordered else None, over="OVER"
        )

    def at(source: str) -> exp.Column:
        return column_of(source, inner.fields[time])

    before = over(inner.alias, exp.Lag(this=at(inner.alias)), ordered=True)
    gaps = _select(window.this, inner.alias, fields, {_BEFORE: before}, report)
    gaps.set("where", exp.Where(this=at(inner.alias).is_(exp.null()).not_()))
    known = column_of(_GAPS, Field(_BEFORE, inner.fields[time].type))
    near = exp.LT(this=at(_GAPS), expression=exp.Add(this=known, expression=gap.copy()))
    zero, one = exp.Literal.number(0), exp.Literal.number(1)
    first = exp.Case(ifs=[exp.If(this=near, true=zero)], default=one)
    number = over(_GAPS, exp.Sum(this=first), ordered=True)
    numbered = _select(named_subquery(gaps, _GAPS), _GAPS, fields, {_NUMBER: number}, report)
    start = over(_NUMBERED, exp.Min(this=at(_NUMBERED)), _NUMBER, ordered=False)
    last = over(_NUMBERED, exp.Max(this=at(_NUMBERED)), _NUMBER, ordered=False)
    end = exp.Add(this=last, expression=gap.copy())
    bounds: dict[str, exp.Expr] = {WINDOW_START: start, WINDOW_END: end}
    found = named_subquery(
        _select(named_subquery(numbered, _NUMBERED), _NUMBERED, fields, bounds, report), alias
    )
    found.meta.update({SESSION: gap.copy(), TIME: time})
    return found


def input_of(session: exp.Subquery) -> exp.Expr:
    """Return the FROM item that a session is over."""
    item: exp.Expr = session
    for _ in range(3):
        assert isinstance(item, exp.Subquery)
        item = relations(item.this)[0]
    return item


def _select(
    item: exp.Expr,
    source: str,
    fields: Sequence[Field],
    more: dict[str, exp.Expr],
    report: Diagnostics,
) -> exp.Select:
    """A bound SELECT of all columns of a FROM item, and of some values."""
    values = {field.name: column_of(source, field) for field in fields}
    outputs = []
    for name, value in [*values.items(), *more.items()]:
        infer(value, report)
        output = exp.Alias(this=value, alias=exp.to_identifier(name))
        output.type = value.type
        outputs.append(output)
    return exp.Select(expressions=outputs, from_=exp.From(this=item))
