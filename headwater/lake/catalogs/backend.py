"""What holds the catalog: SQLite in the warehouse folder, PostgreSQL, or a server that speaks REST.

A :class:`CatalogBackend` is the one place that knows how Spark's Iceberg and PyIceberg reach the
catalog; :mod:`headwater.lake.catalogs.opening` finds the one of a project. Knows neither Spark nor
Iceberg, so that readers without a JVM find the same catalog.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

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

    def properties(self, namespace: str) -> dict[str, str] | None:
        """Return the properties of a namespace, or None, as with :meth:`pointers`."""
        return None

    def pointers(self, namespace: str) -> dict[str, str] | None:
        """Return where the metadata of each table of a namespace is, if that is cheap to find out.

        Returns:
            The locations by table; None if only PyIceberg's catalog can tell, or say what is wrong.
        """
        return None
