"""The joins of a SELECT and the bounds that they set on event time.

In: a bound SELECT and the catalog. Out: per join, how far apart two matching events can be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.analyze.query_parts import joins, relations
from headwater.analyze.time.bounds import Name, TimeBounds, time_bounds
from headwater.analyze.time.finality import relation_times
from headwater.analyze.time.versions import AS_OF


@dataclass(frozen=True, slots=True)
class JoinTimes:
    """One join of a SELECT and how far apart the event times of its sides can be.

    Attributes:
        join: the join.
        timed: whether both sides have an event time.
        bounds: what its condition says of them, None if nothing.
        as_of: whether it finds the version that held at a time.
    """

    join: exp.Join
    timed: bool
    bounds: TimeBounds | None
    as_of: bool = False

    @property
    def closed(self) -> bool:
        """Whether the distance is bounded on both ends, or the right side by the left one."""
        return self.as_of or (self.bounds is not None and self.bounds.closed)


def join_times(select: exp.Select, catalog: Catalog) -> Iterator[JoinTimes]:
    """Yield the joins of a bound SELECT with their bounds on event time."""
    left = [] if not relations(select) else list(_times(relations(select)[0], catalog))
    for join in joins(select):
        right = list(_times(join.this, catalog))
        bounds = time_bounds(join.args.get("on"), left, right)
        yield JoinTimes(join, bool(left and right), bounds, AS_OF in join.this.meta)
        left += right


def _times(relation: exp.Expr, catalog: Catalog) -> Iterator[Name]:
    for name in relation_times(relation, catalog):
        yield relation.alias_or_name, name
