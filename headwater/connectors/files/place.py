"""Where the files of a source are: in a folder (``folder.py``) or an object store (``bucket.py``).

In: names of files, relative to the place. Out: what is there, what it holds, and how Spark reads
it. Names are taken literally everywhere: a ``[`` or ``*`` is no pattern, ``%20`` is three
characters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TypeVar

from pyspark.sql import DataFrame, SparkSession

from headwater.connectors.files.compression import unpacked
from headwater.connectors.files.known_files import known_files, shown_address
from headwater.connectors.ledger import LedgerEntry

Result = TypeVar("Result")


class FileFault(Exception):
    """A file cannot be read; the text is the reason."""


def is_hidden(name: str) -> bool:
    """Return whether a name is of a file or folder that is never read.

    Args:
        name: last part of the path.
    """
    return name.startswith((".", "_")) or name.endswith((".tmp", ".crc"))


class Place(ABC):
    """Where the files of a source are.

    Attributes:
        whole: how files are written so that no half of one is ever read, for hints.
    """

    whole: str

    def open(self, spark: SparkSession) -> None:  # noqa: B027
        """Tell a session how files are reached.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """

    @abstractmethod
    def listed(self) -> Iterator[LedgerEntry]:
        """Yield the files to read, in any order.

        Raises:
            ServiceError: the place cannot be read.
        """

    def pause(self, took: float) -> float:
        """Return for how many seconds a listing is cached.

        Args:
            took: how many seconds the listing took.
        """
        return 0.0

    def as_now(self, entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
        """Return listed files as they are now that they are taken, without those that are gone."""
        return [entry for entry in self.each(self.now, entries) if entry]

    @abstractmethod
    def status(self, file: str) -> LedgerEntry | None:
        """Return a file as it is now, None if it is gone.

        Raises:
            ServiceError: the place cannot be read.
        """

    def now(self, entry: LedgerEntry) -> LedgerEntry | None:
        """Return a file of an epoch as it is now; see :meth:`status`."""
        return self.status(entry.file)

    def gone(self, entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
        """Return the files that are gone, before Spark reads them."""
        return [entry for entry in entries if self.now(entry) is None]

    def each(
        self, ask: Callable[[LedgerEntry], Result], entries: Sequence[LedgerEntry]
    ) -> list[Result]:
        """Return what a question about each of some files gives, in their order.

        Args:
            ask: the question, which may be asked by several threads.
        """
        return [ask(entry) for entry in entries]

    @abstractmethod
    def content(self, file: str) -> IO[bytes]:
        """Open a file for reading anywhere in it.

        Raises:
            OSError: it cannot be opened.
            ServiceError: the place cannot be read, now or while the file is.
        """

    @contextmanager
    def text(self, file: str) -> Iterator[IO[bytes]]:
        """Open a file for reading it from its beginning, decompressed.

        Raises:
            OSError, ServiceError: as :meth:`content`.
        """
        with self.content(file) as content:
            yield unpacked(content, file)

    def check_reached(self, error: Exception) -> None:  # noqa: B027
        """Make sure that Spark failed because of a file, not because its place was out of reach.

        Raises:
            ServiceError: the place is to blame.
        """

    @abstractmethod
    def check_readable(self, entry: LedgerEntry) -> None:
        """Make sure that a file can be read, whatever is in it.

        Raises:
            FileFault: Headwater may not read it.
            ServiceError: it cannot be read now.
        """

    @property
    @abstractmethod
    def address(self) -> str:
        """Hadoop's address of the place, without a slash at the end."""

    def prefix(self, spark: SparkSession) -> str:
        """Return what stands before a file's name in Spark's column ``_metadata.file_path``."""
        return f"{shown_address(spark, self.address)}/"

    def frame(
        self,
        spark: SparkSession,
        form: str,
        schema: str,
        options: Mapping[str, str],
        files: Sequence[LedgerEntry],
    ) -> DataFrame:
        """Return the rows of some files, as one of Spark's file formats reads them.

        Args:
            spark: a session that was given to :meth:`open`.
            form: ``text``, ``json`` or ``parquet``.
            schema: the columns, as DDL.
            options: of Spark's reader.
        """
        return known_files(spark, self.address, files, form, schema, options)
