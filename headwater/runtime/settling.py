"""When a run has done all that there is to do.

In: the workers, the inputs as they are. Out: whether a view has read all of its inputs, a sink
delivered all of its view, a quarantine found all bad rows; or never will.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.analyze.definitions import Sink
from headwater.engine.inputs import InputTable
from headwater.engine.streaming.quarantine import SourceQuarantine
from headwater.plan.program import StreamingProgram
from headwater.plan.view_plan import ViewPlan
from headwater.runtime.board import Board
from headwater.runtime.events import RunState
from headwater.runtime.turns import Turns
from headwater.runtime.workers.crew import Crew
from headwater.runtime.workers.sinks import SinkWorker
from headwater.runtime.workers.streams import StreamWorker


@dataclass(frozen=True, slots=True)
class Settling:
    """Looks at the workers of a run.

    Attributes:
        crew: the workers.
        plans: of the views that run.
        inputs: the landed tables, and the tables of the views.
        board: what has failed.
        turns: what is paused.
    """

    crew: Crew
    plans: Mapping[str, ViewPlan]
    inputs: Mapping[str, InputTable]
    board: Board
    turns: Turns

    def is_settled(self, name: str, ends: Mapping[str, int]) -> bool:
        """Return whether a view is at the end of its inputs, or need not get there.

        Args:
            name: the view.
            ends: the newest snapshots, some time ago, of tables that others write.
        """
        if self.board.state(name) is RunState.FAILED or self.turns.is_paused(name):
            return True
        pins = {
            item.name: self.inputs[item.name].pin()
            for item in self.plans[name].inputs
            if item.name in self.inputs
        }
        if isinstance(self.plans[name].program, StreamingProgram):
            view = self.crew.streams[name].view
            return view is not None and view.reached(pins)
        ticker = self.crew.ticker_of(name)
        if ticker is None or ticker.waits_for_stopped(name):
            return False
        ticked = ticker.views.get(name)
        return ticked is not None and ticked.reached(pins, ends)

    def is_built(self, name: str, ends: Mapping[str, int]) -> bool:
        """Return whether a view has read the history of its inputs once.

        Args:
            name: the view.
            ends: as for :meth:`is_settled`.
        """
        stream, ticker = self.crew.streams.get(name), self.crew.ticker_of(name)
        view = ticker.views.get(name) if ticker else None
        has_commit = bool((stream and stream.has_come) or (view and view.marker))
        return has_commit or self.is_settled(name, ends)

    def is_exhausted(self, worker: StreamWorker[SourceQuarantine]) -> bool:
        """Return whether a quarantine has all bad rows, or never will."""
        quarantine = worker.view
        return bool(not worker.alive or (quarantine and quarantine.exhausted))

    def is_delivered(self, sink: Sink, worker: SinkWorker) -> bool:
        """Return whether a sink has delivered all of its view, or never will."""
        if sink.view not in self.inputs:
            return True
        return worker.has_delivered(self.inputs[sink.view].pin())
