"""The supervisor: one process lands all tables of a project and keeps all its views.

In: a project. Out: running workers (a thread per landed table, one per streaming view, one for the
ticks, one per sink), a board with their states, an exit code.
``run --once`` lands everything that is there while the views keep up, waits until every view has
reached that end, tells which results stay open, and stops. With ``--end-of-input`` it ends the
input of each table before that. Otherwise it runs until a signal: the first
finishes the running batches, a second interrupt aborts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from headwater.analyze.definitions import NEXT
from headwater.engine.incremental.view import IncrementalView
from headwater.engine.inputs import InputTable
from headwater.engine.streaming.quarantine import WaitingMark
from headwater.engine.streaming.query import StreamingView
from headwater.engine.target import ensure_target
from headwater.errors import EXIT_OK, EXIT_SERVICE
from headwater.errors.steps import step
from headwater.errors.words import counts
from headwater.intake.land import Landing
from headwater.lake.failures import gone
from headwater.lake.iceberg.commits_view import define_commits
from headwater.lake.protocol.table import Table
from headwater.plan.planner import plan_project, with_inputs
from headwater.plan.program import StreamingProgram
from headwater.plan.rules.contract import InputKind
from headwater.project import Project
from headwater.runtime.backoff import BackOff, as_headwater_error, waits_for
from headwater.runtime.board import Board
from headwater.runtime.commit_events import resumed
from headwater.runtime.definition_watch import looking
from headwater.runtime.end_of_input import closing_watermarks, open_results
from headwater.runtime.events import (
    InputClosed,
    Progress,
    RunState,
    SourceRowsRefused,
    StateChanged,
    silent,
)
from headwater.runtime.lease import Lease
from headwater.runtime.losses import Losses
from headwater.runtime.maintenance_job import Maintainer, MaintenanceSchedule, Tables
from headwater.runtime.opener import POLL, Deployment, Opener
from headwater.runtime.session import open_session, spark_is_gone
from headwater.runtime.settling import Settling
from headwater.runtime.signals import finish_on_signals
from headwater.runtime.spark_requirements import jars_needed
from headwater.runtime.table_clocks import clocks_of
from headwater.runtime.turns import Turns
from headwater.runtime.workers.building import LOOK_EVERY, pools_with_jobs, rows_read
from headwater.runtime.workers.crew import Crew
from headwater.runtime.workers.landing import LandingWorker, land_next
from headwater.runtime.workers.sinks import SinkWorker
from headwater.runtime.workers.streams import StreamWorker
from headwater.runtime.workers.ticks import TickWorker
from headwater.runtime.workers.worker import Worker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ATTEMPTS_ONCE = 4
"""Failures in a row after which ``--once`` gives a table or view up."""


class Supervisor:
    """Lands the tables and keeps the views of one project.

    Args:
        spark: a running session to use; if None, one is opened, and stopped at the end.
        views: the views to keep, with what they read; everything if empty.
        progress: told of epochs, commits and states.
        deployment: what is to be done in the lake before and after a run.
        jars: what else of ``headwater/jars/ivy.xml`` Spark shall have: a JVM gets its jars once,
            and what this process runs later may need others.

    Raises:
        SqlError: a view cannot be planned.
    """

    def __init__(
        self,
        project: Project,
        *,
        spark: SparkSession | None = None,
        views: Sequence[str] = (),
        progress: Progress = silent,
        deployment: Deployment | None = None,
        jars: Sequence[str] = (),
    ) -> None:
        self._deployment, self._further = deployment, jars
        self._config, self._catalog = project.config, project.catalog
        plans = plan_project(project.catalog)
        self._kept = Tables(project, plans)
        wanted = with_inputs(plans, views)
        self._plans = {n: plan for n, plan in plans.items() if not views or n in wanted}
        self._tables = [
            name
            for name, source in project.catalog.sources.items()
            if source.landed and (not views or name in wanted)
        ]
        self._sinks = [
            sink
            for sink in project.catalog.sinks.values()
            if sink.view in self._plans or sink.view in self._tables
        ]
        self._beside = [name for name in self._plans if name.endswith(NEXT)]
        self._given = spark
        self._losses = Losses(progress)
        self._board = Board(project.config.state, self._losses)
        self._interrupted = False
        self._lease: Lease | None = None
        self._spark: SparkSession | None = None
        self._opener: Opener
        self._inputs: dict[str, InputTable] = {}
        self._landings: dict[str, Landing] = {}
        self._clocks = clocks_of(self._plans, project.catalog.sources)
        self._crew = Crew()
        self._waiting: dict[str, WaitingMark] = {}
        self._turns: Turns
        self._settling: Settling

    # -- what can be asked of it

    def run(self, once: bool = False, *, end_of_input: bool = False) -> int:
        """Run until everything is done or a signal comes.

        Args:
            once: process what is there, then return.
            end_of_input: with ``once``, close every window: no more rows will come.

        Returns:
            Exit code: 0, or 3 if a table or view failed for good.

        Raises:
            HeadwaterError: the lease, Spark or the lake cannot be had.
        """
        try:
            self._open(once)
            with finish_on_signals(self.interrupt), looking(self._crew.look, LOOK_EVERY):
                self._start(once, landing=True)
                if once:
                    self._finish_input(end_of_input)
                else:
                    self._board.wait_until(self._is_over)
                self._check_lease()
                self._rest()
                self._deploy()
                self.stop()
                self._losses.finish()
        except Exception as error:
            if spark_is_gone():
                raise gone() from error
            raise
        finally:
            self.stop()
        failed = self._board.failures() and (once or not self._interrupted)
        return EXIT_SERVICE if failed else EXIT_OK

    def interrupt(self) -> None:
        """Ask :meth:`run` to finish the running batches and return. Returns at once."""
        self._interrupted = True
        # the handler may have interrupted the board itself: wake it up from another thread
        threading.Thread(target=self._board.wake, daemon=True).start()

    def tick(self) -> None:
        """Process everything that is there; windows stay open. For tests of views.

        Raises:
            HeadwaterError: what made a table or view fail.
        """
        if self._lease is None:
            self._open(once=False)
            self._start(once=False, landing=False)
        for landing in self._landings.values():
            while land_next(landing, self._board):
                pass
        self._settle()
        for error in self._board.failures().values():
            raise error

    def close(self) -> None:
        """Process everything that is there and end the input. For tests of views.

        Raises:
            HeadwaterError: what made a table or view fail.
        """
        self.tick()
        self._end_input()
        self.tick()

    def _deploy(self) -> None:
        needed = with_inputs(self._plans, self._beside)
        failed = needed & self._board.failures().keys()
        if self._deployment and not self._interrupted and not failed:
            assert self._spark is not None and self._lease is not None
            self._deployment.finish(self._opener.lake(self._spark), self._lease)

    def stop(self) -> None:
        """Finish the running batches, then stop everything that was started."""
        self._rest()
        if self._spark and self._given is None and not spark_is_gone():
            self._spark.stop()
        if self._lease:
            self._lease.release()
        self._spark, self._lease = None, None

    def _rest(self) -> None:
        """Finish the running batches."""
        self._crew.stop()
        for landing in self._landings.values() if not spark_is_gone() else ():
            landing.connector.close()
        self._crew, self._landings = Crew(), {}

    @property
    def jars(self) -> tuple[str, ...]:
        """What of ``headwater/jars/ivy.xml`` tables, views and sinks need."""
        read = [item.name for plan in self._plans.values() for item in plan.inputs]
        own = (*self._plans, *self._tables, *read)
        needed = jars_needed(self._catalog, own, self._sinks, self._config.directory)
        return tuple(dict.fromkeys([*self._further, *needed]))

    # -- start

    def _open(self, once: bool) -> None:
        """Take the lease, open Spark, and create what tables are missing."""
        config = self._config
        self._lease = Lease.acquire(config, progress=self._board.tell, on_lost=self._board.wake)
        self._spark = self._given or open_session(config, further=self.jars)
        self._opener = Opener(config, self._catalog, self._spark, self._lease)
        lake = self._opener.lake(self._spark)
        tables, views = len(self._tables), len(self._plans)
        step(f"opening {counts({'table': tables, 'view': views})}")
        for number, name in enumerate(self._tables, 1):
            step(f"opening table {name} ({number} of {tables})", minor=True)
            try:
                self._landings[name] = self._opener.landing(name, once and not self._deployment)
                self._resume(name, self._landings[name].table)
                source = self._catalog.sources.get(name)
                self._inputs[name] = InputTable(name, lake.table(name), source)
            except Exception as error:  # noqa: BLE001 - one table's failure is not another's
                self._fail(name, error)
        if self._deployment:
            self._deployment.begin(lake)
        for number, (name, plan) in enumerate(self._plans.items(), 1):
            step(f"opening view {name} ({number} of {views})", minor=True)
            try:
                target = ensure_target(lake, plan, self._lease)
                self._resume(name, target)
                self._inputs[name] = InputTable(name, target, None)
            except Exception as error:  # noqa: BLE001
                self._fail(name, error)
        define_commits(self._spark, config.namespace, config.trino.catalog)
        step("running; the first commits take longest, while the JVM warms up")

    def _resume(self, name: str, table: Table) -> None:
        if event := resumed(name, table):
            self._board.tell(event)

    def _fail(self, name: str, error: Exception) -> None:
        self._board.tell(StateChanged(name, RunState.FAILED, as_headwater_error(name, error)))

    def _waits(self, name: str, inputs: Sequence[str]) -> bool:
        """Whether something that a view reads could not be opened; then the view says so."""
        failures = self._board.failures()
        read = next((each for each in inputs if each in failures), None)
        if read is not None:
            shown = self._catalog.shown(read) if read in self._catalog.sources else read
            self._fail(name, waits_for(shown, failures[read]))
        return read is not None

    def _start(self, once: bool, *, landing: bool) -> None:
        poll = min(POLL, self._config.run.trigger).total_seconds()
        back_off = partial(BackOff, attempts=ATTEMPTS_ONCE if once else None)
        for name in self._landings if landing else ():
            ready = self._landings[name]
            self._crew.landers.append(
                LandingWorker(
                    *(name, self._board, back_off(), poll),
                    landing=ready,
                    once=once and not self._deployment,
                    trigger=self._config.run.trigger.total_seconds(),
                    clocks=self._clocks,
                )
            )
        open_ = self._opener
        assert self._spark is not None
        paused = open_.lake(self._spark).paused
        turns = self._turns = Turns(self._catalog.views, paused, hurry=once or not landing)
        self._settling = Settling(self._crew, self._plans, self._inputs, self._board, turns)
        self._waiting = {n: WaitingMark(open_.quarantine_state(n)) for n in self._read_directly()}
        ticked = {}
        for name, plan in self._plans.items():
            if self._board.state(name) is RunState.FAILED or self._waits(name, plan.view.inputs):
                continue
            if isinstance(plan.program, StreamingProgram):
                every, on_bad = turns.wishes.get(name, 0.0), partial(self._bad_rows_met, name)
                make_stream = partial(
                    open_.streaming, plan, once, on_bad=on_bad, tell=self._board.tell, every=every
                )
                paused_one = partial(self._turns.is_paused, name)
                self._crew.streams[name] = StreamWorker(
                    name, self._board, back_off(), poll, make=make_stream, paused=paused_one
                )
            else:
                ticked[name] = partial(open_.incremental, plan)
        live, beside = (
            {name: make for name, make in ticked.items() if name.endswith(NEXT) is next_}
            for next_ in (False, True)
        )
        tickers = [self._ticker(each, poll, back_off) for each in (live, beside) if each]
        self._crew.tickers = tickers
        for name, waiting in self._waiting.items():
            make_quarantine = partial(open_.quarantine, name, waiting)
            self._crew.quarantines.append(
                StreamWorker(name, self._board, back_off(), poll, make=make_quarantine)
            )
        self._sinks = [each for each in self._sinks if not self._waits(each.name, (each.view,))]
        self._crew.deliveries = [
            SinkWorker(sink.name, self._board, back_off(), poll, make=partial(open_.delivery, sink))
            for sink in self._sinks
        ]
        if not once and self._config.maintenance.every:
            self._maintain(self._crew.all())
        for worker in self._crew.all():
            worker.start()

    def _ticker(
        self,
        makers: Mapping[str, Callable[[], IncrementalView]],
        poll: float,
        back_off: Callable[[], BackOff],
    ) -> TickWorker:
        """A worker for views that tick together: the live ones, or the next versions of some."""
        assert self._spark is not None
        read = {item.name for name in makers for item in self._plans[name].inputs} - set(makers)
        known = (*self._inputs, *self._catalog.external)
        ticks = partial(self._opener.ticks, [name for name in known if name in read])
        among = {n: [r for r in self._plans[n].view.inputs if r in makers] for n in makers}
        return TickWorker(
            *(self._board, poll),
            ticks=ticks,
            makers=makers,
            reads=among,
            back_offs=back_off,
            turns=self._turns,
            builds=self._crew.builds(partial(rows_read, self._spark), self._board.build),
            in_jobs=partial(pools_with_jobs, self._spark),
        )

    def _maintain(self, workers: Sequence[Worker]) -> None:
        """Let each worker maintain what it commits to, between two commits."""
        assert self._spark is not None
        keeper = Maintainer(self._kept, self._spark, self._config.namespace, self._lease)
        for worker in workers:
            worker.upkeep = MaintenanceSchedule(keeper, worker.keeps, self._board)

    def _read_directly(self) -> list[str]:
        """The SOURCEs that views read; rows that nobody decodes are never bad."""
        inputs = [item for plan in self._plans.values() for item in plan.inputs]
        names = dict.fromkeys(item.name for item in inputs if item.kind is InputKind.SOURCE)
        return [name for name in names if self._catalog.sources[name].encode]

    def _bad_rows_met(self, view: str, source: str, bad: int, seen: int) -> None:
        if source in self._waiting:
            self._waiting[source].mark()
        self._board.tell(SourceRowsRefused(source, view, bad, seen))

    # -- once

    def _finish_input(self, end_of_input: bool) -> None:
        """Wait for the landing, end the input if asked to, wait until every view is there."""
        if self._deployment:  # live views get new rows while others are built
            self._wait(self._are_built)
            for worker in self._crew.landers:
                worker.stop()
        self._board.wait_until(
            lambda: self._interrupted or not any(w.alive for w in self._crew.landers)
        )
        if self._interrupted:
            return
        for worker in self._crew.landers:
            worker.follow()
        if end_of_input:
            self._end_input()
        self._settle(finish=True, close=end_of_input)
        if not self._interrupted:
            for each in open_results(self._plans.values(), *self._pinned()):
                self._board.tell(each)

    def _end_input(self) -> None:
        for name, watermark in closing_watermarks(self._plans.values(), *self._pinned()).items():
            landing = self._landings[name]
            if self._board.state(name) is not RunState.FAILED and landing.close(watermark):
                self._resume(name, landing.table)
                self._board.tell(InputClosed(name, watermark))

    def _pinned(self) -> tuple[dict[str, InputTable], dict[str, int]]:
        """The landed tables, and their newest snapshots."""
        tables = {name: self._inputs[name] for name in self._tables if name in self._inputs}
        return tables, {name: table.pin() for name, table in tables.items()}

    def _settle(self, *, finish: bool = False, close: bool = False) -> None:
        """Wait until each view has read all that its inputs hold.

        Args:
            finish: stop each view then.
            close: before that, close what it read straight from a SOURCE.
        """
        assert self._spark is not None
        ends = self._opener.ends_of_others(self._spark)
        for name in self._plans:
            self._wait(partial(self._settling.is_settled, name, ends))
            if finish and name in self._crew.streams and not self._interrupted:
                self._end(self._crew.streams[name], close)
        for worker in self._crew.quarantines:
            self._wait(partial(self._settling.is_exhausted, worker))
        for sink, delivery in zip(self._sinks, self._crew.deliveries, strict=True):
            self._wait(partial(self._settling.is_delivered, sink, delivery))

    def _end(self, worker: StreamWorker[StreamingView], close: bool) -> None:
        """Close what a view read straight from a SOURCE if asked to, then stop the view."""
        view = worker.view
        closing = view.close_sources() if close and view and worker.alive else None
        if view and closing is not None:
            self._wait(lambda: not worker.alive or view.reached({}, closing))
        worker.stop()
        worker.join()

    def _are_built(self) -> bool:
        """Whether the next versions have read their history, and the tables what had come."""
        assert self._spark is not None
        ends = self._opener.ends_of_others(self._spark)
        built = all(self._settling.is_built(name, ends) for name in self._beside)
        return built and all(each.caught_up for each in self._crew.landers)

    def _wait(self, reached: Callable[[], bool]) -> None:
        """Wait until something is so, or the run is interrupted."""
        self._board.wait_until(lambda: self._interrupted or reached(), poll=POLL.total_seconds())

    def _check_lease(self) -> None:
        """Say it once for all if another process has taken over: idle views would not notice."""
        if self._lease and self._lease.lost:
            raise self._lease.lost

    def _is_over(self) -> bool:
        if self._lease and self._lease.lost:
            return True
        return self._interrupted or not self._crew.makes()
