"""The worker of all incremental views: one tick after another, while their inputs change."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from headwater.engine.incremental.tick import PATIENCE, Ticks, ViewOutcome
from headwater.engine.incremental.view import IncrementalView
from headwater.engine.target import Committed
from headwater.errors import HeadwaterError
from headwater.runtime.backoff import BackOff, classify_failure, waits_for
from headwater.runtime.board import Board
from headwater.runtime.commit_events import told
from headwater.runtime.events import RunState, StateChanged, Warned
from headwater.runtime.turns import Turns
from headwater.runtime.workers.building import Builds
from headwater.runtime.workers.worker import Worker, let_go


class TickWorker(Worker):
    """Keeps all incremental views by ticks.

    Args:
        makers: view → what opens it, in topological order.
        reads: view → the other views of the ticks that it reads.
        back_offs: view → its pauses.
        turns: which views rest.
        builds: told of views that read all that there is.
        in_jobs: returns the views that Spark runs jobs for.
    """

    def __init__(
        self,
        board: Board,
        poll: float,
        *,
        ticks: Callable[[Callable[[IncrementalView], None]], Ticks],
        makers: Mapping[str, Callable[[], IncrementalView]],
        reads: Mapping[str, Sequence[str]],
        back_offs: Callable[[], BackOff],
        turns: Turns,
        builds: Builds,
        in_jobs: Callable[[], Collection[str]],
    ) -> None:
        self._makers, self._reads = makers, reads
        super().__init__("tick", board, back_offs(), poll)
        self.keeps = list(makers)
        self._make_ticks = ticks
        self._back_offs = {name: back_offs() for name in makers}
        self._due: dict[str, float] = {}
        self._ticks: Ticks | None = None
        self._pins: Mapping[str, int] = {}
        self._turns, self._builds, self._in_jobs = turns, builds, in_jobs
        self._rested: frozenset[str] = frozenset()
        self.views: dict[str, IncrementalView] = {}

    def open(self) -> None:
        """Open what pins the inputs."""
        self._ticks = self._make_ticks(self._held_up)
        self._pins, self._rested = {}, frozenset()

    def step(self) -> bool:
        """Run one tick, if an input has a new snapshot, or a view starts or has its turn again."""
        assert self._ticks is not None
        finished = self._ticks.collect()
        for name, outcome in finished.items():
            self._done(name, outcome)
        opened = self._open_due()
        pins = self._ticks.pin()
        taking = self._taking_part()
        names = [view.plan.view.name for view in taking]
        resting = self._turns.resting(names)
        turns = frozenset(names) - resting
        unread = self._rested if pins == self._pins else frozenset(names)
        if not (opened or finished or turns & unread):
            return False
        due = [view for view in taking if view.plan.view.name in turns]
        self._builds.begin({view.plan.view.name: view.history(pins) for view in due})
        result = self._ticks.run(taking, pins, resting, self._done)
        self._turns.took(turns)
        self._pins, self._rested = pins, resting
        return bool(result.committed or finished)

    def _done(self, name: str, outcome: ViewOutcome) -> None:
        """Say what became of a view in a tick."""
        self._builds.end([name])
        for each in (name, *self._readers(name)):
            self._board.note(each, "")
        if isinstance(outcome, Committed):
            self._back_offs[name].worked()
            self._board.tell(told(outcome))
        elif outcome is not None:
            self._failed(name, outcome)

    def _held_up(self, view: IncrementalView) -> None:
        """Name a view that a tick has waited for long enough, and the views that wait for it."""
        name = view.plan.view.name
        since = datetime.now(UTC) - timedelta(seconds=PATIENCE)
        runs = name in self._in_jobs()
        doing = "runs its jobs" if runs else "plans its query, and has no job for it yet"
        self._board.note(name, f"computing since {since:%H:%M:%S} UTC: Spark {doing}")
        for reader in self._readers(name):
            self._board.note(reader, f'waits for "{name}", computing since {since:%H:%M:%S} UTC')
        if runs and view.marker is None:
            return  # how far it has read its history is told anyway
        message = f'view "{name}" has been computing for {PATIENCE:.0f} s: Spark {doing}'
        hint = (
            f"views that do not read it go on; see its query with: headwater explain {name} --sql"
        )
        self._board.tell(Warned(name, message, hint))

    def _readers(self, name: str) -> list[str]:
        """Return the views of the ticks that read a view, directly or not."""
        found = {name}
        for each, read in self._reads.items():
            if found & set(read):
                found.add(each)
        return [each for each in self._reads if each in found and each != name]

    @property
    def busy(self) -> Collection[str]:
        """The views that are computed while no tick runs."""
        return self._ticks.behind if self._ticks else ()

    def shut(self) -> None:
        """End the threads of the ticks."""
        if self._ticks:
            self._ticks.close()
        self._builds.end(self._makers)

    def _taking_part(self) -> list[IncrementalView]:
        """Return the open views that no tick has left behind, nor anything that they read."""
        taking: dict[str, IncrementalView] = {}
        for name in self._makers:
            ready = name in self.views and name not in self.busy
            if ready and all(read in taking for read in self._reads[name]):
                taking[name] = self.views[name]
        return list(taking.values())

    def waits_for_stopped(self, name: str) -> bool:
        """Return whether a view that this one reads has stopped for good; the next step says so."""
        return self._stopped_among(self._reads[name]) is not None

    def _stopped_among(self, names: Sequence[str]) -> tuple[str, HeadwaterError] | None:
        failures = self._board.failures()
        return next(((each, failures[each]) for each in names if each in failures), None)

    def _stopped_input(self, name: str) -> bool:
        """Give a view up, and say so, if a view that it reads has stopped for good."""
        stopped = self._stopped_among(self._reads[name])
        if stopped is None:
            return False
        self.views.pop(name, None)
        error = waits_for(*stopped)
        self._board.tell(StateChanged(name, RunState.FAILED, error))
        return True

    def _open_due(self) -> bool:
        """Open the views that are not open and whose pause is over; whether there was one."""
        opened = False
        for name, make in self._makers.items():
            if self._board.state(name) is RunState.FAILED or self._stopped_input(name):
                continue
            if name in self.views or self._due.get(name, 0) > time.monotonic():
                continue
            if name in self._due:
                let_go()
            try:
                self.views[name] = make()
            except Exception as error:  # noqa: BLE001 - one view's failure is not another's
                self._failed(name, error)
                continue
            opened = True
            self._board.tell(StateChanged(name, RunState.RUNNING))
        return opened

    def _failed(self, name: str, error: Exception) -> None:
        self.views.pop(name, None)
        said, pause = classify_failure(name, error, self._back_offs[name])
        if pause is None:
            self._board.tell(StateChanged(name, RunState.FAILED, said))
        else:
            self._due[name] = time.monotonic() + pause
            self._board.tell(StateChanged(name, RunState.BACKING_OFF, said, pause))

    def _say(
        self, state: RunState, error: HeadwaterError | None = None, retry_in: float | None = None
    ) -> None:
        if state is RunState.RUNNING:
            return  # each view says so when it is open
        for name in self._makers:
            if self._board.state(name) is not RunState.FAILED:
                self._board.tell(StateChanged(name, state, error, retry_in))
