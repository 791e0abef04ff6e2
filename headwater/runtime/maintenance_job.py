"""Maintenance of a project: which tables, what their readers need, and when.

In: a project. Out: maintained tables, either all of them once (``headwater maintain``), or while
the project runs each by the worker that commits to it, between two of its commits. A failure is
told and tried again later; it never stops a view.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING

from headwater.connectors import ledger
from headwater.errors import HeadwaterError
from headwater.lake.catalog import Lake
from headwater.lake.delta.maintenance import STEPS as DELTA_STEPS
from headwater.lake.delta.maintenance import maintain_delta
from headwater.lake.delta.table import DeltaTable
from headwater.lake.iceberg.maintenance import STEPS, Job, maintain
from headwater.lake.identity import LakeIdentity
from headwater.lake.java import active
from headwater.lake.protocol.commit import Fence
from headwater.lake.protocol.commit_lock import CommitLock
from headwater.lake.protocol.maintenance import MaintenanceResult
from headwater.lake.reserved_names import BEGUN, SINK, quarantine_of, tables_of
from headwater.plan.planner import plan_project
from headwater.plan.view_plan import ViewPlan
from headwater.project import Project
from headwater.runtime.backoff import as_headwater_error
from headwater.runtime.board import Board
from headwater.runtime.events import RunState, StateChanged
from headwater.runtime.lease import Lease
from headwater.runtime.session import project_session, session_for_thread
from headwater.runtime.spark_requirements import DELTA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

ORPHANS_EVERY = timedelta(days=1)
"""How often a running project lists a table's folder to find orphan files."""

EXPIRY = ("expiry",)

Result = tuple[str, MaintenanceResult | HeadwaterError]
"""A table, and what was done to it or why that failed."""


class Tables:
    """The tables of a project as maintenance sees them.

    Args:
        plans: the plans of all its views, also if only a part of it runs: they say who reads what.
    """

    def __init__(self, project: Project, plans: Mapping[str, ViewPlan]) -> None:
        self._plans = plans
        self._sources = [n for n, each in project.catalog.sources.items() if not each.external]
        self._sinks = project.catalog.sinks
        self.settings = project.config.maintenance
        self.identity = LakeIdentity(project.config)
        self.any_delta = any(plan.view.is_delta for plan in plans.values())

    def names(self) -> list[str]:
        """Return the landed tables, views and sinks, and the SOURCEs, which have a quarantine."""
        return [*self._sources, *self._plans, *self._sinks]

    def of(self, name: str) -> list[str]:
        """Return the tables that the worker of a table, view or sink commits to, if they exist.

        Args:
            name: the table, SOURCE, view or sink.
        """
        if name in self._sinks:
            return [name + SINK, name + BEGUN]
        if name in self._plans:
            return list(tables_of(self._plans[name]))
        return [name, name + ledger.SUFFIX, quarantine_of(name)]

    def needed(self, lake: Lake, name: str) -> set[int]:
        """Return the snapshots of a table that its readers go on from, or replay from.

        Args:
            name: the table.

        Raises:
            TerminalError: ``MARKER_LOST`` if a reader's marker is lost, and with it what it needs.
        """
        needed: set[int] = set()
        for reader in self._readers(name):
            written = lake.written(reader)
            marker = written.marker() if written else None
            for cut in (marker.cut_from, marker.cut_to) if marker else ():
                if name in cut:
                    needed.add(int(cut[name]))
        return needed

    def _readers(self, name: str) -> Iterator[str]:
        """The tables whose markers say how far this one was read."""
        for plan in self._plans.values():
            if any(each.name == name for each in plan.inputs):
                yield plan.view.name
        for sink in self._sinks.values():
            if sink.view == name:
                yield from (sink.name + SINK, sink.name + BEGUN)


class Maintainer:
    """Maintains tables one at a time, through a session of its own.

    Args:
        fence: asked before each table, if given.
    """

    def __init__(
        self, tables: Tables, spark: SparkSession, namespace: str, fence: Fence | None = None
    ) -> None:
        self.tables = tables
        self._spark = spark
        self._namespace = namespace
        self._fence = fence
        self._lake: Lake | None = None
        self._turn = threading.Lock()

    def maintain(
        self,
        name: str,
        *,
        steps: Collection[str] = STEPS,
        longest_batch: timedelta = timedelta(0),
        dry_run: bool = False,
    ) -> Iterator[Result]:
        """Maintain the tables that belong to a table or view; what fails does not stop the others.

        Args:
            steps: which of its steps.
            longest_batch: how long its longest batch took.
            dry_run: change nothing.

        Yields:
            Each table that exists, with what was done or the error.
        """
        for table in self.tables.of(name):
            try:
                if self._fence:
                    self._fence.check()
                # what another copy of the catalog has written would be orphans of this one
                self.tables.identity.check_turn()
                lake, settings = self._own_lake(), self.tables.settings
                found = lake.written(table)
                if isinstance(found, DeltaTable) and not {*DELTA_STEPS} & {*steps}:
                    continue
                needed = self.tables.needed(lake, table) if found else set()
                if isinstance(found, DeltaTable):
                    lake.define_delta(found)
                    yield table, maintain_delta(found, settings, needed, steps, dry_run=dry_run)
                elif found:
                    job = Job(found, settings, needed, longest_batch, steps, dry_run=dry_run)
                    yield table, maintain(job)
            except Exception as error:  # noqa: BLE001 - whatever it is, the view goes on
                log.info("table maintenance of %s failed", table, exc_info=error)
                yield table, as_headwater_error(table, error)

    def _own_lake(self) -> Lake:
        if self._lake is None:
            with active(self._spark):  # the thread goes on with the session it had
                self._lake = Lake(session_for_thread(self._spark), self._namespace)
        return self._lake

    def try_turn(self) -> bool:
        """Take the turn to maintain, unless another worker has it; :meth:`end_turn` ends it."""
        return self._turn.acquire(blocking=False)

    def end_turn(self) -> None:
        """Give the turn back."""
        self._turn.release()


class MaintenanceSchedule:
    """The schedule of one worker.

    Args:
        names: the tables or views that the worker keeps.
    """

    def __init__(self, keeper: Maintainer, names: Sequence[str], board: Board) -> None:
        self._keeper = keeper
        self._names = names
        self._board = board
        self._due = time.monotonic() + self._every()
        self._orphans_due = self._due
        self._commits = 0
        self._troubled: set[str] = set()

    def _every(self) -> float:
        every = self._keeper.tables.settings.every
        return every.total_seconds() if every else float("inf")

    def run_if_due(
        self, gate: CommitLock, *, committed: bool = False, busy: Collection[str] = ()
    ) -> None:
        """Maintain what the worker keeps, if it is time and no other worker does; raise nothing.

        Args:
            gate: keeps commits away meanwhile.
            committed: whether the step before it did something.
            busy: the views that are left for another time: they may be committed to meanwhile.
        """
        self._commits += committed
        steps = self._steps_due(time.monotonic())
        if not steps or not self._keeper.try_turn():
            return
        try:
            for name in (each for each in self._names if each not in busy):
                with gate.maintenance():
                    results = list(
                        self._keeper.maintain(name, steps=steps, longest_batch=gate.longest)
                    )
                self._tell(name, results)
            if "orphans" in steps:
                self._orphans_due = time.monotonic() + ORPHANS_EVERY.total_seconds()
        finally:
            self._commits = 0
            if steps != EXPIRY:
                self._due = time.monotonic() + self._every()
            self._keeper.end_turn()

    def _steps_due(self, now: float) -> Sequence[str]:
        """All steps from time to time; expiry already when the lists of snapshots grow long."""
        if now >= self._due:
            return STEPS if now >= self._orphans_due else STEPS[:-1]
        settings = self._keeper.tables.settings
        return EXPIRY if settings.every and self._commits * 3 >= settings.max_snapshots else ()

    def _tell(self, name: str, results: Iterable[Result]) -> None:
        failed = False
        for table, result in results:
            if isinstance(result, HeadwaterError):
                failed = True
                self._say(name, result)
            elif result.done:
                log.info("table maintenance of %s: %s", table, dict(result.done))
        if failed:
            self._troubled.add(name)
        elif name in self._troubled:
            self._troubled.discard(name)
            self._say(name, None)

    def _say(self, name: str, error: HeadwaterError | None) -> None:
        if self._board.state(name) in (RunState.RUNNING, RunState.STARTING, None):
            retry_in = self._every() if error else None
            self._board.tell(StateChanged(name, RunState.RUNNING, error, retry_in))


def maintain_project(
    project: Project,
    names: Sequence[str] = (),
    *,
    dry_run: bool = False,
    spark: SparkSession | None = None,
) -> Iterator[Result]:
    """Maintain the tables of a project that is not running.

    Args:
        names: the tables and views to maintain, with their side tables; all if empty.
        dry_run: change nothing, say what would be done; then it may run.
        spark: a running session to use; if None, one is opened, and stopped at the end.

    Yields:
        Each table that exists, with what was done or why it failed.

    Raises:
        ServiceError: ``ALREADY_RUNNING``: a running project maintains itself; Spark or the lake
            cannot be had.
    """
    config = project.config
    tables = Tables(project, plan_project(project.catalog))
    tables.identity.check()
    with (
        nullcontext() if dry_run else Lease.acquire(config) as lease,
        project_session(config, spark, further=(DELTA,) if tables.any_delta else ()) as session,
    ):
        keeper = Maintainer(tables, session, config.namespace, lease)
        for name in names or tables.names():
            yield from keeper.maintain(name, dry_run=dry_run)
