"""Files of gzip with zeros behind their data → their records.

In: files that Spark finds damaged. Out: a DataFrame of their records, with numbers.

Tapes and block devices fill a file up with zeros. gzip, zcat and Python pass over them; Hadoop 3.4
takes them for the beginning of another member. Such a file is unpacked here, in one piece.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from headwater.analyze.definitions import Source
from headwater.connectors.files.compression import compression_of
from headwater.connectors.files.place import FileFault, Place
from headwater.connectors.ledger import LedgerEntry
from headwater.formats.columns import PATH, ROW, VALUE
from headwater.formats.csv_records import MAX_WHOLE_BYTES, pattern

_AT_ONCE = 2**20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def is_padded(place: Place, entry: LedgerEntry) -> bool:
    """Return whether a file that Spark finds damaged is gzip, and sound but for zeros behind it.

    Raises:
        FileFault: it is padded, and too long.
        ServiceError: the place cannot be reached.
    """
    if compression_of(entry.file) != "gzip":
        return False
    size = 0
    try:
        with place.text(entry.file) as plain:
            while found := len(plain.read(_AT_ONCE)):
                size += found
    except (OSError, EOFError, zlib.error):
        return False
    if size > MAX_WHOLE_BYTES:
        raise FileFault(
            "unreadable file: it has zeros behind its compressed data, and more than"
            f" {MAX_WHOLE_BYTES} bytes"
        )
    return True


def padded_records(
    spark: SparkSession, source: Source, place: Place, files: Sequence[LedgerEntry]
) -> DataFrame:
    """Return the records of padded files: ``_value``, ``_path`` and ``_row``."""
    values, paths, numbers = [], [], []
    for entry in files:
        with place.text(entry.file) as plain:
            content = plain.read().removeprefix(_BYTE_ORDER_MARK)
        for number, record in enumerate(_records(source, content)):
            values.append(record)
            paths.append(entry.file)
            numbers.append(number)
    types = (pa.binary(), pa.string(), pa.int64())
    arrays = (pa.array(e, kind) for e, kind in zip((values, paths, numbers), types, strict=True))
    rows = spark.createDataFrame(pa.table(dict(zip((VALUE, PATH, ROW), arrays, strict=True))))
    return rows.selectExpr(f"CAST({VALUE} AS STRING) AS {VALUE}", PATH, ROW)


def _records(source: Source, content: bytes) -> Iterator[bytes]:
    if source.encode != "csv":
        yield from content.removesuffix(b"\n").split(b"\n")
        return
    record, at = re.compile(pattern(source).encode()), 0
    while at < len(content):
        found = record.match(content, at)
        assert found is not None, "what is no record ends with its line"
        yield found[1]
        at = found.end()
