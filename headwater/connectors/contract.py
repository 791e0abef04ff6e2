"""The contract of a connector: where rows come from, cut into ranges that can be read again.

In: a source's definition and options. Out: ranges of input and, per range, decoded rows.
A connector never writes and never commits; ``headwater.intake.land`` does, and remembers in the
table's commit marker which position was reached.

Guarantee: reading one range again gives the same rows with the same coordinates, on any number of
cores. Together with the marker that makes landing exactly-once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from pyspark.sql import DataFrame, SparkSession

from headwater.connectors.files.ledger import LedgerEntry
from headwater.formats.columns import Decoder

if TYPE_CHECKING:
    from headwater.config.settings import WarehouseSection


class IntakeConfig(Protocol):
    """What the intake needs to know of a project (``headwater.config.settings.Config`` has it)."""

    @property
    def directory(self) -> Path:
        """The project's folder; relative paths of options start there."""

    @property
    def bucket(self) -> WarehouseSection | None:
        """Where in an object store the tables are, None if they are in a folder."""

    @property
    def max_files_per_epoch(self) -> int:
        """Most files of one epoch, where the source does not say."""

    @property
    def max_bytes_per_epoch(self) -> int:
        """Most bytes of one epoch, where the source does not say."""

    @property
    def max_future(self) -> timedelta:
        """How far event times may be ahead of arrival, where the source does not say."""


class StreamConfig(IntakeConfig, Protocol):
    """What a stream needs to know of a project (``headwater.config.settings.Config`` has it)."""

    @property
    def state(self) -> Path:
        """Folder of checkpoints and the like."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds of one epoch; None means the source's own or the project's.

    Attributes:
        rows: most rows (``datagen``, ``kafka``, ``redis``).
        files: most files (``files``).
        bytes: most bytes (``files``); one file is always taken.
    """

    rows: int | None = None
    files: int | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Range:
    """The input of one epoch.

    Attributes:
        position: position after it, JSON text, at most a few hundred characters.
        units: how many files or rows it has; none where it only moves the position.
        files: the files, for connectors with a ledger.
        rows: first and last row number plus one, for connectors that number rows.
        offsets: topic, partition, first offset and last one plus one, for ``kafka``.
        spans: id before the first entry, id of the last one and how many they are, for ``redis``.
        lost: rows that were there to be read once, and are gone.
    """

    position: str
    units: int
    files: tuple[LedgerEntry, ...] = ()
    rows: tuple[int, int] = (0, 0)
    offsets: tuple[tuple[str, int, int, int], ...] = ()
    spans: tuple[tuple[str, str, int], ...] = ()
    lost: int = 0


@dataclass(frozen=True, slots=True)
class Rows:
    """The decoded rows of one range; nothing has been read yet.

    Attributes:
        all: the columns of the definition in their order, the coordinates, ``_bad`` (whether it
            is to be refused), ``_unknown`` and ``_values``.
        rejected: gives the bad rows only, as the quarantine keeps them: ``_arrived_at``,
            ``reason``, ``raw`` and the coordinates. A function, since most epochs never ask.
        unknown: gives ``_unknown`` and the coordinates of the rows that have unknown fields.
        values_in: how many values the records have, at most; ``_unknown`` of :attr:`all` counts
            where that is None, otherwise the sum of its ``_values`` is to be compared with it
            (``headwater.formats.unknown_fields``).
    """

    all: DataFrame
    rejected: Callable[[], DataFrame]
    unknown: Callable[[], DataFrame]
    values_in: int | None = None


def rows_of(spark: SparkSession, decoder: Decoder) -> Rows:
    """Return the rows of one decoding.

    Args:
        spark: the session that has its relation.
        decoder: the decoding.
    """
    return Rows(
        spark.sql(decoder.rows()),
        lambda: spark.sql(decoder.rejected()),
        lambda: spark.sql(decoder.unknown()),
    )


class Connector(ABC):
    """One kind of input, opened for one source.

    Called by :class:`headwater.intake.land.Landing` in one thread: :meth:`open` and :meth:`restore`
    once, then per epoch :meth:`next_range` (or, after a crash, :meth:`planned` or :meth:`between`),
    :meth:`read`, on failure :meth:`without_unreadable`, then :meth:`check_unchanged`, and
    :meth:`done` after the commit. Who runs the landing calls :meth:`close` when it pauses or ends.

    Attributes:
        coordinates: name and Spark type of the columns that say where a row comes from; unique per
            row.
        unit: what :attr:`Range.units` and :meth:`backlog` count.
        has_ledger: whether the position alone does not say what was read, so that each epoch's
            files are kept in the table ``<name>__files``.
        has_records: whether its rows are decoded from bytes, which can be decoded again.
        expected: fields that the definition does not name and earlier records had.
    """

    coordinates: ClassVar[tuple[tuple[str, str], ...]]
    unit: ClassVar[str]
    has_ledger: ClassVar[bool] = False
    has_records: ClassVar[bool] = True
    expected: tuple[str, ...] = ()

    def open(self, spark: SparkSession) -> None:  # noqa: B027
        """Take over a session through which servers can be asked.

        Args:
            spark: a session of the caller's own.
        """

    def close(self) -> None:  # noqa: B027
        """Let go of servers; whatever is asked afterwards connects anew."""

    def restore(self, entries: Sequence[LedgerEntry]) -> None:  # noqa: B027
        """Take over what earlier epochs have read; only called with a ledger.

        Args:
            entries: every file of every committed epoch.
        """

    @abstractmethod
    def next_range(self, after: str | None, limits: Limits) -> Range | None:
        """Return the input that comes next, or None if there is none at the moment.

        Cheap enough to be called several times a second. Calling it twice without :meth:`done` may
        return more the second time, never less.

        Args:
            after: position of the last commit, None at the beginning.
            limits: bounds that win over those of source and project.
        """

    def planned(self, after: str | None, entries: Sequence[LedgerEntry]) -> Range:
        """Return the range of an epoch that was begun, from its ledger; only called with a ledger.

        Args:
            after: position before it.
            entries: its files.

        Raises:
            ServiceError: ``FILE_GONE`` or ``FILE_CHANGED`` if it cannot be read again.
        """
        raise NotImplementedError

    def between(self, after: str | None, position: str) -> Range:
        """Return the range of an epoch that was begun; only called without a ledger.

        Args:
            after: position before it.
            position: position after it.
        """
        raise NotImplementedError

    @abstractmethod
    def read(self, spark: SparkSession, taken: Range, arrived_at: int) -> Rows:
        """Return the rows of a range; the same rows at every call.

        Args:
            spark: a session of the caller's own; temporary views and file settings of it are
                changed.
            taken: what to read.
            arrived_at: arrival of the range, microseconds since 1970 UTC.
        """

    def without_unreadable(self, spark: SparkSession, taken: Range, error: Exception) -> Range:
        """Return the range with its unreadable files marked by ``LedgerEntry.fault``.

        Called when reading a range failed.

        Args:
            spark: as in :meth:`read`.
            taken: what was read.
            error: what Spark said.

        Raises:
            Exception: ``error`` itself, if no file is to blame.
        """
        raise error

    def check_unchanged(self, taken: Range) -> None:  # noqa: B027
        """Make sure that what was read of a range is what it still is.

        Args:
            taken: the range.

        Raises:
            ServiceError: ``FILE_CHANGED``.
        """

    def again(self, spark: SparkSession, kept: DataFrame, arrived_at: int) -> Rows:
        """Return rows of the quarantine decoded anew, by the definition as it is now.

        Args:
            spark: as in :meth:`read`.
            kept: rows of the quarantine that have bytes and coordinates; those that cannot be
                decoded without their file are left out if it is gone or was changed.
            arrived_at: arrival of the rows, microseconds since 1970 UTC.
        """
        raise NotImplementedError

    def found(self, files: Sequence[str]) -> list[LedgerEntry]:
        """Return those of some files that are there, as they are now; only with a ledger.

        Args:
            files: their paths as in the coordinates.
        """
        raise NotImplementedError

    def read_before(self, taken: Range) -> list[str]:
        """Return the files of a range that an earlier epoch has read.

        Args:
            taken: the range.
        """
        return []

    def done(self, taken: Range) -> None:  # noqa: B027
        """Note that a range was committed.

        Args:
            taken: the range.
        """

    def waiting(self, after: str | None) -> Mapping[str, int]:
        """Return how many records are waiting behind a position, by part of the input.

        Asks nobody: it tells what the last look found. Empty for inputs without parts.

        Args:
            after: position of the last commit.
        """
        return {}

    @abstractmethod
    def backlog(self, after: str | None) -> int:
        """Return how many units are waiting behind a position.

        Args:
            after: position of the last commit.
        """
