"""The tick: every incremental view of a project once, over one shared cut of the inputs.

In: the views in topological order. Out: one commit per view that has something new. The inputs that
the tick does not write are pinned once, before the first view; a view that reads another reads what
that one committed in the same tick. A view starts as soon as all that it reads is done.

A view that is computed for longer than the patience of the ticks is held up. When a tick has
nothing else to do, it leaves such views behind: they go on in their threads, and neither they nor
what reads them takes part in a tick until they are done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from headwater.engine.incremental.view import IncrementalView
from headwater.engine.inputs import InputTable
from headwater.engine.target import Committed
from headwater.lake.catalog import Lake

POOL = "spark.scheduler.pool"
MOST_WORKERS = 8
"""Each view that is computed holds memory of the one JVM: on many cores not one for each."""
PATIENCE = 10.0
"""Seconds after which a running project names a view that is computed, and leaves it behind."""
MOST_BEHIND = 4
"""For the same reason a tick waits if so many views are left behind."""

ViewOutcome = Committed | Exception | None
"""What became of a view in a tick: its commit, what stopped it, or nothing new."""


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
        patience: seconds after which a view is held up; without it a tick waits for every view.
        on_held_up: told once of each view that is held up.
        now: the clock.
    """

    def __init__(
        self,
        lake: Lake,
        inputs: Sequence[str],
        workers: int | None = None,
        *,
        patience: float | None = None,
        on_held_up: Callable[[IncrementalView], None] = lambda view: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lake, self._names = lake, inputs
        self._inputs: dict[str, InputTable] = {}
        self._unread: dict[str, Exception] = {}
        self._patience, self._on_held_up, self._now = patience, on_held_up, now
        self._behind: dict[str, Future[Committed | None]] = {}
        cores = lake.spark.sparkContext.defaultParallelism
        self._workers = workers or min(max(cores, 2), MOST_WORKERS)
        self._pool = ThreadPoolExecutor(self._workers + MOST_BEHIND, thread_name_prefix="tick")

    @property
    def behind(self) -> Collection[str]:
        """The views that a tick has left behind and that :meth:`collect` has not returned."""
        return self._behind.keys()

    def collect(self) -> dict[str, ViewOutcome]:
        """Return what became of the views that were left behind and are done now."""
        done = {name: job for name, job in self._behind.items() if job.done()}
        for name in done:
            del self._behind[name]
        return {name: _outcome(job) for name, job in done.items()}

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
        tell: Callable[[str, ViewOutcome], None] = lambda name, outcome: None,
    ) -> TickResult:
        """Run the views once.

        Args:
            views: the views that take part, in topological order; none that is :attr:`behind`.
            pins: the shared cut, from :meth:`pin`.
            resting: those among them that stay as they are; others read the rows that they have.
            tell: told what became of each view, as soon as it is done.
        """
        reached = dict(pins)
        outcomes: dict[str, ViewOutcome] = {}
        waiting = {_name(view): view for view in views}
        running: dict[str, _Job] = {}

        def settle(view: IncrementalView, outcome: ViewOutcome) -> None:
            view.target.refresh()
            reached[_name(view)] = view.target.last_change()
            outcomes[_name(view)] = outcome

        while waiting or running:
            for name, view in list(waiting.items()):
                busy = sum(not job.held_up for job in running.values())
                if any(read.name in {*waiting, *running} for read in view.plan.inputs):
                    continue
                if name in resting:
                    settle(waiting.pop(name), None)
                elif busy < self._workers:
                    future = self._pool.submit(self._step, waiting.pop(name), dict(reached))
                    running[name] = _Job(view, future, self._now())
            room = len(running) + len(self._behind) <= MOST_BEHIND
            if room and all(job.held_up for job in running.values()):
                self._behind |= {name: job.future for name, job in running.items()}
                break
            for name in self._first_done(running):
                job = running.pop(name)
                settle(job.view, _outcome(job.future))
                tell(name, outcomes[name])
        order = [outcomes.get(_name(view)) for view in views]
        return TickResult(
            reached,
            tuple(each for each in order if isinstance(each, Committed)),
            {name: each for name, each in outcomes.items() if isinstance(each, Exception)},
        )

    def _first_done(self, running: Mapping[str, _Job]) -> list[str]:
        """Wait until a view is done or one more is held up; return those that are done."""
        left = None
        if self._patience is not None:
            fresh = [job.began for job in running.values() if not job.held_up]
            left = max(min(fresh) + self._patience - self._now(), 0.0) if fresh else None
        wait([job.future for job in running.values()], left, FIRST_COMPLETED)
        now = self._now()
        for job in running.values():
            late = self._patience is not None and now - job.began >= self._patience
            if late and not job.held_up and not job.future.done():
                job.held_up = True
                self._on_held_up(job.view)
        return [name for name, job in running.items() if job.future.done()]

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


@dataclass(slots=True)
class _Job:
    """A view that is computed in a tick."""

    view: IncrementalView
    future: Future[Committed | None]
    began: float
    held_up: bool = False


def _name(view: IncrementalView) -> str:
    return view.plan.view.name


def _outcome(job: Future[Committed | None]) -> ViewOutcome:
    try:
        return job.result()
    except Exception as error:  # noqa: BLE001 - one view's failure is not another's
        return error
