"""Landing: the rows of a connector become a log table, exactly once, epoch by epoch.

In: a source whose rows are kept (``CREATE TABLE … WITH (connector = …)``). Out: commits of the
landed table, each with the marker that says how far the input was read.

One epoch (:meth:`Landing.step`), inside the commit protocol of ``headwater.lake.protocol.commit``:

a. the next range after the cut in the newest marker; if the ledger holds an epoch that the table
   lacks, that one
b. stamp: the watermark that follows from earlier epochs (``headwater.lake.watermark``); the marker
   also says which lanes of the input have rows waiting, and what each lane had reached
c. decode once: the good rows are written, and the same pass counts the bad ones
d. unreadable files are found and left out, each with a quarantine row; changed ones read anew
e. the ledger of the epoch is committed, then its quarantine (a second pass, only if there are bad
   rows)
f. the target is published

A crash before *e* leaves nothing behind: the epoch is planned anew. A crash after it leaves the
ledger, by which the same files are read again, or where there is none the quarantine, whose marker
says up to where the epoch reads; side tables that have the epoch are skipped. Only *f* makes rows
visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from headwater.analyze.definitions import ARRIVAL_COLUMN, WATERMARK_COLUMN, Source
from headwater.analyze.typing.types import spark_type
from headwater.connectors import ledger
from headwater.connectors.contract import (
    Connector,
    HasLedger,
    HasPositions,
    IntakeConfig,
    Limits,
    Measurable,
    NoticesChanges,
    Range,
    Rows,
)
from headwater.connectors.datagen import now_micros
from headwater.connectors.registry import open_connector
from headwater.formats.columns import BAD
from headwater.formats.envelopes import known
from headwater.formats.unknown_fields import expected, fields_of, observed_fields
from headwater.intake.epoch import EpochWrite, LandingEpoch, StepResult, Written
from headwater.intake.evolve import evolution, follow
from headwater.intake.idle import IdleWatch
from headwater.intake.landed_by import note_clauses, with_clause_before
from headwater.intake.lateness import LATE, LatenessLog, counted
from headwater.intake.quarantine import Begun, begun, counts, open_quarantine, settle
from headwater.lake.catalog import Lake
from headwater.lake.evolve import Evolved
from headwater.lake.iceberg.comments import SYSTEM_COMMENTS, set_comments
from headwater.lake.iceberg.file_bounds import ensure_exact
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.commit import Fence, SideWrite, commit, commit_side
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Target, Write
from headwater.lake.protocol.unknown_field_counts import fields_in
from headwater.lake.reserved_names import LANE, quarantine_of
from headwater.lake.spec import TableSpec
from headwater.lake.watermark import Reached, floor_to_ms, reached, watermark_type
from headwater.plan.sql.spark_text import moment, name

UNLIMITED = Limits()


def landed_spec(source: Source, connector: Connector[Any] | type[Connector[Any]]) -> TableSpec:
    """Return what a landed table looks like: the definition's columns, then the system's.

    No column is NOT NULL for Iceberg; the quarantine sees to that. Spark stores the nullability of
    a streaming state's keys, and heartbeats beside the data make it vary from batch to batch.
    """
    columns = [(c.name, spark_type(c.type), True) for c in source.columns]
    event_times: tuple[str, ...] = ()
    if source.watermark:
        event_times = (source.watermark.column, *([LANE] if connector.has_lanes else []))
        columns.append((WATERMARK_COLUMN, watermark_type(source), True))
    columns.append((ARRIVAL_COLUMN, "TIMESTAMP", False))
    columns += [(column, kind, True) for column, kind in connector.coordinates]
    return TableSpec(
        source.name,
        tuple(columns),
        comment=source.comment,
        event_times=event_times,
        column_comments={**SYSTEM_COMMENTS, **{c.name: c.comment for c in source.columns}},
    )


class Landing:
    """Lands one table. Not for several threads; one process at a time (the fence sees to it).

    After an error the next call reads the lake again, so that going on is always right.

    Args:
        spark: a session of this landing's own: its settings and temporary views are changed.
        lake: the lake, seen through ``spark``.
        once: the input ends with what is there when it is first looked at.
        version: version of the definition.
        fence: asked before each commit.
    """

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        source: Source,
        config: IntakeConfig,
        *,
        once: bool = False,
        version: int = 1,
        token: int = 0,
        fingerprint: str = "",
        fence: Fence | None = None,
    ) -> None:
        self.source = source
        self.connector = open_connector(source, config, once=once)
        self.connector.open(spark)
        self.spark = spark
        self._lake = lake
        self._identity = Marker(
            source.name, version, -1, {}, {}, token=token, fingerprint=fingerprint
        )
        self._fence = fence
        spec = landed_spec(source, self.connector)
        self.table = lake.ensure(spec, lambda table, _: follow(lake, source, table, spec, fence))
        ensure_exact(self.table.java, spec.event_times)
        self._counted = [
            F.count("*").alias("seen"),
            F.count_if(BAD).alias("bad"),
            observed_fields().alias("unknown"),
        ]
        self._lateness = LatenessLog(source, self.table)
        self.idle = IdleWatch(source, self.connector)
        self._reached: Reached | None = None
        self._quarantine: LakeTable | None = None
        has_ledger = isinstance(self.connector, HasLedger)
        self._ledger = ledger.open_ledger(lake, source.name) if has_ledger else None
        self._planned: ledger.Planned | None = None
        self._begun: Begun | None = None
        self._last = self._identity
        self._before = with_clause_before(source, self.table)
        self._load()
        if self._before is not None:
            self._carry_watermark_on()
        if self._evolved.changes:
            self._tell_evolved()
        set_comments(self.table, spec)
        note_clauses(source, self.table)

    def _carry_watermark_on(self) -> None:
        """Commit how far the watermark has come by the clause that the table had until now."""
        if self._last.epoch >= 0:
            self.finish_begun()
            self.commit(self.next_marker({}), lambda target: None)
        self._before = self._reached = None

    def _tell_evolved(self) -> None:
        """Commit what became of columns, with the epoch that was begun or with one of no rows.

        Before any view reads the columns: a snapshot has those of when it was written.
        """
        self.finish_begun()
        if self._evolved.changes:
            self.commit(self.next_marker({}), lambda target: None)

    def _load(self) -> None:
        """Read from the lake how far the input was read, and an epoch that was begun."""
        self.table.refresh()
        newest, self._reached = self.table.newest(), None
        self._last = newest.marker if newest else self._identity
        self.idle.resume(newest)
        self._evolved = evolution(self.source, self.table, self._last)
        if self._last.cut_to.get(quarantine_of(self.source.name)):
            self.settle_quarantine()
        if self._ledger and isinstance(self.connector, HasLedger):
            self._ledger.refresh()
            done, self._planned = ledger.read(self._ledger, self._last.epoch)
            self.connector.restore(done)
        elif self._lake.exists(quarantine_of(self.source.name)):
            self._begun = begun(self.quarantine(), self._last)
            self._expect(fields_in(counts(self.quarantine(), self.source.name)))
        self._uncertain = False

    def _expect(self, fields: Iterable[str]) -> None:
        """Have the next epoch read fields that records have and the definition does not name."""
        had, named = self.connector.expected, known(self.source)
        self.connector.expected = expected(had, fields, named)

    @property
    def position(self) -> str | None:
        """Position after the newest commit; None before the first."""
        return self._last.cut_to.get(self.source.name)

    @property
    def marker(self) -> Marker | None:
        """The newest marker; None before the first commit."""
        return self._last if self._last.epoch >= 0 else None

    def backlog(self) -> int:
        """Return how many units (files, rows) are waiting."""
        return self.connector.backlog(self.position)

    @property
    def changed(self) -> int:
        """How many files were changed after they had been read, as the last look found them."""
        return self.connector.changed if isinstance(self.connector, NoticesChanges) else 0

    def waiting(self) -> Mapping[str, int]:
        """Return the records that wait, by part of the input, as the last look found them."""
        connector = self.connector
        return connector.waiting(self.position) if isinstance(connector, Measurable) else {}

    @property
    def reached(self) -> Reached:
        """How far the table has come with its newest epoch."""
        if self._reached is None:
            self._reached = reached(self.table, self._before or self.source)
        return self._reached

    def step(self, limits: Limits = UNLIMITED) -> StepResult | None:
        """Land the next epoch.

        Args:
            limits: bounds that win over those of source and project.

        Returns:
            What was done, or None if there is nothing to do.

        Raises:
            TerminalError: ``BAD_ROW`` with ON ERROR FAIL; those of the commit protocol.
            ServiceError: input, catalog or warehouse failed; trying again may help.
        """
        if self._uncertain:
            self._load()
        epoch = self._next(limits)
        return self._land(epoch) if epoch else None

    def finish_begun(self) -> None:
        """Land the epoch that a crash left half done, if there is one."""
        if self._planned or self._begun:
            self.step()

    def read_again(self, entries: Sequence[ledger.LedgerEntry]) -> StepResult:
        """Land files anew that went to the quarantine whole; what of them is there goes.

        Args:
            entries: the files as they are now.

        Raises:
            HeadwaterError: what :meth:`step` raises.
        """
        assert isinstance(self.connector, HasLedger), "no other connector has files"
        taken = self.connector.planned(self.position, entries)
        return self._land(LandingEpoch(self._last.epoch + 1, taken, now_micros(), planned=False))

    def _land(self, epoch: LandingEpoch) -> StepResult:
        cut = {self.source.name: epoch.taken.position}
        counts = {"lost": epoch.taken.lost} if epoch.taken.lost else {}
        waiting = epoch.taken.waiting if self.source.watermark else ()
        marker = replace(self.next_marker(cut), counts=counts, waiting=waiting)
        write = EpochWrite(self, epoch, marker)
        self.commit(write.marker, write)
        self._lateness.note(marker.epoch, write.lateness)
        self.idle.saw_rows()
        self.connector.done(write.taken)
        self._planned = self._begun = None
        return write.result()

    def close(self, watermark: int) -> bool:
        """Commit an empty epoch that says the input has ended.

        Args:
            watermark: the watermark from now on, microseconds since 1970 UTC; rows that come later
                all the same are stamped with it. It never goes back.

        Returns:
            Whether a commit was needed.
        """
        if self._uncertain:
            self._load()
        last, marker = self._last, self.next_marker({})
        now = floor_to_ms(watermark) if marker.watermark is None else marker.watermark
        closed = max(floor_to_ms(watermark), now)
        if last.watermark is not None and last.watermark >= closed:
            return False
        self.commit(replace(marker, watermark=closed, closed=True), lambda target: None)
        return True

    def _next(self, limits: Limits) -> LandingEpoch | None:
        number = self._last.epoch + 1
        if self._planned and isinstance(self.connector, HasLedger):
            taken = self.connector.planned(self.position, self._planned.entries)
            return LandingEpoch(
                number, self._as_planned(taken), self._planned.arrived_at, planned=True
            )
        position = self._begun.cut.get(self.source.name) if self._begun else None
        if self._begun and position and isinstance(self.connector, HasPositions):
            taken, kept = self.connector.range_between(self.position, position), self._begun.kept
            arrived_at = self._begun.arrived_at or now_micros()
            return LandingEpoch(number, taken, arrived_at, planned=False, kept=kept)
        found = self.connector.next_range(self.position, limits)
        return LandingEpoch(number, found, now_micros(), planned=False) if found else None

    def _as_planned(self, taken: Range[Any]) -> Range[Any]:
        """A range as it was begun: what waits behind it is another thing now."""
        marker = self._planned.marker if self._planned else None
        if marker is None or self.source.name not in marker.cut_to:
            return taken
        return replace(taken, position=marker.cut_to[self.source.name], waiting=marker.waiting)

    def next_marker(self, cut: Mapping[str, str]) -> Marker:
        """Return the marker of the next epoch, with the watermark that its rows get.

        Args:
            cut: the positions that it moves.
        """
        return replace(
            self._identity,
            epoch=self._last.epoch + 1,
            cut_from=dict(self._last.cut_to),
            cut_to={**self._last.cut_to, **cut},
            watermark=self.reached.watermark,
            waiting=self._last.waiting,
            reached=self.reached.lanes,
            evolved=self._evolved.changes,
            since=self._evolved.since,
            **self._lateness.marker_fields(self._last, self.reached),
        )

    def commit(self, marker: Marker, write: Write) -> None:
        """Commit the next epoch of the table.

        Args:
            marker: from :meth:`next_marker`.
            write: writes its rows.
        """
        self._uncertain, self._reached = True, None
        commit(self.table, marker, write, session=self.spark, fence=self._fence)
        self._last, self._uncertain = marker, False
        self._evolved = Evolved(since=marker.since)
        self.table.refresh()

    # -- what an epoch needs

    def quarantine(self) -> LakeTable:
        """Return the quarantine table, created when it is first needed."""
        if self._quarantine is None:
            self._quarantine = open_quarantine(self._lake, self.source.name, self.connector)
        return self._quarantine

    def settle_quarantine(self, reasons: DataFrame | None = None) -> None:
        """Take out of the quarantine what the newest replay has landed, if that is still to do.

        Args:
            reasons: newer reasons of rows that stay, by coordinates.
        """
        settle(self.quarantine(), self.table, self._last, self.spark, reasons)

    def append(self, rows: Rows, target: Target, marker: Marker, arrived_at: int) -> Written:
        """Write the good rows.

        Args:
            target: where they go.
            marker: the epoch's marker, with the stamp of its rows.
            arrived_at: their arrival, microseconds since 1970 UTC.
        """
        observed = Observation()
        columns = self._columns(marker.watermark, arrived_at)
        late = self._lateness.aggregates(marker)
        every = rows.all.observe(observed, *self._counted, *late)
        target.append(every.where(f"NOT {BAD}").selectExpr(*columns))
        found = observed.get
        fields = fields_of(found["unknown"], rows.values_in, rows.unknown)
        self._expect(fields)
        return Written(found["seen"], found["bad"], fields, counted(found.get(LATE)))

    def _columns(self, stamp: int | None, arrived_at: int) -> list[str]:
        columns = [name(column.name) for column in self.source.columns]
        if self.source.watermark:
            kind = watermark_type(self.source)
            value = f"CAST(NULL AS {kind})" if stamp is None else moment(stamp, kind)
            columns.append(f"{value} AS {WATERMARK_COLUMN}")
        columns.append(f"{moment(arrived_at)} AS {ARRIVAL_COLUMN}")
        return columns + [name(column) for column, _ in self.connector.coordinates]

    def write_side(
        self,
        table: LakeTable,
        marker: Marker,
        rows: DataFrame | None,
        *,
        instead_of: DataFrame | None = None,
    ) -> None:
        """Commit a side table of an epoch.

        Args:
            table: the side table.
            marker: the epoch's marker, with counts.
            rows: its rows; None for a commit that only counts.
            instead_of: what is to stay of the rows before; None for all.
        """

        def write(target: Target) -> None:
            if instead_of is not None:
                target.replace(instead_of if rows is None else instead_of.unionByName(rows))
            elif rows is not None:
                target.append(rows)

        commit_side(SideWrite(table, write), marker, self.spark)

    def write_ledger(self, marker: Marker, plan: ledger.Planned) -> None:
        """Commit the ledger of an epoch.

        Args:
            marker: the epoch's marker, with counts.
        """
        if self._ledger:
            side = SideWrite(self._ledger, lambda target: ledger.append(self.spark, target, plan))
            commit_side(side, marker, self.spark)
