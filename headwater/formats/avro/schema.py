"""Schemas of Avro: their JSON → a tree of types, and what Avro's own reader is given of it.

In: the text of a schema and of those it refers to. Out: :class:`Schema`. Named types are kept aside
and referred to by name, so a type may hold itself. For the reader they get names of our own: a
projection may then hold two shapes of one record, and no namespace can mislead.

See the Avro specification, "Schema Declaration" and "Names".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_NAMED = ("record", "error", "enum", "fixed")
_NAME = re.compile(r"[^\W\d]\w*")
_REFERENCE = "name"
ITEM = {"array": "items", "map": "values"}
"""What the JSON of a collection calls the type of its items."""


class SchemaRefused(ValueError):
    """A schema that cannot be read; its text says why."""


@dataclass(frozen=True, slots=True)
class Type:
    """A type of Avro.

    Attributes:
        kind: the name of a primitive type, ``record``, ``enum``, ``fixed``, ``array``, ``map``,
            ``union``, or ``name`` for a type that stands in :attr:`Schema.named`.
        name: of a named type and of a reference to it.
        parts: the fields of a record by name; the item of an array or map, the branches of a union.
        properties: what else is said of it: ``logicalType``, ``scale``, ``connect.name``, …
    """

    kind: str
    name: str = ""
    parts: tuple[tuple[str, Type], ...] = ()
    properties: Mapping[str, Json] = field(default_factory=dict)

    @property
    def items(self) -> tuple[Type, ...]:
        """The types of its parts."""
        return tuple(part for _, part in self.parts)

    def property(self, name: str) -> str:
        """Return a property as text; empty if it is not there."""
        return str(self.properties.get(name, ""))


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema, complete.

    Attributes:
        number: its number in the registry.
        root: its type.
        named: the types that have names.
        texts: what it was parsed from: those that it refers to, then itself.
    """

    number: int
    root: Type
    named: Mapping[str, Type]
    texts: tuple[str, ...]

    def resolved(self, kind: Type) -> Type:
        """Return a type itself, where there may be a reference to it."""
        return self.named[kind.name] if kind.kind == _REFERENCE else kind

    def field_names(self, within: str = "") -> tuple[str, ...]:
        """Return the names of the fields of a record, sorted; none if it is something else.

        Args:
            within: the field that is the record, or NULL or the record; the whole by default.
        """
        records = [self.resolved(self.root)]
        if within:
            field_ = self.resolved(dict(records[0].parts).get(within, Type("null")))
            branches = field_.items if field_.kind == "union" else (field_,)
            records = [self.resolved(branch) for branch in branches]
        return tuple(sorted(name for record in records for name, _ in record.parts if name))

    def written(self) -> Json:
        """Return it for Avro's reader: what the bytes of a record are."""
        return self._written(self.root, set())

    def narrowed(self, *names: str) -> Json:
        """Return it for Avro's reader with some fields alone, those that the record has."""
        root, seen = self.resolved(self.root), set[str]()
        fields: list[Json] = [
            {"name": name, "type": self._written(part, seen)}
            for name, part in root.parts
            if name in names
        ]
        return {"type": "record", "name": self.label(root.name), "fields": fields}

    def label(self, name: str) -> str:
        """Return what a named type is called there."""
        return f"t{list(self.named).index(name)}"

    def _written(self, kind: Type, seen: set[str]) -> Json:
        if kind.kind == _REFERENCE:
            if kind.name in seen:
                return self.label(kind.name)
            seen.add(kind.name)
            return self._definition(self.named[kind.name], seen)
        if kind.kind == "union":
            return [self._written(branch, seen) for branch in kind.items]
        if kind.kind in ("array", "map"):
            return {"type": kind.kind, ITEM[kind.kind]: self._written(kind.items[0], seen)}
        return kind.kind

    def _definition(self, kind: Type, seen: set[str]) -> Json:
        if kind.kind != "record":
            return self.flat(kind)
        fields: list[Json] = [
            {"name": name, "type": self._written(part, seen)} for name, part in kind.parts
        ]
        return {"type": "record", "name": self.label(kind.name), "fields": fields}

    def flat(self, kind: Type) -> dict[str, Json]:
        """Return the definition of an enum or a fixed type for Avro's reader."""
        sized = "symbols" if kind.kind == "enum" else "size"
        return {"type": kind.kind, "name": self.label(kind.name), sized: kind.properties[sized]}


def parse(number: int, text: str, referred: Sequence[str] = ()) -> Schema:
    """Return the schema that a text holds.

    Args:
        number: its number in the registry.
        text: JSON.
        referred: the schemas it refers to, each after those that it refers to itself.

    Raises:
        SchemaRefused: it is none, or names a type that is not there.
    """
    parser = _Parser()
    try:
        for each in referred:
            parser.type_of(json.loads(each), "")
        root = parser.type_of(json.loads(text), "")
    except (ValueError, RecursionError) as error:
        raise SchemaRefused(str(error)[:200]) from error
    if missing := parser.missing():
        raise SchemaRefused(f'type "{missing}" is not defined')
    return Schema(number, root, parser.named, (*referred, text))


class _Parser:
    def __init__(self) -> None:
        self.named: dict[str, Type] = {}
        self._known: set[str] = set()
        self._used: set[str] = set()

    def missing(self) -> str:
        """A name that is used and stands for nothing; empty if there is none."""
        return min(self._used - self._known, default="")

    def type_of(self, node: Json, space: str) -> Type:
        if isinstance(node, list):
            return Type("union", parts=tuple(("", self.type_of(each, space)) for each in node))
        if isinstance(node, str):
            return Type(node) if node in PRIMITIVES else self._reference(node, space)
        if not isinstance(node, dict) or "type" not in node:
            raise SchemaRefused(f"no type: {json.dumps(node)[:80]}")
        kind, rest = node["type"], {key: held for key, held in node.items() if key != "type"}
        if not isinstance(kind, str):
            return self.type_of(kind, space)
        if kind in _NAMED:
            return self._definition(kind, rest, space)
        if kind in ITEM:
            return Type(kind, parts=(("", self.type_of(rest.pop(ITEM[kind], None), space)),))
        if kind in PRIMITIVES:
            return Type(kind, properties=rest)
        return self._reference(kind, space)

    def _reference(self, name: str, space: str) -> Type:
        near = f"{space}.{name}"
        full = near if "." not in name and near in self._known else name
        self._used.add(full)
        return Type(_REFERENCE, full)

    def _definition(self, kind: str, rest: dict[str, Json], space: str) -> Type:
        name = str(rest.get("name", ""))
        if "." not in name:
            space = str(rest.get("namespace") or ("" if "namespace" in rest else space))
            name = f"{space}.{name}" if space else name
        space = name.rpartition(".")[0]
        if name in self._known:
            raise SchemaRefused(f'type "{name}" is defined twice')
        self._known.add(name)
        parts: tuple[tuple[str, Type], ...] = ()
        if kind in ("record", "error"):
            kind, parts = "record", tuple(self._fields(rest.pop("fields", None), space))
        elif kind == "enum":
            _check_names(rest.get("symbols"))
        elif not isinstance(rest.get("size"), int):
            raise SchemaRefused(f'type "{name}" has no size')
        self.named[name] = Type(kind, name, parts, rest)
        return Type(_REFERENCE, name)

    def _fields(self, nodes: Json, space: str) -> list[tuple[str, Type]]:
        if not isinstance(nodes, list):
            raise SchemaRefused("a record without fields")
        fields = []
        for node in nodes:
            if not isinstance(node, dict):
                raise SchemaRefused("a field is no object")
            kind = self.type_of(node.get("type"), space)
            fields.append((str(node.get("name", "")), kind))
        _check_names([name for name, _ in fields])
        return fields


def _check_names(names: Json | list[str]) -> None:
    """Avro's reader refuses other names, and two that are the same."""
    if not isinstance(names, list) or len(set(map(str, names))) < len(names):
        raise SchemaRefused("names are missing or not different")
    for name in names:
        if not _NAME.fullmatch(str(name)):
            raise SchemaRefused(f'"{name}" is no name in Avro')
