"""What a call with OVER demands: up to which event time all rows must be there.

In: a call with OVER and the event-time columns that its SELECT reads. Out: a :class:`Demand`, or
why there is none.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlglot import exp

from headwater.analyze.time.bounds import Name
from headwater.analyze.time.event_time import NONE, Reach, interval
from headwater.analyze.typing.frames import bounds_of

_WHOLE = (exp.Ntile, exp.PercentRank, exp.CumeDist)
"""Functions that look at the whole partition, whatever the frame."""


@dataclass(frozen=True, slots=True)
class Demand:
    """The rows that a value depends on.

    Attributes:
        anchor: the column that dates the value.
        reach: where the event times of these rows lie, relative to it.
        of: the alias of the item whose rows they are; empty for all items of FROM.
    """

    anchor: Name
    reach: Reach = Reach()
    of: str = ""


def demand_of(call: exp.Window, times: Collection[Name]) -> Demand | str:
    """Return what a call demands, or in words why it looks ahead without bound.

    Args:
        times: the event-time columns of its SELECT.
    """
    for key in call.args.get("partition_by") or []:
        if isinstance(key, exp.Column) and (key.table, key.name) in times:
            return Demand((key.table, key.name))
    anchor = _ordered_by(call, times)
    if anchor is None:
        return "OVER neither partitions by event time nor orders by it first"
    function = call.this.this if isinstance(call.this, exp.Filter | exp.IgnoreNulls) else call.this
    if isinstance(function, exp.Lead):
        return "lead looks ahead by rows, which can be any time ahead"
    if isinstance(function, _WHOLE):
        return f"{function.sql_name().lower()} looks at the whole partition"
    spec = call.args.get("spec")
    if spec is None or isinstance(function, exp.RowNumber | exp.Rank | exp.DenseRank | exp.Lag):
        return Demand(anchor, Reach(None, NONE))
    (start, before), (end, after) = bounds_of(spec)
    by_time = str(spec.args.get("kind")).upper() == "RANGE"
    lowest = highest = NONE if by_time else None
    if start != "CURRENT ROW":
        length = interval(before) if by_time else None
        lowest = None if length is None else -length if start == "PRECEDING" else length
    if end == "CURRENT ROW" or end == "PRECEDING":
        highest = NONE
    elif by_time and end == "FOLLOWING":
        highest = interval(after)
    else:
        highest = None
    if highest is None:
        return "the frame of OVER ends any time ahead"
    return Demand(anchor, Reach(lowest, highest))


def _ordered_by(call: exp.Window, times: Collection[Name]) -> Name | None:
    order = call.args.get("order")
    first = order.expressions[0] if order is not None and order.expressions else None
    if first is None or first.args.get("desc") or not isinstance(first.this, exp.Column):
        return None
    name = (first.this.table, first.this.name)
    return name if name in times else None
