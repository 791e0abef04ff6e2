"""What workers work with: landings, views, ticks and deliveries, each with a session of its own.

In: a project, the session of the application and the lease. Out: what was asked for, opened. It is
called in the thread of the worker, again after each failure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from headwater.analyze.definitions import Catalog, Sink
from headwater.checkpoints.replicas import copies_of
from headwater.config.settings import Config
from headwater.engine.delivery import Delivery
from headwater.engine.incremental.recompute_policy import NEVER, RecomputeLimits
from headwater.engine.incremental.tick import PATIENCE, Ticks
from headwater.engine.incremental.view import IncrementalView
from headwater.engine.inputs import InputTable
from headwater.engine.streaming.quarantine import SourceQuarantine, WaitingMark
from headwater.engine.streaming.query import StreamingView
from headwater.engine.streaming.source_batch import OnBad
from headwater.engine.target import Writer
from headwater.intake.land import Landing
from headwater.lake.catalog import Lake
from headwater.lake.reserved_names import VERSION, quarantine_of, state_folder
from headwater.lake.storage.warehouse import folder_of
from headwater.plan.rules.contract import InputKind
from headwater.plan.view_plan import ViewPlan
from headwater.runtime.commit_events import told
from headwater.runtime.events import Progress
from headwater.runtime.lease import Lease
from headwater.runtime.session import session_for_thread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLL = timedelta(milliseconds=200)
"""How often workers look for something to do, at most."""


class Deployment(Protocol):
    """What changes the lake around a run, while the project is this process's."""

    def begin(self, lake: Lake) -> None:
        """Do what comes before the tables of views are opened."""

    def finish(self, lake: Lake, lease: Lease) -> None:
        """Do what comes after the workers, if all have done their work."""


class Opener:
    """Opens what the workers of a project work with.

    Args:
        lease: fences every commit.
    """

    def __init__(self, config: Config, catalog: Catalog, spark: SparkSession, lease: Lease) -> None:
        self._config, self._catalog = config, catalog
        self._spark, self._lease = spark, lease
        self._writer = Writer(VERSION, lease.token)

    def landing(self, name: str, once: bool) -> Landing:
        """Open the landing of a table.

        Args:
            name: the table.
            once: its input ends with what is there.
        """
        lake = self._own_lake()
        return Landing(
            lake.spark,
            lake,
            self._catalog.sources[name],
            self._config,
            once=once,
            version=self._writer.version,
            token=self._writer.token,
            fence=self._lease,
        )

    def streaming(
        self, plan: ViewPlan, once: bool, *, on_bad: OnBad, tell: Progress, every: float = 0.0
    ) -> StreamingView:
        """Open a streaming view.

        Args:
            once: its input ends with what is there.
            on_bad: told of each SOURCE in which it meets bad rows.
            tell: told of its commits.
            every: seconds between two batches, at least.
        """
        trigger = max(self._config.run.trigger, timedelta(seconds=every))
        state = state_folder(self._config.state, plan.view.name)
        # a batch takes all that tables hold, but only so many files of a SOURCE
        hurry = once and any(item.kind is InputKind.SOURCE for item in plan.inputs)
        return StreamingView(
            self._own_lake(),
            plan,
            self._catalog,
            state,
            config=self._config,
            copies=copies_of(self._config, plan.view.name),
            writer=self._writer,
            fence=self._lease,
            poll=min(POLL, self._config.run.trigger) if hurry else trigger,
            hurry=hurry,
            on_bad=on_bad,
            on_commit=lambda committed: tell(told(committed)),
        )

    def quarantine_state(self, name: str) -> Path:
        """Return where the quarantine of a SOURCE keeps its state.

        Args:
            name: the SOURCE.
        """
        return state_folder(self._config.state, quarantine_of(name))

    def quarantine(self, name: str, waiting: WaitingMark) -> SourceQuarantine:
        """Open the quarantine of a SOURCE.

        Args:
            name: the SOURCE.
            waiting: whether there is something for it.
        """
        return SourceQuarantine(
            self._own_lake(),
            self._catalog.sources[name],
            self._config,
            self.quarantine_state(name),
            waiting,
            writer=self._writer,
        )

    def incremental(self, plan: ViewPlan) -> IncrementalView:
        """Open an incremental view."""
        below = self._config.run.recompute_below
        return IncrementalView(
            self._own_lake(),
            plan,
            self._catalog,
            writer=self._writer,
            fence=self._lease,
            limits=RecomputeLimits(below) if below else NEVER,
        )

    def ticks(self, names: Sequence[str], on_held_up: Callable[[IncrementalView], None]) -> Ticks:
        """Open the ticks.

        Args:
            names: the inputs that no view of the ticks writes.
            on_held_up: told of each view that others no longer wait for.
        """
        return Ticks(self._own_lake(), names, patience=PATIENCE, on_held_up=on_held_up)

    def delivery(self, sink: Sink) -> Delivery:
        """Open the delivery of a sink."""
        return Delivery(
            self._own_lake(),
            sink,
            self._config.directory,
            version=self._writer.version,
            token=self._writer.token,
            fence=self._lease,
        )

    def lake(self, spark: SparkSession) -> Lake:
        """Return the project's lake, with the tables that others write.

        Args:
            spark: the session that it is seen through.
        """
        external = {
            name: str(folder_of(written, self._config.directory) or written)
            for name, written in self._catalog.external.items()
        }
        return Lake(spark, self._config.namespace, external_tables=external)

    def ends_of_others(self, spark: SparkSession) -> dict[str, int]:
        """Return the newest snapshots of the tables that others write, who may never end.

        Args:
            spark: the session that they are seen through.
        """
        lake, ends = self.lake(spark), {}
        for name in lake.external_tables:
            with suppress(Exception):  # the views that read it say what is wrong
                ends[name] = InputTable(name, lake.readable(name), None).pin()
        return ends

    def _own_lake(self) -> Lake:
        return self.lake(session_for_thread(self._spark))
