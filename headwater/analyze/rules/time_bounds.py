"""Time bounds of a join: how far apart two matching events can be.

In: the ON condition and the event-time columns of both sides. Out: the span in which the right
side's event time lies around the left side's, or what is missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import timedelta

from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.analyze.query_parts import conjuncts, joins, relations
from headwater.analyze.rules.event_time import interval, relation_times

Name = tuple[str, str]
"""A column as (relation alias, column name)."""


@dataclass(frozen=True, slots=True)
class TimeBounds:
    """``left + lower <= right <= left + upper``, a strict bound made inclusive by one microsecond.

    Attributes:
        left: the event-time column of the left side.
        right: the event-time column of the right side.
        lower: least value of right − left; None if there is no such bound.
        upper: greatest value of right − left; None if there is no such bound.
    """

    left: Name
    right: Name
    lower: timedelta | None
    upper: timedelta | None

    @property
    def closed(self) -> bool:
        """Whether both ends are bounded, so that either side's rows can be forgotten."""
        return self.lower is not None and self.upper is not None


@dataclass(frozen=True, slots=True)
class JoinTimes:
    """One join of a SELECT and how far apart the event times of its sides can be.

    Attributes:
        join: the join.
        timed: whether both sides have an event time.
        bounds: what its condition says of them, None if nothing.
    """

    join: exp.Join
    timed: bool
    bounds: TimeBounds | None

    @property
    def closed(self) -> bool:
        """Whether the distance is bounded on both ends."""
        return self.bounds is not None and self.bounds.closed


def join_times(select: exp.Select, catalog: Catalog) -> Iterator[JoinTimes]:
    """Yield the joins of a bound SELECT with their bounds on event time."""
    left = [] if not relations(select) else list(_times(relations(select)[0], catalog))
    for join in joins(select):
        right = list(_times(join.this, catalog))
        yield JoinTimes(join, bool(left and right), time_bounds(join.args.get("on"), left, right))
        left += right


def _times(relation: exp.Expr, catalog: Catalog) -> Iterator[Name]:
    for name in relation_times(relation, catalog):
        yield relation.alias_or_name, name


def time_bounds(
    condition: exp.Expr | None, left: Collection[Name], right: Collection[Name]
) -> TimeBounds | None:
    """Return the bounds a join condition sets on two event times, None if it compares none.

    Args:
        left: the event-time columns of the left side.
        right: the event-time columns of the right side.
    """
    found: dict[tuple[Name, Name], TimeBounds] = {}
    for lesser, greater, gap in _inequalities(condition):
        a, b = _shifted(lesser), _shifted(greater)
        if a is None or b is None:
            continue
        (a_name, a_shift), (b_name, b_shift) = a, b
        if a_name in left and b_name in right:  # l + x <= r + y: r - l >= x - y
            _narrow(found, a_name, b_name, lower=a_shift - b_shift + gap)
        elif a_name in right and b_name in left:  # r + x <= l + y: r - l <= y - x
            _narrow(found, b_name, a_name, upper=b_shift - a_shift - gap)
    ranked = sorted(found.values(), key=lambda bounds: not bounds.closed)
    return ranked[0] if ranked else None


def _narrow(
    found: dict[tuple[Name, Name], TimeBounds],
    left: Name,
    right: Name,
    lower: timedelta | None = None,
    upper: timedelta | None = None,
) -> None:
    old = found.get((left, right), TimeBounds(left, right, None, None))
    lowers = [bound for bound in (old.lower, lower) if bound is not None]
    uppers = [bound for bound in (old.upper, upper) if bound is not None]
    found[(left, right)] = TimeBounds(
        left, right, max(lowers, default=None), min(uppers, default=None)
    )


def _inequalities(condition: exp.Expr | None) -> Iterator[tuple[exp.Expr, exp.Expr, timedelta]]:
    """Yield (lesser, greater, least distance) for every comparison that must hold."""
    none, strict = timedelta(0), timedelta(microseconds=1)
    for node in conjuncts(condition):
        if isinstance(node, exp.Between):
            yield node.args["low"], node.this, none
            yield node.this, node.args["high"], none
        elif isinstance(node, (exp.LT, exp.LTE)):
            yield node.this, node.expression, strict if isinstance(node, exp.LT) else none
        elif isinstance(node, (exp.GT, exp.GTE)):
            yield node.expression, node.this, strict if isinstance(node, exp.GT) else none
        elif isinstance(node, exp.EQ):
            yield node.this, node.expression, none
            yield node.expression, node.this, none


def _shifted(node: exp.Expr) -> tuple[Name, timedelta] | None:
    """Return ``column ± constant intervals`` as (column, shift)."""
    shift = timedelta(0)
    while not isinstance(node, exp.Column):
        if isinstance(node, exp.Paren):
            node = node.this
        elif (
            isinstance(node, (exp.Add, exp.Sub)) and (span := interval(node.expression)) is not None
        ):
            shift += span if isinstance(node, exp.Add) else -span
            node = node.this
        elif isinstance(node, exp.Add) and (span := interval(node.this)) is not None:
            shift += span
            node = node.expression
        else:
            return None
    return (node.table, node.name), shift
