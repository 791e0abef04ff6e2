"""Connector ``files``: new files of a folder, as JSON lines, CSV or Parquet, also compressed.

In: a folder. Out: ranges of whole files, each file in exactly one range.

A file arrives by being renamed into the folder (same file system): that is atomic, so nothing
half-written is read. Names that start with ``.`` or ``_`` or end in ``.tmp`` or ``.crc`` are not
looked at, and neither are folders of such names. A file is taken once; later changes to it are not
read, but counted and warned of.

Order: by name (default), so that numbered files are read in their order whatever a copy did to
their times; or by modification time in whole seconds, then name (file systems differ in what they
keep below a second).

Coordinates: ``_path``, the path in the folder, and ``_row``, the line from 0 (Parquet: the row).
Files are split for reading every :data:`SPLIT_BYTES`; lines of later splits count from the byte
offset of their split.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from headwater.analyze.definitions import Source
from headwater.errors import ServiceError
from headwater.intake.connectors.base import Connector, IntakeConfig, Limits, Range, Rows
from headwater.intake.connectors.raw import FileReader
from headwater.intake.ledger import Entry

logger = logging.getLogger(__name__)

_UNREADABLE = re.compile(
    r"FAILED_READ_FILE|CANNOT_READ_FILE|PARQUET_COLUMN_DATA_TYPE_MISMATCH|Could not read footer"
)
"""What Spark says when the content of a file is at fault."""


def is_hidden(name: str) -> bool:
    """Whether a name is of a file or folder that is never read.

    Args:
        name: last part of the path.
    """
    return name.startswith((".", "_")) or name.endswith((".tmp", ".crc"))


class Files(Connector):
    """The connector (see the module), for one source.

    Args:
        source: its definition; options ``path``, ``pattern``, ``recursive``, ``order``,
            ``max_…_per_epoch``.
        config: the project's settings.
        once: take only the files that the first look finds.
    """

    coordinates: ClassVar = (("_path", "STRING"), ("_row", "BIGINT"))
    unit: ClassVar = "files"
    has_ledger: ClassVar = True

    def __init__(self, source: Source, config: IntakeConfig, *, once: bool = False) -> None:
        options = source.options
        self.folder = config.directory / options["path"]
        self._source = source
        self._pattern = options.get("pattern", "*")
        self._recursive = options.get("recursive", "false").lower() == "true"
        self._by_name = options.get("order", "name") == "name"
        self._limits = Limits(
            files=int(options.get("max_files_per_epoch", config.max_files_per_epoch)),
            bytes=int(options.get("max_bytes_per_epoch", config.max_bytes_per_epoch)),
        )
        self._once = once
        self._frozen: list[Entry] | None = None
        self._seen: dict[str, tuple[int, int]] = {}
        self._changed: set[str] = set()
        self._reader = FileReader(source, self.folder, config.max_future)

    @property
    def changed(self) -> int:
        """How many files were changed after they had been read; the changes are not read."""
        return len(self._changed)

    def restore(self, entries: Sequence[Entry]) -> None:
        """See :meth:`Connector.restore`."""
        self._seen.update((entry.file, (entry.size, entry.modified)) for entry in entries)

    def next_range(self, after: str | None, limits: Limits) -> Range | None:
        """See :meth:`Connector.next_range`."""
        most_files = limits.files or self._limits.files or 1
        most_bytes = limits.bytes or self._limits.bytes or 1
        taken: list[Entry] = []
        size = 0
        for entry in self._waiting():
            size += entry.size
            if taken and (len(taken) == most_files or size > most_bytes):
                break
            taken.append(entry)
        return _range(after, taken) if taken else None

    def planned(self, after: str | None, entries: Sequence[Entry]) -> Range:
        """See :meth:`Connector.planned`."""
        for entry in entries:
            self._check_unchanged(entry)
        return _range(after, entries)

    def read(self, spark: SparkSession, taken: Range, arrived_at: int) -> Rows:
        """See :meth:`Connector.read`."""
        for entry in taken.files:
            if not (self.folder / entry.file).exists():
                raise _gone(self._source, entry)
        return self._reader.read(spark, taken.files, arrived_at)

    def without_unreadable(self, spark: SparkSession, taken: Range, error: Exception) -> Range:
        """See :meth:`Connector.without_unreadable`: tries each file alone."""
        if not _UNREADABLE.search(str(error)):
            raise error
        marked = [entry if entry.fault else self._probed(spark, entry) for entry in taken.files]
        if marked == list(taken.files):
            raise error
        return Range(taken.position, taken.units, tuple(marked))

    def check_unchanged(self, taken: Range) -> None:
        """See :meth:`Connector.check_unchanged`: a file may be read while it is being written."""
        for entry in taken.files:
            if self._status(entry.file) not in (None, (entry.size, entry.modified)):
                raise ServiceError(
                    "FILE_CHANGED",
                    f'file {entry.file} of "{self._source.name}" was changed while it was read',
                    hint="it will be read anew; write files under a hidden name, and rename them "
                    "when they are whole",
                )

    def again(self, spark: SparkSession, kept: DataFrame, arrived_at: int) -> Rows:
        """See :meth:`Connector.again`."""
        return self._reader.again(spark, kept, arrived_at, self._unchanged)

    def found(self, files: Sequence[str]) -> list[Entry]:
        """See :meth:`Connector.found`."""
        now = ((file, self._status(file)) for file in sorted(files))
        return [Entry(file, *status) for file, status in now if status]

    def read_before(self, taken: Range) -> list[str]:
        """See :meth:`Connector.read_before`."""
        return [entry.file for entry in taken.files if entry.file in self._seen]

    def done(self, taken: Range) -> None:
        """See :meth:`Connector.done`."""
        self.restore(taken.files)

    def backlog(self, after: str | None) -> int:
        """See :meth:`Connector.backlog`."""
        return len(self._waiting())

    def _waiting(self) -> list[Entry]:
        if self._frozen is None:
            found = [entry for entry in self._listed() if self._is_new(entry)]
            found.sort(key=self._place)
            if self._once:
                self._frozen = found
            return found
        self._frozen = [entry for entry in self._frozen if entry.file not in self._seen]
        return self._frozen

    def _place(self, entry: Entry) -> tuple[int, str]:
        return (0 if self._by_name else entry.modified // 1_000_000, entry.file)

    def _is_new(self, entry: Entry) -> bool:
        seen = self._seen.get(entry.file)
        if seen is not None and seen != (entry.size, entry.modified):
            self._report_change(entry.file)
        return seen is None

    def _report_change(self, file: str) -> None:
        if file not in self._changed:
            self._changed.add(file)
            logger.warning(
                'table "%s": file %s was changed after it had been read; the change is not read',
                self._source.name,
                file,
            )

    def _listed(self) -> Iterator[Entry]:
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

    def _status(self, file: str) -> tuple[int, int] | None:
        """Size and modification time of a file as it is now, None if it is gone."""
        try:
            now = (self.folder / file).stat()
        except FileNotFoundError:
            return None
        return now.st_size, now.st_mtime_ns // 1000

    def _unchanged(self, file: str) -> Entry | None:
        """The file, if it is still what was read."""
        now = self._status(file)
        return Entry(file, *now) if now and now == self._seen.get(file) else None

    def _check_unchanged(self, entry: Entry) -> None:
        now = self._status(entry.file)
        if now is None:
            raise _gone(self._source, entry)
        if now != (entry.size, entry.modified):
            raise ServiceError(
                "FILE_CHANGED",
                f'file {entry.file} of "{self._source.name}" was changed while an epoch with it '
                "was being committed",
                hint="put the file back as it was (content and modification time) and start again",
            )

    def _probed(self, spark: SparkSession, entry: Entry) -> Entry:
        try:
            with (self.folder / entry.file).open("rb") as file:
                file.read(1)
        except OSError as error:
            raise ServiceError(
                "FILE_NOT_READABLE",
                f'file {entry.file} of "{self._source.name}" cannot be read: {error.strerror}',
                hint="check owner and permissions of the file, then start again",
            ) from error
        try:
            _drain(self._reader.read(spark, (entry,), 0).all)
        except (Py4JError, PySparkException) as error:
            return Entry(entry.file, entry.size, entry.modified, fault_of(str(error)))
        return entry


def _drain(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def fault_of(message: str) -> str:
    """Return why a file cannot be read, from what Spark says.

    Args:
        message: text of the exception, with its causes.
    """
    mismatch = re.search(
        r"column \[(.+?)\]\. Expected Spark type (\S+), actual Parquet type (\w+)", message
    )
    if mismatch:
        column, wanted, found = mismatch.groups()
        nanos = wanted.startswith("timestamp") and found == "INT64"
        return (
            f"unreadable file: column {column} is {found} in the file, not readable as {wanted}"
            + ("; if it counts nanoseconds, write microseconds" if nanos else "")
        )
    causes = re.findall(r"Caused by: (?:[\w$]+\.)*([\w$]+)(?:: ([^\n]*))?", message)
    kind, detail = causes[-1] if causes else ("", message.splitlines()[0])
    return f"unreadable file: {detail or kind}"[:300]


def _entry(item: os.DirEntry[str], path: str) -> Entry | None:
    try:
        found = item.stat()
    except FileNotFoundError:  # taken away since the folder was listed
        return None
    return Entry(path, found.st_size, found.st_mtime_ns // 1000)


def _gone(source: Source, entry: Entry) -> ServiceError:
    return ServiceError(
        "FILE_GONE",
        f'file {entry.file} of "{source.name}" is gone before its epoch was committed',
        hint="put the file back and start again",
    )


def _range(after: str | None, entries: Sequence[Entry]) -> Range:
    """Return a range whose position names, by a chained hash, every file up to it."""
    before: dict[str, Any] = json.loads(after or '{"files": 0, "bytes": 0, "hash": ""}')
    digest = hashlib.sha256(before["hash"].encode())
    for entry in entries:
        digest.update(f"\0{entry.file}\0{entry.size}\0{entry.modified}".encode())
    position = {
        "files": before["files"] + len(entries),
        "bytes": before["bytes"] + sum(entry.size for entry in entries),
        "hash": digest.hexdigest()[:16],
    }
    return Range(json.dumps(position), len(entries), tuple(entries))
