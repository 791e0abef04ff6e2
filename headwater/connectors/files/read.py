"""Files of one epoch → decoded rows, by batch reads of Spark.

In: a list of files. Out: one DataFrame of all rows with ``_bad`` and one of the bad rows (see
``headwater.formats.columns``). Each file, or each :data:`SPLIT_BYTES` of it, is one partition,
which makes the line numbers the same on any number of cores; tasks take several partitions each.
"""

from __future__ import annotations

import csv
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import reduce

from pyarrow import ArrowException
from pyarrow.parquet import read_schema
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.analyze.definitions import ARRIVAL_COLUMN, Source
from headwater.analyze.typing.types import spark_type
from headwater.connectors.contract import Rows
from headwater.connectors.files.place import Place
from headwater.connectors.ledger import LedgerEntry
from headwater.formats.columns import (
    BAD,
    KNOWN,
    PATH,
    REASON,
    ROW,
    VALUE,
    Decoder,
    Encoded,
    Records,
    ddl,
    stored,
)
from headwater.formats.csv import csv_lines, parquet_rows
from headwater.formats.flat_json import FLAT_LINES, LINES, may_be_flat, values_of_flat
from headwater.formats.json import json_lines, json_rows, parser_options, reader_schema
from headwater.formats.unknown_fields import NONE, UNKNOWN, VALUES
from headwater.plan.sql.spark_text import at, moment, name, text

SPLIT_BYTES = 2**30
_BYTES_PER_TASK, _BYTES_PER_OUTPUT_FILE = 4_000_000, 128_000_000
_MAX_HEADER_BYTES = 1_000_000
_WORTH_A_CHECK = 1_000_000
_PLAIN_NAME = re.compile(r"[\w./=,@+:~!$&*;()-]*")
"""Names that Spark's metadata column shows as they are; in others it escapes characters."""
SETTINGS = {
    # a file costs as much to open as a partition may hold: no two files share a partition
    "spark.sql.files.maxPartitionBytes": str(SPLIT_BYTES),
    "spark.sql.files.openCostInBytes": str(SPLIT_BYTES),
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # listing the files of an epoch is no Spark job
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
}

Header = tuple[str, ...] | None


class FileReader:
    """Reads files of one source.

    Args:
        max_future: how far event times may be ahead of arrival, where the source does not say.
    """

    def __init__(self, source: Source, place: Place, max_future: timedelta) -> None:
        self._source = source
        self._place = place
        self._max_future = max_future
        self._columns = stored(source)

    def read(
        self,
        spark: SparkSession,
        entries: Sequence[LedgerEntry],
        arrived_at: int,
        expected: tuple[str, ...] = (),
    ) -> Rows:
        """Return the rows of some files, not read yet but for a look at their form.

        Args:
            spark: a session of the caller's own.
            entries: the files; of those with a fault, only the fault is returned.
            arrived_at: their arrival, microseconds since 1970 UTC.
            expected: see :class:`~headwater.formats.columns.Records`.
        """
        for key, value in SETTINGS.items():
            spark.conf.set(key, value)
        groups, faults = self._grouped(entries)
        decoders: list[tuple[Decoder, int]] = []
        every: list[DataFrame] = []
        values_in = None
        for number, (header, files) in enumerate(groups.items()):
            view, tasks = f"_raw_{self._source.name}_{number}", _tasks(spark, files)
            encoded = self._encoded(spark, header, files, Records(view, expected=expected))
            decoder = Decoder(self._source, encoded, moment(arrived_at), self._max_future)
            decoders.append((decoder, tasks))
            values_in = self._values_of_flat(spark, files)
            if values_in is not None:  # the quicker decoding gives the same rows
                flat = Records(f"{view}_flat", expected=expected)
                decoder = replace(decoder, encoded=self._flat(spark, files, flat))
            every.append(spark.sql(decoder.rows()).coalesce(tasks))

        def rejected() -> DataFrame:
            frames = [spark.sql(d.rejected()).coalesce(tasks) for d, tasks in decoders]
            return _union([*frames, spark.sql(_fault_records(faults, at(arrived_at)))])

        def unknown() -> DataFrame:
            return _union([spark.sql(d.unknown()).coalesce(tasks) for d, tasks in decoders])

        if faults or not every:
            every.append(spark.sql(self._fault_rows(faults)))
        return Rows(_union(every), rejected, unknown, values_in)

    def again(
        self,
        spark: SparkSession,
        kept: DataFrame,
        arrived_at: int,
        unchanged: Callable[[str], LedgerEntry | None],
    ) -> Rows:
        """Decode rows of the quarantine again; see ``Redecodable.decode_quarantined``.

        Args:
            spark: a session of the caller's own.
            arrived_at: their arrival, microseconds since 1970 UTC.
            unchanged: gives a file that is still what was read, or None.
        """
        columns = kept.selectExpr(f"CAST(raw AS STRING) AS {VALUE}", PATH, ROW)
        decoders = []
        for number, (header, rows) in enumerate(self._by_header(columns, unchanged)):
            view = f"_kept_{self._source.name}_{number}"
            rows.createOrReplaceTempView(view)
            if self._source.encode == "csv":
                encoded = csv_lines(self._source, Records(view, KNOWN), header)
            else:
                encoded = json_lines(self._source, Records(view, KNOWN))
            decoders.append(Decoder(self._source, encoded, moment(arrived_at), self._max_future))
        return Rows(
            _union([spark.sql(decoder.rows()) for decoder in decoders]),
            lambda: _union([spark.sql(decoder.rejected()) for decoder in decoders]),
            lambda: _union([spark.sql(decoder.unknown()) for decoder in decoders]),
        )

    def _by_header(
        self, rows: DataFrame, unchanged: Callable[[str], LedgerEntry | None]
    ) -> list[tuple[Header, DataFrame]]:
        """Sort rows by the header of their file, which is read again."""
        if not self._has_header():
            return [(None, rows)]
        files = [unchanged(row[PATH]) for row in rows.select(PATH).distinct().toLocalIterator()]
        groups, _ = self._grouped([entry for entry in files if entry])
        sorted_rows = [
            (header, rows.where(F.col(PATH).isin([entry.file for entry in entries])))
            for header, entries in groups.items()
        ]
        return sorted_rows or [(tuple(c.name for c in self._columns), rows.where("false"))]

    def _grouped(
        self, entries: Sequence[LedgerEntry]
    ) -> tuple[dict[Header, list[LedgerEntry]], dict[str, str]]:
        """Sort files by header; files without a usable one become faults."""
        groups: dict[Header, list[LedgerEntry]] = {}
        faults: dict[str, str] = {}
        for entry, (header, fault) in zip(
            entries, self._place.each(self._named, entries), strict=True
        ):
            if fault:
                faults[entry.file] = fault
            else:
                groups.setdefault(header, []).append(entry)
        return groups, faults

    def _named(self, entry: LedgerEntry) -> tuple[Header, str | None]:
        """The columns that a file names, and why it cannot be used."""
        if entry.fault:
            return None, entry.fault
        if self._source.encode == "parquet":
            return self._parquet_names(entry), None
        return self._header(entry) if self._has_header() and entry.size else (None, None)

    def _has_header(self) -> bool:
        options = self._source.encode_options
        return self._source.encode == "csv" and options.get("header", "true").lower() == "true"

    def _header(self, entry: LedgerEntry) -> tuple[Header, str | None]:
        options = self._source.encode_options
        try:
            with self._place.text(entry.file) as file:
                line = file.readline(_MAX_HEADER_BYTES).decode("utf-8-sig")
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            return None, f"unreadable file: {error}"[:300]
        fields = next(
            csv.reader(
                [line.rstrip("\r\n")],
                delimiter=options.get("delimiter", ","),
                quotechar=options.get("quote", '"'),
            ),
            [],
        )
        names = tuple(field.strip().lower() for field in fields)
        missing = [c.name for c in self._columns if names.count(c.name) != 1]
        if missing and names:
            where = "more than once" if missing[0] in names else "not"
            return None, f'the header names column "{missing[0]}" {where}'
        return names, None

    def _parquet_names(self, entry: LedgerEntry) -> Header:
        """The columns of a file; None if it is none of Parquet, which Spark finds."""
        try:
            with self._place.content(entry.file) as file:
                return tuple(name.lower() for name in read_schema(file).names)
        except (OSError, ArrowException):
            return None

    def _encoded(
        self, spark: SparkSession, header: Header, files: Sequence[LedgerEntry], records: Records
    ) -> Encoded:
        path = self._path(spark, files)
        if self._source.encode == "parquet":
            frame = self._place.frame(spark, "parquet", ddl(self._columns), {}, files)
            names = [name(column.name) for column in self._columns]
            frame = frame.selectExpr(*names, f"{path} AS {PATH}", f"_metadata.row_index AS {ROW}")
            frame.createOrReplaceTempView(records.relation)
            return parquet_rows(self._source, records.relation, header)
        frame = self._place.frame(spark, *LINES, files)
        frame.selectExpr(*record_columns(path)).createOrReplaceTempView(records.relation)
        if self._source.encode == "csv":
            return csv_lines(self._source, records, header)
        return json_lines(self._source, records)

    def _values_of_flat(self, spark: SparkSession, files: Sequence[LedgerEntry]) -> int | None:
        """See :func:`values_of_flat`; few bytes are not worth the scan."""
        enough = sum(entry.size for entry in files) >= _WORTH_A_CHECK
        if not (enough and may_be_flat(self._source)):
            return None
        return values_of_flat(self._place.frame(spark, *LINES, files), self._source)

    def _flat(self, spark: SparkSession, files: Sequence[LedgerEntry], records: Records) -> Encoded:
        schema = reader_schema(self._source, records.expected)
        options = parser_options(self._source)
        frame = self._place.frame(spark, "json", schema, {**FLAT_LINES, **options}, files)
        frame = frame.selectExpr("*", *coordinates(self._path(spark, files)))
        frame.createOrReplaceTempView(records.relation)
        return json_rows(self._source, records)

    def _path(self, spark: SparkSession, files: Sequence[LedgerEntry]) -> str:
        plain = all(_PLAIN_NAME.fullmatch(entry.file) for entry in files)
        return relative_path(self._place.prefix(spark), plain=plain)

    def _fault_rows(self, faults: dict[str, str]) -> str:
        nulls = ", ".join(
            f"CAST(NULL AS {spark_type(c.type)}) AS {name(c.name)}" for c in self._source.columns
        )
        return (
            f"SELECT {nulls}, {PATH}, CAST(NULL AS BIGINT) AS {ROW}, true AS {BAD},"
            f" CAST(NULL AS STRING) AS {VALUE}, 0 AS {VALUES}, {NONE} AS {UNKNOWN}\n"
            f"FROM ({_fault_values(faults)})"
        )


def _union(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionAll, frames)


def relative_path(prefix: str, *, plain: bool) -> str:
    """Return the expression of a file's name, its path in the folder.

    Args:
        prefix: what stands before it, from ``Place.prefix``.
        plain: whether no name has characters that Spark escapes.
    """
    shown = f"substr(_metadata.file_path, {len(prefix) + 1})"
    return shown if plain else f"url_decode(replace({shown}, '+', '%2B'))"


def record_columns(path: str) -> list[str]:
    """Return what the decoders of lines read, as expressions over Spark's text source.

    Args:
        path: expression of :func:`relative_path`.
    """
    return [f"value AS {VALUE}", *coordinates(path)]


def coordinates(path: str) -> list[str]:
    """Return where a record comes from, as expressions over a file source.

    Args:
        path: expression of :func:`relative_path`.
    """
    return [f"{path} AS {PATH}", "_metadata.file_block_start AS _block"]


def _fault_records(faults: dict[str, str], arrived_at: str) -> str:
    return (
        f"SELECT {arrived_at} AS {ARRIVAL_COLUMN}, {REASON} AS reason, CAST(NULL AS BINARY) AS raw,"
        f" {PATH}, CAST(NULL AS BIGINT) AS {ROW} FROM ({_fault_values(faults)})"
    )


def _fault_values(faults: dict[str, str]) -> str:
    if not faults:
        return f"SELECT '' AS {PATH}, '' AS {REASON} WHERE false"
    rows = ", ".join(f"({text(file)}, {text(fault)})" for file, fault in faults.items())
    return f"SELECT * FROM VALUES {rows} AS t({PATH}, {REASON})"


def _tasks(spark: SparkSession, files: Sequence[LedgerEntry]) -> int:
    """Return how many tasks read some files: few for few bytes, since each writes a data file."""
    size = sum(entry.size for entry in files)
    most = max(spark.sparkContext.defaultParallelism, -(-size // _BYTES_PER_OUTPUT_FILE))
    return max(1, min(most, -(-size // _BYTES_PER_TASK)))
