"""Types of Avro → declared types: what is read of a record, and the Spark SQL of its values.

In: a schema and declared columns. Out: per column the projection that Avro's reader is given, the
expression of the column's value, and the condition that a value is none of its type. A type that
could lose something on the way is refused, with both types in the reason.

Values are read as Avro's plain types and made into dates and times here: by the logical type, or by
the name that Kafka Connect gives (``connect.name``), with the expressions that Debezium's JSON uses
(:mod:`headwater.formats.debezium`). Decimals are read with 38 digits, whatever their schema says,
and then cast. Fields are found by their
names, where no other field has the name, in whatever case.

See the Avro specification, "Logical Types", and the Debezium documentation, "Temporal types".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from sqlglot import exp

from headwater.analyze.definitions import Column
from headwater.analyze.typing import types as t
from headwater.analyze.typing.types import elements, spark_type, sql_type
from headwater.formats import debezium
from headwater.formats.avro.schema import ITEM, Json, Schema, Type
from headwater.formats.columns import misread
from headwater.formats.times import cast_text
from headwater.plan.sql.spark_text import name, text

_DAY, _WALL, _INSTANT = (t.Type.DATE,), (t.Type.TIMESTAMPNTZ,), (t.Type.TIMESTAMPTZ,)
_COUNTED: Mapping[str, tuple[tuple[exp.DType, ...], int]] = {
    "date": (_DAY, 0),
    debezium.CONNECT + "Date": (_DAY, 0),
    debezium.TIME + "Date": (_DAY, 0),
    "timestamp-millis": ((*_WALL, *_INSTANT), 1_000),
    "timestamp-micros": ((*_WALL, *_INSTANT), 1),
    debezium.CONNECT + "Timestamp": ((*_WALL, *_INSTANT), 1_000),
    "local-timestamp-millis": (_WALL, 1_000),
    "local-timestamp-micros": (_WALL, 1),
    debezium.TIME + "Timestamp": (_WALL, 1_000),
    debezium.TIME + "MicroTimestamp": (_WALL, 1),
}
"""Times that are written as numbers: what they can be read as, and the microseconds of a unit (of
days none). An instant that is read as TIMESTAMP is that of UTC."""
_WRITTEN = {
    debezium.TIME + "ZonedTimestamp": _INSTANT,
    debezium.TIME + "IsoTimestamp": _WALL,
    debezium.TIME + "IsoDate": _DAY,
}
"""Times that are written as text: what they can be read as, beside VARCHAR."""
_PLAIN: Mapping[str, tuple[exp.DType, ...]] = {
    "boolean": (t.Type.BOOLEAN,),
    "int": (t.Type.INT, t.Type.BIGINT, t.Type.DOUBLE, t.Type.DECIMAL),
    "long": (t.Type.BIGINT, t.Type.DECIMAL),
    "float": (t.Type.FLOAT, t.Type.DOUBLE),
    "double": (t.Type.DOUBLE,),
    "string": (t.Type.VARCHAR,),
    "enum": (t.Type.VARCHAR,),
    "bytes": (t.Type.VARBINARY,),
    "fixed": (t.Type.VARBINARY,),
}
"""What values without another meaning can be read as."""

Expression = Callable[[str], str]
Condition = Callable[[str, str], str]


class Unfit(ValueError):
    """A type that cannot be read as the declared one; its text is the reason."""


@dataclass(frozen=True, slots=True)
class AvroPart:
    """How one value is read.

    Attributes:
        column: what it is read as, by the name that reasons show.
        read: what Avro's reader is given, as JSON; None for what always is NULL.
        value: from the expression of what was read to that of the declared type.
        misfit: from the expressions of what was read and of the value to the condition that it is
            none; empty where that cannot be.
        fields: of a row, the name of each field in the record, its own, and how it is read.
    """

    column: Column
    read: Json
    value: Expression
    misfit: Condition
    fields: tuple[tuple[str, str, AvroPart], ...] = ()


def read_row(schema: Schema, columns: Sequence[Column], *, events: bool) -> AvroPart:
    """Return how records of a schema are read as a row of columns.

    Args:
        events: whether they are the parts of Debezium's events: numbers may be written as text or
            as doubles, and reasons name the columns within a part.

    Raises:
        Unfit: a column cannot be read.
    """
    root = schema.resolved(schema.root)
    if root.kind != "record":
        raise Unfit(f"schema {schema.number} is {_shown(schema, root)}, not a record")
    labelled = [
        replace(column, name="" if events and column.type.this is t.Type.STRUCT else column.name)
        for column in columns
    ]
    fields = zip((column.name for column in columns), labelled, strict=True)
    whole = Column("", t.row({column.name: column.type for column in columns}))
    return _Reader(schema, events).row(root, whole, fields, 0)


def read_value(schema: Schema, column: Column) -> AvroPart:
    """Return how the values of a schema are read as one column.

    Raises:
        Unfit: it cannot be read.
    """
    return _Reader(schema, events=False).part(schema.root, column, 0)


def reasons(part: AvroPart, read: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield the conditions that a value, or one in a row, is none, and the reasons.

    Args:
        part: how it is read.
        read: expression of what was read.
        value: expression of what was made of it.
    """
    for written, own, field in part.fields:
        yield from reasons(field, f"{read}.{name(written)}", f"{value}.{name(own)}")
    condition, column = part.misfit(read, value), part.column
    if part.fields or not condition:
        return
    if column.type.this is t.Type.VARCHAR:
        yield condition, text(f"{column.label}: invalid UTF-8")
    elif column.type.this in (t.Type.ARRAY, t.Type.MAP):
        what = f"a value in it is not valid in {sql_type(column.type)}"
        yield condition, text(f"{column.label}: {what}")
    else:
        yield condition, misread(column, f"CAST({read} AS STRING)")


class _Reader:
    """Walks a schema beside declared types."""

    def __init__(self, schema: Schema, events: bool) -> None:
        self._schema, self._events = schema, events
        self._fresh = count()
        self._defined: set[str] = set()

    def part(self, avro: Type, column: Column, depth: int) -> AvroPart:
        """How a value is read as a column that stands in so many arrays and maps."""
        avro = self._schema.resolved(avro)
        pair = avro.kind, column.type.this
        if avro.kind == "union":
            return self._branch(avro, column, depth)
        if avro.kind == "null":
            return _always_null(column)
        if pair == ("record", t.Type.STRUCT):
            kinds = zip(column.type.expressions, elements(column.type), strict=True)
            path = f"{column.name}." if column.name else ""
            fields = ((field.name, Column(path + field.name, kind)) for field, kind in kinds)
            return self.row(avro, column, fields, depth)
        if pair == ("array", t.Type.ARRAY):
            return self._array(avro, column, depth)
        if pair == ("map", t.Type.MAP) and elements(column.type)[0].this is t.Type.VARCHAR:
            return self._map(avro, column, depth)
        return self._scalar(avro, column)

    def row(
        self, avro: Type, column: Column, declared: Iterator[tuple[str, Column]], depth: int
    ) -> AvroPart:
        """How a record is read as a row of declared fields, each with the name of its column."""
        fields = []
        for own, inner in declared:
            written, kind = self._find(avro, inner.read_from or own, inner.name or own)
            fields.append((written, own, self.part(kind, inner, depth)))
        read: list[Json] = [
            {"name": written, "type": part.read}
            for written, _, part in fields
            if part.read is not None
        ]

        def value(of: str) -> str:
            items = (
                f"{text(own)}, {part.value(f'{of}.{name(written)}')}"
                for written, own, part in fields
            )
            return f"CASE WHEN {of} IS NOT NULL THEN named_struct({', '.join(items)}) END"

        def misfit(of: str, made: str) -> str:
            found = (p.misfit(f"{of}.{name(w)}", f"{made}.{name(own)}") for w, own, p in fields)
            return " OR ".join(f"coalesce({condition}, false)" for condition in found if condition)

        named: Json = {"type": "record", "name": f"r{next(self._fresh)}", "fields": read}
        return AvroPart(column, named, value, misfit, tuple(fields))

    def _find(self, avro: Type, own: str, label: str) -> tuple[str, Type]:
        """The field that a column is read from; one that is always NULL where there is none."""
        alike = [(field, kind) for field, kind in avro.parts if field.lower() == own.lower()]
        exact = [(field, kind) for field, kind in alike if field == own]
        if len(alike) > 1 and not exact:
            names = " and ".join(f'"{field}"' for field, _ in alike)
            raise Unfit(f'column "{label}": schema {self._schema.number} has fields {names}')
        return (exact or alike or [(own, Type("null"))])[0]

    def _branch(self, avro: Type, column: Column, depth: int) -> AvroPart:
        """A union of one type and NULL."""
        kinds = [kind for kind in avro.items if kind.kind != "null"]
        if not kinds:
            return _always_null(column)
        if len(kinds) > 1:
            raise self._unfit(avro, column)
        part = self.part(kinds[0], column, depth)
        read: Json = ["null", part.read] if len(avro.items) > 1 else part.read
        return AvroPart(column, read, part.value, part.misfit, part.fields)

    def _array(self, avro: Type, column: Column, depth: int) -> AvroPart:
        inner = Column(column.name, elements(column.type)[0])
        part, item = self.part(avro.items[0], inner, depth + 1), f"x{depth}"

        def misfit(of: str, _: str) -> str:
            condition = part.misfit(item, part.value(item))
            return f"exists({of}, {item} -> coalesce({condition}, false))" if condition else ""

        return AvroPart(
            column,
            self._collection(avro, part),
            lambda of: f"transform({of}, {item} -> {part.value(item)})",
            misfit,
        )

    def _map(self, avro: Type, column: Column, depth: int) -> AvroPart:
        inner = Column(column.name, elements(column.type)[1])
        part, key, item = self.part(avro.items[0], inner, depth + 1), f"k{depth}", f"x{depth}"

        def misfit(of: str, _: str) -> str:
            condition = f"exists(map_keys({of}), {key} -> NOT is_valid_utf8({key}))"
            if of_item := part.misfit(item, part.value(item)):
                condition += f" OR exists(map_values({of}), {item} -> coalesce({of_item}, false))"
            return condition

        return AvroPart(
            column,
            self._collection(avro, part),
            lambda of: f"transform_values({of}, ({key}, {item}) -> {part.value(item)})",
            misfit,
        )

    def _collection(self, avro: Type, part: AvroPart) -> Json:
        # items that always are NULL are counted all the same
        item: Json = "null" if part.read is None else part.read
        return {"type": avro.kind, ITEM[avro.kind]: item}

    def _scalar(self, avro: Type, column: Column) -> AvroPart:
        kind, read = column.type, self._plain(avro)
        if (made := _by_meaning(avro, kind, events=self._events)) is not None:
            return AvroPart(column, read, made, _is_none)
        if _meaning(avro) in (*_COUNTED, "decimal") or kind.this not in _PLAIN.get(avro.kind, ()):
            raise self._unfit(avro, column)
        if kind.this is t.Type.VARCHAR:
            return AvroPart(column, read, str, lambda of, _: f"NOT is_valid_utf8({of})")
        cast = "try_cast" if kind.this is t.Type.DECIMAL else "CAST"
        misfit = _is_none if kind.this is t.Type.DECIMAL else _never
        return AvroPart(column, read, lambda of: f"{cast}({of} AS {spark_type(kind)})", misfit)

    def _plain(self, avro: Type) -> Json:
        """A type as Avro's reader is given it, a named one defined where it stands first."""
        decimal: dict[str, Json] = {}
        if _meaning(avro) == "decimal":
            scale = avro.properties.get("scale", 0)
            decimal = {"logicalType": "decimal", "precision": _most_digits(avro), "scale": scale}
        if avro.kind not in ("enum", "fixed"):
            return {"type": avro.kind, **decimal} if decimal else avro.kind
        if avro.name in self._defined:
            return self._schema.label(avro.name)
        self._defined.add(avro.name)
        return self._schema.flat(avro) | decimal

    def _unfit(self, avro: Type, column: Column) -> Unfit:
        said, kind = _shown(self._schema, avro), sql_type(column.type)
        where = f'column "{column.name}": ' if column.name else ""
        return Unfit(
            f"{where}schema {self._schema.number} says {said}, which is not read as {kind}"
        )


def _always_null(column: Column) -> AvroPart:
    null = f"CAST(NULL AS {spark_type(column.type)})"
    return AvroPart(column, None, lambda of: null, _never)


def _never(of: str, made: str) -> str:
    return ""


def _is_none(of: str, made: str) -> str:
    return f"{of} IS NOT NULL AND {made} IS NULL"


def _meaning(avro: Type) -> str:
    """What a value stands for beyond its type, as far as it has a rule."""
    said = avro.property("connect.name")
    if avro.kind == "string":
        return said if said in _WRITTEN else ""
    meaning = said if said in _COUNTED else avro.property("logicalType")
    if avro.kind in ("int", "long"):
        return meaning if meaning in _COUNTED else ""
    return meaning if avro.kind in ("bytes", "fixed") and _is_decimal(avro) else ""


def _is_decimal(avro: Type) -> bool:
    """Whether bytes are a decimal; if what is said of one is wrong, Avro takes them as they are."""
    precision, scale = avro.properties.get("precision"), avro.properties.get("scale", 0)
    if not isinstance(precision, int) or not isinstance(scale, int):
        return False
    fits = avro.kind == "bytes" or precision <= _most_digits(avro)
    return fits and 0 <= scale <= precision and avro.property("logicalType") == "decimal"


def _most_digits(avro: Type) -> int:
    """How many digits of a decimal are read: all that its bytes can hold, whatever is said."""
    if avro.kind == "bytes":
        return t.MAX_PRECISION
    largest = 2 ** (8 * int(avro.property("size")) - 1) - 1
    return min(t.MAX_PRECISION, len(str(largest)) - 1)


def _by_meaning(avro: Type, kind: exp.DataType, *, events: bool) -> Expression | None:
    """The value of a time or a decimal; None where the type is none, or cannot be read so."""
    meaning, is_decimal = _meaning(avro), kind.this is t.Type.DECIMAL
    if meaning in _COUNTED:
        kinds, micros = _COUNTED[meaning]
        if kind.this not in kinds:
            return None
        if not micros:
            return debezium.from_days
        return lambda of: debezium.from_units(kind, of, micros)
    if meaning in _WRITTEN and kind.this in _WRITTEN[meaning]:
        if kind.this is t.Type.TIMESTAMPTZ:
            return lambda of: cast_text(of, kind, None)
        return lambda of: debezium.from_iso(kind, of).value
    if meaning == "decimal" and is_decimal:
        scale = int(avro.property("scale") or 0)
        if scale > t.digits(kind)[1]:
            return None
        return lambda of: f"try_cast({of} AS {spark_type(kind)})"
    if events and is_decimal and avro.kind in ("string", "double"):
        made = debezium.from_string if avro.kind == "string" else debezium.from_double
        return lambda of: made(kind, of).value
    return None


def _shown(schema: Schema, avro: Type) -> str:
    """A type as reasons show it."""
    avro = schema.resolved(avro)
    if avro.kind == "union":
        return f"a union of {', '.join(_shown(schema, branch) for branch in avro.items)}"
    if avro.kind in ITEM:
        return f"{avro.kind} of {_shown(schema, avro.items[0])}"
    meaning = _meaning(avro) or avro.property("connect.name") or avro.property("logicalType")
    if _meaning(avro) == "decimal":
        meaning += f"({avro.property('precision')}, {avro.property('scale') or 0})"
    return " ".join(filter(None, (avro.kind, avro.name, f"({meaning})" if meaning else "")))
