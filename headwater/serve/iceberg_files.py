"""The files of an Iceberg table as DuckDB reads them, through PyIceberg.

Columns are matched by Iceberg's field ids, so files written before a rename or an added column read
right. Local Parquet files go to DuckDB's own reader. What it cannot read (object stores, deletion
vectors) is streamed through PyIceberg into a temporary table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyiceberg.manifest import DataFileContent, FileFormat
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

from headwater.errors import ServiceError
from headwater.serve.connection import literal, quoted
from headwater.serve.stored_table import AT, NUMBER, ROWS_OF_FILE

if TYPE_CHECKING:
    import duckdb
    from pyiceberg.schema import Schema
    from pyiceberg.table import DataScan, FileScanTask

_SCHEME = re.compile(r"^file:/*")
_SIMPLE: dict[type[IcebergType], str] = {
    BinaryType: "BLOB",
    BooleanType: "BOOLEAN",
    DateType: "DATE",
    DoubleType: "DOUBLE",
    FixedType: "BLOB",
    FloatType: "FLOAT",
    IntegerType: "INTEGER",
    LongType: "BIGINT",
    StringType: "VARCHAR",
    TimeType: "TIME",
    TimestampType: "TIMESTAMP",
    TimestamptzType: "TIMESTAMP WITH TIME ZONE",
    UUIDType: "UUID",
}


def local_path(location: str) -> str:
    """Return the path of a file that Iceberg knows by a path or by a ``file:`` address."""
    return _SCHEME.sub("/", location)


def duckdb_type(type_: IcebergType) -> str:
    """Return DuckDB's name of an Iceberg type.

    Raises:
        ServiceError: ``UNSUPPORTED_TYPE`` if DuckDB has no such type.
    """
    match type_:
        case DecimalType():
            return f"DECIMAL({type_.precision}, {type_.scale})"
        case ListType():
            return f"{duckdb_type(type_.element_type)}[]"
        case MapType():
            return f"MAP({duckdb_type(type_.key_type)}, {duckdb_type(type_.value_type)})"
        case StructType():
            fields = (f"{quoted(f.name)} {duckdb_type(f.field_type)}" for f in type_.fields)
            return f"STRUCT({', '.join(fields)})"
        case _ if type(type_) in _SIMPLE:
            return _SIMPLE[type(type_)]
        case _:
            raise ServiceError("UNSUPPORTED_TYPE", f"type {type_} cannot be read by DuckDB")


def is_native(task: FileScanTask) -> bool:
    """Return whether DuckDB's own reader can read a file and its deletes."""
    files = [task.file, *task.delete_files]
    return all(
        file.file_format == FileFormat.PARQUET
        and _SCHEME.match(file.file_path)
        and not set("*?[") & set(file.file_path)
        and file.content != DataFileContent.EQUALITY_DELETES
        for file in files
    )


def native(
    schema: Schema,
    columns: Sequence[str],
    tasks: Sequence[FileScanTask],
    first: int | None = None,
) -> str:
    """Return the SELECT over files that DuckDB reads itself.

    Args:
        schema: the columns, with their field ids.
        columns: the columns to read, in order.
        tasks: the files.
        first: the least number of a row; None for rows without numbers.
    """
    fields = ", ".join(
        f"{field.field_id}: {{name: {literal(field.name)},"
        f" type: {literal(duckdb_type(field.field_type))}, default_value: NULL}}"
        for field in map(schema.find_field, columns)
    )
    options = f"schema = MAP {{{fields}}}, hive_partitioning = false"
    names = ", ".join(_with_nan(schema, column, tasks) for column in columns)

    def shown(before: int) -> str:
        """The columns, and the number of a row behind those of so many files."""
        if first is None:
            return names
        number = f"{first} + ((file_index + {before}) << {ROWS_OF_FILE}) + file_row_number"
        return f"{names}, {number} AS {NUMBER}, file_row_number AS {AT}"

    clean = [task for task in tasks if not task.delete_files]
    touched = [task for task in tasks if task.delete_files]
    parts = []
    if clean:
        parts.append(f"SELECT {shown(0)} FROM read_parquet({_files(clean)}, {options})")
    if touched:
        deletes = sorted({file.file_path for task in touched for file in task.delete_files})
        parts.append(
            f"SELECT {shown(len(clean))} FROM read_parquet({_files(touched)}, {options},"
            " filename = true, file_row_number = true) AS _rows ANTI JOIN"
            " (SELECT regexp_replace(file_path, '^file:/*', '/') AS _path, pos AS _pos"
            f" FROM read_parquet({_paths(deletes)})) AS _deleted"
            " ON _deleted._path = _rows.filename AND _deleted._pos = _rows.file_row_number"
        )
    return " UNION ALL ".join(parts)


def _with_nan(schema: Schema, column: str, tasks: Sequence[FileScanTask]) -> str:
    """A column; DuckDB passes over NaN that the statistics of a Parquet file leave out."""
    name, field = quoted(column), schema.find_field(column)
    if not isinstance(field.field_type, DoubleType | FloatType):
        return name
    counts = (task.file.nan_value_counts or {} for task in tasks)
    if all(count.get(field.field_id) == 0 for count in counts):
        return name
    kind = duckdb_type(field.field_type)
    return f"CASE WHEN isnan({name}) THEN CAST('NaN' AS {kind}) ELSE {name} END AS {name}"


def _files(tasks: Sequence[FileScanTask]) -> str:
    return _paths([task.file.file_path for task in tasks])


def _paths(locations: Sequence[str]) -> str:
    return "[" + ", ".join(literal(local_path(path)) for path in locations) + "]"


def empty(schema: Schema, columns: Sequence[str]) -> str:
    """Return the SELECT of a table without rows."""
    return f"SELECT {', '.join(_null(schema, name) for name in columns)} WHERE false"


def _null(schema: Schema, column: str) -> str:
    kind = duckdb_type(schema.find_field(column).field_type)
    return f"CAST(NULL AS {kind}) AS {quoted(column)}"


def streamed(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    schema: Schema,
    columns: Sequence[str],
    scan: DataScan,
) -> str:
    """Read rows through PyIceberg into a temporary table, and return its SELECT.

    Args:
        connection: gets the table.
        name: of the table.
        schema: types of columns that the snapshot does not have.
        columns: the columns, in order.
        scan: reads the rows.
    """
    target = quoted(name)
    names = ", ".join(
        quoted(column) if column in scan.selected_fields else _null(schema, column)
        for column in columns
    )
    connection.register("_batches", scan.to_arrow_batch_reader())
    try:
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {target} AS SELECT {names} FROM _batches")
    finally:
        connection.unregister("_batches")
    return f"FROM {target}"
