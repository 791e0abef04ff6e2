"""The embedded catalog: one SQLite database in the warehouse folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from headwater.config.secrets import private_folder
from headwater.lake.catalogs.backend import CATALOG
from headwater.lake.catalogs.database import BUSY_TIMEOUT, CatalogDatabase, Statements
from headwater.lake.reserved_names import LAKE

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

_POINTERS = """SELECT table_name, metadata_location FROM iceberg_tables
WHERE catalog_name = ? AND table_namespace = ?
AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL) AND metadata_location IS NOT NULL"""

_PROPERTIES = """SELECT property_key, property_value FROM iceberg_namespace_properties
WHERE catalog_name = ? AND namespace = ?"""

_NAMESPACES = """SELECT DISTINCT table_namespace, '' FROM iceberg_tables
WHERE catalog_name = ? AND table_namespace <> ?"""

_METADATA = """SELECT table_name, metadata_location FROM iceberg_tables
WHERE catalog_name = ? AND table_namespace = ? AND metadata_location IS NOT NULL"""


class SqliteDatabase(CatalogDatabase):
    """A SQLite database in WAL mode: many readers beside one writer.

    Args:
        warehouse: folder of the warehouse; made by the first transaction.

    Attributes:
        path: the file.
    """

    jars = ("core",)
    driver = "org.sqlite.JDBC"
    classes = (driver,)

    def __init__(self, warehouse: Path) -> None:
        self.path = warehouse.absolute() / "catalog.db"

    @property
    def file(self) -> str | None:
        """The file of the database."""
        return str(self.path)

    def jdbc_settings(self) -> dict[str, str]:
        """Return the address by which Iceberg's JDBC catalog opens the database."""
        options = f"journal_mode=WAL&busy_timeout={BUSY_TIMEOUT}"
        return {"uri": f"jdbc:sqlite:file:{quote(str(self.path))}?{options}"}

    def url(self, *, read_only: bool = False) -> URL:
        """Return the address by which SQLAlchemy opens the database."""
        from sqlalchemy import URL

        if not read_only:
            return URL.create("sqlite", database=str(self.path))
        address = f"file:{quote(str(self.path))}"
        return URL.create("sqlite", database=address, query={"mode": "ro", "uri": "true"})

    def has_table(self, name: str) -> bool:
        """Return whether a table exists; never creates the database."""
        from sqlalchemy import NullPool, create_engine, inspect

        with self._errors():
            if not self.path.is_file():
                return False
            reading = create_engine(self.url(read_only=True), poolclass=NullPool)
            return inspect(reading).has_table(name)

    def pointers(self, namespace: str) -> dict[str, str] | None:
        """Return where the metadata of each table is: SQLAlchemy would take longer to load."""
        return self._pairs(_POINTERS, namespace)

    def properties(self, namespace: str) -> dict[str, str] | None:
        """Return the properties of a namespace, likewise."""
        return self._pairs(_PROPERTIES, namespace)

    def note(self, namespace: str) -> str | None:
        """Return what is noted of the lake of a namespace, likewise."""
        found = self.properties(namespace)
        return super().note(namespace) if found is None else found.get(LAKE)

    def namespaces(self) -> list[str]:
        """Return the namespaces that hold tables."""
        return sorted(self._pairs(_NAMESPACES, "") or ())

    def metadata_locations(self, namespace: str) -> dict[str, str]:
        """Return the metadata file of each table and view of a namespace, likewise."""
        found = self._pairs(_METADATA, namespace)
        return super().metadata_locations(namespace) if found is None else found

    def _pairs(self, query: str, namespace: str) -> dict[str, str] | None:
        if not self.path.is_file():
            return {}
        address = f"file:{quote(str(self.path))}?mode=ro"
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT / 1000)) as found:
                return dict(found.execute(query, (CATALOG, namespace)))
        except sqlite3.Error:
            return None

    @contextmanager
    def transaction(self, *, writes: bool = True) -> Iterator[Statements]:
        """Run statements in one transaction; the first one makes the folder and the database."""
        with self._errors():
            private_folder(self.path.parent)
        with super().transaction(writes=writes) as run:
            yield run

    def _open(self) -> Engine:
        from sqlalchemy import NullPool, create_engine, event

        # opening a file again costs a millisecond, and a copied file is noticed
        engine = create_engine(
            self.url(),
            poolclass=NullPool,
            connect_args={"timeout": BUSY_TIMEOUT / 1000, "isolation_level": None},
        )
        event.listen(engine, "connect", _use_wal)
        event.listen(engine, "begin", _begin)
        return engine


def _begin(connection: Connection) -> None:
    # a transaction that reads first could not become a writer's while another writes
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _use_wal(connection: sqlite3.Connection, _: object) -> None:
    """Turn WAL on, which lasts; if another does so in a new database, wait for it.

    SQLite itself does not wait then, whatever the timeout: two that read could both want to write.
    """
    pragma = "PRAGMA journal_mode = WAL"
    try:
        connection.execute(pragma)
    except sqlite3.OperationalError as error:
        if not _is_busy(error):
            raise
        # seldom needed, and takes a while to load
        from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

        Retrying(
            retry=retry_if_exception(_is_busy),
            wait=wait_random(0.001, 0.05),
            stop=stop_after_delay(BUSY_TIMEOUT / 1000),
            reraise=True,
        )(connection.execute, pragma)


def _is_busy(error: BaseException) -> bool:
    return (
        isinstance(error, sqlite3.OperationalError)
        and error.sqlite_errorcode == sqlite3.SQLITE_BUSY
    )
