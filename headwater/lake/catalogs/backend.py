"""What holds the catalog: SQLite in the warehouse folder, PostgreSQL, or a server that speaks REST.

In: a project's configuration. Out: a :class:`CatalogBackend`, the one place that knows how Spark's
Iceberg and PyIceberg reach the catalog. Knows neither Spark nor Iceberg, so that readers without a
JVM find the same catalog.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.config.settings import Config

CATALOG = "lake"
"""Name of the catalog, in Spark and in the rows of a database."""


class CatalogBackend(ABC):
    """What holds an Iceberg catalog.

    Attributes:
        jars: configurations of ``headwater/jars/ivy.xml`` that Spark needs to reach it.
        classes: classes of those jars.
    """

    jars: tuple[str, ...]
    classes: tuple[str, ...] = ()

    @abstractmethod
    def spark_settings(self, warehouse: str) -> dict[str, str]:
        """Return the settings of Iceberg's catalog in Spark, below the name of the catalog.

        Args:
            warehouse: address of the warehouse.
        """

    def spark_secrets(self) -> dict[str, str]:
        """Return those settings that must not stand on a command line, likewise.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """
        return {}

    @abstractmethod
    def reader_settings(self) -> dict[str, str] | None:
        """Return the properties by which PyIceberg reads the catalog; they may hold secrets.

        Returns:
            The properties; None before the first run has made the catalog.

        Raises:
            ConfigError: ``SECRET_MISSING``.
            ServiceError: ``CATALOG_DOWN``, …
        """

    @abstractmethod
    def writer_settings(self) -> dict[str, str]:
        """Return the properties by which PyIceberg may change the catalog too.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """


def catalog_backend(config: Config) -> CatalogBackend:
    """Return what holds the catalog of a project.

    Args:
        config: the project's configuration.

    Raises:
        ConfigError: ``INVALID_OPTION`` for an address that is none.
    """
    if config.rest is not None:
        from headwater.lake.catalogs.rest import RestServer

        return RestServer(config.rest)
    from headwater.lake.catalogs.database import catalog_database

    return catalog_database(config)
