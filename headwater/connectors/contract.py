"""The contract of a connector: where rows come from, cut into ranges that can be read again.

In: a source's definition and options. Out: ranges of input and, per range, decoded rows.
A connector never writes and never commits; ``headwater.intake.land`` does, and remembers in the
table's commit marker which position was reached.

Every connector is a :class:`Connector`, and either :class:`HasPositions` or :class:`HasLedger`:
one of the two tells after a crash what the epoch that was begun had read. The other protocols are
for connectors that can do more; Headwater asks with ``isinstance``.

Guarantee: reading one range again gives the same rows with the same coordinates, on any number of
cores. Together with the marker that makes landing exactly-once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

from pyspark.sql import DataFrame, SparkSession

from headwater.analyze.definitions import Source
from headwater.connectors.ledger import LedgerEntry
from headwater.formats.columns import BROKEN, VALUE, Decoder, Encoded, stored
from headwater.plan.sql.spark_text import name

if TYPE_CHECKING:
    from headwater.config.settings import RunSection, WarehouseSection


class IntakeConfig(Protocol):
    """What the intake needs to know of a project (``headwater.config.settings.Config`` has it)."""

    @property
    def directory(self) -> Path:
        """The project's folder; relative paths of options start there."""

    @property
    def bucket(self) -> WarehouseSection | None:
        """Where in an object store the tables are, None if they are in a folder."""

    @property
    def run(self) -> RunSection:
        """How much at once, if the source does not say."""


class StreamConfig(IntakeConfig, Protocol):
    """What a stream needs to know of a project (``headwater.config.settings.Config`` has it)."""

    @property
    def state(self) -> Path:
        """Folder of checkpoints and the like."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds of one epoch; None means the source's own or the project's.

    Attributes:
        rows: most rows, for connectors that count rows.
        files: most files, for connectors that count files.
        bytes: most bytes, for connectors that count files; one file is always taken.
    """

    rows: int | None = None
    files: int | None = None
    bytes: int | None = None


UNREAD = "(unread)"
"""In :attr:`Range.waiting`: parts of the input that no row was read of. They hold the watermark."""

Body = TypeVar("Body")
"""What a connector itself knows of a range: files, row numbers, offsets, …"""


@dataclass(frozen=True, slots=True)
class Range(Generic[Body]):
    """The input of one epoch.

    Attributes:
        position: position after it, JSON text, at most a few hundred characters.
        units: how many files or rows it has; none where it only moves the position.
        body: what to read, in the connector's own words.
        lost: rows that were there to be read once, and are gone.
        waiting: the lanes that hold the watermark back: rows wait in them behind the range, or
            were there within the IDLE TIMEOUT. None if the input is one lane, in order as a whole.
            Each is a value of ``_path``, or :data:`UNREAD`.
    """

    position: str
    units: int
    body: Body
    lost: int = 0
    waiting: tuple[str, ...] = ()


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


def encoded_columns(source: Source, relation: str, coordinates: Sequence[str]) -> Encoded:
    """Return rows that have the definition's columns already, with their types.

    Args:
        source: the definition.
        relation: what to read: a view's name, or a SELECT in brackets.
        coordinates: those of its columns that say where a row comes from.
    """
    names = ", ".join(name(column.name) for column in stored(source))
    places = ", ".join(coordinates)
    return Encoded(
        f"SELECT {names}, to_json(struct({names})) AS {VALUE}, {places}, false AS {BROKEN}\n"
        f"FROM {relation}",
        tuple(coordinates),
    )


class Connector(ABC, Generic[Body]):
    """One kind of input, opened for one source.

    Called by :class:`headwater.intake.land.Landing` in one thread: :meth:`open` once, then per
    epoch :meth:`next_range`, :meth:`read`, and :meth:`done` after the commit. Who runs the landing
    calls :meth:`close` when it pauses or ends.

    Attributes:
        coordinates: name and Spark type of the columns that say where a row comes from; unique per
            row.
        unit: what :attr:`Range.units` and :meth:`backlog` count.
        has_lanes: whether ``_path`` names a part of the input within which order is true, and a
            range with :attr:`Range.waiting` is read in tasks of one part each.
        expected: fields that the definition does not name and earlier records had.
    """

    coordinates: ClassVar[tuple[tuple[str, str], ...]]
    unit: ClassVar[str]
    has_lanes: ClassVar[bool] = False
    expected: tuple[str, ...] = ()

    @abstractmethod
    def __init__(self, source: Source, config: IntakeConfig, *, once: bool = False) -> None:
        """Open it.

        Args:
            source: the definition.
            config: the project's settings.
            once: take only what the first listing finds.
        """

    def open(self, spark: SparkSession) -> None:  # noqa: B027
        """Take over a session of the caller's own, through which servers can be asked."""

    def close(self) -> None:  # noqa: B027
        """Let go of servers; whatever is asked afterwards connects anew."""

    @abstractmethod
    def next_range(self, after: str | None, limits: Limits) -> Range[Body] | None:
        """Return the input that comes next, or None if there is none at the moment.

        Cheap enough to be called several times a second. Calling it twice without :meth:`done` may
        return more the second time, never less.

        Args:
            after: position of the last commit, None at the beginning.
            limits: bounds that win over those of source and project.
        """

    @abstractmethod
    def read(self, spark: SparkSession, taken: Range[Body], arrived_at: int) -> Rows:
        """Return the rows of a range; the same rows at every call.

        Args:
            spark: a session of the caller's own; temporary views and file settings of it are
                changed.
            taken: what to read.
            arrived_at: arrival of the range, microseconds since 1970 UTC.
        """

    def done(self, taken: Range[Body]) -> None:  # noqa: B027
        """Note that a range was committed."""

    @abstractmethod
    def backlog(self, after: str | None) -> int:
        """Return how many units are waiting behind the position of the last commit."""


@runtime_checkable
class HasPositions(Protocol):
    """A connector whose positions alone say what was read between two of them."""

    def range_between(self, after: str | None, position: str) -> Range[Any]:
        """Return the range of an epoch that was begun.

        Args:
            after: position before it.
            position: position after it.
        """


@runtime_checkable
class HasLedger(Protocol):
    """A connector whose input has no order of its own: each epoch's files are kept in a table.

    The table is ``<name>__files`` (:mod:`headwater.connectors.ledger`). :meth:`restore` is called
    once, :meth:`planned` after a crash, :meth:`check_unchanged` after a range was read.
    """

    def restore(self, entries: Sequence[LedgerEntry]) -> None:
        """Take over every file of every committed epoch."""

    def planned(self, after: str | None, entries: Sequence[LedgerEntry]) -> Range[Any]:
        """Return the range of an epoch that was begun, from its files.

        Raises:
            ServiceError: ``FILE_GONE`` or ``FILE_CHANGED`` if it cannot be read again.
        """

    def entries(self, taken: Range[Any]) -> tuple[LedgerEntry, ...]:
        """Return the files of a range, as the ledger keeps them."""

    def check_unchanged(self, taken: Range[Any]) -> None:
        """Make sure that what was read of a range is what it still is.

        Raises:
            ServiceError: ``FILE_CHANGED``.
        """

    def read_before(self, taken: Range[Any]) -> list[str]:
        """Return the files of a range that an earlier epoch has read."""

    def stat_files(self, files: Sequence[str]) -> list[LedgerEntry]:
        """Return those of some files that are there, as they are now.

        Args:
            files: their paths as in the coordinates.
        """


@runtime_checkable
class NoticesChanges(Protocol):
    """A connector that notices when something changes that it has read."""

    @property
    def changed(self) -> int:
        """How many files were changed after they had been read; the changes are not read."""


@runtime_checkable
class Redecodable(Protocol):
    """A connector whose rows are decoded from bytes, which can be decoded again."""

    def decode_quarantined(self, spark: SparkSession, kept: DataFrame, arrived_at: int) -> Rows:
        """Return rows of the quarantine decoded anew, by the definition as it is now.

        Args:
            spark: as in :meth:`Connector.read`.
            kept: rows of the quarantine that have bytes and coordinates; those that cannot be
                decoded without their file are left out if it is gone or was changed.
            arrived_at: arrival of the rows, microseconds since 1970 UTC.
        """


@runtime_checkable
class ExplainsFailures(Protocol):
    """A connector that knows what Spark's error means when reading a range failed."""

    def without_unreadable(
        self, spark: SparkSession, taken: Range[Any], error: Exception
    ) -> Range[Any]:
        """Return the range with its unreadable files marked by ``LedgerEntry.fault``.

        Args:
            spark: as in :meth:`Connector.read`.
            taken: what was read.
            error: what Spark said.

        Raises:
            Exception: ``error`` itself, or what it means, if no file is to blame.
        """


@runtime_checkable
class Measurable(Protocol):
    """A connector whose input has parts, such as the partitions of a topic."""

    def waiting(self, after: str | None) -> Mapping[str, int]:
        """Return by part how many records are waiting behind a position.

        Asks nobody: it tells what the last look found.
        """


@runtime_checkable
class HasIdleLanes(Protocol):
    """A connector whose lanes hold the watermark back until they are idle (IDLE TIMEOUT)."""

    def holding(self, after: str | None) -> tuple[str, ...]:
        """Return the lanes that hold the watermark back although no rows wait.

        Args:
            after: position of the last commit.
        """

    def resume(self, after: str | None, awake: Collection[str], age: float) -> None:
        """Take over which lanes were idle when the last commit was made.

        Args:
            after: its position.
            awake: the lanes that were not.
            age: how many seconds ago it was made.
        """


@runtime_checkable
class Streamable(Protocol):
    """A connector that a SOURCE can read as a stream: ``headwater.connectors.source_stream``."""

    @staticmethod
    def stream(
        spark: SparkSession, source: Source, config: StreamConfig, view: str, *, flat: bool
    ) -> Encoded:
        """Return what a stream reads, encoded.

        Args:
            spark: the session of the query; file settings of it are changed.
            source: the definition.
            config: the project's settings.
            view: name of the temporary view to make.
            flat: whether JSON may be read as flat lines.

        Raises:
            SqlError: ``NOT_YET`` for what a stream cannot do.
        """


class SameInput(Protocol):
    """Sees to it that what a stream reads stays what its offsets were recorded of."""

    def check(self) -> None:
        """Raise a ``HeadwaterError`` if it is another input; called before a batch is published."""

    def position(self, end: str) -> str:
        """Return how far a batch has read, as the cut of a marker has it.

        Args:
            end: the offset of Spark's source.
        """

    def close(self) -> None:
        """End the connection."""


@runtime_checkable
class StreamsByOffsets(Protocol):
    """A connector whose streams have offsets in a server, where names can be used again."""

    @staticmethod
    def same_input(
        spark: SparkSession, source: Source, directory: Path, position: str | None
    ) -> SameInput:
        """Return what checks the input of one stream.

        Args:
            spark: any session of the JVM.
            source: the definition.
            directory: the project's folder.
            position: how far the newest commit has read, None before it.
        """
