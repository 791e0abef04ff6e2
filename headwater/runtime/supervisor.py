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
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from headwater.analyze.definitions import Sink
from headwater.connectors.registry import jars_for, jars_of
from headwater.engine.inputs import InputTable
from headwater.engine.streaming.quarantine import SourceQuarantine, WaitingMark
from headwater.engine.streaming.query import StreamingView
from headwater.engine.target import ensure_target
from headwater.errors import EXIT_OK, EXIT_SERVICE
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
from headwater.runtime.signals import finish_on_signals
from headwater.runtime.sinks import SinkWorker
from headwater.runtime.spark_requirements import DELTA
from headwater.runtime.table_clocks import clocks_of
from headwater.runtime.workers import (
    LandingWorker,
    StreamWorker,
    TickWorker,
    Worker,
    land_next,
)

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
        self._landers: list[LandingWorker] = []
        self._streams: dict[str, StreamWorker[StreamingView]] = {}
        self._quarantines: list[StreamWorker[SourceQuarantine]] = []
        self._deliveries: list[SinkWorker] = []
        self._waiting: dict[str, WaitingMark] = {}
        self._ticker: TickWorker | None = None

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
            with finish_on_signals(self.interrupt):
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
        if self._deployment and not self._interrupted and not self._board.failures():
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
        workers = self._workers()
        for worker in workers:
            worker.stop()
        for worker in workers:
            worker.join()
        for landing in self._landings.values() if not spark_is_gone() else ():
            landing.connector.close()
        self._landers, self._streams, self._ticker, self._landings = [], {}, None, {}
        self._quarantines, self._deliveries = [], []

    @property
    def jars(self) -> tuple[str, ...]:
        """What of ``headwater/jars/ivy.xml`` tables, views and sinks need."""
        needed = [*self._further, *jars_for(self._sinks, self._config.directory)]
        read = [item.name for plan in self._plans.values() for item in plan.inputs]
        needed += [DELTA] if any(map(self._catalog.is_delta, (*self._plans, *read))) else []
        for name in (*self._tables, *read):
            if source := self._catalog.sources.get(name):
                needed += jars_of(source)
        return tuple(dict.fromkeys(needed))

    # -- start

    def _open(self, once: bool) -> None:
        """Take the lease, open Spark, and create what tables are missing."""
        config = self._config
        self._lease = Lease.acquire(config, progress=self._board.tell, on_lost=self._board.wake)
        self._spark = self._given or open_session(config, further=self.jars)
        self._opener = Opener(config, self._catalog, self._spark, self._lease)
        lake = self._opener.lake(self._spark)
        for name in self._tables:
            try:
                self._landings[name] = self._opener.landing(name, once)
                self._resume(name, self._landings[name].table)
                source = self._catalog.sources.get(name)
                self._inputs[name] = InputTable(name, lake.table(name), source)
            except Exception as error:  # noqa: BLE001 - one table's failure is not another's
                self._fail(name, error)
        if self._deployment:
            self._deployment.begin(lake)
        for name, plan in self._plans.items():
            try:
                target = ensure_target(lake, plan, self._lease)
                self._resume(name, target)
                self._inputs[name] = InputTable(name, target, None)
            except Exception as error:  # noqa: BLE001
                self._fail(name, error)
        define_commits(self._spark, config.namespace, config.trino.catalog)

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
            self._landers.append(
                LandingWorker(
                    *(name, self._board, back_off(), poll),
                    landing=ready,
                    once=once,
                    clocks=self._clocks,
                )
            )
        open_ = self._opener
        self._waiting = {n: WaitingMark(open_.quarantine_state(n)) for n in self._read_directly()}
        ticked = {}
        for name, plan in self._plans.items():
            if self._board.state(name) is RunState.FAILED or self._waits(name, plan.view.inputs):
                continue
            if isinstance(plan.program, StreamingProgram):
                on_bad = partial(self._bad_rows_met, name)
                make_stream = partial(
                    open_.streaming, plan, once, on_bad=on_bad, tell=self._board.tell
                )
                self._streams[name] = StreamWorker(
                    name, self._board, back_off(), poll, make=make_stream
                )
            else:
                ticked[name] = partial(open_.incremental, plan)
        if ticked:
            read = {i.name for name in ticked for i in self._plans[name].inputs} - set(ticked)
            known = (*self._inputs, *self._catalog.external)
            names = [name for name in known if name in read]
            ticks = partial(open_.ticks, names)
            among = {n: [r for r in self._plans[n].view.inputs if r in ticked] for n in ticked}
            self._ticker = TickWorker(
                self._board, poll, ticks=ticks, makers=ticked, reads=among, back_offs=back_off
            )
        for name, waiting in self._waiting.items():
            make_quarantine = partial(open_.quarantine, name, waiting)
            self._quarantines.append(
                StreamWorker(name, self._board, back_off(), poll, make=make_quarantine)
            )
        self._sinks = [each for each in self._sinks if not self._waits(each.name, (each.view,))]
        self._deliveries = [
            SinkWorker(sink.name, self._board, back_off(), poll, make=partial(open_.delivery, sink))
            for sink in self._sinks
        ]
        if not once and self._config.maintenance.every:
            self._maintain(self._workers())
        for worker in self._workers():
            worker.start()

    def _maintain(self, workers: Sequence[Worker]) -> None:
        """Let each worker maintain what it commits to, between two commits."""
        assert self._spark is not None
        keeper = Maintainer(self._kept, self._spark, self._config.namespace, self._lease)
        for worker in workers:
            worker.upkeep = MaintenanceSchedule(keeper, worker.keeps, self._board)

    def _workers(self) -> list[Worker]:
        ticker = [self._ticker] if self._ticker else []
        readers = [*self._quarantines, *ticker, *self._deliveries]
        return [*self._landers, *self._streams.values(), *readers]

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
        self._board.wait_until(lambda: self._interrupted or not any(w.alive for w in self._landers))
        if self._interrupted:
            return
        for worker in self._landers:
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
            self._board.wait_until(partial(self._is_settled, name, ends), poll=POLL.total_seconds())
            if finish and name in self._streams and not self._interrupted:
                self._end(self._streams[name], close)
        for worker in self._quarantines:
            self._board.wait_until(partial(self._is_exhausted, worker), poll=POLL.total_seconds())
        for sink, delivery in zip(self._sinks, self._deliveries, strict=True):
            done = partial(self._is_delivered, sink, delivery)
            self._board.wait_until(done, poll=POLL.total_seconds())

    def _end(self, worker: StreamWorker[StreamingView], close: bool) -> None:
        """Close what a view read straight from a SOURCE if asked to, then stop the view."""
        view = worker.view
        closing = view.close_sources() if close and view and worker.alive else None
        if view and closing is not None:
            self._board.wait_until(
                lambda: self._interrupted or not worker.alive or view.reached({}, closing),
                poll=POLL.total_seconds(),
            )
        worker.stop()
        worker.join()

    def _is_settled(self, name: str, ends: Mapping[str, int]) -> bool:
        """Whether a view is at the end of its inputs, or need not get there."""
        if self._interrupted or self._board.state(name) is RunState.FAILED:
            return True
        program = self._plans[name].program
        pins = {
            item.name: self._inputs[item.name].pin()
            for item in self._plans[name].inputs
            if item.name in self._inputs
        }
        if isinstance(program, StreamingProgram):
            view = self._streams[name].view
            return view is not None and view.reached(pins)
        if self._ticker is None or self._ticker.waits_for_stopped(name):
            return False
        ticked = self._ticker.views.get(name)
        return ticked is not None and ticked.reached(pins, ends)

    def _is_exhausted(self, worker: StreamWorker[SourceQuarantine]) -> bool:
        quarantine = worker.view
        return bool(self._interrupted or not worker.alive or (quarantine and quarantine.exhausted))

    def _is_delivered(self, sink: Sink, worker: SinkWorker) -> bool:
        if self._interrupted or sink.view not in self._inputs:
            return True
        return worker.has_delivered(self._inputs[sink.view].pin())

    def _check_lease(self) -> None:
        """Say it once for all if another process has taken over: idle views would not notice."""
        if self._lease and self._lease.lost:
            raise self._lease.lost

    def _is_over(self) -> bool:
        if self._lease and self._lease.lost:
            return True
        making = (worker for worker in self._workers() if not isinstance(worker, SinkWorker))
        return self._interrupted or not any(worker.alive for worker in making)
