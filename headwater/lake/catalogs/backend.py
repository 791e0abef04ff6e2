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

    @property
    def file(self) -> str | None:
        """The file of an embedded catalog; None for a server."""
        return None

    @abstractmethod
    def note(self, namespace: str) -> str | None:
        """Return what is noted of the lake of a namespace, None if nothing is.

        Raises:
            ServiceError: the catalog cannot be read.
        """

    @abstractmethod
    def write_note(self, namespace: str, text: str) -> None:
        """Note something of the lake of a namespace.

        Raises:
            ServiceError: the catalog cannot be written.
        """

    @abstractmethod
    def metadata_locations(self, namespace: str) -> dict[str, str]:
        """Return the metadata file of each table and view of a namespace.

        Raises:
            ServiceError: the catalog cannot be read.
        """

    def namespaces(self) -> list[str]:
        """Return the namespaces of an embedded catalog that hold tables; a server has many."""
        return []

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
