"""Time bounds of a join: how far apart two matching events can be.

In: the ON condition and the event-time columns of both sides. Out: the span in which the right
side's event time lies around the left side's, or what is missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import timedelta

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.time.event_time import interval

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


def time_bounds(
    condition: exp.Expr | None, left: Collection[Name], right: Collection[Name]
) -> TimeBounds | None:
    """Return the bounds a join condition sets on two event times, None if it compares none.

    Args:
        left: the event-time columns of the left side.
        right: the event-time columns of the right side.
    """
    found: dict[tuple[Name, Name], TimeBounds] = {}
    for lesser, greater, least in differences(condition):
        if lesser in left and greater in right:
            _narrow(found, lesser, greater, lower=least)
        elif lesser in right and greater in left:
            _narrow(found, greater, lesser, upper=-least)
    ranked = sorted(found.values(), key=lambda bounds: not bounds.closed)
    return ranked[0] if ranked else None


def differences(condition: exp.Expr | None) -> Iterator[tuple[Name, Name, timedelta]]:
    """Yield (lesser, greater, least) for what must hold of two columns.

    ``greater - lesser >= least``, in columns that are shifted by constant intervals.
    """
    for lesser, greater, gap in _inequalities(condition):
        a, b = _shifted(lesser), _shifted(greater)
        if a is not None and b is not None:  # a + x <= b + y: b - a >= x - y
            yield a[0], b[0], a[1] - b[1] + gap


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
    node, shift = shifted(node)
    return ((node.table, node.name), shift) if isinstance(node, exp.Column) else None


def shifted(node: exp.Expr) -> tuple[exp.Expr, timedelta]:
    """Return ``value ± constant intervals`` as (value, shift)."""
    shift = timedelta(0)
    while True:
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
            return node, shift
