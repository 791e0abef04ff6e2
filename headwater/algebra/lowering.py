"""Nodes that no engine has, made of others: as-of joins and sessions."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.algebra.nodes import (
    AsOf,
    Column,
    Computed,
    Filter,
    Join,
    JoinKind,
    Node,
    Project,
    Scalar,
    Session,
    Window,
)
from headwater.algebra.scalars import BOOLEAN, column, fresh, passed_on

_BIGINT = exp.DataType.build("bigint")


def joined(node: AsOf) -> Join:
    """Return an as-of join as one with the time during which each version holds."""
    time = node.right.by_name[node.time]
    until = Column(fresh("until", node.left.named | node.right.named), time.type)
    versions: Node = _windowed(
        _timed(node.right, time),
        [each.right for each in node.equal],
        node.order,
        exp.Lead(this=column(time.name, time)),
        until,
    )
    if node.held is not None:  # the end of a row holds at no time
        ended = Column(fresh("until", {*versions.named, *node.left.named}), time.type)
        value = exp.Case().when(node.held.copy(), column(until.name, until))
        made = Computed(ended, _of(value.else_(column(time.name, time)), time.type))
        kept = (passed_on(each) for each in node.right.columns)
        versions, until = Project(versions, (*kept, made)), ended
    after = exp.GT if node.strict else exp.GTE
    before = exp.LTE if node.strict else exp.LT
    last = column(until.name, until)
    still = exp.Or(
        this=_of(before(this=node.at.copy(), expression=last), BOOLEAN),
        expression=_of(exp.Is(this=last.copy(), expression=exp.Null()), BOOLEAN),
    )
    begun = _of(after(this=node.at.copy(), expression=column(time.name, time)), BOOLEAN)
    holds = exp.And(this=begun, expression=exp.Paren(this=_of(still, BOOLEAN)))
    kind = JoinKind.LEFT if node.outer else JoinKind.INNER
    return Join(node.left, versions, kind, node.equal, _of(holds, BOOLEAN))


def windowed(node: Session) -> Project:
    """Return sessions as gaps and islands: a row that comes late enough begins another one."""
    time = node.input.by_name[node.time]
    keys = [column(each, node.input.by_name[each]) for each in node.keys]
    order = (exp.Ordered(this=column(time.name, time), nulls_first=False),)
    below = _timed(node.input, time)
    names = below.named.union(each.name for each in node.given)
    before = Column(fresh("before", names), time.type)
    gaps = _windowed(below, keys, order, exp.Lag(this=column(time.name, time)), before)
    limit = _of(exp.Add(this=column(before.name, before), expression=node.gap.copy()), time.type)
    near = _of(exp.LT(this=column(time.name, time), expression=limit), BOOLEAN)
    zero, one = (_of(exp.Literal.number(each), _BIGINT) for each in (0, 1))
    first = _of(exp.Case(ifs=[exp.If(this=near, true=zero)], default=one), _BIGINT)
    number = Column(fresh("session", {*names, before.name}), _BIGINT)
    numbered = _windowed(gaps, keys, order, exp.Sum(this=first), number)
    start, end = node.given
    last = Column(fresh("last", {*numbered.named, *names}), time.type)
    values = (exp.Min, start), (exp.Max, last)
    calls = [
        Computed(each, _of(call(this=column(time.name, time)), time.type)) for call, each in values
    ]
    island = (*keys, column(number.name, number))
    bounded = Window(numbered, tuple(island), (), None, tuple(calls))
    finish = _of(exp.Add(this=column(last.name, last), expression=node.gap.copy()), time.type)
    kept = (passed_on(each) for each in (*node.input.columns, start))
    return Project(bounded, (*kept, Computed(end, finish)))


def _timed(node: Node, time: Column) -> Filter:
    """The rows that have a time."""
    missing = _of(exp.Is(this=column(time.name, time), expression=exp.Null()), BOOLEAN)
    return Filter(node, _of(exp.Not(this=missing), BOOLEAN))


def _windowed(
    node: Node,
    partition: Sequence[Scalar],
    order: Sequence[exp.Ordered],
    call: exp.Expr,
    made: Column,
) -> Window:
    call = _of(call, made.type)
    return Window(node, tuple(partition), tuple(order), None, (Computed(made, call),))


def _of(node: exp.Expr, kind: exp.DataType) -> exp.Expr:
    node.type = kind
    return node
