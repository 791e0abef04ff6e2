"""The tick: every incremental view of a project once, over one shared cut of the inputs.

In: the views in topological order. Out: one commit per view that has something new. The inputs that
the tick does not write are pinned once, before the first view; a view that reads another reads what
that one committed in the same tick.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from headwater.engine.incremental.view import IncrementalView
from headwater.engine.inputs import InputTable
from headwater.engine.target import Committed
from headwater.lake.catalog import Lake

POOL = "spark.scheduler.pool"
MOST_WORKERS = 8
"""Each view that is computed holds memory of the one JVM: on many cores not one for each."""


@dataclass(frozen=True, slots=True)
class TickResult:
    """What one tick did.

    Attributes:
        pins: the snapshot of every input, as the views read it.
        committed: the commits, in topological order.
        failed: view → what stopped it in this tick.
    """

    pins: Mapping[str, int]
    committed: tuple[Committed, ...] = ()
    failed: Mapping[str, Exception] = field(default_factory=dict)


class Ticks:
    """Runs ticks.

    Args:
        lake: the lake, for the pins.
        inputs: names of all inputs that no view of the ticks writes.
        workers: how many views are computed at the same time; by default one for each core.
    """

    def __init__(self, lake: Lake, inputs: Sequence[str], workers: int | None = None) -> None:
        self._lake, self._names = lake, inputs
        self._inputs: dict[str, InputTable] = {}
        self._unread: dict[str, Exception] = {}
        cores = lake.spark.sparkContext.defaultParallelism
        workers = workers or min(max(cores, 2), MOST_WORKERS)
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="tick")

    def pin(self) -> dict[str, int]:
        """Return the current snapshot of every input; tables of others that are gone are left out.

        What reads those fails in :meth:`run`, and nothing else.
        """
        self._unread.clear()
        return {name: pin for name in self._names if (pin := self._pin(name)) is not None}

    def _pin(self, name: str) -> int | None:
        try:
            if name not in self._inputs:
                self._inputs[name] = InputTable(name, self._lake.readable(name), None)
            return self._inputs[name].pin()
        except Exception as error:
            if name not in self._lake.external_tables:
                raise
            self._inputs.pop(name, None)
            self._unread[name] = error
            return None

    def run(
        self,
        views: Sequence[IncrementalView],
        pins: Mapping[str, int],
        resting: Collection[str] = (),
    ) -> TickResult:
        """Run the views once.

        Args:
            views: the views that take part, in topological order.
            pins: the shared cut, from :meth:`pin`.
            resting: those among them that stay as they are; others read the rows that they have.
        """
        reached = dict(pins)
        committed: dict[str, Committed] = {}
        failed: dict[str, Exception] = {}
        for level in levels(views):
            jobs = {
                view.plan.view.name: self._pool.submit(self._step, view, dict(reached))
                for view in level
                if view.plan.view.name not in resting
            }
            for view in level:
                name = view.plan.view.name
                try:
                    done = jobs[name].result() if name in jobs else None
                    if done:
                        committed[name] = done
                except Exception as error:  # noqa: BLE001 - one view's failure is not another's
                    failed[name] = error
                view.target.refresh()
                reached[name] = view.target.last_change()
        order = [view.plan.view.name for view in views]
        return TickResult(
            reached, tuple(committed[name] for name in order if name in committed), failed
        )

    def _step(self, view: IncrementalView, pins: Mapping[str, int]) -> Committed | None:
        # pools share the cores: a view that reads years does not keep the others waiting
        self._lake.spark.sparkContext.setLocalProperty(POOL, view.plan.view.name)
        for name in view.plan.view.inputs:
            if name in self._unread:
                raise self._unread[name]
        return view.step(pins)

    def close(self) -> None:
        """Wait for running views and end the threads."""
        self._pool.shutdown()


def levels(views: Sequence[IncrementalView]) -> list[list[IncrementalView]]:
    """Group views so that each reads only views of earlier groups.

    Args:
        views: the views, in topological order.
    """
    depth: dict[str, int] = {}
    grouped: list[list[IncrementalView]] = []
    for view in views:
        above = [depth[item.name] for item in view.plan.inputs if item.name in depth]
        level = max(above, default=-1) + 1
        depth[view.plan.view.name] = level
        if level == len(grouped):
            grouped.append([])
        grouped[level].append(view)
    return grouped
