"""Files of one epoch → decoded rows, by batch reads of Spark.

In: a list of files. Out: one DataFrame of all rows with ``_bad`` and one of the bad rows (see
``headwater.formats.columns``). Each file, or each :data:`SPLIT_BYTES` of it, is one partition,
which makes the line numbers the same on any number of cores; tasks take several partitions each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.analyze.definitions import ARRIVAL_COLUMN, Source
from headwater.analyze.typing.types import spark_type
from headwater.connectors.contract import Rows
from headwater.connectors.files.form import Form, form_of, has_header
from headwater.connectors.files.padded import padded_records
from headwater.connectors.files.place import FileFault, Place
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
from headwater.formats.csv import csv_rows, parquet_rows
from headwater.formats.csv_records import MAX_WHOLE_BYTES, WHOLE, cut, is_no_record
from headwater.formats.flat_json import FLAT_LINES, LINES, may_be_flat, values_of_flat
from headwater.formats.json import json_lines, json_rows, parser_options, reader_schema
from headwater.formats.unknown_fields import NONE, UNKNOWN, VALUES
from headwater.plan.sql.spark_text import at, name, text

SPLIT_BYTES = 2**30
_BYTES_PER_TASK, _BYTES_PER_OUTPUT_FILE = 4_000_000, 128_000_000
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


class FileReader:
    """Reads files of one source.

    Attributes:
        faults: why files of the last reading are left out, by file.
        padded: files with zeros behind their compressed data.

    Args:
        max_future: how far event times may be ahead of arrival, where the source does not say.
    """

    def __init__(self, source: Source, place: Place, max_future: timedelta) -> None:
        self._source = source
        self._place = place
        self._max_future = max_future
        self._columns = stored(source)
        self.faults: dict[str, str] = {}
        self.padded: set[str] = set()

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
        groups = self._cut_into_records(spark, groups, faults)
        self.faults = faults
        for number, (form, files) in enumerate(groups.items()):
            view, tasks = f"_raw_{self._source.name}_{number}", _tasks(spark, files)
            encoded = self._encoded(spark, form, files, Records(view, expected=expected))
            decoder = Decoder.of_epoch(self._source, encoded, arrived_at, self._max_future)
            decoders.append((decoder, tasks))
            values_in = None if form.padded else self._values_of_flat(spark, files)
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
        for number, (names, rows) in enumerate(self._by_header(columns, unchanged)):
            view = f"_kept_{self._source.name}_{number}"
            rows.createOrReplaceTempView(view)
            if self._source.encode == "csv":
                encoded = csv_rows(self._source, Records(view, KNOWN), names)
            else:
                encoded = json_lines(self._source, Records(view, KNOWN))
            decoders.append(Decoder.of_epoch(self._source, encoded, arrived_at, self._max_future))
        return Rows(
            _union([spark.sql(decoder.rows()) for decoder in decoders]),
            lambda: _union([spark.sql(decoder.rejected()) for decoder in decoders]),
            lambda: _union([spark.sql(decoder.unknown()) for decoder in decoders]),
        )

    def _by_header(
        self, rows: DataFrame, unchanged: Callable[[str], LedgerEntry | None]
    ) -> list[tuple[tuple[str, ...] | None, DataFrame]]:
        """Sort rows by the header of their file, which is read again."""
        if not has_header(self._source):
            return [(None, rows)]
        files = [unchanged(row[PATH]) for row in rows.select(PATH).distinct().toLocalIterator()]
        groups, _ = self._grouped([entry for entry in files if entry])
        sorted_rows = [
            (form.names, rows.where(F.col(PATH).isin([entry.file for entry in entries])))
            for form, entries in groups.items()
        ]
        return sorted_rows or [(tuple(c.key for c in self._columns), rows.where("false"))]

    def _grouped(
        self, entries: Sequence[LedgerEntry]
    ) -> tuple[dict[Form, list[LedgerEntry]], dict[str, str]]:
        """Sort files by their form; those that cannot be used become faults."""
        groups: dict[Form, list[LedgerEntry]] = {}
        faults: dict[str, str] = {}
        for entry, form in zip(entries, self._place.each(self._looked_at, entries), strict=True):
            if isinstance(form, FileFault):
                faults[entry.file] = str(form)
            else:
                form = replace(form, padded=entry.file in self.padded)
                groups.setdefault(form, []).append(entry)
        return groups, faults

    def _looked_at(self, entry: LedgerEntry) -> Form | FileFault:
        try:
            return form_of(self._source, self._place, entry)
        except FileFault as fault:
            return fault

    def _cut_into_records(
        self, spark: SparkSession, groups: dict[Form, list[LedgerEntry]], faults: dict[str, str]
    ) -> dict[Form, list[LedgerEntry]]:
        """Set apart the files of CSV whose lines are not all records, found by a scan."""
        every = [e for form, entries in groups.items() for e in entries if not form.padded]
        if self._source.encode != "csv" or not every:
            return groups
        lines = self._place.frame(spark, *LINES, every)
        files = f"collect_set(IF({is_no_record(self._source, 'value')}, {PATH}, NULL)) AS found"
        lines = lines.select("value", F.expr(self._path(spark, every)).alias(PATH))
        (row,) = lines.selectExpr(files).collect()
        found = set(row["found"])
        split: dict[Form, list[LedgerEntry]] = {}
        for form, entries in groups.items():
            for entry in entries:
                if entry.file in found and entry.size > MAX_WHOLE_BYTES:
                    faults[entry.file] = (
                        "unreadable file: it has line breaks within quotes, or other line ends than"
                        f" LF and CR LF, and more than {MAX_WHOLE_BYTES} bytes"
                    )
                else:
                    whole = replace(form, whole=entry.file in found)
                    split.setdefault(whole, []).append(entry)
        return split

    def _encoded(
        self, spark: SparkSession, form: Form, files: Sequence[LedgerEntry], records: Records
    ) -> Encoded:
        path = self._path(spark, files)
        if self._source.encode == "parquet":
            read = [column for column in self._columns if column.name not in form.absent]
            frame = self._place.frame(spark, "parquet", ddl(read), {}, files)
            names = [
                f"CAST(NULL AS {spark_type(c.type)}) AS {name(c.name)}"
                if c.name in form.absent
                else f"{name(c.key)} AS {name(c.name)}"
                for c in self._columns
            ]
            frame = frame.selectExpr(*names, f"{path} AS {PATH}", f"_metadata.row_index AS {ROW}")
            frame.createOrReplaceTempView(records.relation)
            return parquet_rows(self._source, records.relation, form.names)
        if form.padded:
            frame = padded_records(spark, self._source, self._place, files)
            frame.createOrReplaceTempView(records.relation)
            records = replace(records, number=KNOWN)
        elif form.whole:
            frame = self._place.frame(spark, *WHOLE, files)
            frame = frame.selectExpr(*whole_columns(self._source, path))
            frame.createOrReplaceTempView(records.relation)
            records = replace(records, number=f"CAST({ROW} AS BIGINT)")
        else:
            frame = self._place.frame(spark, *LINES, files)
            frame.selectExpr(*record_columns(path)).createOrReplaceTempView(records.relation)
        if self._source.encode == "csv":
            return csv_rows(self._source, records, form.names, form.skipped)
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


def whole_columns(source: Source, path: str) -> list[str]:
    """Return the same over files of CSV as one text each, which are cut into their records.

    Args:
        path: expression of :func:`relative_path`.
    """
    return [f"posexplode({cut(source, 'value')}) AS ({ROW}, {VALUE})", f"{path} AS {PATH}"]


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
