"""The types of columns: one table for SQL, Spark, Iceberg, DuckDB and Trino, and how types meet.

In: sqlglot data types as the parser made them. Out: canonical data types, their names in each
system, and the type two operands have in common. Canonical means: one spelling per type,
``TIMESTAMPNTZ`` for wall-clock ``TIMESTAMP`` (so that Spark prints ``TIMESTAMP_NTZ``), no lengths,
no precisions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from sqlglot import exp

Type = exp.DType

MAX_PRECISION = 38


@dataclass(frozen=True, slots=True)
class Names:
    """What one type is called.

    Attributes:
        sql: Trino's name, the one in messages.
        spark: Spark SQL's.
        iceberg: Iceberg's.
        duckdb: DuckDB's.
        trino: Trino's, precise to the microsecond for times.
        family: types of one family compare with each other.
    """

    sql: str
    spark: str
    iceberg: str
    duckdb: str
    trino: str
    family: str


NAMES: dict[exp.DType, Names] = {
    Type.BOOLEAN: Names("BOOLEAN", "BOOLEAN", "boolean", "BOOLEAN", "BOOLEAN", "boolean"),
    Type.INT: Names("INTEGER", "INT", "int", "INTEGER", "INTEGER", "number"),
    Type.BIGINT: Names("BIGINT", "BIGINT", "long", "BIGINT", "BIGINT", "number"),
    Type.FLOAT: Names("REAL", "FLOAT", "float", "FLOAT", "REAL", "number"),
    Type.DOUBLE: Names("DOUBLE", "DOUBLE", "double", "DOUBLE", "DOUBLE", "number"),
    Type.DECIMAL: Names("DECIMAL", "DECIMAL", "decimal", "DECIMAL", "DECIMAL", "number"),
    Type.VARCHAR: Names("VARCHAR", "STRING", "string", "VARCHAR", "VARCHAR", "text"),
    Type.VARBINARY: Names("VARBINARY", "BINARY", "binary", "BLOB", "VARBINARY", "binary"),
    Type.DATE: Names("DATE", "DATE", "date", "DATE", "DATE", "time"),
    Type.TIMESTAMPNTZ: Names(
        "TIMESTAMP", "TIMESTAMP_NTZ", "timestamp", "TIMESTAMP", "TIMESTAMP(6)", "time"
    ),
    Type.TIMESTAMPTZ: Names(
        "TIMESTAMP WITH TIME ZONE",
        "TIMESTAMP",
        "timestamptz",
        "TIMESTAMPTZ",
        "TIMESTAMP(6) WITH TIME ZONE",
        "time",
    ),
    Type.TIME: Names("TIME", "STRING", "string", "VARCHAR", "VARCHAR", "clock"),
    Type.UUID: Names("UUID", "STRING", "string", "VARCHAR", "VARCHAR", "uuid"),
    Type.INTERVAL: Names("INTERVAL", "BIGINT", "long", "BIGINT", "BIGINT", "interval"),
}

SCALARS = ("boolean", "number", "text", "time", "clock", "uuid")
"""Families of types whose values have no parts, and one order in every engine."""

_SPELLINGS = {
    Type.TEXT: Type.VARCHAR,
    Type.TIMESTAMP: Type.TIMESTAMPNTZ,
    Type.TIMESTAMPLTZ: Type.TIMESTAMPTZ,
    Type.BINARY: Type.VARBINARY,
}
_REFUSED = {
    Type.TINYINT: "write INTEGER: Iceberg has no smaller integer",
    Type.SMALLINT: "write INTEGER: Iceberg has no smaller integer",
    Type.CHAR: "write VARCHAR(n): a CHAR(n) is filled with blanks, which engines compare otherwise",
    **dict.fromkeys((Type.JSON, Type.JSONB), "write VARCHAR and read it with json_extract_scalar"),
    Type.INTERVAL: "write INTERVAL '10' MINUTE, or keep the seconds as a BIGINT",
}

BOOLEAN, INTEGER, BIGINT, REAL, DOUBLE, VARCHAR, VARBINARY, DATE, TIMESTAMP, TIMESTAMPTZ = (
    exp.DataType(this=kind)
    for kind in (
        *(Type.BOOLEAN, Type.INT, Type.BIGINT, Type.FLOAT, Type.DOUBLE, Type.VARCHAR),
        *(Type.VARBINARY, Type.DATE, Type.TIMESTAMPNTZ, Type.TIMESTAMPTZ),
    )
)
TIME, UUID, INTERVAL = (exp.DataType(this=kind) for kind in (Type.TIME, Type.UUID, Type.INTERVAL))
CARRIERS = {Type.TIME: VARCHAR, Type.UUID: VARCHAR, Type.INTERVAL: BIGINT}
"""The types of the values that stand for those of types which tables do not have."""
NULL = exp.DataType(this=Type.NULL)
UNKNOWN = exp.DataType(this=Type.UNKNOWN)
"""The type of an expression whose error has been reported: it clashes with nothing."""

_RANK = (Type.INT, Type.BIGINT, Type.DECIMAL, Type.FLOAT, Type.DOUBLE)
_DIGITS = {Type.INT: 10, Type.BIGINT: 19}
_IN_MICROS = (Type.TIMESTAMPNTZ, Type.TIMESTAMPTZ, Type.TIME)
INTEGERS = tuple(_DIGITS)
_EXACT = (
    (Type.INT, Type.BIGINT),
    (Type.INT, Type.DOUBLE),
    (Type.BIGINT, Type.DOUBLE),
    (Type.FLOAT, Type.DOUBLE),
)


class TypeRefused(ValueError):
    """A type that Headwater does not keep.

    Attributes:
        hint: what to write instead.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def decimal(precision: int, scale: int) -> exp.DataType:
    """Return ``DECIMAL(precision, scale)``, the precision cut to 38 digits."""
    sizes = [
        exp.DataTypeParam(this=exp.Literal.number(size))
        for size in (min(precision, MAX_PRECISION), scale)
    ]
    return exp.DataType(this=Type.DECIMAL, expressions=sizes)


def array(element: exp.DataType) -> exp.DataType:
    """Return ``ARRAY(element)``."""
    return exp.DataType(this=Type.ARRAY, expressions=[element.copy()], nested=True)


def mapping(key: exp.DataType, value: exp.DataType) -> exp.DataType:
    """Return ``MAP(key, value)``."""
    return exp.DataType(this=Type.MAP, expressions=[key.copy(), value.copy()], nested=True)


def row(fields: Mapping[str, exp.DataType]) -> exp.DataType:
    """Return ``ROW(name type, …)``."""
    items = [
        exp.ColumnDef(this=exp.to_identifier(name), kind=kind.copy())
        for name, kind in fields.items()
    ]
    return exp.DataType(this=Type.STRUCT, expressions=items, nested=True)


def elements(kind: exp.DataType) -> tuple[exp.DataType, ...]:
    """Return the element types of an array (one), a map (two) or a row (its fields' types)."""
    return tuple(
        cast(exp.DataType, inner.args["kind"] if isinstance(inner, exp.ColumnDef) else inner)
        for inner in kind.expressions
    )


def held(kind: exp.DataType) -> tuple[exp.DataType, ...]:
    """Return the element types of an argument that may be NULL: what is in one has no type."""
    return elements(kind) or (NULL, NULL)


def canonical(kind: exp.DataType) -> exp.DataType:
    """Return the canonical form of a type as written.

    Args:
        kind: any data type of the parser.

    Raises:
        TypeRefused: if Headwater does not keep such columns.
    """
    this = _SPELLINGS.get(kind.this, kind.this)
    if this in (Type.ARRAY, Type.MAP, Type.STRUCT):
        return _canonical_nested(kind)
    name = str(kind.sql("trino"))
    if this not in NAMES or this in _REFUSED:
        known = ", ".join(names.sql for each, names in NAMES.items() if each not in _REFUSED)
        hint = _REFUSED.get(kind.this, f"types are: {known}")
        raise TypeRefused(f"type {name} is not supported", hint)
    sizes = [int(size.name) for size in kind.expressions]
    if this is Type.DECIMAL:
        precision, scale = (*(sizes or [MAX_PRECISION]), 0, 0)[:2]
        if not (0 < precision <= MAX_PRECISION and 0 <= scale <= precision):
            raise TypeRefused(f"type {name} is not supported", "write DECIMAL(p, s), p up to 38")
        return decimal(precision, scale)
    if sizes and not (this in _IN_MICROS and sizes == [6]):
        hint = f"write {NAMES[this].sql} without a size"
        raise TypeRefused(f"type {name} is not supported", hint)
    return exp.DataType(this=this)


def declared(kind: exp.DataType) -> exp.DataType:
    """Return the canonical form of a column's type: no text has a length, no integer is small.

    Text is what the records say: that of a ``CHAR(n)`` is not filled with blanks, and that of JSON
    is as it was written.

    Raises:
        TypeRefused: if Headwater does not keep such columns.
    """
    wide = kind.copy()
    for each in wide.find_all(exp.DataType):
        if each.this in (Type.TINYINT, Type.SMALLINT):
            each.set("this", Type.INT)
        elif _SPELLINGS.get(each.this, each.this) in (Type.VARCHAR, Type.TIME):
            each.set("expressions", [])
        elif each.this in (Type.CHAR, Type.JSON, Type.JSONB):
            each.set("this", Type.VARCHAR)
            each.set("expressions", [])
    return canonical(wide)


def _canonical_nested(kind: exp.DataType) -> exp.DataType:
    if not kind.expressions:
        raise TypeRefused(
            f"type {kind.sql('trino')} has no element type", "write ARRAY(type) or MAP(key, value)"
        )
    inner: list[exp.Expression] = []
    for element in kind.expressions:
        if isinstance(element, exp.ColumnDef):
            field = canonical(cast(exp.DataType, element.args["kind"]))
            inner.append(exp.ColumnDef(this=exp.to_identifier(element.name.lower()), kind=field))
        else:
            inner.append(canonical(element))
    return exp.DataType(this=kind.this, expressions=inner, nested=True)


def family(kind: exp.DataType) -> str:
    """Return the family of a type: types of one family compare with each other.

    Args:
        kind: a canonical type; families are those of :data:`NAMES` and ``array``, ``map``,
            ``struct``, ``interval``, ``null``, ``unknown``.
    """
    return NAMES[kind.this].family if kind.this in NAMES else str(kind.this.value).lower()


def is_unknown(kind: exp.DataType) -> bool:
    """Return whether the type is that of an expression already refused."""
    return kind.this is Type.UNKNOWN


def is_integer(kind: exp.DataType) -> bool:
    """Return whether the type is INTEGER or BIGINT."""
    return kind.this in _DIGITS


def is_float(kind: exp.DataType) -> bool:
    """Return whether the type is REAL or DOUBLE."""
    return kind.this in (Type.FLOAT, Type.DOUBLE)


def is_exact(kind: exp.DataType) -> bool:
    """Return whether the type is that of an integer or a decimal."""
    return is_integer(kind) or kind.this is Type.DECIMAL


def is_timestamp(kind: exp.DataType) -> bool:
    """Return whether the type is TIMESTAMP with or without time zone."""
    return kind.this in (Type.TIMESTAMPNTZ, Type.TIMESTAMPTZ)


def digits(kind: exp.DataType) -> tuple[int, int]:
    """Return precision and scale of a decimal, or of the decimal an integer fits in."""
    if kind.this is Type.DECIMAL:
        precision, scale = (int(size.name) for size in kind.expressions)
        return precision, scale
    return _DIGITS[kind.this], 0


def common_type(kinds: Sequence[exp.DataType]) -> exp.DataType | None:
    """Return the type that all of them can be read as without loss of meaning, or None.

    Args:
        kinds: at least one type; NULL and unknown types go with everything.
    """
    result = kinds[0]
    for kind in kinds[1:]:
        merged = _common_pair(result, kind)
        if merged is None:
            return None
        result = merged
    return result


def _common_pair(left: exp.DataType, right: exp.DataType) -> exp.DataType | None:
    if left == right or right.this in (Type.NULL, Type.UNKNOWN):
        return left
    if left.this in (Type.NULL, Type.UNKNOWN):
        return right
    if family(left) != family(right):
        return None
    if family(left) == "number":
        return _common_number(left, right)
    if family(left) == "time":
        order = (Type.DATE, Type.TIMESTAMPNTZ, Type.TIMESTAMPTZ)
        return max(left, right, key=lambda kind: order.index(kind.this))
    if left.this is Type.ARRAY and right.this is Type.ARRAY:
        element = _common_pair(elements(left)[0], elements(right)[0])
        return None if element is None else array(element)
    return None


def _common_number(left: exp.DataType, right: exp.DataType) -> exp.DataType:
    widest = max(left, right, key=lambda kind: _RANK.index(kind.this))
    if widest.this is not Type.DECIMAL:
        return widest
    (left_digits, left_scale), (right_digits, right_scale) = digits(left), digits(right)
    scale = max(left_scale, right_scale)
    return decimal(max(left_digits - left_scale, right_digits - right_scale) + scale, scale)


def is_read_alike(kind: exp.DataType, common: exp.DataType) -> bool:
    """Return whether every engine reads a type as another one by itself, and all of them alike.

    Args:
        kind: the type of an operand.
        common: the type that the operands have in common.
    """
    if kind == common:
        return True
    if common.this is Type.DECIMAL and kind.this in (*_DIGITS, Type.DECIMAL):
        (own, own_scale), (precision, scale) = digits(kind), digits(common)
        return own - own_scale <= precision - scale and own_scale <= scale
    return (kind.this, common.this) in _EXACT


def arithmetic_type(
    operator: type[exp.Expr], left: exp.DataType, right: exp.DataType
) -> exp.DataType:
    """Return the type of ``left operator right`` for two numbers (Trino's rules).

    Args:
        operator: ``exp.Add``, ``exp.Sub``, ``exp.Mul``, ``exp.Div`` or ``exp.Mod``.
        left: a number type.
        right: a number type.
    """
    widest = _common_number(left, right)
    if widest.this is not Type.DECIMAL:
        return widest
    (left_digits, left_scale), (right_digits, right_scale) = digits(left), digits(right)
    if operator is exp.Mod:
        scale = max(left_scale, right_scale)
        return decimal(min(left_digits - left_scale, right_digits - right_scale) + scale, scale)
    if operator is exp.Mul:
        return decimal(left_digits + right_digits, left_scale + right_scale)
    if operator is exp.Div:
        scale = max(left_scale, right_scale)
        return decimal(left_digits - left_scale + right_scale + scale, scale)
    precision, scale = digits(widest)
    return decimal(precision + 1, scale)


def sql_type(kind: exp.DataType) -> str:
    """Return a type's SQL name, as messages and ``explain`` show it."""
    return _named(kind, "sql", "ARRAY({})", "MAP({}, {})", "ROW({})")


def spark_type(kind: exp.DataType) -> str:
    """Return a type's Spark SQL name, for DDL and casts."""
    return _named(kind, "spark", "ARRAY<{}>", "MAP<{}, {}>", "STRUCT<{}>")


def iceberg_type(kind: exp.DataType) -> str:
    """Return a type's Iceberg name."""
    return _named(kind, "iceberg", "list<{}>", "map<{}, {}>", "struct<{}>")


def duckdb_type(kind: exp.DataType) -> str:
    """Return a type's DuckDB name."""
    return _named(kind, "duckdb", "{}[]", "MAP({}, {})", "STRUCT({})")


def trino_type(kind: exp.DataType) -> str:
    """Return a type's Trino name, timestamps with microseconds."""
    return _named(kind, "trino", "ARRAY({})", "MAP({}, {})", "ROW({})")


def _field_name(name: str, system: str) -> str:
    """A name within a row; one that is no plain word is that of a record, which Spark reads."""
    quoted = system == "spark" and not re.fullmatch(r"\w+", name, re.ASCII)
    return f"`{name.replace('`', '``')}`" if quoted else name


def _named(kind: exp.DataType, system: str, array_: str, map_: str, row: str) -> str:
    if kind.this is Type.STRUCT:
        colon = ": " if system in ("spark", "iceberg") else " "
        fields = [
            f"{_field_name(field.name, system)}{colon}{_named(inner, system, array_, map_, row)}"
            for field, inner in zip(kind.expressions, elements(kind), strict=True)
        ]
        return row.format(", ".join(fields))
    if kind.this in (Type.ARRAY, Type.MAP):
        names = [_named(inner, system, array_, map_, row) for inner in elements(kind)]
        return (array_ if kind.this is Type.ARRAY else map_).format(*names)
    if kind.this is Type.DECIMAL:
        precision, scale = digits(kind)
        return f"{getattr(NAMES[kind.this], system)}({precision}, {scale})"
    if kind.this in NAMES:
        return str(getattr(NAMES[kind.this], system))
    return str(kind.this.value)
