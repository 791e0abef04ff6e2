"""An Iceberg table as readers without a JVM see it.

Its history, its definition and its columns are in its metadata, which is JSON: most commands ask
for nothing else, and PyIceberg takes longer to load than all of them. Rows are read by DuckDB, from
the files that PyIceberg finds (:mod:`headwater.serve.iceberg_files`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

from headwater.lake.protocol.history import Snapshot
from headwater.serve.stored_table import StoredTable

if TYPE_CHECKING:
    import duckdb
    from pyiceberg.schema import Schema
    from pyiceberg.table import DataScan, FileScanTask, Table

_LOOKING = 8
"""How many files are looked for at a time."""


class StoredIcebergTable(StoredTable):
    """One Iceberg table.

    Attributes:
        parsed: by id, the snapshots that were asked for.

    Args:
        metadata: what Iceberg says of a table, as its specification writes it in JSON.
        open_table: opens the table of that metadata for reading its files.
        earlier: the same table at an earlier time; snapshots that both have are read once.
    """

    def __init__(
        self,
        name: str,
        metadata: Mapping[str, Any],
        open_table: Callable[[], Table],
        earlier: StoredIcebergTable | None = None,
    ) -> None:
        self.name = name
        self._metadata, self._open = metadata, open_table
        known: Mapping[int, Snapshot] = earlier.parsed if earlier else {}
        self.parsed: dict[int, Snapshot] = {
            each: known[each] for each in self._snapshots if each in known
        }

    @property
    def properties(self) -> Mapping[str, str]:
        """Its properties."""
        found: Mapping[str, str] = self._metadata.get("properties", {})
        return found

    @cached_property
    def refs(self) -> Mapping[str, int]:
        """The snapshot of each branch and tag."""
        refs: Mapping[str, Any] = self._metadata.get("refs", {})
        return {name: ref["snapshot-id"] for name, ref in refs.items()}

    @cached_property
    def iceberg(self) -> Table:
        """The table as PyIceberg reads it."""
        return self._open()

    @cached_property
    def _snapshots(self) -> Mapping[int, Mapping[str, Any]]:
        return {each["snapshot-id"]: each for each in self._metadata.get("snapshots", ())}

    def snapshot_id(self) -> int | None:
        """Return the id of the current snapshot, or None if the table has none yet."""
        found: int | None = self._metadata.get("current-snapshot-id")
        return None if found == -1 else found

    def snapshot(self, snapshot_id: int) -> Snapshot | None:
        """Return one snapshot, or None if it is unknown or was expired."""
        if snapshot_id not in self.parsed and snapshot_id in self._snapshots:
            self.parsed[snapshot_id] = Snapshot.from_json(self._snapshots[snapshot_id])
        return self.parsed.get(snapshot_id)

    def columns(self, snapshot_id: int | None = None) -> dict[str, str]:
        """Return name and type of every column, of now or of a snapshot."""
        schemas = {each["schema-id"]: each for each in self._metadata["schemas"]}
        schema = schemas[self._schema_id(snapshot_id)]
        return {each["name"]: _type(each["type"]) for each in schema["fields"]}

    def ever(self) -> frozenset[str]:
        """Return the name of every column that it has or had."""
        schemas = self._metadata["schemas"]
        return frozenset(field["name"] for each in schemas for field in each["fields"])

    def schema(self, snapshot_id: int | None = None) -> Schema:
        """Return the schema of now or of a snapshot."""
        return self.iceberg.schemas()[self._schema_id(snapshot_id)]

    def _schema_id(self, snapshot_id: int | None) -> int:
        found = self._snapshots.get(snapshot_id, {}) if snapshot_id is not None else {}
        schema_id: int = found.get("schema-id", self._metadata["current-schema-id"])
        return schema_id

    def select(
        self,
        connection: duckdb.DuckDBPyConnection,
        name: str,
        snapshot_id: int | None,
        columns: Sequence[str],
    ) -> str:
        """Return the SELECT by which DuckDB reads one snapshot."""
        from headwater.serve.iceberg_files import empty, is_native, native, streamed

        schema, scan, tasks = self._scan(snapshot_id, columns)
        if not tasks:
            return empty(schema, columns)
        if all(map(is_native, tasks)):
            return native(schema, columns, tasks)
        return streamed(connection, name, schema, columns, scan)

    def numbered(
        self,
        connection: duckdb.DuckDBPyConnection,
        name: str,
        snapshot_id: int | None,
        columns: Sequence[str],
        first: int,
    ) -> str:
        """Return the SELECT of one snapshot with a number per row: its file and its place."""
        from headwater.serve.iceberg_files import is_native, native

        schema, _, tasks = self._scan(snapshot_id, columns)
        if not tasks or not all(map(is_native, tasks)):
            return super().numbered(connection, name, snapshot_id, columns, first)
        return native(schema, columns, tasks, first)

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
        io = self.iceberg.io
        snapshot = self.iceberg.snapshot_by_id(snapshot_id or self.snapshot_id() or -1)
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


def _type(kind: Any) -> str:  # noqa: ANN401 - JSON
    """A type of Iceberg's JSON, as the binder writes types of Iceberg."""
    if isinstance(kind, str):
        return kind
    match kind["type"]:
        case "list":
            return f"list<{_type(kind['element'])}>"
        case "map":
            return f"map<{_type(kind['key'])}, {_type(kind['value'])}>"
        case _:
            fields = (f"{each['name']}: {_type(each['type'])}" for each in kind["fields"])
            return f"struct<{', '.join(fields)}>"
