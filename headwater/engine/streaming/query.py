"""One view as a Structured Streaming query, each batch committed with its marker.

In: a plan with a :class:`~headwater.plan.program.StreamingProgram`, the lake seen through a session
of the view's own, a state folder.
Out: commits whose epoch is the batch id, whose cut is what the batch read, whose watermark is
Spark's. Heartbeats move Spark's watermark to that of the inputs when data alone does not: because
the user's filter took the rows out, or because an input has ended.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from headwater.analyze.definitions import Catalog, OnError
from headwater.checkpoints.folder import Checkpoint, CheckpointOwner
from headwater.checkpoints.moves import follow, paths_of
from headwater.checkpoints.replicas import CheckpointReplicas
from headwater.connectors.contract import StreamConfig
from headwater.connectors.kafka.schemas import learned
from headwater.engine.bad_rows import BadRowFilter
from headwater.engine.inputs import open_inputs
from headwater.engine.streaming.batches import Batches
from headwater.engine.streaming.execution import finish
from headwater.engine.streaming.failures import failed
from headwater.engine.streaming.heartbeat import Heartbeats
from headwater.engine.streaming.pacemaker import Pacemaker
from headwater.engine.streaming.progress import StreamProgress
from headwater.engine.streaming.recovery import Recovery
from headwater.engine.streaming.source_batch import NotFlat, OnBad, SourceBatchWriter
from headwater.engine.streaming.streams import open_streams
from headwater.engine.target import Committed, Writer, ensure_target
from headwater.engine.view_commit import Change, ViewCommitter, ViewEpoch
from headwater.errors import ServiceError
from headwater.lake.catalog import Lake
from headwater.lake.iceberg.unpushed import keep_filters
from headwater.lake.protocol.commit import Fence, Outcome
from headwater.lake.protocol.commit_lock import CommitLock
from headwater.lake.protocol.table import Target
from headwater.plan.planner import close_after
from headwater.plan.program import StreamingProgram
from headwater.plan.query_shape import MICROSECOND
from headwater.plan.rules.contract import InputKind
from headwater.plan.view_plan import ViewPlan

TIDY_EVERY = 100
"""Batches after which the checkpoint forgets old heartbeats."""

POLL = timedelta(milliseconds=200)
"""How often a query looks for new snapshots of its inputs."""

EXCLUDED_RULES = (
    # Spark 4.1.3 would push filters, even inferred ones, below the watermark operator, where they
    # remove heartbeats
    "org.apache.spark.sql.catalyst.optimizer.PushDownPredicates",
    # Spark 4.1.3 would take an input without new rows out of a union. What holds for the rest of
    # the batch (a NULL key, a constant) is then taken for true of the state (apache/spark#54022)
    "org.apache.spark.sql.catalyst.optimizer.PropagateEmptyRelation",
)
"""Rules of Spark's optimizer that are wrong where rows of a batch meet rows of the state."""


class _Stopped(Exception):
    """A batch began after the view was told to stop."""


@dataclass(frozen=True, slots=True)
class ViewPosition:
    """How far a view has come.

    Attributes:
        epoch: its newest epoch.
        cut: the cut of that epoch.
        watermark: the watermark of that epoch.
    """

    epoch: int
    cut: Mapping[str, str]
    watermark: int | None


class StreamingView:
    """Keeps one view by a Structured Streaming query.

    Args:
        lake: the lake seen through a session that nothing else uses; its settings are changed.
        plan: the view's plan, with a streaming program.
        state: folder of the view's version, for checkpoint and heartbeats.
        fence: called before each commit, if given.
        copies: where copies of its checkpoint are kept, if anywhere.
        poll: how often the inputs are looked at.
        hurry: begin a batch as soon as there is input, not only every ``poll``: for catching up.
        on_bad: called with each SOURCE that has bad rows in a batch, before the batch is
            published; in the query's thread.
        on_commit: called with each commit, in the query's thread.
    """

    def __init__(
        self,
        lake: Lake,
        plan: ViewPlan,
        catalog: Catalog,
        state: Path,
        *,
        writer: Writer = Writer(),  # noqa: B008 - frozen
        fence: Fence | None = None,
        config: StreamConfig | None = None,
        copies: CheckpointReplicas | None = None,
        poll: timedelta = POLL,
        hurry: bool = False,
        on_bad: OnBad = lambda source, bad, seen: None,
        on_commit: Callable[[Committed], None] = lambda committed: None,
    ) -> None:
        assert isinstance(plan.program, StreamingProgram)
        self.plan = plan
        self._program = plan.program
        self._lake = lake
        self._catalog = catalog
        self._state = state
        self._writer = writer
        self._fence = fence
        self._config = config
        self._poll = poll
        self._hurry = hurry
        self._on_bad = on_bad
        self._on_commit = on_commit
        self._outside = frozenset(
            item.name for item in plan.inputs if item.kind is InputKind.SOURCE
        )
        self._told = StreamProgress(plan.view.name, self._outside)
        # all else goes on from its marker
        self._copies = copies if self._program.stateful or self._outside else None
        self._guarded = BadRowFilter(lake, plan)
        self._checkpoint = Checkpoint(state / "checkpoint")
        self._query: StreamingQuery | None = None
        self._failure: BaseException | None = None
        self._stopping = False
        self._position: ViewPosition | None = None
        # before and after the batch that runs, or ran last
        self._cuts: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {})
        self._moved = threading.Condition()
        self._started = threading.Event()
        self._opened = ExitStack()
        self.gate = CommitLock()

    # -- life

    def start(self) -> None:
        """Start the query where the view's newest commit left off.

        Raises:
            TerminalError: what :meth:`Recovery.run` raises if the view cannot go on from its
                checkpoint; what opening tables raises.
        """
        session = self._lake.spark
        session.conf.set("spark.sql.optimizer.excludedRules", ",".join(EXCLUDED_RULES))
        self._target = ensure_target(self._lake, self.plan, self._fence)
        self._inputs = open_inputs(self._lake, self.plan, self._catalog)
        program = self._guarded.program
        assert isinstance(program, StreamingProgram)
        last = self._target.marker()
        self._committer = ViewCommitter(
            self._lake,
            self.plan,
            self._target,
            self._inputs,
            self._guarded,
            writer=replace(self._writer, version=last.version) if last else self._writer,
            fence=self._fence,
        )
        self._heartbeats = Heartbeats(self._state / "heartbeat", self._program.delays)
        self._pacemaker = Pacemaker(self._program, self._inputs, self._checkpoint, self._heartbeats)
        self._folder()
        sources = {name: self._catalog.sources[name] for name in sorted(self._outside)}
        folder = self._config.directory if self._config else Path()
        self._reading = SourceBatchWriter(session, sources, folder, self._state, self._on_bad)
        self._opened.callback(self._reading.close)
        streams = open_streams(
            self._lake,
            self.plan,
            self._catalog,
            self._heartbeats,
            self._config,
            flat=self._reading.flat,
        )
        frame = session.sql(program.sql)
        self._order = streams.order(frame)
        Recovery(
            self._checkpoint,
            CheckpointOwner(
                self.plan.view.name,
                self._lake.namespace,
                self._writer.version,
                self.plan.fingerprint,
                self._order,
                (self.plan.printed, self.plan.former),
            ),
            self._target,
            self._program.stateful,
            self._inputs,
            self._copies,
        ).run()
        if self._config:
            follow(self._checkpoint.folder, folder, paths_of(sources.values()))
        marker = self._target.marker()
        self._position = (
            ViewPosition(marker.epoch, marker.cut_to, marker.watermark) if marker else None
        )
        self._reading.begin(marker.cut_to if marker else {})
        self._batches = Batches(
            self.plan.view.name,
            self._checkpoint,
            self._order,
            self._inputs,
            self._reading,
            self._program.stateful,
        )
        self._stopping, self._failure = False, None
        self._started.clear()
        poll = self._poll // timedelta(milliseconds=1)
        session.conf.set("spark.sql.streaming.pollingDelay", f"{poll}ms")
        self._query = (
            frame.writeStream.queryName(self.plan.view.name)
            .foreachBatch(self._batch)
            .option("checkpointLocation", str(self._checkpoint.folder))
            .trigger(processingTime=f"{0 if self._hurry else poll} milliseconds")
            .start()
        )
        self._started.set()

    def stop(self) -> None:
        """Finish the running batch, then stop the query, and let go of what starting opened."""
        self._stopping = True
        query, self._query = self._query, None
        if query is not None:
            finish(query)
            self._told.hear(query)
            if self._copies and self._position:
                self._copies.copy(self._checkpoint.folder, self.epoch)
        self._opened.close()
        with self._moved:
            self._moved.notify_all()

    @property
    def position(self) -> ViewPosition | None:
        """How far the view has come, None before its first commit."""
        return self._position

    @property
    def epoch(self) -> int:
        """Number of the newest commit, -1 before the first."""
        return self._position.epoch if self._position else -1

    @property
    def idle(self) -> bool:
        """Whether the query is waiting for new snapshots."""
        return bool(
            self._query and self._query.isActive and not self._query.status["isTriggerActive"]
        )

    def check(self) -> None:
        """Write the heartbeats that are due, and raise what made the query fail.

        Raises:
            HeadwaterError: whatever a batch raised.
            ServiceError: ``QUERY_FAILED`` if Spark itself failed.
        """
        query = self._query
        if query is None or self._stopping:
            return
        if not query.isActive:
            error = self._failure or query.exception()
            if not (
                isinstance(error, NotFlat)
                or learned(self._lake.spark, error, self._catalog.sources, self._config, self._cuts)
                or self._guarded.turn_on(error)
                or keep_filters(self._lake.spark, error)
            ):
                view = self.plan.view
                raise failed(view.name, error, may_fail=view.on_error == OnError.FAIL)
            self.stop()
            self.start()
        self._told.hear(query)
        at = self._position
        if at and self.idle:
            self._pacemaker.beat(at.epoch, at.cut)

    @property
    def waiting(self) -> Mapping[str, int]:
        """Records of topics that it reads straight, not yet read (:class:`StreamProgress`)."""
        return self._told.waiting

    def drain(
        self,
        ends: Mapping[str, int],
        watermark: int | None = None,
        timeout: timedelta | None = None,
    ) -> bool:
        """Wait until everything up to some snapshots is committed and final.

        Args:
            ends: per input, the snapshot to reach (its end-of-input epoch).
            watermark: the source watermark that must have closed what it closes; None for views
                without.
            timeout: how long to wait at most; None for ever.

        Returns:
            Whether it was reached; False after the timeout or when the view was stopped.

        Raises:
            HeadwaterError: what :meth:`check` raises.
        """
        deadline = None if timeout is None else time.monotonic() + timeout.total_seconds()
        while not self.reached(ends, watermark):
            self.check()
            if self._query is None or (deadline and time.monotonic() > deadline):
                return False
            self.wait(self._poll.total_seconds() / 2)
        return True

    def wait(self, seconds: float) -> None:
        """Wait for the next commit.

        Args:
            seconds: how long at most.
        """
        with self._moved:
            self._moved.wait(seconds)

    def reached(self, ends: Mapping[str, int], watermark: int | None = None) -> bool:
        """Return whether exactly these snapshots are committed, and what they close is final.

        Args:
            watermark: the source watermark that must have closed what it closes, or None.
        """
        if not self._started.is_set():
            return False
        at = self._position
        if self._outside and not self._is_exhausted():
            return False
        cut = at.cut if at else {}
        for name, end in ends.items():
            # Spark has no offset in a table before its first rows
            if cut.get(name) != str(end) and not (
                name not in cut and self._inputs[name].is_empty(end)
            ):
                return False
        if watermark is None or not self._program.stateful:
            return True
        return (
            at is not None
            and at.watermark is not None
            and at.watermark >= watermark - self._program.allowed // MICROSECOND
        )

    def close_sources(self) -> int | None:
        """Say that the SOURCEs the view reads have ended; call it when :meth:`reached` holds.

        Returns:
            The watermark that closes everything they brought, or that of a table beside them if it
            is behind; None if there is nothing to close.
        """
        names = [name for name in self._program.delays if name in self._outside]
        at = self._position
        known = self._checkpoint.next_watermark(at.epoch) if at else None
        if not names or known is None:
            return None
        delay = max(self._program.delays[name] for name in names) + self._program.allowed
        watermark = close_after(self.plan, known + delay // MICROSECOND)
        self._heartbeats.write(dict.fromkeys(names, watermark))
        tables = self._pacemaker.watermarks(at.cut) if at else None
        return None if tables is None else min([watermark, *tables.values()])

    def _is_exhausted(self) -> bool:
        """Return whether the query has looked for rows and found no more."""
        query = self._query
        return bool(
            query
            and self.idle
            and not query.status["isDataAvailable"]
            and query.lastProgress is not None
        )

    def _folder(self) -> None:
        try:
            self._state.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ServiceError(
                "STATE_NOT_WRITABLE",
                f'the state folder "{self._state}" cannot be written: {error.strerror}',
                hint="make it writable, or set run.state in headwater.toml",
            ) from error

    # -- one batch

    def _batch(self, rows: DataFrame, epoch: int) -> None:
        if self._stopping:
            raise _Stopped
        try:
            with self.gate.commit():
                self._commit(rows, epoch)
                if (epoch + 1) % TIDY_EVERY == 0:
                    self._pacemaker.tidy()
        except BaseException as error:
            self._failure = error
            raise

    def _commit(self, rows: DataFrame, epoch: int) -> None:
        began = time.monotonic()
        read = self._batches.read(epoch)
        self._cuts = read.cut_from, read.cut_to
        done = self._committer.commit(
            rows.sparkSession,
            ViewEpoch(epoch, read.cut_from, read.cut_to, read.watermark, read.spans, began),
            nullcontext(Change(lambda target: self._write(rows, target))),
        )
        if done.outcome is Outcome.ALREADY_COMMITTED and self._program.stateful:
            # Spark needs the batch to have run: for its state, and for the watermark after it
            rows.write.format("noop").mode("overwrite").save()
        with self._moved:
            self._position = ViewPosition(epoch, read.cut_to, read.watermark)
            self._moved.notify_all()
        self._pacemaker.tell(read.cut_to, read.watermark)
        self._on_commit(done)

    def _write(self, rows: DataFrame, target: Target) -> None:
        if not self._outside:
            target.append(rows)
            return
        self._started.wait()
        assert self._query is not None
        self._reading.write(self._query, self._order, rows, target)
