"""The catalog's database: SQLite in the warehouse folder, or PostgreSQL.

A :class:`CatalogDatabase` is the one place that knows how Spark's Iceberg catalog, PyIceberg and
our own statements reach it. Knows neither Spark nor Iceberg, so that readers without a JVM find the
same catalog. SQLAlchemy does the talking; it takes a while to load, so functions import it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from headwater.errors import ServiceError
from headwater.errors.plain import plain
from headwater.lake.catalogs.backend import CATALOG, CatalogBackend
from headwater.lake.failures import explain_failure
from headwater.lake.reserved_names import LAKE

if TYPE_CHECKING:
    from sqlalchemy import URL, CursorResult, Engine

BUSY_TIMEOUT = 10_000
"""How long a statement waits for another writer of the catalog, in milliseconds."""

_PROPERTIES = "iceberg_namespace_properties"

_CREATE_PROPERTIES = f"""CREATE TABLE IF NOT EXISTS {_PROPERTIES} (
  catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL,
  property_key VARCHAR(255), property_value VARCHAR(1000),
  PRIMARY KEY (catalog_name, namespace, property_key))"""
"""As Iceberg makes it; the first writer notes the lake before Iceberg has made its tables."""

_NOTE = (
    f"SELECT property_value FROM {_PROPERTIES} WHERE catalog_name = :catalog"
    f" AND namespace = :namespace AND property_key = '{LAKE}'"
)
_WRITE_NOTE = (
    f"INSERT INTO {_PROPERTIES} VALUES (:catalog, :namespace, '{LAKE}', :note)"
    " ON CONFLICT (catalog_name, namespace, property_key)"
    " DO UPDATE SET property_value = excluded.property_value"
)
_METADATA = (
    "SELECT table_name, metadata_location FROM iceberg_tables WHERE catalog_name = :catalog"
    " AND table_namespace = :namespace AND metadata_location IS NOT NULL"
)
_REPOINT = (
    "UPDATE iceberg_tables SET metadata_location = :now, previous_metadata_location = :before"
    " WHERE catalog_name = :catalog AND table_namespace = :namespace AND table_name = :name"
    " AND metadata_location = :before"
)


class Statements(Protocol):
    """Runs SQL statements in one transaction."""

    def __call__(self, sql: str, **parameters: object) -> CursorResult[*tuple[Any, ...]]:
        """Run a statement whose parameters are written ``:name``."""


class CatalogDatabase(CatalogBackend):
    """A database that holds an Iceberg JDBC catalog, and our leases beside it.

    Attributes:
        driver: the class of its JDBC driver.
    """

    driver: str

    @abstractmethod
    def jdbc_settings(self) -> dict[str, str]:
        """Return the address by which Iceberg's JDBC catalog opens the database, and the user."""

    @abstractmethod
    def url(self, *, read_only: bool = False) -> URL:
        """Return the address by which SQLAlchemy opens the database, password included.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """

    @abstractmethod
    def _open(self) -> Engine:
        """Return the engine that runs our statements; it makes connections when it needs them."""

    def spark_settings(self, warehouse: str) -> dict[str, str]:
        """Return the settings of Iceberg's JDBC catalog, below the name of the catalog."""
        version = {"jdbc.schema-version": "V1"}
        return {"type": "jdbc", **self.jdbc_settings(), **version, "warehouse": warehouse}

    def reader_settings(self) -> dict[str, str] | None:
        """Return the properties by which PyIceberg reads the catalog."""
        # a lease may lie there before
        return _properties(self.url(read_only=True)) if self.has_table("iceberg_tables") else None

    def writer_settings(self) -> dict[str, str]:
        """Return the properties by which PyIceberg may change the catalog too."""
        return _properties(self.url())

    def note(self, namespace: str) -> str | None:
        """Return what is noted of the lake of a namespace, None if nothing is."""
        if not self.has_table(_PROPERTIES):
            return None
        with self.transaction(writes=False) as run:
            found: str | None = run(_NOTE, **_of(namespace)).scalar()
            return found

    def write_note(self, namespace: str, text: str) -> None:
        """Note something of the lake of a namespace."""
        self.repoint(namespace, {}, text)

    def metadata_locations(self, namespace: str) -> dict[str, str]:
        """Return the metadata file of each table and view of a namespace."""
        if not self.has_table("iceberg_tables"):
            return {}
        with self.transaction(writes=False) as run:
            return {name: str(at) for name, at in run(_METADATA, **_of(namespace))}

    def repoint(self, namespace: str, moves: Mapping[str, tuple[str, str]], note: str) -> None:
        """Give tables and views other metadata files, and note something, in one transaction.

        Args:
            moves: by name, the metadata file that it has and the one that it gets.
            note: what is noted of the lake.

        Raises:
            ServiceError: ``CATALOG_CHANGED`` if a table has another file by now: nothing is done.
        """
        if not self.has_table(_PROPERTIES):
            self.create_table(_CREATE_PROPERTIES)
        with self.transaction() as run:
            for name, (before, now) in moves.items():
                changed = run(_REPOINT, **_of(namespace), name=name, before=before, now=now)
                if changed.rowcount != 1:
                    message = f'table "{name}" was changed in the catalog meanwhile'
                    hint = "stop the process that writes it, then run the command again"
                    raise ServiceError("CATALOG_CHANGED", message, hint=hint)
            run(_WRITE_NOTE, **_of(namespace), note=note)

    def has_table(self, name: str) -> bool:
        """Return whether a table exists; never creates the database.

        Raises:
            ServiceError: as :meth:`transaction`.
        """
        from sqlalchemy import inspect

        with self._errors(), self._engine.connect() as connection:
            return inspect(connection).has_table(name)

    def create_table(self, ddl: str) -> None:
        """Run ``CREATE TABLE IF NOT EXISTS …`` safely beside others who do the same.

        Raises:
            ServiceError: as :meth:`transaction`.
        """
        with self.transaction() as run:
            run(ddl)

    @contextmanager
    def transaction(self, *, writes: bool = True) -> Iterator[Statements]:
        """Run statements in one transaction.

        Args:
            writes: whether a statement may write; SQLite has one writer at a time.

        Raises:
            ServiceError: ``CATALOG_LOCKED``, ``CATALOG_DOWN``, ``CATALOG_REFUSED``, … or
                ``CATALOG_FAILED`` for a failure without a name of its own.
        """
        from sqlalchemy import text

        with (
            self._errors(),
            self._engine.connect() as connection,
            connection.execution_options(writes=writes).begin(),
        ):
            yield lambda sql, **parameters: connection.execute(text(sql), parameters)

    def close(self) -> None:
        """Close the connections that are open between transactions."""
        if "_engine" in self.__dict__:
            self.__dict__.pop("_engine").dispose()

    @cached_property
    def _engine(self) -> Engine:
        return self._open()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        from sqlalchemy.exc import DBAPIError

        try:
            yield
        except (DBAPIError, OSError) as error:
            # what the driver said; SQLAlchemy adds the statement
            said = error.orig if isinstance(error, DBAPIError) and error.orig else error
            raise explain_failure(said) or _failed(said) from said


def _of(namespace: str) -> dict[str, str]:
    return {"catalog": CATALOG, "namespace": namespace}


def _properties(url: URL) -> dict[str, str]:
    uri = url.render_as_string(hide_password=False)
    return {"type": "sql", "uri": uri, "init_catalog_tables": "false"}


def _failed(error: BaseException) -> ServiceError:
    first = plain(error)
    return ServiceError(
        "CATALOG_FAILED",
        f"the catalog's database failed: {first}",
        hint="read the log of the database, then start again",
    )
