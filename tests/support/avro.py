"""Avro as bytes, straight from its specification; shares no code with what reads it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

Json = Any


def message(number: int, schema: Json, value: Any) -> bytes:
    """A record as Confluent's serializers write it."""
    return b"\0" + struct.pack(">i", number) + encoded(schema, value)


def encoded(schema: Json, value: Any, named: dict[str, Json] | None = None) -> bytes:
    named = dict(_named(schema, "")) if named is None else named
    if isinstance(schema, list):
        at = next(i for i, branch in enumerate(schema) if (branch == "null") == (value is None))
        return number(at) + encoded(schema[at], value, named)
    if isinstance(schema, str) and schema in named:
        schema = named[schema]
    kind = schema if isinstance(schema, str) else schema["type"]
    if kind == "record":
        fields = (encoded(field["type"], value[field["name"]], named) for field in schema["fields"])
        return b"".join(fields)
    if kind == "array":
        items = b"".join(encoded(schema["items"], item, named) for item in value)
        return (number(len(value)) + items if value else b"") + number(0)
    if kind == "map":
        pairs = b"".join(
            encoded("string", key) + encoded(schema["values"], each, named)
            for key, each in value.items()
        )
        return (number(len(value)) + pairs if value else b"") + number(0)
    if kind == "enum":
        return number(schema["symbols"].index(value))
    if isinstance(value, Decimal):
        size = schema.get("size") if isinstance(schema, dict) else None
        value = unscaled(value, size)
    return _primitive(kind, value)


def _named(schema: Json, space: str) -> Iterator[tuple[str, Json]]:
    """Types that have names, by their own name and by that with their namespace."""
    if isinstance(schema, list):
        for branch in schema:
            yield from _named(branch, space)
    elif isinstance(schema, dict):
        if "name" in schema:
            space = schema.get("namespace", space)
            yield from ((schema["name"], schema), (f"{space}.{schema['name']}", schema))
        inner = [field["type"] for field in schema.get("fields", [])]
        for kind in (*inner, schema.get("items"), schema.get("values")):
            yield from _named(kind, space)


def unscaled(value: Decimal, size: int | None = None) -> bytes:
    digits = int(value.scaleb(-int(value.as_tuple().exponent)))
    return digits.to_bytes(size or digits.bit_length() // 8 + 1, "big", signed=True)


def number(value: int) -> bytes:
    """Zigzag, seven bits a byte."""
    value, out = (value << 1) ^ (value >> 63), b""
    while value > 0x7F:
        value, out = value >> 7, out + bytes([value & 0x7F | 0x80])
    return out + bytes([value])


def _primitive(kind: str, value: Any) -> bytes:
    if kind in ("int", "long"):
        return number(value)
    if kind in ("bytes", "string"):
        held = value.encode() if isinstance(value, str) else bytes(value)
        return number(len(held)) + held
    if kind == "boolean":
        return bytes([value])
    if kind in ("float", "double"):
        return struct.pack("<f" if kind == "float" else "<d", value)
    return b"" if kind == "null" else bytes(value)  # fixed


def fields(**kinds: Json) -> Json:
    """A record with these fields."""
    listed = [{"name": name, "type": kind} for name, kind in kinds.items()]
    return {"type": "record", "name": "R", "fields": listed}
