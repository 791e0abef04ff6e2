"""Avro files as Iceberg's writers make them: read record by record, written with the same schema.

In: the bytes of a file. Out: header and records as Python values; and bytes again, with whatever
the header and the records held. Fields that this release does not know are kept.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from pyiceberg.avro.codecs import KNOWN_CODECS
from pyiceberg.avro.decoder import BinaryDecoder
from pyiceberg.avro.decoder_fast import CythonBinaryDecoder
from pyiceberg.avro.encoder import BinaryEncoder

_MAGIC = b"Obj\x01"
_SYNC = 16
_HEADER = {"type": "map", "values": "bytes"}

Read = Callable[[BinaryDecoder], Any]
Write = Callable[[BinaryEncoder, Any], None]


@dataclass(frozen=True, slots=True)
class AvroFile:
    """One file.

    Attributes:
        header: what its header holds, the schema among it.
        records: its records; a union is a pair of the branch's number and the value.
    """

    header: dict[str, bytes]
    records: list[dict[str, Any]]

    @classmethod
    def parse(cls, content: bytes) -> AvroFile:
        """Read a file.

        Raises:
            ValueError: it is not an Avro file, or it is cut off.
        """
        try:
            return cls._parsed(content)
        except (LookupError, EOFError, zlib.error) as error:
            raise ValueError("it is cut off or damaged") from error

    @classmethod
    def _parsed(cls, content: bytes) -> AvroFile:
        if not content.startswith(_MAGIC):
            raise ValueError("it is not an Avro file")
        names: dict[str, Any] = {}
        at = CythonBinaryDecoder(content)
        at.skip(len(_MAGIC))
        header: dict[str, bytes] = _coder(_HEADER, names)[0](at)
        sync = at.read(_SYNC)
        read = _coder(json.loads(header["avro.schema"]), names)[0]
        unpack = _packing(header)[1]
        records: list[dict[str, Any]] = []
        while at.tell() < len(content):
            count, block = at.read_int(), unpack(at.read_bytes())
            inner = CythonBinaryDecoder(block)
            records += [read(inner) for _ in range(count)]
            if at.read(_SYNC) != sync:
                raise ValueError("it is cut off or damaged")
        return cls(header, records)

    def content(self) -> bytes:
        """Return the file as bytes."""
        names: dict[str, Any] = {}
        out, sync = BytesIO(), os.urandom(_SYNC)
        to = _encoder(out)
        to.write(_MAGIC)
        _coder(_HEADER, names)[1](to, self.header)
        to.write(sync)
        write = _coder(json.loads(self.header["avro.schema"]), names)[1]
        block = BytesIO()
        inner = _encoder(block)
        for record in self.records:
            write(inner, record)
        to.write_int(len(self.records))
        to.write_bytes(_packing(self.header)[0](block.getvalue()))
        to.write(sync)
        return out.getvalue()


def _encoder(out: BytesIO) -> BinaryEncoder:
    return BinaryEncoder(out)


def _packing(header: dict[str, bytes]) -> tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]:
    """How blocks are packed and unpacked."""
    name = header.get("avro.codec", b"null").decode()
    if name == "null":
        return bytes, bytes
    if name == "deflate":
        return _deflate, lambda block: zlib.decompress(block, -15)
    codec = KNOWN_CODECS[name]  # type: ignore[index]
    assert codec is not None
    return lambda block: codec.compress(block)[0], codec.decompress


def _deflate(block: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(block) + packer.flush()


_PLAIN: dict[str, tuple[Read, Write]] = {
    "null": (lambda _: None, lambda _, __: None),
    "boolean": (lambda at: at.read_boolean(), lambda to, value: to.write_boolean(value)),
    "int": (lambda at: at.read_int(), lambda to, value: to.write_int(value)),
    "long": (lambda at: at.read_int(), lambda to, value: to.write_int(value)),
    # as bytes: no bit of them changes
    "float": (lambda at: at.read(4), lambda to, value: to.write(value)),
    "double": (lambda at: at.read(8), lambda to, value: to.write(value)),
    "bytes": (lambda at: at.read_bytes(), lambda to, value: to.write_bytes(value)),
    "string": (lambda at: at.read_utf8(), lambda to, value: to.write_utf8(value)),
    "enum": (lambda at: at.read_int(), lambda to, value: to.write_int(value)),
}


def _coder(schema: Any, names: dict[str, Any]) -> tuple[Read, Write]:  # noqa: ANN401 - JSON
    """How a value of a schema is read and written."""
    if isinstance(schema, str):
        return _PLAIN.get(schema) or _coder(names[schema], names)
    if isinstance(schema, list):
        return _union([_coder(branch, names) for branch in schema])
    kind = schema["type"]
    if "name" in schema and kind in ("record", "enum", "fixed"):
        names[schema["name"]] = schema
    if kind == "record":
        fields = [(each["name"], *_coder(each["type"], names)) for each in schema["fields"]]
        return _record(fields)
    if kind == "fixed":
        size = int(schema["size"])
        return (lambda at: at.read(size)), (lambda to, value: to.write(value))
    if kind == "array":
        return _array(*_coder(schema["items"], names))
    if kind == "map":
        return _map(*_coder(schema["values"], names))
    return _PLAIN[kind] if isinstance(kind, str) and kind in _PLAIN else _coder(kind, names)


def _union(branches: list[tuple[Read, Write]]) -> tuple[Read, Write]:
    def read(at: BinaryDecoder) -> tuple[int, Any]:
        number = at.read_int()
        return number, branches[number][0](at)

    def write(to: BinaryEncoder, value: tuple[int, Any]) -> None:
        to.write_int(value[0])
        branches[value[0]][1](to, value[1])

    return read, write


def _record(fields: list[tuple[str, Read, Write]]) -> tuple[Read, Write]:
    def read(at: BinaryDecoder) -> dict[str, Any]:
        return {name: of(at) for name, of, _ in fields}

    def write(to: BinaryEncoder, value: dict[str, Any]) -> None:
        for name, _, of in fields:
            of(to, value[name])

    return read, write


def _items(at: BinaryDecoder) -> Iterable[int]:
    while count := at.read_int():
        if count < 0:  # then the size of the block follows
            at.read_int()
        yield from range(abs(count))


def _array(read_item: Read, write_item: Write) -> tuple[Read, Write]:
    def write(to: BinaryEncoder, value: list[Any]) -> None:
        if value:
            to.write_int(len(value))
            for item in value:
                write_item(to, item)
        to.write_int(0)

    return (lambda at: [read_item(at) for _ in _items(at)]), write


def _map(read_item: Read, write_item: Write) -> tuple[Read, Write]:
    def write(to: BinaryEncoder, value: dict[str, Any]) -> None:
        if value:
            to.write_int(len(value))
            for key, item in value.items():
                to.write_utf8(key)
                write_item(to, item)
        to.write_int(0)

    return (lambda at: {at.read_utf8(): read_item(at) for _ in _items(at)}), write
