"""A Delta table as readers without a JVM see it; a snapshot is a version.

In: the folder of a table. Out: its history in PyIceberg's words, from the log, and relations in
DuckDB over the data files of one version, which the package ``deltalake`` finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.errors import ConfigError, ServiceError
from headwater.lake.delta.changed_files import are_there, differing
from headwater.lake.delta.log import DeltaCommit, newest_version, read_commit
from headwater.lake.protocol.marker import Marker
from headwater.serve.connection import quoted

if TYPE_CHECKING:
    import deltalake
    import duckdb
    import pyarrow as pa
    from pyiceberg.table.snapshots import Snapshot, Summary


class StoredDeltaTable:
    """One Delta table as it was when it was opened.

    Args:
        namespace: namespace of its project.
        name: its name.
        location: its folder.
    """

    def __init__(self, namespace: str, name: str, location: Path) -> None:
        self._name = (namespace, name)
        self._location = location
        self._version = newest_version(location)

    def name(self) -> tuple[str, ...]:
        """Return namespace and name."""
        return self._name

    def current_snapshot(self) -> Snapshot | None:
        """Return the newest version, or None if it has none."""
        return None if self._version is None else self.snapshot_by_id(self._version)

    def snapshot_by_id(self, snapshot_id: int) -> Snapshot | None:
        """Return one version, or None if it is unknown or was cleaned up.

        Args:
            snapshot_id: number of the version.
        """
        from pyiceberg.table.snapshots import Snapshot

        found = read_commit(self._location, snapshot_id)
        if found is None:
            return None
        return Snapshot(
            snapshot_id=snapshot_id,
            parent_snapshot_id=snapshot_id - 1 if snapshot_id else None,
            sequence_number=snapshot_id,
            timestamp_ms=found.at,
            manifest_list="",
            summary=self._summary(found),
        )

    def _summary(self, commit: DeltaCommit) -> Summary | None:
        """What a commit did, counted from its files where somebody else made it."""
        from pyiceberg.table.snapshots import Operation, Summary

        properties, version = dict(commit.summary), commit.version
        operation = next((each for each in Operation if each.value == commit.operation), None)
        if Marker.from_summary(commit.summary) is None:
            changed = differing(self._location, version - 1, version)
            properties["added-records"] = str(sum(file.rows for file in changed.come))
            properties["deleted-records"] = str(sum(file.rows for file in changed.gone))
            if operation is None and version:
                operation = Operation.OVERWRITE if changed.rows else Operation.REPLACE
        if version >= self._same_rows_since:
            properties["total-records"] = str(self._rows)
        return Summary(operation, **properties) if operation else None

    def is_vacuumed(self, version: int) -> bool:
        """Return whether data files of a version are gone, though the log tells of it.

        Args:
            version: its number.
        """
        return not are_there(self._location, version, self._version or 0)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its columns now, in order."""
        return tuple(field.name for field in self._open(self._version).schema().fields)

    def select(
        self,
        connection: duckdb.DuckDBPyConnection,
        name: str,
        version: int | None,
        columns: Sequence[str],
    ) -> str:
        """Make the rows of one version known to DuckDB.

        Args:
            connection: where.
            name: the name under which they are kept there.
            version: the version; None reads an empty table.
            columns: the columns wanted.

        Returns:
            The SELECT that reads them.

        Raises:
            ConfigError: ``DELTA_READER_MISSING``.
            ServiceError: ``READ_FAILED``.
        """
        import deltalake
        import pyarrow.dataset as ds

        table = self._open(version)
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
            raise _unreadable(self._name[-1], error) from error
        some = "" if version is not None else " WHERE false"
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
            raise _unreadable(self._name[-1], error) from error


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
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return ServiceError("READ_FAILED", f'Delta table "{name}" could not be read: {first}')
