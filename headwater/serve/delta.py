"""A Delta table as readers without a JVM see it; a snapshot is a version.

The history comes from the log. DuckDB reads the data files of one version, which the package
``deltalake`` finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.errors import ConfigError, ServiceError
from headwater.errors.plain import plain
from headwater.lake.delta.changed_files import are_there, differing
from headwater.lake.delta.log import ICEBERG_WORDS, is_kept, newest_version, read_snapshot
from headwater.lake.protocol.history import COMPACTION, Snapshot
from headwater.lake.reserved_names import tags_in
from headwater.serve.connection import quoted
from headwater.serve.stored_table import StoredTable

if TYPE_CHECKING:
    import deltalake
    import duckdb
    import pyarrow as pa


class StoredDeltaTable(StoredTable):
    """One Delta table.

    Args:
        location: its folder.
    """

    is_delta = True

    def __init__(self, name: str, location: Path) -> None:
        self.name = name
        self._location = location
        self._version = newest_version(location)

    @cached_property
    def properties(self) -> Mapping[str, str]:
        """Its properties."""
        return self._open(self._version).metadata().configuration

    @property
    def refs(self) -> Mapping[str, int]:
        """The versions that have a tag."""
        return tags_in(self.properties)

    def rows_at(self, snapshot: Snapshot) -> int:
        """Return how many rows a version has."""
        return int(self._open(snapshot.id).count())

    def snapshot_id(self) -> int | None:
        """Return the newest version, or None if it has none."""
        return self._version

    def snapshot(self, snapshot_id: int) -> Snapshot | None:
        """Return one version, or None if it is unknown or was cleaned up.

        If somebody else wrote it, its rows are counted from its files.
        """
        found = read_snapshot(self._location, snapshot_id)
        if found is None:
            return None
        operation, summary = found.operation, dict(found.summary)
        if found.marker is None:
            changed = differing(self._location, snapshot_id - 1, snapshot_id)
            summary["added-records"] = str(sum(file.rows for file in changed.come))
            summary["deleted-records"] = str(sum(file.rows for file in changed.gone))
            if operation not in ICEBERG_WORDS:
                if not snapshot_id:  # the statement that created it
                    return replace(found, operation="", summary={})
                operation = "overwrite" if changed.rows else COMPACTION
        if snapshot_id >= self._same_rows_since:
            summary["total-records"] = str(self._rows)
        return replace(found, operation=operation, summary=summary)

    def columns(self, snapshot_id: int | None = None) -> dict[str, str]:
        """Return name and type of every column, of now or of a version."""
        version = self._version if snapshot_id is None else snapshot_id
        return {field.name: str(field.type) for field in self._open(version).schema().fields}

    def is_readable(self, snapshot_id: int) -> bool:
        """Return whether a version and its data files are kept; the log may outlive the files."""
        known = is_kept(self._location, snapshot_id)
        return known and are_there(self._location, snapshot_id, self._version or 0)

    def lost_files(self) -> list[str]:
        """Return nothing: Delta's own reader says which file is missing."""
        return []

    def select(
        self,
        connection: duckdb.DuckDBPyConnection,
        name: str,
        snapshot_id: int | None,
        columns: Sequence[str],
    ) -> str:
        """Return the SELECT by which DuckDB reads one version."""
        import deltalake
        import pyarrow.dataset as ds

        table = self._open(snapshot_id)
        held = [field.name for field in table.schema().fields]
        chosen = ", ".join(quoted(column) for column in columns if column in held)
        options = ds.ParquetReadOptions(coerce_int96_timestamp_unit="us")
        try:
            if _marks_rows(table):
                connection.register("_batches", _query(table, f"SELECT {chosen} FROM held"))
                connection.execute(f"CREATE TEMP TABLE {quoted(name)} AS FROM _batches")
                connection.unregister("_batches")
            else:
                rows = table.to_pyarrow_dataset(parquet_read_options=options)
                connection.register(name, rows)
        except (OSError, deltalake.exceptions.DeltaError) as error:
            raise _unreadable(self.name, error) from error
        some = "" if snapshot_id is not None else " WHERE false"
        body = f"SELECT {chosen} FROM {quoted(name)}{some}"
        if set(columns) <= set(held):
            return body
        now = quoted(f"{name}$now")  # for the columns that came after that version
        connection.register(f"{name}$now", self._no_rows())
        whole = f"({body}) UNION ALL BY NAME (FROM {now})"
        return f"SELECT {', '.join(map(quoted, columns))} FROM ({whole})"

    def _no_rows(self) -> pa.Table:
        """An empty table with its columns as they are now."""
        import pyarrow as pa

        return pa.schema(self._open(self._version).schema().to_arrow()).empty_table()

    @cached_property
    def _same_rows_since(self) -> int:
        """The version that wrote the rows of the newest one; what follows it compacts."""
        version = self._version or 0
        while version and not differing(self._location, version - 1, version).rows:
            version -= 1
        return version

    @cached_property
    def _rows(self) -> int:
        table = self._open(self._version)
        if not _marks_rows(table):
            return int(table.count())
        counted = _query(table, "SELECT count(*) AS rows FROM held").read_all()
        return int(counted["rows"][0].as_py())

    def _open(self, version: int | None) -> deltalake.DeltaTable:
        try:
            import deltalake
        except ImportError as error:
            raise ConfigError(
                "DELTA_READER_MISSING",
                "the package that reads Delta tables is not installed",
                hint="install it: pip install 'headwater[delta]'",
            ) from error
        try:
            return deltalake.DeltaTable(self._location, version=version)
        except (OSError, deltalake.exceptions.DeltaError) as error:
            raise _unreadable(self.name, error) from error


def _marks_rows(table: deltalake.DeltaTable) -> bool:
    """Whether it has deletion vectors, which neither Arrow's dataset nor its own count heeds."""
    return "deletionVectors" in (table.protocol().reader_features or ())


def _query(table: deltalake.DeltaTable, sql: str) -> pa.RecordBatchReader:
    """The result of a query over ``held``, batch by batch."""
    import deltalake
    import pyarrow as pa

    found = deltalake.QueryBuilder().register("held", table).execute(sql)
    return pa.RecordBatchReader.from_stream(found)


def _unreadable(name: str, error: Exception) -> ServiceError:
    first = plain(error)
    return ServiceError("READ_FAILED", f'Delta table "{name}" could not be read: {first}')
