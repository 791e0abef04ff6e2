"""Tables as DuckDB views, pinned to a snapshot.

In: a PyIceberg or Delta table, a snapshot id, the columns wanted. Out: a view in DuckDB that scans
lazily, reads only the columns and row groups a query needs, can be scanned any number of times, and
honours merge-on-read delete files. Columns are matched by Iceberg's field ids, so files written
before a rename or an added column read right.

Local Parquet files of Iceberg go to DuckDB's own reader. What it cannot read (object stores,
deletion vectors) is streamed through PyIceberg into a temporary table.
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
from headwater.serve.connection import quoted
from headwater.serve.delta import StoredDeltaTable

if TYPE_CHECKING:
    import duckdb
    from pyiceberg.schema import Schema
    from pyiceberg.table import DataScan, FileScanTask, Table

    from headwater.serve.lake_reader import StoredTable

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


def create_view(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    table: StoredTable,
    snapshot_id: int | None,
    columns: Sequence[str],
) -> None:
    """Create a DuckDB view over one snapshot of a table.

    Args:
        connection: where to create it.
        name: name of the view; a schema may come first (``"as_of.orders"`` is one name, not two).
        table: the table.
        snapshot_id: the snapshot to read; None reads an empty table.
        columns: the columns of the view, in order.
    """
    if isinstance(table, StoredDeltaTable):
        body = table.select(connection, f"{name}$rows", snapshot_id, columns)
    else:
        body = _iceberg(connection, name, table, snapshot_id, columns)
    connection.execute(f"CREATE OR REPLACE TEMP VIEW {quoted(name)} AS {body}")


def column_names(table: StoredTable) -> list[str]:
    """Return the names of a table's columns, hidden ones included, in order.

    Args:
        table: the table.
    """
    if isinstance(table, StoredDeltaTable):
        return list(table.columns)
    return [field.name for field in table.schema().fields]


def columns_at(table: Table, snapshot_id: int | None = None) -> dict[str, str]:
    """Return the columns of a table of Iceberg with their types.

    Args:
        table: the table.
        snapshot_id: as they were when this snapshot was written; as they are now by default.
    """
    schema, snapshot = table.schema(), None
    if snapshot_id is not None:
        snapshot = table.snapshot_by_id(snapshot_id)
    if snapshot is not None and snapshot.schema_id is not None:
        schema = table.schemas()[snapshot.schema_id]
    return {field.name: str(field.field_type) for field in schema.fields}


def _iceberg(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    table: Table,
    snapshot_id: int | None,
    columns: Sequence[str],
) -> str:
    schema = table.schema().select(*columns)
    held = [column for column in columns if column in columns_at(table, snapshot_id)]
    scan = table.scan(selected_fields=tuple(held), snapshot_id=snapshot_id)
    tasks = list(scan.plan_files()) if snapshot_id is not None else []
    if not tasks:
        return _empty(schema, columns)
    if all(_is_native(task) for task in tasks):
        return _native(schema, columns, tasks)
    return _streamed(connection, name, schema, columns, scan)


def literal(text: str) -> str:
    """Return a text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


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


def _is_native(task: FileScanTask) -> bool:
    files = [task.file, *task.delete_files]
    return all(
        file.file_format == FileFormat.PARQUET
        and _SCHEME.match(file.file_path)
        and not set("*?[") & set(file.file_path)
        and file.content != DataFileContent.EQUALITY_DELETES
        for file in files
    )


def _native(schema: Schema, columns: Sequence[str], tasks: Sequence[FileScanTask]) -> str:
    fields = ", ".join(
        f"{field.field_id}: {{name: {literal(field.name)},"
        f" type: {literal(duckdb_type(field.field_type))}, default_value: NULL}}"
        for field in map(schema.find_field, columns)
    )
    options = f"schema = MAP {{{fields}}}, hive_partitioning = false"
    names = ", ".join(map(quoted, columns))
    clean = [task for task in tasks if not task.delete_files]
    touched = [task for task in tasks if task.delete_files]
    parts = []
    if clean:
        parts.append(f"SELECT {names} FROM read_parquet({_files(clean)}, {options})")
    if touched:
        deletes = sorted({file.file_path for task in touched for file in task.delete_files})
        parts.append(
            f"SELECT {names} FROM read_parquet({_files(touched)}, {options}, filename = true,"
            " file_row_number = true) AS _rows ANTI JOIN"
            " (SELECT regexp_replace(file_path, '^file:/*', '/') AS _path, pos AS _pos"
            f" FROM read_parquet({_paths(deletes)})) AS _deleted"
            " ON _deleted._path = _rows.filename AND _deleted._pos = _rows.file_row_number"
        )
    return " UNION ALL ".join(parts)


def _files(tasks: Sequence[FileScanTask]) -> str:
    return _paths([task.file.file_path for task in tasks])


def _paths(locations: Sequence[str]) -> str:
    return "[" + ", ".join(literal(_SCHEME.sub("/", path)) for path in locations) + "]"


def _empty(schema: Schema, columns: Sequence[str]) -> str:
    return f"SELECT {', '.join(_null(schema, name) for name in columns)} WHERE false"


def _null(schema: Schema, column: str) -> str:
    kind = duckdb_type(schema.find_field(column).field_type)
    return f"CAST(NULL AS {kind}) AS {quoted(column)}"


def _streamed(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    schema: Schema,
    columns: Sequence[str],
    scan: DataScan,
) -> str:
    target = quoted(name + "$rows")
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
