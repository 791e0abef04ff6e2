"""A look at a file before Spark reads it: the columns that it names, and whether it is readable.

In: a file's beginning (CSV) or its footer (Parquet). Out: a :class:`Form`; files of one form are
read by one plan. What makes a file unreadable as a whole is a :class:`FileFault`, with the column
where one is to blame.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from pyarrow import ArrowException
from pyarrow.parquet import ParquetFile

from headwater.analyze.definitions import Column, Source
from headwater.connectors.files.compression import START_BYTES, refused
from headwater.connectors.files.place import FileFault, Place
from headwater.connectors.ledger import LedgerEntry
from headwater.formats.columns import stored
from headwater.formats.csv_records import pattern, values
from headwater.formats.parquet_types import Unreadable, absent_columns

_MAX_HEADER_BYTES = 1_000_000
DAMAGED_COMPRESSION = "unreadable file: its compression is damaged or cut off"


@dataclass(frozen=True, slots=True)
class Form:
    """What the files that one plan reads have in common.

    Attributes:
        names: the fields that they name (``_as_declared``); None if they name none.
        skipped: how many records stand before their data, the header with them.
        whole: whether each is cut into records as one text (``headwater.formats.csv_records``).
        absent: declared columns that are not read of them, since they have no values there.
        padded: whether they have zeros behind their compressed data (``padded.py``).
    """

    names: tuple[str, ...] | None = None
    skipped: int = 0
    whole: bool = False
    absent: tuple[str, ...] = ()
    padded: bool = False


def form_of(source: Source, place: Place, entry: LedgerEntry) -> Form:
    """Return the form of a file.

    Raises:
        FileFault: it cannot be read.
        ServiceError: the place cannot be reached.
    """
    if entry.fault:
        raise FileFault(entry.fault)
    if source.encode == "parquet":
        return _parquet_form(source, place, entry)
    if fault := refused(entry.file, _start(place, entry)):
        raise FileFault(fault)
    if has_header(source) and entry.size:
        return _header(source, place, entry)
    return Form()


def has_header(source: Source) -> bool:
    """Return whether the files of a source name their columns in a header."""
    header = source.encode_options.get("header", "true").lower()
    return source.encode == "csv" and header == "true"


def _start(place: Place, entry: LedgerEntry) -> bytes:
    if not entry.size:
        return b""
    try:
        with place.content(entry.file) as file:
            return file.read(START_BYTES)
    except OSError:
        place.check_readable(entry)
        raise


def _header(source: Source, place: Place, entry: LedgerEntry) -> Form:
    try:
        with place.text(entry.file) as file:
            start = file.read(_MAX_HEADER_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        place.check_readable(entry)
        raise FileFault(DAMAGED_COMPRESSION) from error
    # as bytes: what is behind the header may be broken
    start = start.removeprefix(codecs.BOM_UTF8)
    record, skipped, at, found = re.compile(pattern(source).encode()), 0, 0, ""
    while not found.strip() and at < len(start):
        match = record.match(start, at)
        assert match is not None, "what is no record ends with its line"
        at, skipped = match.end(), skipped + 1
        try:
            found = match[1].decode()
        except UnicodeDecodeError as error:
            raise FileFault("unreadable file: the header is not UTF-8") from error
    if not found.strip():
        return Form(skipped=skipped)
    names = _as_declared([each.strip() for each in values(source, found)], stored(source))
    for column in stored(source):
        if names.count(column.key) != 1:
            fault = "more than once" if column.key in names else ""
            says = "names" if fault else "does not name"
            raise FileFault(f"the header {says} {column.label} {fault}".rstrip())
    return Form(names, skipped)


def _parquet_form(source: Source, place: Place, entry: LedgerEntry) -> Form:
    try:
        with place.content(entry.file) as file:
            return form_of_parquet(source, file)
    except (OSError, ArrowException) as error:
        place.check_readable(entry)
        raise FileFault("unreadable file: it is not Parquet, or damaged") from error


def form_of_parquet(source: Source, file: IO[bytes]) -> Form:
    """Return the form of an open file.

    Raises:
        FileFault: a column cannot be read.
        OSError, ArrowException: it is not Parquet, or damaged.
    """
    parquet = ParquetFile(file)
    names = _as_declared(parquet.schema_arrow.names, stored(source))
    try:
        return Form(names, absent=absent_columns(parquet, stored(source)))
    except Unreadable as unreadable:
        raise FileFault(str(unreadable)) from unreadable


def _as_declared(names: Sequence[str], columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the fields of a file, those of columns as the definition spells them.

    A field is found without regard to case, unless one is spelled as FROM says.

    Args:
        names: the file's own.
    """
    own = {column.key.lower(): column.key for column in columns}
    exact = {column.read_from for column in columns}.intersection(names)
    found = ((each, own.get(each.lower(), each.lower())) for each in names)
    return tuple(each if field in exact else field for each, field in found)
