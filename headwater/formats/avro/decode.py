"""Avro of a schema registry → typed columns (``headwater.formats.columns`` has the rest).

A record begins with a zero byte and the number of its writer's schema, four bytes; the rest is Avro
(Confluent's wire format). Each schema in a range has a decoding of its own, so the caller finds out
first which there are (:func:`in_avro`) and asks the registry for them.

Spark's ``from_avro`` gives a row of NULLs for what it cannot read, and stops where a record ends.
So a record is read as the first part of a longer one, whose second part is appended here: if that
comes out whole, the record was whole too. Avro's own reader is given what the columns need and no
more: what nobody asks for may be of any type.

A record whose schema cannot be read as the columns is bad, with the reason; so is one whose number
the registry does not know.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from headwater.analyze.definitions import Column, RecordFormat, Source
from headwater.analyze.typing.types import spark_type
from headwater.formats.avro.schema import Json, Schema
from headwater.formats.avro.types import AvroPart, Unfit, read_row, read_value, reasons
from headwater.formats.columns import (
    BROKEN,
    ONCE,
    PATH,
    ROW,
    VALUE,
    Encoded,
    Records,
    case,
    is_long,
    record_too_long,
    stored,
)
from headwater.formats.envelopes import (
    ABOUT_NO_ROW,
    KEY,
    NO_CHANGE,
    TOMBSTONE,
    key_encoding,
    known,
)
from headwater.formats.unknown_fields import NONE, of_names
from headwater.plan.sql.spark_text import name, text

_HEADER = 5
"""Bytes before the Avro of a record."""
_END = "8D1F3A5B7C9E2046A1B3C5D7E9F00112"
"""The second part of what is read. No beginning of it is an end of it, so that it is not found some
bytes too early or too late."""


def in_avro(source: Source) -> tuple[str, ...]:
    """Return what of records is Avro, the key first; each names schemas of its own."""
    return tuple(_columns(source))


def beginning(of: str) -> str:
    """Return the expression of the bytes that tell the schema of a record.

    Args:
        of: expression of what of it is Avro.
    """
    return f"substring({of}, 1, {_HEADER})"


def numbers_of(starts: Iterable[bytes | bytearray]) -> set[int]:
    """Return the numbers of the schemas of records that begin so; some may name none.

    Args:
        starts: the bytes that :func:`beginning` gives.
    """
    named = (each for each in starts if len(each) == _HEADER and not each[0])
    return {int.from_bytes(each[1:], "big") for each in named}


def is_of_other(value: str, numbers: Iterable[int]) -> str:
    """Return the condition that a record names a schema, and none of some.

    Args:
        value: expression of the record's bytes.
    """
    names_one = f"octet_length({value}) >= {_HEADER} AND startswith({value}, X'00')"
    known = ", ".join(_start(number) for number in numbers)
    return f"{names_one} AND {beginning(value)} NOT IN ({known})" if known else names_one


def number_shown(value: str) -> str:
    """Return the expression of the number of the schema that a record names, as text.

    Args:
        value: expression of the record's bytes.
    """
    return f"conv(hex(substring({value}, 2, {_HEADER - 1})), 16, 10)"


def as_json(value: str, schemas: Mapping[int, Schema | str], *fields: str) -> str:
    """Return the expression of some fields of a record as JSON; NULL where it cannot be read.

    Args:
        value: expression of the record's bytes.
        schemas: those that the records name.
        fields: the names of the fields.
    """
    cases = []
    for number, schema in schemas.items():
        if isinstance(schema, Schema) and schema.resolved(schema.root).kind == "record":
            written, read = (
                text(json.dumps(j)) for j in (schema.written(), schema.narrowed(*fields))
            )
            options = f"map('mode', 'PERMISSIVE', 'avroSchema', {read})"
            parsed = f"from_avro(substring({value}, {_HEADER + 1}), {written}, {options})"
            cases.append((begins_with(value, number), f"to_json({parsed})"))
    return case(cases) if cases else "CAST(NULL AS STRING)"


def begins_with(value: str, number: int) -> str:
    """Return the condition that a record names a schema.

    Args:
        value: expression of the record's bytes.
    """
    return f"{beginning(value)} = {_start(number)}"


def avro_records(
    source: Source, records: Records, schemas: Mapping[str, Mapping[int, Schema | str]]
) -> Encoded:
    """Return the decoding of Avro.

    Args:
        records: the records, their values as bytes.
        schemas: of each of :func:`in_avro` the schemas that the records name, by number, or why
            one cannot be read.
    """
    payloads = [_Payload(source, of, held, schemas[of]) for of, held in _columns(source).items()]
    parsed = {each: sql for payload in payloads for each, sql in payload.parsed()}
    values = {each: sql for payload in payloads for each, sql in payload.values()}
    once = (f", CASE WHEN {ONCE} THEN {sql} END AS {each}" for each, sql in parsed.items())
    # a tombstone, which follows a deletion, says nothing new
    where = f" WHERE {VALUE} IS NOT NULL" if source.format is RecordFormat.DEBEZIUM else ""
    read = f"SELECT {records.kept}{''.join(once)} FROM {records.relation}{where}"
    made = ", ".join(f"{sql} AS {name(each)}" for each, sql in values.items())
    broken = " OR ".join(f"({payload.broken()})" for payload in payloads)
    again = ", ".join(f"{sql} AS {each}" for each, sql in parsed.items())
    return Encoded(
        f"SELECT {', '.join(map(name, values))}, {records.kept}, {broken} AS {BROKEN}\n"
        f"FROM (SELECT *, {made} FROM ({read}))",
        (PATH, ROW),
        f"struct({again or 'NULL'})",
        tuple(fault for payload in payloads for fault in payload.faults("_s.")),
        records.carried,
        unknown=payloads[-1].unknown(),
    )


def _columns(source: Source) -> dict[str, tuple[Column, ...]]:
    """What of a record is Avro, the key first, and the columns that are read from it."""
    if source.format is not RecordFormat.UPSERT or key_encoding(source) != "avro":
        return {VALUE: stored(source)}
    keys = tuple(column for column in stored(source) if column.name in source.primary_key)
    return {KEY: keys, VALUE: tuple(column for column in stored(source) if column not in keys)}


@dataclass(frozen=True, slots=True)
class _Reading:
    """How what has one schema is read.

    Attributes:
        schema: the schema.
        read: what Avro's reader is given.
        parts: by column, the place of its value in what was read, and how that is read.
    """

    schema: Schema
    read: Json
    parts: Mapping[str, tuple[str, AvroPart]]

    def sql(self, of: str) -> str:
        written, read = (
            text(json.dumps(_longer(each))) for each in (self.schema.written(), self.read)
        )
        whole = f"concat(substring({of}, {_HEADER + 1}), X'{_END}')"
        return f"from_avro({whole}, {written}, map('mode', 'PERMISSIVE', 'avroSchema', {read}))"


class _Payload:
    """The value or the key of records: how it is parsed, and what becomes of it."""

    def __init__(
        self,
        source: Source,
        of: str,
        columns: Sequence[Column],
        schemas: Mapping[int, Schema | str],
    ) -> None:
        self._source, self._of, self._columns = source, of, columns
        self._readings: dict[int, _Reading] = {}
        self._refused: dict[int, str] = {}
        self._ignored: list[int] = []
        for number, schema in sorted(schemas.items()):
            if isinstance(schema, str):
                self._refused[number] = schema
            elif source.format is RecordFormat.DEBEZIUM and schema.field_names() in ABOUT_NO_ROW:
                self._ignored.append(number)
            else:
                self._read(schema)

    def _read(self, schema: Schema) -> None:
        columns, parts = self._columns, {}
        try:
            if self._of == KEY and len(columns) == 1 and not schema.field_names():
                part = read_value(schema, columns[0])
                parts[columns[0].name] = "", part
            else:
                events = self._source.format is RecordFormat.DEBEZIUM
                part = read_row(schema, columns, events=events)
                parts = {own: (f".{name(written)}", each) for written, own, each in part.fields}
        except Unfit as unfit:
            self._refused[schema.number] = str(unfit)
        else:
            self._readings[schema.number] = _Reading(schema, part.read or "null", parts)

    def parsed(self) -> Iterator[tuple[str, str]]:
        """Yield a name and an expression for what each schema makes of it."""
        for number, reading in self._readings.items():
            fit = f"{self._begins(number)} AND NOT {is_long(self._source)}"
            yield self._name(number), f"CASE WHEN {fit} THEN {reading.sql(self._of)} END"

    def values(self) -> Iterator[tuple[str, str]]:
        """Yield the columns and the expressions of their values."""
        for column in self._columns:
            cases = [
                (f"{ONCE} AND {self._is_whole(number)}", part.value(place))
                for number, place, part in self._parts(column)
            ]
            if column.name == "op":
                cases += [(self._begins(number), text(NO_CHANGE)) for number in self._ignored]
            yield column.name, case(cases) if cases else f"CAST(NULL AS {spark_type(column.type)})"

    def broken(self) -> str:
        """Return the condition that it is not what the columns are read from."""
        fine = [self._is_whole(number) for number in self._readings]
        fine += [self._begins(number) for number in self._ignored]
        if self._of == VALUE and self._source.format is RecordFormat.UPSERT:
            fine.append(TOMBSTONE)
        unread = f"NOT coalesce({' OR '.join(fine)}, false)" if fine else "true"
        misfits = (
            part.misfit(place, name(column.name))
            for column in self._columns
            for _, place, part in self._parts(column)
        )
        return " OR ".join(filter(None, (unread, *misfits)))

    def faults(self, within: str) -> Iterator[tuple[str, str]]:
        """Yield what can be wrong with it, where what was parsed stands within something."""
        what = "key" if self._of == KEY else "value"
        yield record_too_long(self._source)
        yield f"coalesce(octet_length({self._of}), 0) = 0", text(f"a record without a {what}")
        says = text(f"its {what} is not Avro with the number of a schema: it begins with ")
        yield (
            f"octet_length({self._of}) < {_HEADER} OR NOT startswith({self._of}, X'00')",
            f"concat({says}, hex({beginning(self._of)}))",
        )
        for number, reason in self._refused.items():
            yield self._begins(number), text(reason)
        for number in self._readings:
            reason = f"its {what} is not one of schema {number}, or is cut off or too long"
            unread = f"NOT coalesce({self._is_whole(number, within)}, false)"
            yield f"{self._begins(number)} AND {unread}", text(reason)
        for column in self._columns:
            for _, place, part in self._parts(column, within):
                yield from reasons(part, place, name(column.name))

    def unknown(self) -> str:
        """Return the fields that the definition does not name: those of the writer's schema."""
        row = "after" if self._source.format is RecordFormat.DEBEZIUM else ""
        named = [each.lower() for each in known(self._source)]
        cases = []
        for number, reading in self._readings.items():
            fields = [f for f in reading.schema.field_names(row) if f.lower() not in named]
            if fields:
                cases.append((self._begins(number), of_names(fields, ())))
        return case(cases) if cases else NONE

    def _parts(self, column: Column, within: str = "") -> Iterator[tuple[int, str, AvroPart]]:
        """Yield each schema, a column's place in what was parsed by it, and how it is read."""
        for number, reading in self._readings.items():
            place, part = reading.parts[column.name]
            yield number, f"{within}{self._name(number)}.v{place}", part

    def _name(self, number: int) -> str:
        return f"{self._of}_{number}"

    def _begins(self, number: int) -> str:
        return begins_with(self._of, number)

    def _is_whole(self, number: int, within: str = "") -> str:
        return f"{within}{self._name(number)}.e = X'{_END}'"


def _start(number: int) -> str:
    """What a record of a schema begins with."""
    return f"X'{number:010X}'"


def _longer(kind: Json) -> Json:
    """A type with what is appended to it."""
    end: Json = {"type": "fixed", "name": "e", "size": len(_END) // 2}
    parts: list[Json] = [{"name": "v", "type": kind}, {"name": "e", "type": end}]
    return {"type": "record", "name": "w", "fields": parts}
