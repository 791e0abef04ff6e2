"""The catalog of somebody else that holds the table of a sink, by the options of the sink.

In: options named after those of ``headwater.toml`` (``catalog_uri``, ``warehouse_path``, …), which
were checked when the sink was bound. Out: an :class:`ForeignCatalog`: what Spark needs to reach it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headwater.config.settings import CatalogSection, Secret, WarehouseSection
from headwater.lake.catalogs.backend import CATALOG, CatalogBackend
from headwater.lake.storage.warehouse import BucketWarehouse, FolderWarehouse, Warehouse

_NOT_OURS = ("jdbc.schema-version",)
"""Settings of a project's own catalog that would change the database of another one."""


@dataclass(frozen=True, slots=True)
class ForeignCatalog:
    """A catalog that is not the project's own.

    Attributes:
        name: what Spark calls it: of a catalog in a database, the name in its rows.
        backend: what holds it.
        warehouse: where a new table is made; None if a server knows that.
    """

    name: str
    backend: CatalogBackend
    warehouse: Warehouse | None

    @property
    def jars(self) -> tuple[str, ...]:
        """Configurations of ``headwater/jars/ivy.xml`` that Spark needs to reach it."""
        return (*self.backend.jars, *(self.warehouse.jars if self.warehouse else ()))

    def secrets(self) -> dict[str, str]:
        """Return the settings that hold secrets, below the name of the catalog.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """
        files = self.warehouse.spark_secrets() if self.warehouse else {}
        return {**self.backend.spark_secrets(), **files}

    def spark_settings(self) -> dict[str, str]:
        """Return all settings under their full names in Spark; for a session, not a command line.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """
        known = self.backend.spark_settings(self.warehouse.uri if self.warehouse else "")
        settings = {
            **{name: value for name, value in known.items() if name not in _NOT_OURS},
            # a slip must not make a catalog in a database that has none
            **({"jdbc.init-catalog-tables": "false"} if known["type"] == "jdbc" else {}),
            **(self.warehouse.spark_settings() if self.warehouse else {}),
            **self.secrets(),
            # what another session commits must be seen
            "cache-enabled": "false",
        }
        prefix = f"spark.sql.catalog.{self.name}"
        return {
            prefix: "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.defaultCatalog": self.name,
            **{f"{prefix}.{name}": value for name, value in settings.items()},
        }


def other_catalog(options: Mapping[str, str], directory: Path) -> ForeignCatalog | None:
    """Return the catalog that the options of a sink name.

    Args:
        options: of the sink, as they were bound.
        directory: the project's folder, where relative paths start.

    Returns:
        The catalog; None for the project's own.
    """
    kind = options.get("catalog_type")
    if kind is None:
        return None
    path = options.get("warehouse_path")
    place = _warehouse(options, directory, path) if path else None
    if kind == "rest":
        from headwater.lake.catalogs.rest import RestServer

        asked = ("uri", "warehouse", "credential", "token")
        found = {name: options.get(f"catalog_{name}") for name in asked}
        given = {name: value for name, value in found.items() if value is not None}
        return ForeignCatalog(CATALOG, RestServer(CatalogSection(type="rest", **given)), place)
    return ForeignCatalog(
        options.get("catalog_name", CATALOG), _database(options, directory, path or ""), place
    )


def _database(options: Mapping[str, str], directory: Path, path: str) -> CatalogBackend:
    if options["catalog_type"] == "embedded":
        from headwater.lake.catalogs.sqlite import SqliteDatabase

        return SqliteDatabase(_folder(directory, path))
    from headwater.lake.catalogs.postgres import PostgresDatabase, postgres_url

    address = postgres_url(Secret(options["catalog_uri"]))
    return PostgresDatabase(address.set(password=options.get("catalog_password")))


def _warehouse(options: Mapping[str, str], directory: Path, path: str) -> Warehouse:
    if not path.startswith("s3://"):
        return FolderWarehouse(_folder(directory, path))
    asked = ("path", "endpoint", "region", "access_key", "secret_key")
    found = {name: options.get(f"warehouse_{name}") for name in asked}
    given = {name: value for name, value in found.items() if value is not None}
    return BucketWarehouse(WarehouseSection.model_validate(given))


def _folder(directory: Path, path: str) -> Path:
    # others read the address: no dots in it
    return Path(os.path.normpath(directory.absolute() / Path(path).expanduser()))
