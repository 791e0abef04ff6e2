"""Types of Parquet that are read as declared types; others are refused by file and column.

In: the footer of a file, and declared columns. Out: the columns that have no values in it, or
:class:`Unreadable` with the column and both types.

Spark 4.1.3 reads some types as what they are not: a decimal that is stored as an integer becomes
its digits, an unsigned number a negative one. And it says what it cannot read in the names of its
classes. So each file's footer is asked first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyarrow.parquet import ParquetFile
from sqlglot import exp

from headwater.analyze.definitions import Column
from headwater.analyze.typing.types import digits, elements, sql_type

_Type = exp.DataType.Type
_CODECS = frozenset(("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "LZ4", "LZ4_RAW"))
_INTEGERS = (_Type.INT, _Type.BIGINT)
_SHORT, _LONG = 32, 64
_SHORT_DIGITS, _LONG_DIGITS = 10, 20
"""Bits of Parquet's integers, and the digits that Spark wants of a DECIMAL to read them."""
_INT96 = "INT96"


class Unreadable(ValueError):
    """A file cannot be read as the declared columns; the text is the reason."""


def absent_columns(file: ParquetFile, columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the columns that a file has, and has no type for: all their values are NULL.

    Raises:
        Unreadable: a column cannot be read.
    """
    fields = [(field.name, field.type) for field in file.schema_arrow]
    leaves = [file.schema.column(index) for index in range(len(file.schema))]
    absent = []
    for column in columns:
        alike = [(name, kind) for name, kind in fields if name.lower() == column.key.lower()]
        if len(alike) > 1:
            names = " and ".join(f'"{name}"' for name, _ in alike)
            raise Unreadable(f"unreadable file: {column.label}: the file has {names}")
        for name, kind in alike:
            if pa.types.is_null(kind):
                absent.append(column.name)
                continue
            old = any(
                leaf.physical_type == _INT96 for leaf in leaves if _is_within(leaf.path, name)
            )
            for inner, found, wanted in _misfits(column.key, kind, column.type, old=old):
                raise Unreadable(
                    f'unreadable file: column "{inner}" is {found} in the file,'
                    f" which is not read as {wanted}"
                )
    _check_compression(file, [c.key for c in columns if c.name not in absent])
    return tuple(absent)


def _is_within(path: str, field: str) -> bool:
    """Whether a path, whose parts have dots between them, begins with a field."""
    return f"{path.lower()}.".startswith(f"{field.lower()}.")


def _check_compression(file: ParquetFile, read: Sequence[str]) -> None:
    metadata = file.metadata
    for group in range(metadata.num_row_groups):
        chunks = (metadata.row_group(group).column(i) for i in range(metadata.num_columns))
        for chunk in chunks:
            found = (each for each in read if _is_within(chunk.path_in_schema, each))
            if chunk.compression not in _CODECS and (name := next(found, "")):
                raise Unreadable(
                    f'unreadable file: column "{name}" is compressed with'
                    f" {chunk.compression}; write the file with ZSTD or SNAPPY"
                )


def _misfits(
    label: str, kind: pa.DataType, declared: exp.DataType, *, old: bool
) -> Iterator[tuple[str, str, str]]:
    """Yield the columns or fields that cannot be read, with the type in the file and the declared.

    Args:
        label: name of the column or field.
        old: whether times are INT96.
    """
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_struct(kind) and declared.this is _Type.STRUCT:
        for part, wanted in zip(declared.expressions, elements(declared), strict=True):
            alike = [f for f in kind if f.name.lower() == part.name]
            if len(alike) > 1:
                yield f"{label}.{part.name}", "there twice", sql_type(wanted)
            for field in alike:
                yield from _misfits(f"{label}.{part.name}", field.type, wanted, old=old)
    elif _is_list(kind) and declared.this is _Type.ARRAY:
        yield from _misfits(label, kind.value_type, elements(declared)[0], old=old)
    elif pa.types.is_map(kind) and declared.this is _Type.MAP:
        for inner, wanted in zip((kind.key_type, kind.item_type), elements(declared), strict=True):
            yield from _misfits(label, inner, wanted, old=old)
    elif not _is_read(kind, declared, old=old):
        yield label, _shown(kind, old=old), sql_type(declared)


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def _is_read(kind: pa.DataType, declared: exp.DataType, *, old: bool) -> bool:
    """Whether values that are not nested are read, each as what it is."""
    wanted = declared.this
    if pa.types.is_boolean(kind):
        return wanted is _Type.BOOLEAN
    if pa.types.is_integer(kind):
        return _integer_is_read(kind, declared)
    if pa.types.is_float32(kind):
        return wanted in (_Type.FLOAT, _Type.DOUBLE)
    if pa.types.is_float64(kind):
        return wanted is _Type.DOUBLE
    if pa.types.is_decimal(kind):
        return wanted is _Type.DECIMAL and _widens(kind.precision, kind.scale, declared)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return wanted in (_Type.VARCHAR, _Type.VARBINARY)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return wanted in (_Type.VARCHAR, _Type.VARBINARY)
    if pa.types.is_fixed_size_binary(kind):
        return wanted is _Type.VARBINARY
    if pa.types.is_date(kind):
        return wanted in (_Type.DATE, _Type.TIMESTAMPNTZ)
    if pa.types.is_timestamp(kind):
        # of nanoseconds, the last three digits would be lost
        return wanted in (_Type.TIMESTAMPNTZ, _Type.TIMESTAMPTZ) and (old or kind.unit != "ns")
    if pa.types.is_duration(kind):  # for Parquet an integer
        return wanted is _Type.BIGINT
    return pa.types.is_null(kind) and wanted in _INTEGERS


def _integer_is_read(kind: pa.DataType, declared: exp.DataType) -> bool:
    bits, wanted = kind.bit_width, declared.this
    if pa.types.is_unsigned_integer(kind):
        if bits == _LONG:
            return wanted is _Type.DECIMAL and digits(declared) == (_LONG_DIGITS, 0)
        return wanted is _Type.BIGINT or (bits < _SHORT and wanted in (_Type.INT, _Type.DOUBLE))
    if wanted is _Type.DECIMAL:
        return _widens(_SHORT_DIGITS if bits <= _SHORT else _LONG_DIGITS, 0, declared)
    return wanted is _Type.BIGINT or (bits <= _SHORT and wanted in (_Type.INT, _Type.DOUBLE))


def _widens(precision: int, scale: int, declared: exp.DataType) -> bool:
    """Whether a DECIMAL has room for all digits before and after the point."""
    wanted, wanted_scale = digits(declared)
    return wanted_scale >= scale and wanted - wanted_scale >= precision - scale


def _shown(kind: pa.DataType, *, old: bool) -> str:
    """A type as reasons name it: the type of Parquet."""
    if pa.types.is_timestamp(kind):
        zone = "in UTC" if kind.tz is not None else "without time zone"
        unit = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
        return "INT96" if old else f"TIMESTAMP of {unit[kind.unit]} {zone}"
    if pa.types.is_time(kind) or pa.types.is_date(kind):
        return "TIME" if pa.types.is_time(kind) else "DATE"
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if pa.types.is_fixed_size_binary(kind):
        return f"FIXED_LEN_BYTE_ARRAY({kind.byte_width})"
    if pa.types.is_null(kind):
        return "NULL"
    if _is_list(kind):
        return "LIST"
    if pa.types.is_struct(kind) or pa.types.is_map(kind):
        return "MAP" if pa.types.is_map(kind) else "a group"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "STRING"
    return str(kind).upper()
