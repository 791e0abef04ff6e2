"""Where the files of a source are: a folder, or (``bucket.py``) a place in an object store.

In: names of files, relative to the place. Out: what is there, what it holds, and how Spark reads
it. Names are taken literally everywhere: a ``[`` or ``*`` is no pattern, ``%20`` is three
characters.
"""

from __future__ import annotations

import bz2
import gzip
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, TypeVar, cast

from pyspark.sql import DataFrame, SparkSession

from headwater.analyze.definitions import Source
from headwater.connectors.ledger import LedgerEntry
from headwater.errors import ServiceError
from headwater.formats.flat_json import LITERAL_PATHS
from headwater.lake.java import java_class

Result = TypeVar("Result")


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
        return list(entries)

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
            if file.endswith(".gz"):
                with gzip.open(content) as plain:
                    yield cast(IO[bytes], plain)
            elif file.endswith(".bz2"):
                with bz2.open(content) as plain:
                    yield cast(IO[bytes], plain)
            else:
                yield content

    def check_reached(self, error: Exception) -> None:  # noqa: B027
        """Make sure that Spark failed because of a file, not because its place was out of reach.

        Raises:
            ServiceError: the place is to blame.
        """

    @abstractmethod
    def check_readable(self, entry: LedgerEntry) -> None:
        """Make sure that a file can be read, whatever is in it.

        Raises:
            ServiceError: it cannot.
        """

    @abstractmethod
    def prefix(self, spark: SparkSession) -> str:
        """Return what stands before a file's name in Spark's column ``_metadata.file_path``."""

    @abstractmethod
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


class FolderPlace(Place):
    """A folder of this machine, or one that all machines of a cluster see."""

    whole = "write files under a hidden name, and rename them when they are whole"

    def __init__(self, source: Source, folder: Path) -> None:
        self.folder = folder
        self._source = source
        self._pattern = source.options.get("pattern", "*")
        self._recursive = source.options.get("recursive", "false").lower() == "true"

    def listed(self) -> Iterator[LedgerEntry]:
        """See :meth:`Place.listed`."""
        folders = [""]
        while folders:
            below = folders.pop()
            try:
                found = list(os.scandir(self.folder / below))
            except OSError as error:
                raise ServiceError(
                    "FOLDER_NOT_READABLE",
                    f'folder "{self.folder / below}" of "{self._source.name}" cannot be read: '
                    f"{error.strerror}",
                    hint="create it, or change the option path",
                    span=self._source.span,
                ) from error
            for item in found:
                if is_hidden(item.name):
                    continue
                path = f"{below}{item.name}"
                if item.is_dir():
                    if self._recursive:
                        folders.append(f"{path}/")
                elif fnmatchcase(item.name, self._pattern) and (entry := _entry(item, path)):
                    yield entry

    def status(self, file: str) -> LedgerEntry | None:
        """See :meth:`Place.status`."""
        try:
            now = (self.folder / file).stat()
        except FileNotFoundError:
            return None
        return LedgerEntry(file, now.st_size, now.st_mtime_ns // 1000)

    def content(self, file: str) -> IO[bytes]:
        """See :meth:`Place.content`."""
        return (self.folder / file).open("rb")

    def check_readable(self, entry: LedgerEntry) -> None:
        """See :meth:`Place.check_readable`."""
        try:
            with self.content(entry.file) as file:
                file.read(1)
        except OSError as error:
            raise ServiceError(
                "FILE_NOT_READABLE",
                f'file {entry.file} of "{self._source.name}" cannot be read: {error.strerror}',
                hint="check owner and permissions of the file, then start again",
            ) from error

    def prefix(self, spark: SparkSession) -> str:
        """See :meth:`Place.prefix`."""
        return folder_prefix(spark, self.folder)

    def frame(
        self,
        spark: SparkSession,
        form: str,
        schema: str,
        options: Mapping[str, str],
        files: Sequence[LedgerEntry],
    ) -> DataFrame:
        """See :meth:`Place.frame`."""
        reader = spark.read.format(form).schema(schema).options(**options).option(*LITERAL_PATHS)
        return reader.load([str(self.folder / entry.file) for entry in files])


def folder_prefix(spark: SparkSession, folder: Path) -> str:
    """Return what stands before the names of files in a folder; see :meth:`Place.prefix`."""
    path = java_class(spark, "org.apache.hadoop.fs.Path")(str(folder))
    return f"file:{path.toUri().getRawPath()}/"


def _entry(item: os.DirEntry[str], path: str) -> LedgerEntry | None:
    try:
        found = item.stat()
    except FileNotFoundError:  # taken away since the folder was listed
        return None
    return LedgerEntry(path, found.st_size, found.st_mtime_ns // 1000)
