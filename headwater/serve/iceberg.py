"""An Iceberg table as readers without a JVM see it, through PyIceberg.

DuckDB scans a snapshot lazily, reads only the columns and row groups that a query needs, and
honours merge-on-read delete files. Columns are matched by Iceberg's field ids, so files written
before a rename or an added column read right.

Local Parquet files of Iceberg go to DuckDB's own reader. What it cannot read (object stores,
deletion vectors) is streamed through PyIceberg into a temporary table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
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
from headwater.lake.protocol.history import Snapshot
from headwater.serve.connection import literal, quoted
from headwater.serve.stored_table import AT, NUMBER, ROWS_OF_FILE, StoredTable

if TYPE_CHECKING:
    import duckdb
    from pyiceberg.schema import Schema
    from pyiceberg.table import DataScan, FileScanTask, Table
    from pyiceberg.table.snapshots import Snapshot as IcebergSnapshot

_LOOKING = 8
"""How many files are looked for at a time."""
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


class StoredIcebergTable(StoredTable):
    """One Iceberg table."""

    def __init__(self, name: str, iceberg: Table) -> None:
        self.name = name
        self.iceberg = iceberg

    @cached_property
    def refs(self) -> Mapping[str, int]:
        """The snapshot of each branch and tag."""
        refs = self.iceberg.metadata.refs
        return {name: ref.snapshot_id for name, ref in refs.items()}

    @property
    def properties(self) -> Mapping[str, str]:
        """Its properties."""
        return self.iceberg.properties

    @cached_property
    def _snapshots(self) -> Mapping[int, IcebergSnapshot]:
        return {each.snapshot_id: each for each in self.iceberg.metadata.snapshots}

    def snapshot_id(self) -> int | None:
        """Return the id of the current snapshot, or None if the table has none yet."""
        return self.iceberg.metadata.current_snapshot_id

    def snapshot(self, snapshot_id: int) -> Snapshot | None:
        """Return one snapshot, or None if it is unknown or was expired."""
        found = self._snapshots.get(snapshot_id)
        if found is None:
            return None
        summary = found.summary
        return Snapshot(
            found.snapshot_id,
            found.parent_snapshot_id,
            summary.operation.value if summary else "",
            dict(summary.additional_properties) if summary else {},
            found.timestamp_ms,
            found.sequence_number or 0,
        )

    def columns(self, snapshot_id: int | None = None) -> dict[str, str]:
        """Return name and type of every column, of now or of a snapshot."""
        return {each.name: str(each.field_type) for each in self.schema(snapshot_id).fields}

    def schema(self, snapshot_id: int | None = None) -> Schema:
        """Return the schema of now or of a snapshot."""
        found = None if snapshot_id is None else self._snapshots.get(snapshot_id)
        if found is not None and found.schema_id is not None:
            return self.iceberg.schemas()[found.schema_id]
        return self.iceberg.schema()

    def select(
        self,
        connection: duckdb.DuckDBPyConnection,
        name: str,
        snapshot_id: int | None,
        columns: Sequence[str],
    ) -> str:
        """Return the SELECT by which DuckDB reads one snapshot."""
        schema, scan, tasks = self._scan(snapshot_id, columns)
        if not tasks:
            return _empty(schema, columns)
        if all(_is_native(task) for task in tasks):
            return _native(schema, columns, tasks)
        return _streamed(connection, name, schema, columns, scan)

    def numbered(
        self,
        connection: duckdb.DuckDBPyConnection,
        name: str,
        snapshot_id: int | None,
        columns: Sequence[str],
        first: int,
    ) -> str:
        """Return the SELECT of one snapshot with a number per row: its file and its place."""
        schema, _, tasks = self._scan(snapshot_id, columns)
        if not tasks or not all(_is_native(task) for task in tasks):
            return super().numbered(connection, name, snapshot_id, columns, first)
        return _native(schema, columns, tasks, first)

    def _scan(
        self, snapshot_id: int | None, columns: Sequence[str]
    ) -> tuple[Schema, DataScan, list[FileScanTask]]:
        schema, there = self.iceberg.schema().select(*columns), self.columns(snapshot_id)
        held = tuple(column for column in columns if column in there)
        scan = self.iceberg.scan(selected_fields=held, snapshot_id=snapshot_id)
        return schema, scan, list(scan.plan_files()) if snapshot_id is not None else []

    def is_readable(self, snapshot_id: int) -> bool:
        """Return whether a snapshot is kept; its files are kept with it."""
        return snapshot_id in self._snapshots

    def lost_files(self, snapshot_id: int | None = None) -> list[str]:
        """Return the files that a snapshot names and that are missing or cut off.

        No data is read, only the manifests.

        Args:
            snapshot_id: the snapshot; the current one by default.
        """
        with ThreadPoolExecutor(_LOOKING) as looking:
            whole = looking.map(self._is_whole, self._named(snapshot_id))
            return [path for path in whole if path]

    def _is_whole(self, named: tuple[str, int | None]) -> str:
        """Return the path of a file that is missing or has another size, else nothing."""
        path, size = named
        file = self.iceberg.io.new_input(path)
        whole = file.exists() and (size is None or len(file) == size)
        return "" if whole else path

    def _named(self, snapshot_id: int | None) -> Iterator[tuple[str, int | None]]:
        """Yield files and sizes of a snapshot; below a missing one nothing is known."""
        current, io = self.snapshot_id(), self.iceberg.io
        snapshot = self._snapshots.get(snapshot_id or current or -1)
        if snapshot is None:
            return
        yield snapshot.manifest_list, None
        if not io.new_input(snapshot.manifest_list).exists():
            return
        for manifest in snapshot.manifests(io):
            yield manifest.manifest_path, manifest.manifest_length
            if io.new_input(manifest.manifest_path).exists():
                for entry in manifest.fetch_manifest_entry(io, discard_deleted=True):
                    yield entry.data_file.file_path, entry.data_file.file_size_in_bytes


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


def _native(
    schema: Schema,
    columns: Sequence[str],
    tasks: Sequence[FileScanTask],
    first: int | None = None,
) -> str:
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
