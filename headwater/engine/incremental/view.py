"""One view of the incremental engine: from pinned inputs to a commit.

In: the snapshots up to which its inputs are read now. Out: one commit whose cut is exactly those
snapshots; none if no input has a new one, or none has ever had rows. A later snapshot without rows
(an end of input) is committed without a Spark job, so that cut and watermark of the view are always
those of its inputs.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from pyspark.sql import SparkSession
from sqlglot import exp

from headwater.analyze.correlated.subqueries import has_predicates
from headwater.analyze.definitions import Catalog, ChangelogMode, OnError
from headwater.analyze.query_parts import empty_of_nothing
from headwater.engine.bad_rows import BadRowFilter, begun
from headwater.engine.follow_definition import Followed, followed
from headwater.engine.incremental.contract import Tick
from headwater.engine.incremental.failing_part import failing_part
from headwater.engine.incremental.pattern_rows import match_failure, registered_matches
from headwater.engine.incremental.recompute_policy import (
    CHANGED,
    NEVER,
    RECOMPUTED,
    RecomputeLimits,
)
from headwater.engine.incremental.registry import writer_of
from headwater.engine.incremental.whole import whole_writer
from headwater.engine.inputs import (
    Clock,
    Cut,
    SnapshotRange,
    least_watermark,
    open_inputs,
    ranges,
    register_change,
    register_changes,
    register_pinned,
    register_states,
)
from headwater.engine.recursion import registered_recursion
from headwater.engine.target import Committed, Writer, ensure_target
from headwater.engine.view_commit import Change, ViewCommitter, ViewEpoch
from headwater.lake.catalog import Lake
from headwater.lake.evolve import Evolved
from headwater.lake.failures import bad_row, fault_of_spark, is_fault_of_spark
from headwater.lake.iceberg.merge import Before
from headwater.lake.iceberg.unpushed import keep_filters
from headwater.lake.protocol.commit import Fence
from headwater.lake.protocol.marker import Marker
from headwater.plan.full_program import FullProgram
from headwater.plan.program import Program, Reads
from headwater.plan.view_plan import ViewPlan

_CONSTRAINTS = "spark.sql.constraintPropagation.enabled"
"""With it the optimizer of Spark 4.1.3 fails ("key not found") at a UNION ALL over a correlated
subquery that one side selects: it looks up the subquery's own columns among those of the side."""

_EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"
_REDUNDANT_ALIASES = "org.apache.spark.sql.catalyst.optimizer.RemoveRedundantAliases"
"""Where OVER reads a UNION ALL and its PARTITION BY is selected too, Spark 4.1.3 moves both below
the union. This rule then makes them one column that a side has twice, and Spark refuses the plan
("became unresolved"). apache/spark#52060 mends other forms of it."""


class IncrementalView:
    """Keeps one view by ticks.

    Args:
        lake: the lake seen through a session that nothing else uses.
        plan: the view's plan, with an incremental or full program.
        fence: called before each commit, if given.
        limits: from when on a tick computes the whole view; never, if not given.

    Raises:
        TerminalError: what opening its tables raises.
    """

    def __init__(
        self,
        lake: Lake,
        plan: ViewPlan,
        catalog: Catalog,
        *,
        writer: Writer = Writer(),  # noqa: B008 - frozen
        fence: Fence | None = None,
        limits: RecomputeLimits = NEVER,
    ) -> None:
        self.plan = plan
        self._limits = limits
        self._session = lake.spark
        if any(map(has_predicates, plan.view.query.find_all(exp.Select))):
            self._session.conf.set(_CONSTRAINTS, "false")
        if plan.view.query.find(exp.SetOperation) and plan.view.query.find(exp.Window):
            self._session.conf.set(_EXCLUDED_RULES, _REDUNDANT_ALIASES)
        self._fence = fence
        self.target = ensure_target(lake, plan, fence)
        self._inputs = open_inputs(lake, plan, catalog)
        self._lake, self._catalog = lake, catalog
        self._last, self._last_at = self.target.marker(), self.target.committed_at()
        self._writer = replace(writer, version=self._last.version) if self._last else writer
        self._guarded = BadRowFilter(lake, plan, self._last)
        self._followed = followed(plan, self.target, self._last)
        self._committer = self._open_committer()
        sides = [table for table in (self._committer.late.table, self._guarded.table()) if table]
        self._empty_at: Cut = {}
        self._begun = begun(plan.view.name, self._last.epoch if self._last else -1, sides)

    @property
    def marker(self) -> Marker | None:
        """The marker of its newest commit."""
        return self._last

    def history(self, pins: Mapping[str, int]) -> int:
        """Return how many rows its first commit has to read; 0 if it has one.

        Args:
            pins: the snapshots that are read; of other inputs, the newest.
        """
        if self._last is not None:
            return 0
        return sum(
            item.rows(pins[name] if name in pins else item.pin())
            for name, item in self._inputs.items()
        )

    def reached(self, pins: Mapping[str, int], ends: Mapping[str, int]) -> bool:
        """Return whether its newest commit has read its inputs up to some snapshots.

        Args:
            pins: the newest snapshots of inputs that nobody else writes.
            ends: those that tables of others had some time ago; further names are ignored.
        """
        if self._last is None and not self._inputs:
            return False
        cut = self._last.cut_to if self._last else self._empty_at
        return cut.keys() == self._inputs.keys() and all(
            (
                cut[name] == str(pins[name])
                if name in pins
                else name in ends and item.includes(int(cut[name]), ends[name])
            )
            # versions of a table that was made anew have the same numbers
            and (self._last is None or item.table.was_there(int(cut[name]), self._last_at))
            for name, item in self._inputs.items()
        )

    def step(self, pins: Mapping[str, int]) -> Committed | None:
        """Bring the view up to the pinned snapshots of its inputs.

        Args:
            pins: the snapshot up to which each input is read; further names are ignored.

        Returns:
            What was committed. None if no input has a new snapshot, or if nothing was ever
            committed and all inputs are empty, so the view is too.

        Raises:
            TerminalError: ``BAD_ROW`` if an expression fails on a row that cannot be left out.
            HeadwaterError: what the commit protocol raises.
        """
        own = {name: pins[name] for name in self._inputs}
        if self._has_nothing_to_say(own):
            self._empty_at = {name: str(pin) for name, pin in own.items()}
            return None
        before, self._begun = self._begun, None
        done = self._attempt(before) if before else None
        return self._attempt(own) or done

    def _has_nothing_to_say(self, own: Mapping[str, int]) -> bool:
        if self._last or self._begun or not empty_of_nothing(self.plan.view.query):
            return False
        return all(self._inputs[name].is_empty(pin) for name, pin in own.items())

    def _attempt(self, own: Mapping[str, int]) -> Committed | None:
        try:
            return self._step(own)
        except Exception as error:
            if failed := match_failure(self.plan.view.name, error):
                raise failed from error
            if not (self._guarded.turn_on(error) or keep_filters(self._session, error)):
                may_fail = self.plan.view.on_error == OnError.FAIL
                if bad := bad_row(self.plan.view.name, error, may_fail=may_fail):
                    raise bad from error
                if is_fault_of_spark(error):
                    part = failing_part(self._session, self.plan, self._catalog, self._inputs)
                    raise fault_of_spark(self.plan.view.name, part, error) from error
                raise
        self._committer = self._open_committer()
        return self._attempt(own)

    def _open_committer(self) -> ViewCommitter:
        return ViewCommitter(
            self._lake,
            self.plan,
            self.target,
            self._inputs,
            self._guarded,
            writer=self._writer,
            fence=self._fence,
        )

    def _step(self, own: Mapping[str, int]) -> Committed | None:
        last, began = self._last, time.monotonic()
        spans = ranges(self._inputs, last.cut_to if last else {}, own, self._last_at)
        if last and not spans:
            return None
        activate(self._session)
        epoch = ViewEpoch(
            number=last.epoch + 1 if last else 0,
            cut_from=last.cut_to if last else {},
            cut_to={name: str(upto) for name, upto in own.items()},
            watermark=least_watermark(self._inputs.values(), own),
            spans=spans,
            began=began,
            evolved=self._followed.evolved,
        )
        change = self._change(spans, own, epoch.watermark)
        done = self._committer.commit(self._session, epoch, change)
        self._last, self._last_at = done.marker, done.at
        self._followed = Followed(Evolved(since=done.marker.since))
        return done

    @contextmanager
    def _change(
        self,
        spans: Mapping[str, SnapshotRange],
        pins: Mapping[str, int],
        watermark: int | None,
    ) -> Iterator[Change]:
        last, session = self._last, self._session
        lost = last is not None and any(span.after is None for span in spans.values())
        anew = lost or self._followed.anew or self._clock_begins(watermark)
        known = None if last is None or anew else last.watermark
        program = self._guarded.program.between(known, watermark)
        stands = not self.plan.moves or watermark == known
        if program is None or (not anew and stands and self._is_empty(spans)):
            yield Change(lambda target: None)
            return
        rewrites = self._limits.small > 0 and not self._only_appends
        before = Before.of(self.target, rewrites=rewrites)
        anew = anew or self._restarts(program, spans)
        counts = {RECOMPUTED: 1} if anew else self._measured(spans, pins, before.rows)
        whole = RECOMPUTED in counts or self._last is None
        if whole:
            spans = {name: SnapshotRange(None, upto) for name, upto in pins.items()}
        writer = writer_of(program)
        clock = Clock(None if whole else known, watermark)
        reads = program.whole_reads if whole else program.reads
        patterns = program.whole_patterns if whole else program.patterns
        recursions = program.recursions if isinstance(program, FullProgram) else ()
        with (
            self._registered(reads, spans, pins, clock),
            registered_matches(session, patterns),
            registered_recursion(session, self.plan.view.name, recursions),
        ):
            if whole:
                yield Change(whole_writer(session, writer.whole_sql(program), before), counts)
                return
            tick = Tick(session, self.plan, before, self._limits)
            with writer.change(tick, program) as change:
                yield Change(change.write, {**counts, **change.counts})

    def _clock_begins(self, watermark: int | None) -> bool:
        """Return whether rows that were read before count now: without a watermark none did."""
        asks = self.plan.moves and not self.plan.program.moves
        begins = self._last is not None and self._last.watermark is None and watermark is not None
        return asks and begins

    def _restarts(self, program: Program, spans: Mapping[str, SnapshotRange]) -> bool:
        """Return whether a change ends all rows before it, as TRUNCATE does."""
        when = program.restart_when
        if not when or self._last is None:
            return False
        changes = (register_change(self._session, self._inputs[n], s) for n, s in spans.items())
        return any(not rows.where(when).isEmpty() for rows in changes)

    def _measured(
        self, spans: Mapping[str, SnapshotRange], pins: Mapping[str, int], held: int | None
    ) -> dict[str, int]:
        """Where the whole view could be computed: how much changed, and whether it will be."""
        # a log of changes is soon larger than its table
        grows = self._only_appends or self.plan.view.changes
        if grows or self._last is None or self.plan.program.recomputes:
            return {}
        rows = sum(item.rows(pins[name]) for name, item in self._inputs.items())
        new = [(self._inputs[name], span) for name, span in spans.items()]
        if self._limits.by_rows(rows, held):
            return {CHANGED: sum(item.rows_added(span) for item, span in new), RECOMPUTED: 1}
        changed = sum(item.rows_to_read(span) for item, span in new)
        recomputed = self._limits.by_change(changed, rows)
        return {CHANGED: changed, **({RECOMPUTED: 1} if recomputed else {})}

    @contextmanager
    def _registered(
        self,
        reads: Collection[Reads],
        spans: Mapping[str, SnapshotRange],
        pins: Mapping[str, int],
        clock: Clock,
    ) -> Iterator[None]:
        """Register only the tables that a program reads: each costs a request to the catalog."""
        session, inputs = self._session, self._inputs
        if Reads.PINNED in reads:
            register_pinned(inputs, pins, clock)
        if Reads.STATES in reads:
            with register_states(session, inputs, spans, pins, clock):
                yield
            return
        if Reads.CHANGE in reads:
            register_changes(session, inputs, spans, pins)
        yield

    @property
    def _only_appends(self) -> bool:
        """Whether readers of the view take what its commits append, and nothing else."""
        return self.plan.mode is ChangelogMode.APPEND

    def _is_empty(self, spans: Mapping[str, SnapshotRange]) -> bool:
        if self._last is None or self.plan.program.recomputes:
            return False
        return not any(self._inputs[name].rows_added(span) for name, span in spans.items())


def activate(session: SparkSession) -> None:
    """Make a session the active one of the calling thread."""
    java = session._jvm.org.apache.spark.sql.classic  # type: ignore[union-attr]  # noqa: SLF001
    java.SparkSession.setActiveSession(session._jsparkSession)  # noqa: SLF001
