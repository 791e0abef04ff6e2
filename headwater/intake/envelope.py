"""What a record of a format does to which row: FORMAT PLAIN, UPSERT and DEBEZIUM.

In: the definition. Out: which columns are read from a record, and the expressions that make the
definition's own columns of them, with ``_op``, what the record does: ``UPSERT``, ``DELETE``, or
NULL for what no keyed table can follow, which makes a bad row.

``UPSERT``: a record is a row. The option ``delete_field`` names the field that says what it does.
Over Kafka the key's columns are those of the record's key, and a record without a value deletes.

``DEBEZIUM``: a record is a change event, with or without its schema around it; the row is its
``after``, that of a deletion its ``before``, of which the key is enough. Values are read as JSON
shows them: Debezium is to write numbers and times as text (``decimal.handling.mode=string``,
``time.precision.mode=isostring``), or they are declared as what it writes.
See the Debezium documentation, "PostgreSQL connector: data change events".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from headwater.analyze import types as t
from headwater.analyze.definitions import DELETED, UPSERTED, Column, Source
from headwater.analyze.keyed import DEBEZIUM_FIELDS
from headwater.analyze.types import spark_type
from headwater.intake.sqltext import name, text
from headwater.intake.times import cast_time, is_time

KEY, TOMBSTONE = "_key", "_tombstone"
"""Of a record of Kafka: its key as bytes, and whether it has no value."""
OP, SAID = "_op", "_said"
"""What a record does, as far as it is known; and in its own words, for the reason of a bad row."""
_WRITES = ("c", "i", "r", "u", "insert", "update", "upsert", "false")
_DELETES = ("d", "delete", "true")
_BEFORE, _AFTER, _KIND, _PAYLOAD = DEBEZIUM_FIELDS


@dataclass(frozen=True, slots=True)
class Envelope:
    """How the records of one format are read.

    Attributes:
        stored: the columns that are read from a record.
        opened: column → Spark SQL over them: the definition's own where they are not stored,
            :data:`OP` and :data:`SAID`; empty where every record adds a row.
        texts: column → Spark SQL of the text that it was made of, where that can fail.
    """

    stored: tuple[Column, ...]
    opened: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)


def envelope(source: Source) -> Envelope:
    """Return how the records of a source are read.

    Args:
        source: the definition.
    """
    return _ENVELOPES[source.format](source)


def _fields(source: Source) -> tuple[Column, ...]:
    """The definition's columns that a row has of itself."""
    return tuple(c for c in source.columns if c.metadata is None and c.computed is None)


def _plain(source: Source) -> Envelope:
    return Envelope(_fields(source), {})


def _upsert(source: Source) -> Envelope:
    fields, flag = _fields(source), source.encode_options.get("delete_field")
    if source.connector == "kafka":
        return _upsert_by_key(source)
    if flag is None:
        return Envelope(fields, {OP: text(UPSERTED), SAID: "NULL"})
    if flag not in [column.name for column in fields]:
        fields = (*fields, Column(flag, t.VARCHAR))
    said = f"CAST({name(flag)} AS STRING)"
    op = f"CASE WHEN {said} IS NULL THEN {text(UPSERTED)} {_cases(said)} END"
    return Envelope(fields, {OP: op, SAID: said})


def _upsert_by_key(source: Source) -> Envelope:
    keys = [column for column in _fields(source) if column.name in source.primary_key]
    rest = tuple(column for column in _fields(source) if column not in keys)
    said = f"CAST({KEY} AS STRING)"
    opened = {OP: f"if({TOMBSTONE}, {text(DELETED)}, {text(UPSERTED)})", SAID: "NULL"}
    as_text = source.encode_options.get("key_encode") == "text"
    for column in keys:
        value = said if as_text else _of_json_key(source, column)
        if is_time(column.type):
            value = cast_time(value, column.type, None)
        elif as_text:
            value = f"try_cast({value} AS {spark_type(column.type)})"
        opened[column.name] = value
    return Envelope(rest, opened, dict.fromkeys(source.primary_key, said))


def _of_json_key(source: Source, column: Column) -> str:
    """A column of a key that is a JSON object, or the one value."""
    kind = "STRING" if is_time(column.type) else spark_type(column.type)
    said, bare = f"CAST({KEY} AS STRING)", len(source.primary_key) == 1
    schema = text(f"{name(column.name)} {kind}")
    named = text(f'{{"{column.name}":')
    whole = f"if(ltrim({said}) LIKE '{{%', {said}, concat({named}, {said}, '}}'))" if bare else said
    options = "map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false')"
    return f"from_json({whole}, {schema}, {options}).{name(column.name)}"


def _debezium(source: Source) -> Envelope:
    fields = _fields(source)
    read = [replace(c, type=t.VARCHAR) if is_time(c.type) else c for c in fields]
    event = [Column(_BEFORE, _row(read)), Column(_AFTER, _row(read)), Column(_KIND, t.VARCHAR)]
    said = _either(_KIND)
    opened, texts = {OP: f"CASE {_cases(said)} END", SAID: said}, {}
    for column in fields:
        before, after = (f"{_either(side)}.{name(column.name)}" for side in (_BEFORE, _AFTER))
        value = f"CASE WHEN {said} = 'd' THEN {before} ELSE {after} END"
        if is_time(column.type):
            texts[column.name], value = value, cast_time(value, column.type, None)
        opened[column.name] = value
    return Envelope((*event, Column(_PAYLOAD, _row(event))), opened, texts)


def _row(columns: Sequence[Column]) -> exp.DataType:
    """The type ROW of some columns."""
    parts = [exp.ColumnDef(this=exp.to_identifier(c.name), kind=c.type.copy()) for c in columns]
    return exp.DataType(this=exp.DataType.Type.STRUCT, expressions=parts, nested=True)


def _either(part: str) -> str:
    """A part of an event that may stand within its schema."""
    return f"coalesce({name(part)}, {name(_PAYLOAD)}.{name(part)})"


def _cases(said: str) -> str:
    listed = {UPSERTED: _WRITES, DELETED: _DELETES}
    return " ".join(
        f"WHEN lower({said}) IN ({', '.join(map(text, words))}) THEN {text(op)}"
        for op, words in listed.items()
    )


_ENVELOPES: Mapping[str, Callable[[Source], Envelope]] = {
    "plain": _plain,
    "upsert": _upsert,
    "debezium": _debezium,
}
