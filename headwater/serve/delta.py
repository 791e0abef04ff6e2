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
from headwater.lake.delta_log import newest_version, read_commit

if TYPE_CHECKING:
    import deltalake
    import duckdb
    from pyiceberg.table.snapshots import Snapshot


class DeltaTable:
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
        from pyiceberg.table.snapshots import Operation, Snapshot, Summary

        found = read_commit(self._location, snapshot_id)
        if found is None:
            return None
        properties = dict(found.summary)
        if snapshot_id == self._version:
            properties["total-records"] = str(self._rows)
        known = {operation.value: operation for operation in Operation}
        operation = known.get(found.operation)
        return Snapshot(
            snapshot_id=snapshot_id,
            parent_snapshot_id=snapshot_id - 1 if snapshot_id else None,
            sequence_number=snapshot_id,
            timestamp_ms=found.at,
            manifest_list="",
            summary=Summary(operation, **properties) if operation else None,
        )

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

        from headwater.serve.relations import quoted

        options = ds.ParquetReadOptions(coerce_int96_timestamp_unit="us")
        try:
            rows = self._open(version).to_pyarrow_dataset(parquet_read_options=options)
        except (OSError, deltalake.exceptions.DeltaError) as error:
            raise _unreadable(self._name[-1], error) from error
        connection.register(name, rows)
        some = "" if version is not None else " WHERE false"
        return f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(name)}{some}"

    @cached_property
    def _rows(self) -> int:
        return int(self._open(self._version).count())

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


def _unreadable(name: str, error: Exception) -> ServiceError:
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return ServiceError("READ_FAILED", f'Delta table "{name}" could not be read: {first}')
