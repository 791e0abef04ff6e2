"""What a record of a format does to which row: FORMAT PLAIN, UPSERT and DEBEZIUM.

In: the definition. Out: which columns are read from a record, and the expressions that make the
definition's own columns of them, with ``_op``, what the record does: ``UPSERT``, ``DELETE``,
``TRUNCATE`` where that is applied, or NULL for what no keyed table can follow: a bad row.

``UPSERT``: a record is a row. The option ``delete_field`` names the field that says what it does.
Over Kafka the key's columns are those of the record's key, and a record without a value deletes.

``DEBEZIUM``: a record is a change event, with or without its schema around it; the row is its
``after``. A deletion has its key only, out of ``before``, whose other values are NULL or zeros
unless the table's replica identity is full. How values are written is
:mod:`headwater.formats.debezium`'s; a value that an event leaves out is NULL, and its column is
named in ``_unchanged``. An insert that leaves one out has no row before it: it is bad. Events that
are about no row (messages, heartbeats, transaction markers) are passed over as tombstones are. The
rows of a snapshot that replaces what stands before it name it: by the place in PostgreSQL's log at
which it was taken, so that what is left of one that was broken off is not taken for the next.
See the Debezium documentation, "PostgreSQL connector: data change events".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from headwater.analyze.connectors.debezium import DEBEZIUM_FIELDS, SOURCE
from headwater.analyze.connectors.encodings import SOURCE_TIME, UNAVAILABLE
from headwater.analyze.connectors.registry import CONNECTORS
from headwater.analyze.definitions import (
    DELETED,
    TRUNCATED,
    UNCHANGED_COLUMN,
    UPSERTED,
    Column,
    RecordFormat,
    Source,
)
from headwater.analyze.typing import types as t
from headwater.analyze.typing.types import spark_type
from headwater.formats.debezium import Reading, from_units, reading, unavailable
from headwater.formats.json_text import (
    as_written,
    has_other_case,
    in_lower_case,
    same_but_for_case,
    with_numbers_as_texts,
)
from headwater.formats.times import cast_text, is_cast
from headwater.plan.sql.spark_text import name, text

KEY, TOMBSTONE = "_key", "_tombstone"
"""Of a record of Kafka: its key as bytes, and whether it has no value."""
OP, SAID, LEFT_OUT = "_op", "_said", "_left_out"
"""What a record does, as far as it is known; and in its own words, for the reason of a bad row; the
columns that it leaves out."""
_FLAGS = {
    UPSERTED: ("c", "i", "r", "u", "insert", "update", "upsert", "false"),
    DELETED: ("d", "delete", "true"),
}
_EVENTS = {UPSERTED: ("c", "r", "u"), DELETED: ("d",)}
_TRUNCATE = {TRUNCATED: ("t",)}
_BEFORE, _AFTER, _KIND, _PAYLOAD, _SCHEMA = DEBEZIUM_FIELDS
NO_CHANGE = "m"
"""What an event says that is about no row."""
ABOUT_NO_ROW = (
    ("ts_ms",),  # a heartbeat
    ("data_collections", "event_count", "id", "status", "ts_ms"),  # a transaction begins or ends
)
"""The keys of records without ``op`` that are no changes."""
SNAPSHOT, SNAPSHOT_END = "_of_snapshot", "_ends_snapshot"
"""The snapshot that a record is of, and that it is the last one of; else NULL."""
_INCREMENTAL, _LAST = "incremental", ("last", "last_in_data_collection")
CHANGED_AT = "_changed_at"
"""When the database made a change."""
_DECLARED, _KEY_TEXT, _NOTHING, _FLAG = "_declared", "_key_text", "_nothing", "_flag"
_PART = t.row({"field": t.VARCHAR, "type": t.VARCHAR, "name": t.VARCHAR,
               "parameters": t.row({"scale": t.VARCHAR})})  # fmt: skip
_PARTS = t.row({"fields": t.array(t.row({"field": t.VARCHAR, "fields": t.array(_PART)}))})
"""What is read of the schema in an event."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """How the records of one format are read.

    Attributes:
        stored: the columns that are read from a record.
        opened: column → Spark SQL over them: the definition's own where they are not stored,
            :data:`OP` and :data:`SAID`; empty where every record adds a row.
        readings: column → how its value is made of another one, where that can fail.
        refused: what else makes a record bad: conditions and reasons over the columns above.
        ignored: the condition that a record is about no row; empty for never.
        row: expression of the JSON text of a row, over ``_value``.
    """

    stored: tuple[Column, ...]
    opened: Mapping[str, str]
    readings: Mapping[str, Reading] = field(default_factory=dict)
    refused: tuple[tuple[str, str], ...] = ()
    ignored: str = ""
    row: str = "_value"


def envelope(source: Source) -> Envelope:
    """Return how the records of a source are read."""
    return _ENVELOPES[source.format](source)


def known(source: Source) -> tuple[str, ...]:
    """Return the fields of a record that the definition names, or of the row in a change event."""
    flag = source.encode_options.get("delete_field", "").lower()
    return (*(column.key for column in _fields(source)), *((flag,) if flag else ()))


def _fields(source: Source) -> tuple[Column, ...]:
    """The definition's columns that a row has of itself."""
    return tuple(c for c in source.columns if c.metadata is None and c.computed is None)


def _plain(source: Source) -> Envelope:
    return Envelope(_fields(source), {})


def _upsert(source: Source) -> Envelope:
    fields, flag = _fields(source), source.encode_options.get("delete_field", "").lower()
    if CONNECTORS[source.connector].keyed_records:
        return _upsert_by_key(source)
    if not flag:
        return Envelope(fields, {OP: text(UPSERTED), SAID: "NULL"})
    found = {column.key.lower(): column for column in fields}.get(flag)
    if found is None:
        taken = flag in [column.name for column in fields]
        found = Column(_FLAG if taken else flag, t.VARCHAR, read_from=flag if taken else "")
        fields = (*fields, found)
    said = f"CAST({name(found.name)} AS STRING)"
    op = f"CASE WHEN {said} IS NULL THEN {text(UPSERTED)} {_cases(f'lower({said})', _FLAGS)} END"
    return Envelope(fields, {OP: op, SAID: said})


def _upsert_by_key(source: Source) -> Envelope:
    keys = [column for column in _fields(source) if column.name in source.primary_key]
    rest = tuple(column for column in _fields(source) if column not in keys)
    said = f"CAST({KEY} AS STRING)"
    op = f"if({TOMBSTONE}, {text(DELETED)}, {text(UPSERTED)})"
    if key_encoding(source) == "avro":  # it is read as the value is
        return Envelope(_fields(source), {OP: op, SAID: "NULL"})
    opened = {OP: op, SAID: "NULL", _KEY_TEXT: said}
    as_text = key_encoding(source) == "text"
    readings = {}
    for column in keys:
        value = said if as_text else _of_json_key(source, column)
        if is_cast(column.type):
            value = cast_text(value, column.type, None)
        elif as_text:
            value = f"try_cast({value} AS {spark_type(column.type)})"
        opened[column.name] = value
        readings[column.name] = Reading(column.type, value, _KEY_TEXT, "")
    return Envelope(rest or (Column(_NOTHING, t.VARCHAR),), opened, readings)


def key_encoding(source: Source) -> str:
    """Return how the keys of records are encoded: ``json``, ``text`` or ``avro``.

    Args:
        source: a definition over Kafka with FORMAT UPSERT.
    """
    default = "avro" if source.encode == "avro" else "json"
    return source.encode_options.get("key_encode", default)


def _of_json_key(source: Source, column: Column) -> str:
    """A column of a key that is a JSON object, or the one value."""
    kind = "STRING" if is_cast(column.type) else spark_type(column.type)
    said, bare = f"CAST({KEY} AS STRING)", len(source.primary_key) == 1
    schema = text(f"{name(column.key)} {kind}")
    named = text(f"{{{json.dumps(column.key, ensure_ascii=False)}:")
    whole = f"if(ltrim({said}) LIKE '{{%', {said}, concat({named}, {said}, '}}'))" if bare else said
    options = "map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false')"
    read, is_text = in_lower_case(whole, [column]), column.type.this is t.Type.VARCHAR
    if is_text:
        read = with_numbers_as_texts(read)
    found = f"from_json({read}, {schema}, {options}).{name(column.key)}"
    if is_text:
        found = as_written(found, found, column.type)
    twice = f"{has_other_case(whole, [column])} AND {same_but_for_case(whole, [column])}"
    return f"CASE WHEN coalesce({twice}, false) THEN NULL ELSE {found} END"


def _debezium(source: Source) -> Envelope:
    in_avro, fields = source.encode == "avro", _fields(source)
    part = name if in_avro else _either
    said = part(_KIND)
    values = {
        column.name: f"{part(_AFTER)}.{name(column.key)}"
        if column.name not in source.primary_key
        else f"CASE WHEN {said} = 'd' THEN {part(_BEFORE)}.{name(column.key)}"
        f" ELSE {part(_AFTER)}.{name(column.key)} END"
        for column in fields
    }
    # the schema of Avro says how a value is written, and it comes here as what it is
    told = () if in_avro else fields
    found = {c.name: reading(c, values[c.name], source.encode_options) for c in told}
    readings = {column: each for column, each in found.items() if each}
    parsed = [replace(c, type=readings[c.name].parsed) if c.name in readings else c for c in fields]
    keys = [column for column in parsed if column.name in source.primary_key]
    event = [Column(_BEFORE, _row(keys)), Column(_AFTER, _row(parsed)), Column(_KIND, t.VARCHAR)]
    timed = any(column.metadata == SOURCE_TIME for column in source.columns)
    origin = {"snapshot": t.VARCHAR, "lsn": t.BIGINT} if source.replaces else {}
    origin |= {"ts_ms": t.BIGINT} if timed else {}
    event += [Column(SOURCE, t.row(origin))] if origin else []
    events = _EVENTS | _TRUNCATE if source.truncates else _EVENTS
    opened = {OP: f"CASE {_cases(said, events)} END", SAID: said}
    opened |= {} if in_avro else {_DECLARED: _declared()}
    opened |= values | {column: each.value for column, each in readings.items()}
    missing = {c.name: _missing(source, c, values[c.name]) for c in fields}
    for column in source.left_out:
        opened[column] = f"CASE WHEN NOT {missing[column]} THEN {values[column]} END"
    if source.left_out:
        names = (f"CASE WHEN {missing[c]} THEN {text(c)} END" for c in source.left_out)
        opened[LEFT_OUT] = f"concat_ws(',', {', '.join(names)})"
    refused = [*_otherwise(readings, {c.name: c.key for c in fields}), *_not_said(source, missing)]
    if source.replaces:
        named, nameless = _snapshot(part(SOURCE), said)
        opened |= named
        refused.append(nameless)
    if timed:
        opened[CHANGED_AT] = from_units(t.TIMESTAMPTZ, f"{part(SOURCE)}.ts_ms", 1_000)
        refused.append((f"{CHANGED_AT} IS NULL", text(f"a change without a valid {SOURCE_TIME}")))
    if in_avro:
        return Envelope(tuple(event), opened, {}, tuple(refused), f"{SAID} = {text(NO_CHANGE)}")
    stored = (*event, Column(_PAYLOAD, _row(event)), Column(_SCHEMA, _PARTS))
    return Envelope(stored, opened, readings, tuple(refused), _no_row(), _after_as_text())


def _snapshot(origin: str, said: str) -> tuple[dict[str, str], tuple[str, str]]:
    """Which snapshot a row is of, which one it ends; and why one that does not say so is bad."""
    number, taken = f"{origin}.lsn", f"coalesce({origin}.snapshot, '')"
    is_of_one = f"{said} = 'r' AND {taken} <> {text(_INCREMENTAL)}"
    is_last = f"{is_of_one} AND {taken} IN ({', '.join(map(text, _LAST))})"
    named = {
        SNAPSHOT: f"CASE WHEN {is_of_one} THEN {number} END",
        SNAPSHOT_END: f"CASE WHEN {is_last} THEN {number} END",
    }
    reason = "a row of a snapshot without source.lsn, by which snapshots are told apart"
    return named, (f"{is_of_one} AND {number} IS NULL", text(reason))


def leaves_out(column: str) -> str:
    """Return the condition that a record of a log leaves the value of a column out."""
    return f"contains(concat(',', {UNCHANGED_COLUMN}, ','), {text(f',{column},')})"


def _missing(source: Source, column: Column, value: str) -> str:
    placeholder = source.encode_options.get("unavailable_value", UNAVAILABLE)
    return unavailable(column.type, value, placeholder)


def _not_said(source: Source, missing: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield why a value that is left out cannot be that of the row before."""
    if source.left_out:
        reason = "a row begins without the value of "
        yield (
            f"{SAID} IN ('c', 'r') AND {UNCHANGED_COLUMN} <> ''",
            f"concat({text(reason)}, {UNCHANGED_COLUMN})",
        )
    for column, condition in missing.items():
        if condition and column not in source.left_out:
            yield condition, text(f'column "{column}": the event does not say its value')
    for computed in source.columns:
        if computed.computed is not None:
            read = {part.name for part in computed.computed.find_all(exp.Column)}
            for column in sorted(read.intersection(source.left_out)):
                reason = f'column "{computed.name}": the event does not say the value of "{column}"'
                yield leaves_out(column), text(reason)


def _declared() -> str:
    """What the schema in an event says of the fields of a row; NULL where there is none."""
    of_rows = f"filter({name(_SCHEMA)}.fields, part -> part.field = {text(_AFTER)})"
    return f"get({of_rows}, 0).fields"


def _otherwise(
    readings: Mapping[str, Reading], keys: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield that the schema in an event says that a value is written in another way."""
    for column, each in readings.items():
        field_ = f"get(filter({_DECLARED}, part -> part.field = {text(keys[column])}), 0)"
        written = (
            f"concat_ws(' ', coalesce({field_}.name, {field_}.type), {field_}.parameters.scale)"
        )
        reason = f'column "{column}": declared to be written as {each.schema}, and it is '
        yield (
            f"{field_} IS NOT NULL AND {written} <> {text(each.schema)}",
            f"concat({text(reason)}, {written})",
        )


def _no_row() -> str:
    keys = "sort_array(json_object_keys(coalesce(get_json_object(_value, '$.payload'), _value)))"
    known = ", ".join(f"array({', '.join(map(text, each))})" for each in ABOUT_NO_ROW)
    return f"CASE WHEN {SAID} IS NULL THEN {keys} IN ({known}) ELSE {SAID} = {text(NO_CHANGE)} END"


def _after_as_text() -> str:
    within = (f"get_json_object(_value, '$.{part}{_AFTER}')" for part in ("", f"{_PAYLOAD}."))
    return f"coalesce({', '.join(within)})"


def _row(columns: Sequence[Column]) -> exp.DataType:
    """The type ROW of some columns."""
    parts = [exp.ColumnDef(this=exp.to_identifier(c.key), kind=c.type.copy()) for c in columns]
    return exp.DataType(this=exp.DataType.Type.STRUCT, expressions=parts, nested=True)


def _either(part: str) -> str:
    """A part of an event that may stand within its schema."""
    return f"coalesce({name(part)}, {name(_PAYLOAD)}.{name(part)})"


def _cases(said: str, listed: Mapping[str, Sequence[str]]) -> str:
    return " ".join(
        f"WHEN {said} IN ({', '.join(map(text, words))}) THEN {text(op)}"
        for op, words in listed.items()
    )


_ENVELOPES: Mapping[RecordFormat, Callable[[Source], Envelope]] = {
    RecordFormat.PLAIN: _plain,
    RecordFormat.UPSERT: _upsert,
    RecordFormat.DEBEZIUM: _debezium,
}
