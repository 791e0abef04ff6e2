"""The lake: one namespace of one catalog, and the tables in it.

In: a Spark session that has the catalog, and table specifications.
Out: :class:`~headwater.lake.iceberg.table.LakeTable` objects, or
:class:`~headwater.lake.delta.table.DeltaTable` objects for views in that format; tables are created
when they are missing; whether one that exists with other columns is altered is its caller's
business.
"""

from __future__ import annotations

import shutil
import threading
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from headwater.errors import ServiceError, TerminalError
from headwater.lake.catalogs.backend import CATALOG
from headwater.lake.delta.log import FOLDER, is_delta
from headwater.lake.delta.metastore import enter_table
from headwater.lake.delta.table import DeltaTable, only_writer
from headwater.lake.evolve import difference, schema_changed
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.java import elements, java_class, java_session
from headwater.lake.protocol.table import Table
from headwater.lake.reserved_names import DEFINITION, PAUSED, TAKEN
from headwater.lake.spec import TableSpec, columns_ddl, create_delta_sql, create_table_sql
from headwater.lake.storage.warehouse import WAREHOUSE, folder_of, table_folder

_creating = threading.Lock()  # IF NOT EXISTS of the catalog is look, then insert

DELTA_CATALOG = "spark_catalog"
"""Delta tables are in Spark's own catalog, which forgets them: their folder is what counts."""

Fit = Callable[[LakeTable, TableSpec], None]
"""Makes a table that exists fit what it must look like, or refuses it."""


class Lake:
    """One namespace of a catalog, seen through one Spark session.

    A thread with its own session (``session_for_thread``) makes its own Lake with :meth:`using`.

    Args:
        spark: a session opened by ``headwater.runtime.session.open_session``, or a clone of it.
        catalog: name of the catalog in the session.
        external_tables: by name in the project, the tables that somebody else writes: namespace and
            table, or the folder of a Delta table, absolute.
    """

    def __init__(
        self,
        spark: SparkSession,
        namespace: str,
        catalog: str = CATALOG,
        *,
        external_tables: Mapping[str, str] | None = None,
    ) -> None:
        self.spark = spark
        self.namespace = namespace
        self.catalog = catalog
        self.external_tables = external_tables or {}

    def using(self, spark: SparkSession) -> Lake:
        """Return the same namespace seen through another session.

        Args:
            spark: the session that reads and loads tables from now on.
        """
        return Lake(spark, self.namespace, self.catalog, external_tables=self.external_tables)

    def identifier(self, name: str) -> str:
        """Return the full name of a table as Spark SQL reads it.

        Args:
            name: table name, without catalog and namespace.
        """
        return f"{self.catalog}.{self.external_tables.get(name) or f'{self.namespace}.{name}'}"

    def exists(self, name: str) -> bool:
        """Return whether the table is in the catalog.

        Args:
            name: table name, without catalog and namespace.
        """
        return self.spark.catalog.tableExists(self.identifier(name))

    def table(self, name: str) -> LakeTable:
        """Return an existing table.

        Args:
            name: table name, without catalog and namespace.

        Raises:
            TerminalError: ``TABLE_NOT_FOUND``.
        """
        if not self.exists(name):
            raise TerminalError(
                "TABLE_NOT_FOUND",
                f'table "{name}" is not in namespace "{self.namespace}"',
                hint="run `headwater run` once to create it",
            )
        return self._iceberg(name)

    def readable(self, name: str) -> Table:
        """Return an existing table in whichever format it is, whoever writes it.

        Raises:
            TerminalError: ``TABLE_NOT_FOUND``.
        """
        written = self.external_tables.get(name, "")
        folder = folder_of(written, Path()) if written else self.folder(name)
        return self._delta(name, folder) if is_delta(folder) else self.table(name)

    def external(self, name: str, columns: Mapping[str, str]) -> Table:
        """Return a table that somebody else writes, if it has the columns that are declared.

        Args:
            columns: name and Spark SQL type of each, with ``NOT NULL`` where that is declared.

        Raises:
            ServiceError: ``TABLE_NOT_FOUND``, ``TABLE_EMPTY`` before its first snapshot.
            TerminalError: ``SCHEMA_CHANGED`` if it has other columns, ``OWN_TABLE`` if it is in the
                namespace of the project.
        """
        written = self.external_tables[name]
        if self.owns(written):
            hint = "read a table or view of the project by its plain name"
            raise TerminalError("OWN_TABLE", f'"{written}" is a table of this project', hint=hint)
        folder = folder_of(written, Path())
        if not (is_delta(folder) if folder else self.exists(name)):
            hint = "correct the definition, or let its writer create it"
            raise ServiceError("TABLE_NOT_FOUND", f'table "{written}" does not exist', hint=hint)
        table = self.readable(name)
        if isinstance(table, LakeTable) and table.java.currentSnapshot() is None:
            hint = "wait: Headwater reads it once its writer has committed"
            raise ServiceError("TABLE_EMPTY", f'table "{written}" has no snapshot yet', hint=hint)
        _check_declared(table, written, columns)
        return table

    def owns(self, written: str) -> bool:
        """Return whether a table that somebody else writes is in fact one of the project.

        Args:
            written: its namespace and name, or its folder.
        """
        folder, own = folder_of(written, Path()), self.folder("any")
        if folder is None:
            return written.startswith(f"{self.namespace}.")
        return own is not None and folder.resolve().parent == own.resolve().parent

    def written(self, name: str) -> LakeTable | DeltaTable | None:
        """Return the table of a view in whichever format it was written, None if it never was.

        To read or write rows of a Delta table, see :meth:`define_delta`; its history needs nothing.

        Args:
            name: table name, without catalog and namespace.
        """
        if self.exists(name):
            return self._iceberg(name)
        folder = self.folder(name)
        return self._delta(name, folder) if is_delta(folder) else None

    def define_delta(self, table: DeltaTable, spec: TableSpec | None = None) -> None:
        """Make a Delta table known to the session's catalog, which forgets it.

        Args:
            spec: what it must look like; None if its folder holds it already.
        """
        self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {DELTA_CATALOG}.{self.namespace}")
        self.spark.sql(create_delta_sql(table, spec))

    def _iceberg(self, name: str) -> LakeTable:
        return LakeTable(self.spark, name, self.identifier(name), self._own_place(name))

    def _delta(self, name: str, folder: Path) -> DeltaTable:
        identifier = self.delta_identifier(name)
        return DeltaTable(self.spark, name, identifier, folder, self._own_place(name))

    def _own_place(self, name: str) -> str:
        """Where a table may be written; nowhere is said of one that somebody else writes."""
        return "" if name in self.external_tables else self._warehouse

    def delta_identifier(self, name: str) -> str:
        """Return the name by which the session's catalog knows a Delta table."""
        return f"{DELTA_CATALOG}.{self.namespace}.{name}"

    def folder(self, name: str) -> Path | None:
        """Return the folder of a table of the warehouse, None in an object store.

        Args:
            name: table name, without catalog and namespace.
        """
        return table_folder(self._warehouse, self.namespace, name)

    @property
    def _warehouse(self) -> str:
        return self.spark.conf.get(WAREHOUSE) or ""

    def ensure(self, spec: TableSpec, fit: Fit | None = None) -> LakeTable:
        """Create namespace, table and its empty first snapshot where they are missing.

        A crash between these steps is repaired by the next call. The table of a view that has
        other columns, and has never had a commit, is made anew.

        Args:
            fit: what is done about a table that exists; :func:`check_columns` by default.

        Returns:
            The table, which has at least one snapshot.

        Raises:
            TerminalError: ``SCHEMA_CHANGED`` if the table exists with other columns.
        """
        identifier = self.identifier(spec.name)
        with _creating:
            if is_delta(self.folder(spec.name)):
                raise _format_changed(spec.name, "delta")
            existed = self.exists(spec.name)
            if not existed:
                self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {self.catalog}.{self.namespace}")
                location = f"{self._warehouse}/{self.namespace}/{self._free_folder(spec.name)}"
                self.spark.sql(create_table_sql(identifier, spec, location))
            table = self._iceberg(spec.name)
            table.check_place()
            table.ensure_first_snapshot()
        if existed and not _fits(table, spec, fit or check_columns):
            self.spark.sql(f"DROP TABLE {identifier}")
            return self.ensure(spec)
        return table

    def _free_folder(self, name: str) -> str:
        """The folder of a new table; the usual one may belong to a table that was renamed."""
        taken = TAKEN + name in self.properties()
        return f"{name}-{uuid.uuid4().hex[:8]}" if taken else name

    def properties(self) -> dict[str, str]:
        """Return the properties of the namespace: what holds for a project, wherever it runs."""
        util = java_class(self.spark, "org.apache.iceberg.spark.Spark3Util")
        catalog = util.loadIcebergCatalog(java_session(self.spark), self.catalog)
        identifiers = java_class(self.spark, "org.apache.iceberg.catalog.TableIdentifier")
        namespace = identifiers.parse(f"{self.namespace}.any").namespace()
        return {
            str(e.getKey()): str(e.getValue())
            for e in elements(catalog.loadNamespaceMetadata(namespace).entrySet())
        }

    def paused(self) -> set[str]:
        """Return the views that are paused."""
        found = self.properties()
        return {name.removeprefix(PAUSED) for name in found if name.startswith(PAUSED)}

    def ensure_delta(self, spec: TableSpec) -> DeltaTable:
        """Create a Delta table where it is missing, and make it known to the session's catalog.

        That of a view that has other columns, and has never had a commit, is made anew.

        Raises:
            TerminalError: ``SCHEMA_CHANGED`` if the table exists with other columns,
                ``FORMAT_CHANGED`` if it is one of Iceberg, ``TARGET_NOT_EMPTY`` if its folder holds
                anything else, ``NOT_YET`` in an object store.
            ServiceError: ``TABLE_LOCKED``.
        """
        folder = self.folder(spec.name)
        if folder is None:
            raise TerminalError("NOT_YET", "Delta tables are stored in folders only")
        table = self._delta(spec.name, folder)
        with _creating:
            if self.exists(spec.name):
                raise _format_changed(spec.name, "iceberg")
            existed = self.make_delta(table, spec)
            enter_table(table.location)
        if existed and not _fits(table, spec, check_columns):
            shutil.rmtree(folder)
            self.spark.sql(f"DROP TABLE {table.identifier}")
            return self.ensure_delta(spec)
        return table

    def make_delta(self, table: DeltaTable, spec: TableSpec) -> bool:
        """Create a Delta table where it is missing, and make it known to the session's catalog.

        Args:
            spec: what it looks like if it is created.

        Returns:
            Whether it existed.

        Raises:
            TerminalError: ``TARGET_NOT_EMPTY`` if its folder holds anything else.
            ServiceError: ``TABLE_LOCKED``.
        """
        with only_writer(table):
            existed = is_delta(table.location)
            if not existed:
                _check_unused(table)
            self.define_delta(table, None if existed else spec)
        return existed


def check_columns(table: Table, spec: TableSpec) -> None:
    """Refuse a table with other columns.

    Raises:
        TerminalError: ``SCHEMA_CHANGED``.
    """
    if change := difference(table.columns(), table.stored_columns(columns_ddl(spec))):
        raise schema_changed(spec.name, change)


def _fits(table: LakeTable | DeltaTable, spec: TableSpec, fit: Callable[..., None]) -> bool:
    """Whether a table is as it must be; False if it is not, and a view that never had a commit."""
    try:
        fit(table, spec)
    except TerminalError as error:
        was_view = DEFINITION in table.properties() and table.is_new()
        if error.condition != "SCHEMA_CHANGED" or not was_view:
            raise
        return False
    return True


def _check_declared(table: Table, written: str, columns: Mapping[str, str]) -> None:
    found = table.columns()
    ddl = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
    for name, wanted in table.stored_columns(ddl).items():
        held = found.get(name)
        if held not in (wanted, f"{wanted} NOT NULL"):
            raise TerminalError(
                "SCHEMA_CHANGED",
                f'column "{name}" of table "{written}" is {held or "missing"}, '
                f"declared as {wanted}",
                hint="declare the columns as they are",
            )


def _check_unused(table: DeltaTable) -> None:
    """Refuse a folder that is in use, after removing what a killed creation left there."""
    if not table.location.exists():
        return
    log = table.location / FOLDER
    if not any(path.is_file() and not path.name.startswith(".") for path in log.rglob("*")):
        shutil.rmtree(log, ignore_errors=True)
    if any(table.location.iterdir()):
        raise TerminalError(
            "TARGET_NOT_EMPTY",
            f'the folder of table "{table.name}" holds files that are not a Delta table',
            hint=f'move or remove "{table.location}", then start again',
        )


def _format_changed(name: str, found: str) -> TerminalError:
    return TerminalError(
        "FORMAT_CHANGED",
        f'table "{name}" exists with format {found}',
        hint="undo the change of the format, or give the new definition a new name",
    )
