"""The catalog's database: SQLite in the warehouse folder, or PostgreSQL.

A :class:`CatalogDatabase` is the one place that knows how Spark's Iceberg catalog, PyIceberg and
our own statements reach it. Knows neither Spark nor Iceberg, so that readers without a JVM find the
same catalog.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from headwater.errors import ServiceError
from headwater.lake.catalogs.backend import CatalogBackend
from headwater.lake.failures import explain_failure

BUSY_TIMEOUT = 10_000
"""How long a statement waits for another writer of the catalog, in milliseconds."""


class StatementResult(Protocol):
    """The answer to a statement (a DB-API cursor)."""

    @property
    def rowcount(self) -> int:
        """Rows that the statement changed."""

    def fetchone(self) -> Any:  # noqa: ANN401
        """Return the next row, or None."""


class Statements(Protocol):
    """Runs SQL statements in one transaction."""

    def __call__(self, sql: str, *parameters: object) -> StatementResult:
        """Run a statement whose parameters are written ``?``."""


class CatalogDatabase(CatalogBackend):
    """A database that holds an Iceberg JDBC catalog, and our leases beside it.

    Attributes:
        driver: the class of its JDBC driver.
    """

    driver: str

    @abstractmethod
    def jdbc_settings(self) -> dict[str, str]:
        """Return the address by which Iceberg's JDBC catalog opens the database, and the user."""

    def spark_settings(self, warehouse: str) -> dict[str, str]:
        """Return the settings of Iceberg's JDBC catalog, below the name of the catalog."""
        version = {"jdbc.schema-version": "V1"}
        return {"type": "jdbc", **self.jdbc_settings(), **version, "warehouse": warehouse}

    def reader_settings(self) -> dict[str, str] | None:
        """Return the properties by which PyIceberg reads the catalog."""
        # a lease may lie there before
        return _properties(self.reader_uri()) if self.has_table("iceberg_tables") else None

    def writer_settings(self) -> dict[str, str]:
        """Return the properties by which PyIceberg may change the catalog too."""
        return _properties(self.writer_uri())

    @abstractmethod
    def reader_uri(self) -> str:
        """Return the address by which SQLAlchemy reads it, and can do nothing else.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """

    @abstractmethod
    def writer_uri(self) -> str:
        """Return the address by which SQLAlchemy may change the catalog too.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """

    @abstractmethod
    def has_table(self, name: str) -> bool:
        """Return whether a table exists; never creates the database.

        Args:
            name: name of the table.

        Raises:
            ServiceError: as :meth:`transaction`.
        """

    def create_table(self, ddl: str) -> None:
        """Run ``CREATE TABLE IF NOT EXISTS …`` safely beside others who do the same.

        Args:
            ddl: the statement.

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
        with self._errors(), self._transaction(writes) as run:
            yield run

    @abstractmethod
    def close(self) -> None:
        """Close what is kept open between transactions."""

    @abstractmethod
    @contextmanager
    def _transaction(self, writes: bool) -> Iterator[Statements]: ...

    @abstractmethod
    def _is_failure(self, error: Exception) -> bool: ...

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if not self._is_failure(error):
                raise
            raise explain_failure(error) or _failed(error) from error


def _properties(uri: str) -> dict[str, str]:
    return {"type": "sql", "uri": uri, "init_catalog_tables": "false"}


def _failed(error: Exception) -> ServiceError:
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return ServiceError(
        "CATALOG_FAILED",
        f"the catalog's database failed: {first}",
        hint="see the database's own log, then start again",
    )
