"""Connector ``files``: new files of a folder, as JSON lines, CSV or Parquet, also compressed.

In: a folder, or a place in an object store (``folder.py``, ``bucket.py``). Out: ranges of whole
files, each file in exactly one range.

A file arrives by being renamed into the folder (same file system): that is atomic, so nothing
half-written is read; an object is whole when it is there. Names that start with ``.`` or ``_`` or
end in ``.tmp`` or ``.crc`` are not looked at, and neither are folders of such names. A file is
taken once; later changes to it are not read, but counted and warned of.

Order: by name (default), so that numbered files are read in their order whatever a copy did to
their times; or by modification time in whole seconds, then name (file systems differ in what they
keep below a second).

What one look at the folder finds is one arrival: no file of it is late because of another. Every
range says whether files of the look wait behind it; only when all are read, or gone, does the
watermark move and is the folder looked at again. After a restart the rest of the look and what has
come since are one look. With ``ordering = 'name'`` files follow one another in time: each is later
than the one before, and files that have come meanwhile take their places.

Coordinates: ``_path``, the path in the folder, and ``_row``, the line from 0 (CSV: the record;
Parquet: the row).
Files are split for reading every :data:`SPLIT_BYTES`; lines of later splits count from the byte
offset of their split.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from headwater.analyze.connectors.files import is_in_store
from headwater.analyze.definitions import Source
from headwater.connectors.contract import UNREAD, Connector, IntakeConfig, Limits, Range, Rows
from headwater.connectors.files.bucket import BucketPlace, store_for
from headwater.connectors.files.folder import FolderPlace
from headwater.connectors.files.form import DAMAGED_COMPRESSION
from headwater.connectors.files.padded import is_padded
from headwater.connectors.files.place import FileFault, Place
from headwater.connectors.files.read import FileReader
from headwater.connectors.files.stream import files_stream
from headwater.connectors.ledger import LedgerEntry
from headwater.errors import ServiceError
from headwater.lake.storage.warehouse import store_of

logger = logging.getLogger(__name__)

_UNREADABLE = re.compile(
    r"FAILED_READ_FILE|CANNOT_READ_FILE|PARQUET_COLUMN_DATA_TYPE_MISMATCH|Could not read footer"
)
"""What Spark says when the content of a file is at fault."""
_DAMAGED_COMPRESSION = re.compile(
    r"not a gzip file|Unexpected end of (?:ZLIB )?(?:input )?stream|Decompress"
    r"|incorrect header check|invalid (?:stored block|code lengths|distance|literal|block type)"
    r"|invalid bit length|BZip2|bzip2|incorrect data check|CRC|ZStandard|zstd|EOFException"
)
_CLASS_NAME = re.compile(r"\b(?:[a-z][\w$]*\.)+[A-Z][\w$]*:? ?")


_CHANGED_HINT = (
    "write lines that were added into a new file of the folder; to replace rows that were read,"
    " read all files into a table of another name"
)

FileRange = Range[tuple[LedgerEntry, ...]]


class Files(Connector[tuple[LedgerEntry, ...]]):
    """The connector (see the module), for one source.

    Args:
        source: its definition; options ``path``, ``pattern``, ``recursive``, ``order``,
            ``max_…_per_epoch``.
        once: take only the files that the first listing finds.
    """

    coordinates: ClassVar = (("_path", "STRING"), ("_row", "BIGINT"))
    unit: ClassVar = "files"
    stream = staticmethod(files_stream)

    def __init__(self, source: Source, config: IntakeConfig, *, once: bool = False) -> None:
        options = source.options
        self.place = place_of(source, config)
        self._source = source
        self._by_name = options.get("order", "name") == "name"
        # without a watermark nothing is late, and the newest listing is the best
        self._looks = bool(source.watermark) and options.get("ordering", "none") == "none"
        self._limits = Limits(
            files=int(options.get("max_files_per_epoch", config.run.max_files_per_epoch)),
            bytes=int(options.get("max_bytes_per_epoch", config.run.max_bytes_per_epoch)),
        )
        self._once = once
        self._found: list[LedgerEntry] | None = None
        self._look_at = 0.0
        self._seen: dict[str, LedgerEntry] = {}
        self._changed: set[str] = set()
        self._reader = FileReader(source, self.place, config.run.max_future)

    @property
    def changed(self) -> int:
        """See :attr:`NoticesChanges.changed`."""
        return len(self._changed)

    def open(self, spark: SparkSession) -> None:
        """See :meth:`Connector.open`."""
        self.place.open(spark)

    def restore(self, entries: Sequence[LedgerEntry]) -> None:
        """See :meth:`HasLedger.restore`."""
        self._seen.update((entry.file, entry) for entry in entries)

    def next_range(self, after: str | None, limits: Limits) -> FileRange | None:
        """See :meth:`Connector.next_range`."""
        most_files = limits.files or self._limits.files or 1
        most_bytes = limits.bytes or self._limits.bytes or 1
        taken: list[LedgerEntry] = []
        size = 0
        for entry in self._waiting():
            size += entry.size
            if taken and (len(taken) == most_files or size > most_bytes):
                break
            taken.append(entry)
        there = self.place.as_now(taken)
        if len(there) < len(taken):  # some are gone again
            gone = {entry.file for entry in taken}.difference(entry.file for entry in there)
            self._found = [entry for entry in self._found or () if entry.file not in gone]
            if not there:
                return self.next_range(after, limits)
        if not there and not _waits(after):
            return None
        return self._range(after, there)

    def planned(self, after: str | None, entries: Sequence[LedgerEntry]) -> FileRange:
        """See :meth:`HasLedger.planned`."""
        for entry, now in zip(entries, self.place.each(self.place.now, entries), strict=True):
            if now is None:
                raise _gone(self._source, entry)
            if not entry.is_still(now):
                raise ServiceError(
                    "FILE_CHANGED",
                    f'file {entry.file} of "{self._source.name}" was changed while an epoch with it'
                    " was being committed",
                    hint="put the file back as it was (content and modification time) and start"
                    " again",
                )
        return self._range(after, entries)

    def read(self, spark: SparkSession, taken: FileRange, arrived_at: int) -> Rows:
        """See :meth:`Connector.read`."""
        if gone := self.place.gone(taken.body):
            raise _gone(self._source, gone[0])
        return self._reader.read(spark, taken.body, arrived_at, self.expected)

    def without_unreadable(
        self, spark: SparkSession, taken: FileRange, error: Exception
    ) -> FileRange:
        """See :meth:`ExplainsFailures.without_unreadable`: tries each file alone."""
        self.place.check_reached(error)
        if not _UNREADABLE.search(str(error)):
            raise error
        padded = len(self._reader.padded)
        marked = [entry if entry.fault else self._probed(spark, entry) for entry in taken.body]
        if marked == list(taken.body) and padded == len(self._reader.padded):
            raise error
        return replace(taken, body=tuple(marked))

    def check_unchanged(self, taken: FileRange) -> None:
        """See :meth:`HasLedger.check_unchanged`: a file may be read while it is being written."""
        for entry, now in zip(taken.body, self.place.each(self.place.now, taken.body), strict=True):
            if now is not None and not entry.is_still(now):
                self._found = None
                raise ServiceError(
                    "FILE_CHANGED",
                    f'file {entry.file} of "{self._source.name}" was changed while it was read',
                    hint=f"Headwater reads it again; {self.place.whole}",
                )

    def decode_quarantined(self, spark: SparkSession, kept: DataFrame, arrived_at: int) -> Rows:
        """See :meth:`Redecodable.decode_quarantined`."""
        return self._reader.again(spark, kept, arrived_at, self._unchanged)

    def entries(self, taken: FileRange) -> tuple[LedgerEntry, ...]:
        """See :meth:`HasLedger.entries`."""
        return taken.body

    def stat_files(self, files: Sequence[str]) -> list[LedgerEntry]:
        """See :meth:`HasLedger.stat_files`."""
        asked = [LedgerEntry(file, 0, 0) for file in sorted(files)]
        return [now for now in self.place.each(lambda e: self.place.status(e.file), asked) if now]

    def read_before(self, taken: FileRange) -> list[str]:
        """See :meth:`HasLedger.read_before`."""
        return [entry.file for entry in taken.body if entry.file in self._seen]

    def done(self, taken: FileRange) -> None:
        """See :meth:`Connector.done`."""
        self.restore(taken.body)
        for file, fault in self._reader.faults.items():
            hint = f"see its rows with: headwater quarantine list {self._source.name}"
            said = 'table "%s": file %s is quarantined: %s'
            logger.warning(said, self._source.name, file, fault, extra={"hint": hint})
        self._reader.faults = {}
        self._reader.padded.clear()

    def backlog(self, after: str | None) -> int:
        """See :meth:`Connector.backlog`."""
        return len(self._waiting())

    def _waiting(self) -> list[LedgerEntry]:
        began = time.monotonic()
        ended = not (self._looks and self._found)  # the last look
        if self._found is None or (ended and not self._once and began >= self._look_at):
            self._found = sorted(filter(self._is_new, self.place.listed()), key=self._order)
            now = time.monotonic()
            self._look_at = now + self.place.pause(now - began)
        self._found = [entry for entry in self._found if entry.file not in self._seen]
        return self._found

    def _range(self, after: str | None, entries: Sequence[LedgerEntry]) -> FileRange:
        """A range, and whether files of the look wait behind it."""
        read = {entry.file for entry in entries}
        left = sum(each.file not in read for each in self._waiting()) if self._looks else 0
        waiting = (UNREAD,) if left else ()
        return Range(_position(after, entries, left), len(entries), tuple(entries), 0, waiting)

    def _order(self, entry: LedgerEntry) -> tuple[int, str]:
        return (0 if self._by_name else entry.modified // 1_000_000, entry.file)

    def _is_new(self, entry: LedgerEntry) -> bool:
        seen = self._seen.get(entry.file)
        if seen is not None and not seen.is_still(entry):
            self._report_change(entry.file)
        return seen is None

    def _report_change(self, file: str) -> None:
        if file not in self._changed:
            self._changed.add(file)
            logger.warning(
                'table "%s": file %s was changed after it had been read; each file is read once,'
                " so what was added or changed is not in the table",
                *(self._source.name, file),
                extra={"hint": _CHANGED_HINT},
            )

    def _unchanged(self, file: str) -> LedgerEntry | None:
        """The file, if it is still what was read."""
        seen, now = self._seen.get(file), self.place.status(file)
        return now if seen and seen.is_still(now) else None

    def _probed(self, spark: SparkSession, entry: LedgerEntry) -> LedgerEntry:
        try:
            self.place.check_readable(entry)
            _drain(self._reader.read(spark, (entry,), 0).all)
        except FileFault as fault:
            return replace(entry, fault=str(fault))
        except (Py4JError, PySparkException) as error:
            self.place.check_reached(error)
            return self._unpacked(spark, entry, fault_of(str(error)))
        return entry

    def _unpacked(self, spark: SparkSession, entry: LedgerEntry, fault: str) -> LedgerEntry:
        """A file that Spark cannot read, with its fault unless it can be read another way."""
        try:
            if entry.file in self._reader.padded or not is_padded(self.place, entry):
                return replace(entry, fault=fault)
        except FileFault as too_long:
            return replace(entry, fault=str(too_long))
        self._reader.padded.add(entry.file)
        return self._probed(spark, entry)


def place_of(source: Source, config: IntakeConfig) -> Place:
    """Return the place that holds the files of a source."""
    if not is_in_store(source.options):
        return FolderPlace(source, config.directory / source.options["path"])
    warehouse = store_of(config.bucket) if config.bucket else None
    return BucketPlace(source, store_for(source, warehouse))


def _drain(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def fault_of(message: str) -> str:
    """Return why a file cannot be read, from what Spark says.

    Args:
        message: text of the exception, with its causes.
    """
    if _DAMAGED_COMPRESSION.search(message):
        return DAMAGED_COMPRESSION
    mismatch = re.search(
        r"column \[(.+?)\]\. Expected Spark type (\S+), actual Parquet type (\w+)", message
    )
    if mismatch:
        column, wanted, found = mismatch.groups()
        return f"unreadable file: column {column} is {found} in the file, not readable as {wanted}"
    causes = re.findall(r"Caused by: (?:[\w$]+\.)*[\w$]+: ([^\n]*)", message)
    detail = causes[-1] if causes else message.splitlines()[0]
    return f"unreadable file: {_CLASS_NAME.sub('', detail)}"[:300]


def _gone(source: Source, entry: LedgerEntry) -> ServiceError:
    return ServiceError(
        "FILE_GONE",
        f'file {entry.file} of "{source.name}" is gone before its epoch was committed',
        hint="put the file back and start again",
    )


def _waits(position: str | None) -> bool:
    """Return whether files of a look were waiting behind a position."""
    return bool(position and json.loads(position).get("waiting"))


def _position(after: str | None, entries: Sequence[LedgerEntry], waiting: int) -> str:
    """Return a position that names, by a chained hash, every file up to it.

    Args:
        waiting: how many files of the same look are behind it.
    """
    before: dict[str, Any] = json.loads(after or '{"files": 0, "bytes": 0, "hash": ""}')
    digest = hashlib.sha256(before["hash"].encode())
    for entry in entries:
        digest.update(f"\0{entry.file}\0{entry.size}\0{entry.modified}".encode())
    position = {
        "files": before["files"] + len(entries),
        "bytes": before["bytes"] + sum(entry.size for entry in entries),
        "hash": digest.hexdigest()[:16],
    }
    if waiting:
        position["waiting"] = waiting
    return json.dumps(position)
