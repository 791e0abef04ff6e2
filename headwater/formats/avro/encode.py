"""Avro of records: the schemas that a registry is given, and the Spark SQL that writes by them.

In: a sink's definition. Out: the schemas of its keys and values, as JSON; and for their numbers the
expressions of bytes as Confluent's serializers write them: a zero byte, the number of the schema in
four bytes, Avro.

Every field may be NULL, and is by default: a topic whose view gets a column takes the new schema
beside the old one. Times and decimals have their logical types, so that
:mod:`headwater.formats.avro.types` reads back the very columns.

See the Avro specification, "Schema Declaration" and "Logical Types".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from sqlglot import exp

from headwater.analyze.definitions import RecordFormat, Sink
from headwater.analyze.typing import types as t
from headwater.formats.avro.schema import ITEM, Json
from headwater.plan.sql.spark_text import text

_PLAIN: Mapping[exp.DType, Json] = {
    t.Type.BOOLEAN: "boolean",
    t.Type.INT: "int",
    t.Type.BIGINT: "long",
    t.Type.FLOAT: "float",
    t.Type.DOUBLE: "double",
    **dict.fromkeys((t.Type.VARCHAR, t.Type.TIME, t.Type.UUID), "string"),
    t.Type.VARBINARY: "bytes",
    t.Type.DATE: {"type": "int", "logicalType": "date"},
    t.Type.TIMESTAMPNTZ: {"type": "long", "logicalType": "local-timestamp-micros"},
    t.Type.TIMESTAMPTZ: {"type": "long", "logicalType": "timestamp-micros"},
}
_TEXTS = ("version", "connector", "name", "snapshot", "db", "table")
_NUMBERS = ("ts_ms", "epoch")
"""Where an event is from (``headwater.formats.records``)."""


def key_schema(sink: Sink) -> str:
    """Return the schema of a sink's keys, as JSON.

    Args:
        sink: the definition; it has a key.
    """
    kinds = {field.name: field.type for field in sink.fields}
    return json.dumps(
        _record(f"{_namespace(sink)}.Key", {name: kinds[name] for name in sink.key or ()})
    )


def value_schema(sink: Sink) -> str:
    """Return the schema of a sink's values, as JSON: of rows, or of Debezium's events."""
    space = _namespace(sink)
    row = _record(f"{space}.Value", {field.name: field.type for field in sink.fields})
    if sink.format is not RecordFormat.DEBEZIUM:
        return json.dumps(row)
    source: list[Json] = [{"name": name, "type": "string"} for name in _TEXTS]
    source += [{"name": name, "type": "long"} for name in _NUMBERS]
    fields: list[Json] = [
        _optional("before", row),
        _optional("after", row["name"]),
        {"name": "source", "type": _named(f"{space}.Source", source)},
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": "long"},
    ]
    return json.dumps(_named(f"{space}.Envelope", fields))


def written(number: int, schema: str) -> Callable[[str], str]:
    """Return what makes the bytes of a record out of the expression of a struct.

    Args:
        schema: JSON.
    """
    return lambda struct: f"concat(X'00{number:08X}', to_avro({struct}, {text(schema)}))"


def _namespace(sink: Sink) -> str:
    """That of the topic, as Debezium makes names of it."""
    parts = (part.replace("-", "_") for part in sink.options["topic"].split("."))
    return ".".join(part if part[:1].isalpha() else f"_{part}" for part in parts)


def _record(name: str, kinds: Mapping[str, exp.DataType]) -> dict[str, Json]:
    """A record of columns; those within it are called by their places, each of which is one."""
    return _named(
        name, [_optional(field, _type(f"{name}.{field}", kind)) for field, kind in kinds.items()]
    )


def _type(name: str, kind: exp.DataType) -> Json:
    if kind.this is t.Type.DECIMAL:
        precision, scale = t.digits(kind)
        return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
    if kind.this is t.Type.STRUCT:
        names = (field.name for field in kind.expressions)
        return _record(name, dict(zip(names, t.elements(kind), strict=True)))
    if kind.this in (t.Type.ARRAY, t.Type.MAP):
        of = "array" if kind.this is t.Type.ARRAY else "map"
        return {"type": of, ITEM[of]: ["null", _type(name, t.elements(kind)[-1])]}
    return _PLAIN[kind.this]


def _named(name: str, fields: list[Json]) -> dict[str, Json]:
    return {"type": "record", "name": name, "fields": fields}


def _optional(name: str, kind: Json) -> Json:
    return {"name": name, "type": ["null", kind], "default": None}
