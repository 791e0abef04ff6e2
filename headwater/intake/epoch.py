"""One epoch of a landing: its good rows staged, its bad rows counted and kept, its ledger written.

In: a range of the input. Out: rows that are staged; side tables. The steps *c* to *e* of
``headwater.intake.land``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

from headwater.analyze.definitions import OnError, OnSchemaChange, Source
from headwater.connectors import ledger
from headwater.connectors.contract import Connector, ExplainsFailures, HasLedger, Range, Rows
from headwater.errors import ServiceError, TerminalError
from headwater.intake.quarantine import counts, without_files
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Target
from headwater.lake.protocol.unknown_field_counts import in_words, with_fields


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one epoch did.

    Attributes:
        epoch: its number.
        units: files or rows of input (``Connector.unit``).
        rows_in: rows read, bad ones included.
        rows_out: rows landed.
        quarantined: rows kept in the quarantine; a whole unreadable file is one.
        dropped: bad rows let go (ON ERROR DROP).
        lost: records that were deleted before they were read.
        watermark: stamp of the rows, microseconds since 1970 UTC.
        snapshot_id: the snapshot of the table that it made.
    """

    epoch: int
    units: int
    rows_in: int
    rows_out: int
    quarantined: int
    dropped: int
    lost: int
    watermark: int | None
    snapshot_id: int


@dataclass(frozen=True, slots=True)
class Written:
    """What a pass over the rows of an epoch found.

    Attributes:
        seen: rows read.
        bad: how many of them are bad.
        unknown: how many records have a field that the definition does not name, by field.
        lateness: how many good rows are how late, by bucket, if that is asked for.
    """

    seen: int = 0
    bad: int = 0
    unknown: Mapping[str, int] = field(default_factory=dict)
    lateness: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LandingEpoch:
    """One epoch that is to be landed.

    Attributes:
        number: its number.
        taken: its part of the input.
        arrived_at: its ``_arrived_at``, microseconds since 1970 UTC.
        planned: whether the ledger holds it already.
        kept: how many bad rows of it are in the quarantine, if it was begun without a ledger.
    """

    number: int
    taken: Range[Any]
    arrived_at: int
    planned: bool
    kept: int | None = None


class EpochLanding(Protocol):
    """What an epoch needs of its table's landing (:mod:`headwater.intake.land` has it)."""

    spark: SparkSession
    source: Source
    connector: Connector[Any]
    table: LakeTable

    def append(self, rows: Rows, target: Target, marker: Marker, arrived_at: int) -> Written:
        """Write the good rows."""

    def quarantine(self) -> LakeTable:
        """Return the quarantine table, created when it is first needed."""

    def write_side(
        self,
        table: LakeTable,
        marker: Marker,
        rows: DataFrame | None,
        *,
        instead_of: DataFrame | None = None,
    ) -> None:
        """Commit a side table of the epoch."""

    def write_ledger(self, marker: Marker, plan: ledger.Planned) -> None:
        """Commit the ledger of the epoch."""


class EpochWrite:
    """Steps c to e of one epoch; the commit protocol calls it again if maintenance interferes.

    Args:
        marker: its marker, without counts.
    """

    def __init__(self, landing: EpochLanding, epoch: LandingEpoch, marker: Marker) -> None:
        self._landing = landing
        self._epoch = epoch
        self.marker = marker
        self.taken = epoch.taken
        self._found = Written()

    def __call__(self, target: Target) -> None:
        """Stage the good rows, and commit ledger and quarantine of the epoch.

        Raises:
            TerminalError: ``BAD_ROW`` with ON ERROR FAIL, ``UNKNOWN_FIELD`` with ON SCHEMA CHANGE
                FAIL.
            ServiceError: ``FILE_CHANGED``, ``EPOCH_NOT_STABLE``.
        """
        if not self.taken.units:  # it only moves the position
            return
        rows = self._staged(target)
        connector = self._landing.connector
        files = connector if isinstance(connector, HasLedger) else None
        if files:
            files.check_unchanged(self.taken)
        source, found = self._landing.source, self._found
        if found.bad and source.on_error == OnError.FAIL:
            raise self._first_bad(rows)
        if source.on_error == OnError.QUARANTINE and self._epoch.kept not in (None, found.bad):
            raise self._judged_otherwise()
        if found.unknown and source.on_schema_change == OnSchemaChange.FAIL:
            raise self._first_unknown(rows)
        marker = replace(self.marker, counts=self._counts())
        if files and not self._epoch.planned:
            entries = files.entries(self.taken)
            plan = ledger.Planned(self._epoch.number, self._epoch.arrived_at, entries)
            self._landing.write_ledger(marker, plan)
        again = files.read_before(self.taken) if files else []
        if found.bad or found.unknown or again:
            self._write_quarantine(rows, marker, again, keep=source.on_error == OnError.QUARANTINE)

    @property
    def lateness(self) -> Mapping[int, float]:
        """How many of its rows are how late, by bucket."""
        return self._found.lateness

    def result(self) -> StepResult:
        """Return what the epoch did."""
        found = self._counts()
        return StepResult(
            self._epoch.number,
            self.taken.units,
            found["in"],
            found["out"],
            found["quarantined"],
            found["dropped"],
            self.taken.lost,
            self.marker.watermark,
            self._landing.table.snapshot_id(),
        )

    def _staged(self, target: Target) -> Rows:
        """Write the good rows, without unreadable files, and count the bad ones."""
        landing = self._landing
        while True:
            try:
                arrived_at = self._epoch.arrived_at
                rows = landing.connector.read(landing.spark, self.taken, arrived_at)
                self._found = landing.append(rows, target, self.marker, arrived_at)
            except (Py4JError, PySparkException) as error:
                connector = landing.connector
                if not isinstance(connector, ExplainsFailures):
                    raise
                self.taken = connector.without_unreadable(landing.spark, self.taken, error)
                continue
            return rows

    def _counts(self) -> dict[str, int]:
        seen, bad = self._found.seen, self._found.bad
        kept = bad if self._landing.source.on_error == OnError.QUARANTINE else 0
        return {"in": seen, "out": seen - bad, "quarantined": kept, "dropped": bad - kept}

    def _write_quarantine(
        self, rows: Rows, marker: Marker, again: Sequence[str], *, keep: bool
    ) -> None:
        landing = self._landing
        table = landing.quarantine()
        table.refresh()
        kept, gone = without_files(table, again) if again else (None, 0)
        before = counts(table, landing.source.name)
        found = self._found
        totals = {
            **with_fields(before, found.unknown),
            "quarantined": before["quarantined"] - gone + (found.bad if keep else 0),
            "dropped": before["dropped"] + (0 if keep else found.bad),
        }
        bad = rows.rejected() if keep and found.bad else None
        landing.write_side(table, replace(marker, counts=totals), bad, instead_of=kept)

    def _judged_otherwise(self) -> ServiceError:
        """Rows would be in neither table, or in both."""
        landing = self._landing
        return ServiceError(
            "EPOCH_NOT_STABLE",
            f'epoch {self._epoch.number} of table "{landing.source.name}" began with '
            f"{self._epoch.kept} bad rows, but now has {self._found.bad}; nothing was changed",
            hint="undo the last change of the definition or of a schema in the registry and start"
            " again, or read the input into a table of another name",
            span=landing.source.span,
        )

    def _first_bad(self, rows: Rows) -> TerminalError:
        source, found = self._landing.source, self._found
        first, where = self._first(rows.rejected())
        return TerminalError(
            "BAD_ROW",
            f'table "{source.name}": {found.bad} of {found.seen} rows of epoch '
            f"{self._epoch.number} are bad, the first ({where}): {first.reason}",
            hint="correct the input and start again, or write ON ERROR QUARANTINE",
            span=source.span,
        )

    def _first_unknown(self, rows: Rows) -> TerminalError:
        source, number = self._landing.source, self._epoch.number
        first, where = self._first(rows.unknown())
        return TerminalError(
            "UNKNOWN_FIELD",
            f'table "{source.name}" does not declare {in_words(self._found.unknown)} of epoch '
            f"{number}, the first record with one of them: {where}",
            hint="write ON SCHEMA CHANGE IGNORE to skip them, or EVOLVE and add them as columns",
            span=source.span,
        )

    def _first(self, rows: DataFrame) -> tuple[Row, str]:
        """The first of some rows, and where it is."""
        coordinates = [column for column, _ in self._landing.connector.coordinates]
        first = rows.orderBy(*coordinates).first()
        assert first is not None
        there = [column for column in coordinates if first[column] is not None]
        return first, ", ".join(f"{column[1:]} {first[column]}" for column in there)
