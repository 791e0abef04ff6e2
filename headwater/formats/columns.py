"""Encoded rows → typed columns, and a reason for each row that is bad, as one Spark SQL SELECT.

In: a :class:`~headwater.analyze.definitions.Source` and the name of a relation of raw records.
Out: SQL text. :meth:`Decoder.rows` has the columns of the definition in their order, the
connector's coordinates, ``_bad`` (never NULL), ``_value``, ``_values`` and ``_unknown`` (see
``headwater.formats.unknown_fields``); :meth:`Decoder.rejected` has the bad rows only,
with their reasons, as the quarantine keeps them. No Python runs per row, and a row that is not bad
is never an all-NULL stand-in for something that could not be read.

The SELECTs are layers, and each value of the expensive kind (parse, cast, verdict) is computed in
one of them, once: see :data:`ONCE`. Whether a row is bad is a cheap condition; why it is bad is
found for the bad ones only, by a second look at their text.

What every encoding is held to: NOT NULL and PRIMARY KEY columns have values, dates and times lie
between 1900-01-01 and 2200-01-01 (also inside arrays, maps and rows), the event time is at most
``max_future`` ahead of the arrival, and a computed column that fails (overflow, cast, division by
zero) is a bad row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlglot import exp

from headwater.analyze.connectors.encodings import SOURCE_TIME
from headwater.analyze.connectors.event_time import dates_deletions
from headwater.analyze.definitions import (
    ARRIVAL_COLUMN,
    CHANGE_COLUMN,
    TRUNCATED,
    UPSERTED,
    Column,
    Source,
)
from headwater.analyze.typing.types import NAMES, spark_type
from headwater.formats.computed import computed_sql, failed_sql
from headwater.formats.envelopes import (
    CHANGED_AT,
    KEY,
    LEFT_OUT,
    OP,
    SAID,
    SNAPSHOT,
    SNAPSHOT_END,
    envelope,
    leaves_out,
)
from headwater.formats.times import EARLIEST, LATEST, is_nested, outside
from headwater.formats.unknown_fields import NAMED, NONE, UNKNOWN, VALUES
from headwater.plan.sql.spark_text import interval, micros, moment, name, text

PATH, ROW, REASON, VALUE = "_path", "_row", "_reason", "_value"
BAD, BROKEN, IGNORED = "_bad", "_broken", "_ignored"
COORDINATES = {
    "file": PATH,
    "row": ROW,
    "change": OP,
    "unchanged": LEFT_OUT,
    "snapshot": SNAPSHOT,
    "snapshot_end": SNAPSHOT_END,
    SOURCE_TIME: CHANGED_AT,
    "topic": "_topic",
    "partition": "_partition",
    "offset": ROW,
    "timestamp": "_timestamp",
    "key": KEY,
    "headers": "_headers",
    "id": "_id",
}
"""Column of a coordinate by its METADATA key (Iceberg keeps the name ``_file`` for itself)."""
ONCE = "spark_partition_id() >= 0"
"""Always true, but not for the optimizer, which otherwise copies what stands beside it into filters
that then compute it again (``rand() < 2`` would not do: it is optimized away)."""
MAX_RECORD_BYTES = 20_000_000
KEPT_OF_LONG_RECORD = 65_536
"""Bytes of a record over the limit that go to the quarantine; its coordinates lead to the rest."""
MAX_FUTURE = timedelta(hours=1)

NUMBERED = f"_block + (monotonically_increasing_id() & {2**33 - 1})"
"""A line's number: offset of its block (column ``_block``) plus its place in there."""
UNNUMBERED = "CAST(NULL AS BIGINT)"
"""In a stream, where Spark numbers no rows."""
KNOWN = ROW
"""Of a relation that has a column ``_row`` already."""


@dataclass(frozen=True, slots=True)
class Records:
    """Encoded records that are to be read.

    Attributes:
        relation: name of a relation of ``_value``, ``_path``, what ``number`` reads and what is
            carried.
        number: expression of a record's number.
        carried: more columns, which are kept beside the record's own.
        expected: fields that the definition does not name and records had before.
        lines: whether they are lines of files, where an empty one is no record.
    """

    relation: str
    number: str = NUMBERED
    carried: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    lines: bool = True

    @property
    def kept(self) -> str:
        """The columns that every layer of a decoding passes on."""
        return ", ".join((VALUE, PATH, ROW, *self.carried))


@dataclass(frozen=True, slots=True)
class Encoded:
    """What one encoding contributes.

    Attributes:
        sql: SELECT of the stored columns with their types, the coordinates, ``_value`` (the record
            as text) and ``_broken`` (whether it could not be read as its columns; NULL: it could).
        coordinates: the connector's coordinate columns.
        parsed: expression over ``_value`` that the conditions of :attr:`faults` call ``_s``.
        faults: what can have broken a record: conditions and reason texts over ``_value``, ``_s``
            and the stored columns; the first true one is it.
        beside: further columns that these two read.
        values: what is known of the number of its values (``headwater.formats.unknown_fields``): an
            expression over the columns of :attr:`sql`.
        named: which of the expected fields a record has, over the columns of :attr:`sql`.
        unknown: the fields that the definition does not name, over ``_value`` and the above.
        strange: a condition over ``_value`` and an expression that fails: on a record that must not
            be judged yet.
    """

    sql: str
    coordinates: tuple[str, ...]
    parsed: str = "NULL"
    faults: tuple[tuple[str, str], ...] = ()
    beside: tuple[str, ...] = ()
    values: str = "0"
    named: str = NONE
    unknown: str = NONE
    strange: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Decoder:
    """The two SELECTs of one source over one relation.

    Attributes:
        source: the definition.
        encoded: the encoding's part.
        arrived_at: arrival as a SQL expression of type TIMESTAMP.
        max_future: how far the event time may be ahead of the arrival where the source does not
            say.
        arrived_locally: arrival of type TIMESTAMP_NTZ, if it is known without converting each row.
    """

    source: Source
    encoded: Encoded
    arrived_at: str
    max_future: timedelta = MAX_FUTURE
    arrived_locally: str = ""

    @classmethod
    def of_epoch(cls, source: Source, encoded: Encoded, at: int, max_future: timedelta) -> Decoder:
        """Return the decoder of rows that arrived at ``at``, over a relation with ``_row``."""
        arrival, local = (moment(at, kind) for kind in ("TIMESTAMP", "TIMESTAMP_NTZ"))
        return cls(source, encoded, arrival, max_future, local)

    def rows(self) -> str:
        """Return the SELECT of all rows: columns, coordinates, and what is said of them."""
        return (
            f"SELECT {', '.join(self._kept())}, {BAD}, {VALUE}, {VALUES},\n"
            f"{self.encoded.unknown} AS {UNKNOWN}\n"
            f"FROM ({self._judged()}) WHERE NOT {IGNORED}"
        )

    def rejected(self) -> str:
        """Return the SELECT of the bad rows: ``_arrived_at``, ``reason``, ``raw``, coordinates."""
        coordinates = ", ".join(map(name, self.encoded.coordinates))
        raw = f"CAST({VALUE} AS BINARY)"
        broken = (BROKEN, case(self.encoded.faults))
        return (
            f"SELECT {self.arrived_at} AS {ARRIVAL_COLUMN},\n"
            f"{case([broken, *self._refusals()])} AS reason,\n"
            f"CASE WHEN {is_long(self.source)}"
            f" THEN substr({raw}, 1, {KEPT_OF_LONG_RECORD}) ELSE {raw} END AS raw, {coordinates}\n"
            f"FROM (SELECT *, {self.encoded.parsed} AS _s FROM ({self._judged()})\n"
            f"WHERE {BAD} AND NOT {IGNORED})"
        )

    def unknown(self) -> str:
        """Return the SELECT of ``_unknown`` and coordinates of the rows that have unknown fields.

        It parses nothing but what the names are made of.
        """
        every = replace(self, encoded=replace(self.encoded, values="CAST(NULL AS INT)"))
        coordinates = ", ".join(map(name, self.encoded.coordinates))
        return f"SELECT {UNKNOWN}, {coordinates} FROM ({every.rows()}) WHERE {UNKNOWN} <> '[]'"

    def _kept(self) -> list[str]:
        return [
            *(name(column.name) for column in self.source.columns),
            *map(name, self.encoded.coordinates),
        ]

    def _judged(self) -> str:
        conditions = [BROKEN, *(condition for condition, _ in self._refusals())]
        bad = " OR ".join(f"coalesce({condition}, false)" for condition in conditions)
        if self.encoded.strange:  # not beside OR: what is true without it would never see it
            bad = "CASE WHEN {} THEN {} ELSE {} END".format(*self.encoded.strange, bad)
        kept = self._kept()
        if self.source.is_changes:  # what reasons are made of
            of_reasons = [c.name for c in stored(self.source)]
            of_reasons += [*self._opened(), *self.encoded.beside]
            kept += [c for c in map(name, of_reasons) if c not in kept]
        return (
            f"SELECT {', '.join(kept)}, {VALUE}, {BROKEN},\n"
            f"{self.encoded.values} AS {VALUES}, {self.encoded.named} AS {NAMED},\n"
            f"CASE WHEN {ONCE} THEN {bad} ELSE true END AS {BAD}, {self._ignored()} AS {IGNORED}\n"
            f"FROM ({self._computed()})"
        )

    def _ignored(self) -> str:
        """Not a filter below: Spark would parse once more for each column that it reads."""
        condition = envelope(self.source).ignored
        if not condition:
            return "false"
        about_no_row = f"NOT coalesce({BROKEN}, false) AND coalesce({condition}, false)"
        return f"CASE WHEN {ONCE} THEN {about_no_row} ELSE false END"

    def _opened(self) -> Iterable[str]:
        return envelope(self.source).opened

    def _computed(self) -> str:
        """Add metadata columns, then computed ones, which may use them."""
        source, inner = self.source, self.encoded.sql
        if opened := envelope(source).opened:
            values = ", ".join(f"{value} AS {name(column)}" for column, value in opened.items())
            inner = f"SELECT *, {values} FROM ({inner})"
        extra = [f"{name(c.metadata_column)} AS {name(c.name)}" for c in metadata(source)]
        if extra:
            inner = f"SELECT *, {', '.join(extra)} FROM ({inner})"
        computed = [
            f"{computed_sql(column)} AS {name(column.name)}"
            for column in source.columns
            if column.computed is not None
        ]
        return f"SELECT *, {', '.join(computed)} FROM ({inner})" if computed else inner

    def _refusals(self) -> list[tuple[str, str]]:
        """What a readable row can be refused for: conditions and reasons."""
        source = self.source
        cases: list[tuple[str, str]] = []
        if source.is_changes:
            reason = f"concat('neither writes nor deletes a row: ', coalesce({SAID}, 'NULL'))"
            cases.append((f"{CHANGE_COLUMN} IS NULL", reason))
        for column in source.columns:
            if column.computed is not None and (failed := failed_sql(column)):
                cases.append((failed, text(f"{column.label}: cannot be computed")))
        cases += envelope(source).refused
        for column in source.columns:
            if found := envelope(source).readings.get(column.name):
                condition = f"{found.said} IS NOT NULL AND {name(column.name)} IS NULL"
                shown = _outside_text(column, found.said) if found.counted else ""
                cases.append((condition, shown or misread(column, found.said)))
        for column in source.columns:
            if column.name in source.primary_key:
                condition, reason = _null(column, "NULL in PRIMARY KEY")
                if source.truncates:
                    condition += f" AND {CHANGE_COLUMN} <> {text(TRUNCATED)}"
                cases.append((condition, reason))
            elif not column.nullable and column.name != CHANGE_COLUMN:
                condition, reason = _null(column, "NULL in NOT NULL column")
                if source.is_changes:
                    condition += f" AND {CHANGE_COLUMN} = {text(UPSERTED)}"
                if column.name in source.left_out:
                    condition += f" AND NOT {leaves_out(column.name)}"
                cases.append((condition, reason))
        for column in source.columns:
            if condition := outside(name(column.name), column.type):
                cases.append((condition, _outside_text(column)))
        if source.watermark:
            cases += self._event_time(source.watermark.column)
            cases.append(self._future(source.watermark.column))
        return cases

    def _event_time(self, column: str) -> list[tuple[str, str]]:
        """Refuse what no window can hold; Spark's watermark begins at 1970.

        A deletion may have no time of its own, and a change may leave an unchanged one out.
        """
        missing = f"{name(column)} IS NULL"
        if self.source.is_changes and not dates_deletions(self.source):
            missing += f" AND {CHANGE_COLUMN} = {text(UPSERTED)}"
        if column in self.source.left_out:
            missing += f" AND NOT {leaves_out(column)}"
        return [
            (missing, text(f'column "{column}": NULL in event-time column')),
            (
                f"CAST({name(column)} AS TIMESTAMP) < TIMESTAMP '1970-01-01 00:00:00Z'",
                text(f'column "{column}": event time before 1970'),
            ),
        ]

    def _future(self, column: str) -> tuple[str, str]:
        given = self.source.options.get("max_future")
        limit = interval(given) if given else self.max_future
        kind = next(c.type for c in self.source.columns if c.name == column)
        # hardly a row is ahead of its arrival at all: the rest is not computed for the others
        local = self.arrived_locally or f"CAST({self.arrived_at} AS TIMESTAMP_NTZ)"
        arrived = local if spark_type(kind) == "TIMESTAMP_NTZ" else self.arrived_at
        ahead = f"{name(column)} > {arrived}"
        bound = f"timestamp_micros(unix_micros({self.arrived_at}) + {micros(limit)})"
        says = f'future-dated: column "{column}" is '
        rest = f", more than {limit} ahead of its arrival"
        return (
            f"{ahead} AND CAST({name(column)} AS TIMESTAMP) > {bound}",
            f"concat({text(says)}, CAST({name(column)} AS STRING), {text(rest)})",
        )


@dataclass(frozen=True, slots=True)
class MetadataColumn:
    """A column filled from a coordinate: ``name`` from ``metadata_column``."""

    name: str
    metadata_column: str


def metadata(source: Source) -> tuple[MetadataColumn, ...]:
    """Return the METADATA columns of a source."""
    return tuple(
        MetadataColumn(c.name, COORDINATES[c.metadata]) for c in source.columns if c.metadata
    )


def stored(source: Source) -> tuple[Column, ...]:
    """Return the columns that are read from the data itself."""
    return envelope(source).stored


def max_record_bytes(source: Source) -> int:
    """Return the size over which one record is quarantined unread."""
    return int(source.options.get("max_record_bytes", MAX_RECORD_BYTES))


def is_long(source: Source) -> str:
    """Return the condition that a record is too long to be parsed."""
    return f"octet_length({VALUE}) > {max_record_bytes(source)}"


def text_faults(source: Source) -> list[tuple[str, str]]:
    """Return what can be wrong with a record as text: conditions and reasons."""
    return [record_too_long(source), (f"NOT is_valid_utf8({VALUE})", "'invalid UTF-8'")]


def record_too_long(source: Source) -> tuple[str, str]:
    """Return the condition of :func:`is_long`, and the reason."""
    says = text(f" bytes, more than {max_record_bytes(source)}")
    return is_long(source), f"concat('record of ', CAST(octet_length({VALUE}) AS STRING), {says})"


def lines_to_parse(records: Records, faults: Sequence[tuple[str, str]], record: str) -> str:
    """Return the SELECT of what is kept of records, and ``_line``, what the parser gets.

    ``_line`` is NULL if the text is not fit for the parser. It has a layer of its own, since Spark
    would not compile it beside the parser.

    Args:
        faults: what can be wrong with the text: conditions and reasons.
        record: expression of what is parsed of a fit text.
    """
    fit = " AND ".join(f"NOT coalesce({condition}, false)" for condition, _ in faults)
    return (
        f"SELECT {', '.join((VALUE, PATH, *records.carried))}, {records.number} AS {ROW},\n"
        f"CASE WHEN {ONCE} AND {fit} THEN {record} END AS _line FROM {records.relation}"
    )


def not_finite(value: str) -> str:
    """Return the condition that a floating-point value is NaN or infinite.

    Args:
        value: expression of the value.
    """
    return f"(isnan({value}) OR abs({value}) = double('Infinity'))"


def ddl(columns: Sequence[Column], kind: Callable[[exp.DataType], str] | None = None) -> str:
    """Return the fields that columns are read from, as Spark DDL.

    Args:
        kind: gives the Spark type to read a column as; default its own.
    """
    return ", ".join(f"{name(c.key)} {(kind or spark_type)(c.type)}" for c in columns)


def case(cases: Sequence[tuple[str, str]]) -> str:
    """Return ``CASE WHEN … THEN … END``, NULL when nothing applies.

    Args:
        cases: conditions and values, the first true one wins.
    """
    branches = "\n".join(f"WHEN {condition} THEN {value}" for condition, value in cases)
    return f"CASE {branches} END" if cases else "CAST(NULL AS STRING)"


def says(column: Column) -> str:
    """Return the SQL name of a column's type, as messages say it."""
    known = NAMES.get(column.type.this)
    return known.sql if known and not column.type.expressions else column.type.sql(dialect="trino")


def misread(column: Column, value: str) -> str:
    """Return the reason text for a value that is not of its column's type.

    Args:
        value: expression of the value's text.
    """
    shown = f"concat({value_start(value)}, CASE WHEN length({value}) > 40 THEN '…' ELSE '' END)"
    before, after = f"{column.label}: '", f"' is not a valid {says(column)}"
    return f"concat({text(before)}, {shown}, {text(after)})"


def value_start(value: str) -> str:
    """Return the first characters of a text expression, as reasons show them."""
    return f"substr({value}, 1, 40)"


def _outside_text(column: Column, said: str = "") -> str:
    start = text(f"{column.label}: ")
    value = said or f"CAST({name(column.name)} AS STRING)"
    if is_nested(column.type):
        value = "'a time'"
    return f"concat({start}, {value}, {text(f' is not between {EARLIEST} and {LATEST}')})"


def _null(column: Column, what: str) -> tuple[str, str]:
    return f"{name(column.name)} IS NULL", text(f"{column.label}: {what}")
