"""The catalog's database: SQLite in the warehouse folder, or PostgreSQL.

In: a project's configuration. Out: a :class:`CatalogDatabase`, the one place that knows how Spark's
Iceberg catalog, PyIceberg and our own statements reach it. Knows neither Spark nor Iceberg, so that
readers without a JVM find the same catalog.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from headwater.errors import ServiceError
from headwater.lake.failures import explain_failure

if TYPE_CHECKING:
    from headwater.config import Config

CATALOG = "lake"
"""Name of the catalog, in Spark and in the rows of the database."""

BUSY_TIMEOUT = 10_000
"""How long a statement waits for another writer of the catalog, in milliseconds."""


class Rows(Protocol):
    """The answer to a statement (a DB-API cursor)."""

    @property
    def rowcount(self) -> int:
        """Rows that the statement changed."""

    def fetchone(self) -> Any:  # noqa: ANN401
        """Return the next row, or None."""


class Statements(Protocol):
    """Runs SQL statements in one transaction."""

    def __call__(self, sql: str, *parameters: object) -> Rows:
        """Run a statement whose parameters are written ``?``."""


class CatalogDatabase(ABC):
    """A database that holds an Iceberg JDBC catalog, and our leases beside it.

    Attributes:
        jars: configurations of ``headwater/jars/ivy.xml`` that Spark needs to reach it.
        driver: the class of its JDBC driver.
    """

    jars: tuple[str, ...]
    driver: str

    @abstractmethod
    def spark_settings(self) -> dict[str, str]:
        """Return the settings of Iceberg's JDBC catalog, below the name of the catalog."""

    def spark_secrets(self) -> dict[str, str]:
        """Return those settings that must not stand on a command line, likewise.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """
        return {}

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


def _failed(error: Exception) -> ServiceError:
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return ServiceError(
        "CATALOG_FAILED",
        f"the catalog's database failed: {first}",
        hint="see the database's own log, then start again",
    )


def catalog_database(config: Config, *, keep_open: bool = False) -> CatalogDatabase:
    """Return the database of a project's catalog.

    Args:
        config: the project's configuration.
        keep_open: whether connections may be kept for the next transaction, until ``close``.

    Raises:
        ConfigError: ``INVALID_OPTION`` for an address that is none.
    """
    if config.catalog_uri is not None:
        from headwater.lake.postgres import Address, PostgresDatabase

        return PostgresDatabase(Address.parse(config.catalog_uri), keep_open=keep_open)
    from headwater.lake.embedded import SqliteDatabase

    return SqliteDatabase(config.warehouse)


def prefixed(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings of the catalog under their full names in Spark.

    Args:
        settings: settings below the name of the catalog.
    """
    return {f"spark.sql.catalog.{CATALOG}.{key}": value for key, value in settings.items()}
