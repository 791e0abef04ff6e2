"""One epoch of a landing: its good rows staged, its bad rows counted and kept, its ledger written.

In: a range of the input. Out: rows in the staging branch; side tables. The steps *c* to *e* of
``headwater.intake.land``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from headwater.errors import ServiceError, TerminalError
from headwater.intake import ledger
from headwater.intake.connectors.base import Range, Rows
from headwater.intake.quarantine import counts, without_files
from headwater.lake.marker import Marker

if TYPE_CHECKING:
    from headwater.intake.land import Landing


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
        watermark: stamp of the rows, microseconds since 1970 UTC.
    """

    epoch: int
    units: int
    rows_in: int
    rows_out: int
    quarantined: int
    dropped: int
    watermark: int | None


@dataclass(frozen=True, slots=True)
class Epoch:
    """One epoch that is to be landed.

    Attributes:
        number: its number.
        taken: its part of the input.
        arrived_at: its ``_arrived_at``, microseconds since 1970 UTC.
        planned: whether the ledger holds it already.
        kept: how many bad rows of it are in the quarantine, if it was begun without a ledger.
    """

    number: int
    taken: Range
    arrived_at: int
    planned: bool
    kept: int | None = None


class EpochWrite:
    """Steps c to e of one epoch; the commit protocol calls it again if maintenance interferes.

    Args:
        landing: the landing of the table.
        epoch: what to land.
        stamp: watermark that its rows get, microseconds since 1970 UTC.
        marker: its marker, without counts.
    """

    def __init__(self, landing: Landing, epoch: Epoch, stamp: int | None, marker: Marker) -> None:
        self._landing = landing
        self._epoch = epoch
        self._stamp = stamp
        self.marker = marker
        self.taken = epoch.taken
        self._seen = self._bad = 0

    def __call__(self, target: str) -> None:
        """Stage the good rows, and commit ledger and quarantine of the epoch.

        Args:
            target: identifier to write to.

        Raises:
            TerminalError: ``BAD_ROW`` with ON ERROR FAIL.
            ServiceError: ``FILE_CHANGED``, ``EPOCH_NOT_STABLE``.
        """
        if not self.taken.units:  # it only moves the position
            return
        rows = self._staged(target)
        self._landing.connector.check_unchanged(self.taken)
        on_error = self._landing.source.on_error
        if self._bad and on_error == "fail":
            raise self._first_bad(rows)
        if on_error == "quarantine" and self._epoch.kept not in (None, self._bad):
            raise self._judged_otherwise()
        marker = replace(self.marker, counts=self._counts())
        if not self._epoch.planned:
            plan = ledger.Planned(self._epoch.number, self._epoch.arrived_at, self.taken.files)
            self._landing.write_ledger(marker, plan)
        again = self._landing.connector.read_before(self.taken)
        if self._bad or again:
            self._write_quarantine(rows, marker, again, keep=on_error == "quarantine")

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
            self._stamp,
        )

    def _staged(self, target: str) -> Rows:
        """Write the good rows, without unreadable files, and count the bad ones."""
        landing = self._landing
        while True:
            try:
                arrived_at = self._epoch.arrived_at
                rows = landing.connector.read(landing.spark, self.taken, arrived_at)
                self._seen, self._bad = landing.append(rows.all, target, self._stamp, arrived_at)
            except (Py4JError, PySparkException) as error:
                self.taken = landing.connector.without_unreadable(landing.spark, self.taken, error)
                continue
            return rows

    def _counts(self) -> dict[str, int]:
        kept = self._bad if self._landing.source.on_error == "quarantine" else 0
        return {
            "in": self._seen,
            "out": self._seen - self._bad,
            "quarantined": kept,
            "dropped": self._bad - kept,
        }

    def _write_quarantine(
        self, rows: Rows, marker: Marker, again: Sequence[str], *, keep: bool
    ) -> None:
        landing = self._landing
        table = landing.quarantine()
        table.refresh()
        kept, gone = without_files(table, again) if again else (None, 0)
        before = counts(table, landing.source.name)
        totals = {
            **before,
            "quarantined": before["quarantined"] - gone + (self._bad if keep else 0),
            "dropped": before["dropped"] + (0 if keep else self._bad),
        }
        bad = rows.rejected() if keep and self._bad else None
        landing.write_side(table, replace(marker, counts=totals), bad, instead_of=kept)

    def _judged_otherwise(self) -> ServiceError:
        """Rows would be in neither table, or in both."""
        landing = self._landing
        return ServiceError(
            "EPOCH_NOT_STABLE",
            f'epoch {self._epoch.number} of table "{landing.source.name}" was begun with '
            f"{self._epoch.kept} bad rows, and now it has {self._bad}; nothing was changed",
            hint="undo what was changed since (the definition, a schema in the registry) and start"
            " again, or read the input into a table of another name",
            span=landing.source.span,
        )

    def _first_bad(self, rows: Rows) -> TerminalError:
        landing = self._landing
        coordinates = [column for column, _ in landing.connector.coordinates]
        first = rows.rejected().orderBy(*coordinates).first()
        assert first is not None
        where = ", ".join(f"{column[1:]} {first[column]}" for column in coordinates)
        return TerminalError(
            "BAD_ROW",
            f'table "{landing.source.name}": {self._bad} of {self._seen} rows of epoch '
            f"{self._epoch.number} are bad, the first ({where}): {first.reason}",
            hint="correct the input and start again, or say ON ERROR QUARANTINE",
            span=landing.source.span,
        )
