"""The end of the input: what closes the results of a view, and what stays open without it.

In: the plans of the views, and the landed tables after their last epoch.
Out: per table the watermark of its empty end-of-input epoch, which its own rows decide: never that
of a table it meets in a view, whose rows may be further on. Or the views that have open results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from headwater.engine.inputs import InputTable
from headwater.plan.planner import close_after
from headwater.plan.program import StreamingProgram
from headwater.plan.query_shape import MICROSECOND
from headwater.plan.sql.spark_text import micros
from headwater.plan.view_plan import ViewPlan
from headwater.runtime.events import ResultsOpen

Pins = Mapping[str, int]


def closing_watermarks(
    plans: Iterable[ViewPlan], tables: Mapping[str, InputTable], pins: Pins
) -> dict[str, int]:
    """Return the closing watermark of each table that a view with windows or waiting rows reads.

    Args:
        tables: the landed tables by name, as of a fresh refresh.
        pins: their newest snapshots.

    Returns:
        Table → microseconds since 1970 UTC. A table without rows since its last closing is left
        out.
    """
    closing: dict[str, int] = {}
    newest = _Newest(plans, tables, pins)
    for plan in newest.plans.values():
        for name, time in newest.times(plan).items():
            closing[name] = max(close_after(plan, time), closing.get(name, time))
    return closing


def open_results(
    plans: Iterable[ViewPlan], tables: Mapping[str, InputTable], pins: Pins
) -> Iterator[ResultsOpen]:
    """Yield the views that have results which are not final.

    Args:
        tables: the landed tables by name, as of a fresh refresh.
        pins: their newest snapshots.
    """
    newest = _Newest(plans, tables, pins)
    for plan in newest.plans.values():
        if not (times := newest.times(plan)):
            continue
        names, latest = newest.timed(plan), max(times.values())
        now = {name: tables[name].watermark_after(pins[name]) for name in names}
        held = min(names, key=lambda name: (now[name] is not None, now[name] or 0))
        until, watermark = close_after(plan, latest), now[held]
        if watermark is None or watermark < until:
            windows = _windows(plan, latest, watermark)
            yield ResultsOpen(plan.view.name, windows, until, held, watermark)


class _Newest:
    """The newest event times since tables were closed, each looked for once."""

    def __init__(
        self, plans: Iterable[ViewPlan], tables: Mapping[str, InputTable], pins: Pins
    ) -> None:
        self.plans = {plan.view.name: plan for plan in plans}
        self._tables, self._pins = tables, pins
        self._known: dict[str, int | None] = {}

    def timed(self, plan: ViewPlan) -> list[str]:
        """Return the landed tables by whose watermark a view's results become final."""
        program = plan.program
        if isinstance(program, StreamingProgram):
            timed = set(program.delays) if program.stateful else set()
        elif plan.closing:
            timed = {each.name for each in plan.shape.relations if each.tells_lateness}
        else:
            timed = set()
        direct = [name for name in plan.view.inputs if name in timed & self._tables.keys()]
        above = [self.plans[name] for name in plan.view.inputs if name in self.plans]
        behind = [name for each in above if plan.closing for name in self.timed(each)]
        return list(dict.fromkeys([*direct, *behind]))

    def times(self, plan: ViewPlan) -> dict[str, int]:
        """Return the newest event times of the tables by which a view's results become final."""
        times = ((name, self._of(name)) for name in self.timed(plan))
        return {name: time for name, time in times if time is not None}

    def _of(self, name: str) -> int | None:
        """The newest event time of a table, None if no row came."""
        if name not in self._known:
            self._known[name] = since_closing(self._tables[name], self._pins[name])
        return self._known[name]


def _windows(plan: ViewPlan, newest: int, watermark: int | None) -> int | None:
    """How many windows end after a watermark, up to the last that holds an event time."""
    window = plan.shape.window
    if window is None or watermark is None:
        return None
    open_for = window.last_end(newest) + plan.late.allowed // MICROSECOND - watermark
    return max(0, -(-open_for // window.slide))


def since_closing(table: InputTable, snapshot_id: int) -> int | None:
    """Return the newest event time that came since a table's input was last closed.

    Args:
        table: a landed table with a watermark.
        snapshot_id: its newest snapshot.

    Returns:
        Microseconds since 1970 UTC; None if no row came.
    """
    assert table.source is not None and table.source.watermark is not None
    column, delay = table.source.watermark.column, micros(table.source.watermark.delay)
    watermark, here = table.watermark_after(snapshot_id), table.iceberg
    commit = here.newest(before=snapshot_id)
    waits = commit is None or commit.marker.waiting or watermark is None
    # a row from here on is the newest: an earlier one would have moved the watermark further
    enough = None if waits or watermark is None else watermark + delay
    newest: int | None = None
    for snapshot in here.ancestors():
        marker = snapshot.marker
        if marker and marker.closed:
            return newest
        if here.is_expired(snapshot.parent):
            # the last closing may be further back: then every row there is counts
            return here.greatest(column)
        bound = here.upper_bound(column, snapshot.id) if marker else None
        if bound is not None:
            newest = bound if newest is None else max(newest, bound)
        if newest is not None and enough is not None and newest >= enough:
            return newest
    return newest
