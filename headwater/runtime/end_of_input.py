"""The end of the input: the watermark that closes every window of the views that read a table.

In: the plans of the views, and the landed tables after their last epoch.
Out: per table the watermark of its empty end-of-input epoch. Tables that meet in one view get the
same, as the view's watermark is the least of its inputs'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headwater.engine.inputs import InputTable
from headwater.plan.planner import close_after
from headwater.plan.program import StreamingProgram
from headwater.plan.view_plan import ViewPlan


def closing_watermarks(
    plans: Iterable[ViewPlan], tables: Mapping[str, InputTable]
) -> dict[str, int]:
    """Return the closing watermark of each table that a view with windows or waiting rows reads.

    Args:
        tables: the landed tables by name, as of a fresh refresh.

    Returns:
        Table → microseconds since 1970 UTC. A table that meets no row since its last closing, in
        any of the views that read it, is left out.
    """
    closing: dict[str, int] = {}
    groups: list[set[str]] = []
    for plan in plans:
        if not isinstance(plan.program, StreamingProgram) or not plan.program.stateful:
            continue
        timed = {name for name in plan.program.delays if name in tables}
        ends = [end for name in timed for end in _ends(plan, tables[name])]
        joined = [group for group in groups if group & timed]
        groups = [group for group in groups if group not in joined] + [timed.union(*joined)]
        for name in timed if ends else ():
            closing[name] = max([*ends, *([closing[name]] if name in closing else [])])
    return {
        name: max(closing[other] for other in group if other in closing)
        for group in groups
        for name in group
        if any(other in closing for other in group)
    }


def _ends(plan: ViewPlan, table: InputTable) -> list[int]:
    newest, closed = since_closing(table)
    ends = [] if closed is None else [closed]
    return ends if newest is None else [*ends, close_after(plan, newest)]


def since_closing(table: InputTable) -> tuple[int | None, int | None]:
    """Return the newest event time since a table was closed, and the watermark it was closed with.

    Args:
        table: a landed table with a watermark.

    Returns:
        Both in microseconds since 1970 UTC; None where there is none.
    """
    assert table.source is not None and table.source.watermark is not None
    column = table.source.watermark.column
    newest: int | None = None
    here = table.iceberg
    for snapshot in here.ancestors():
        marker = snapshot.marker
        if marker and marker.epoch and marker.cut_from == marker.cut_to:
            return newest, marker.watermark
        if here.is_expired(snapshot.parent):
            # the last closing may be further back: then every row there is counts
            return here.greatest(column), None
        bound = here.upper_bound(column, snapshot.id) if marker else None
        if bound is not None:
            newest = bound if newest is None else max(newest, bound)
    return newest, None
