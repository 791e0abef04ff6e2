"""How Trino finds a project's tables: the properties of its Iceberg catalog.

In: a project's configuration. Out: what a file ``<catalog>.properties`` of Trino has to say. Trino
reads; the connector and the rules of ``headwater/servers`` refuse everything that writes.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.config.settings import CatalogSection, Config
from headwater.lake.catalogs.backend import CATALOG
from headwater.lake.catalogs.opening import catalog_backend, catalog_database
from headwater.lake.delta.metastore import FOLDER
from headwater.lake.storage.warehouse import table_folder, warehouse_for

PASSWORD = "LAKE_CATALOG_PASSWORD"
"""The variable of Trino's environment that holds the password of the catalog's database. No name
of these begins as ours do: where both are started, we would take them for settings of a project."""

CREDENTIAL, TOKEN = "LAKE_CATALOG_CREDENTIAL", "LAKE_CATALOG_TOKEN"
"""Likewise, who asks the server of the catalog."""

ACCESS_KEY, SECRET_KEY = "LAKE_STORE_ACCESS_KEY", "LAKE_STORE_SECRET_KEY"
"""Likewise, the keys of the object store."""

_VARIABLES = {
    "jdbc.password": PASSWORD, "credential": CREDENTIAL, "token": TOKEN,
    "s3.access-key-id": ACCESS_KEY, "s3.secret-access-key": SECRET_KEY,
}  # fmt: skip

DELTA = "_delta"
"""What the name of the catalog of Delta tables has more than that of the others."""

_READER: Mapping[str, str] = {
    "connector.name": "iceberg",
    # what the access rules of Trino 476 cannot refuse: ALTER TABLE … EXECUTE optimize
    # (trinodb/trino#22874)
    "iceberg.security": "read_only",
}


def properties(config: Config) -> dict[str, str]:
    """Return the properties of Trino's catalog for a project; secrets are references.

    Raises:
        ConfigError: ``SECRET_MISSING`` if the address of the catalog's database is a reference that
            is not set.
    """
    tables = _server(config.rest) if config.rest else _database(config)
    return {**_READER, **tables, **_files(config)}


def delta_catalog(config: Config) -> str:
    """Return what Trino calls the catalog of a project's Delta tables."""
    return config.trino.catalog + DELTA


def delta_properties(config: Config) -> dict[str, str]:
    """Return the properties of Trino's catalog of the Delta tables; none in an object store."""
    folder = table_folder(warehouse_for(config).uri, FOLDER, "")
    if folder is None:
        return {}
    return {
        "connector.name": "delta_lake",
        "delta.security": "read_only",
        "hive.metastore": "file",
        # as Trino writes what it lists: it cuts this from the beginning
        "hive.metastore.catalog.dir": f"local://{folder}",
        # its files say nothing of the version of Trino that could write them
        "hive.metastore.version-compatibility": "UNSAFE_ASSUME_COMPATIBILITY",
        **_files(config),
    }


def catalogs(config: Config) -> dict[str, dict[str, str]]:
    """Return the names and properties of all of Trino's catalogs for a project.

    Raises:
        ConfigError: as :func:`properties`.
    """
    found = {config.trino.catalog: properties(config)}
    in_delta = delta_properties(config)
    return {**found, delta_catalog(config): in_delta} if in_delta else found


def _database(config: Config) -> dict[str, str]:
    """How Trino reads a catalog in a database."""
    database = catalog_database(config)
    jdbc = database.jdbc_settings()
    found = {
        "iceberg.catalog.type": "jdbc",
        "iceberg.jdbc-catalog.catalog-name": CATALOG,
        "iceberg.jdbc-catalog.schema-version": "V1",
        "iceberg.jdbc-catalog.driver-class": database.driver,
        "iceberg.jdbc-catalog.connection-url": jdbc["uri"],
        "iceberg.jdbc-catalog.default-warehouse-dir": warehouse_for(config).uri,
    }
    if user := jdbc.get("jdbc.user"):
        found["iceberg.jdbc-catalog.connection-user"] = user
    if database.spark_secrets():
        found["iceberg.jdbc-catalog.connection-password"] = f"${{ENV:{PASSWORD}}}"
    return found


def _server(section: CatalogSection) -> dict[str, str]:
    """How Trino asks a catalog behind REST."""
    found = {"iceberg.catalog.type": "rest", "iceberg.rest-catalog.uri": str(section.uri)}
    if section.warehouse:
        found["iceberg.rest-catalog.warehouse"] = section.warehouse
    asks = {"credential": (section.credential, CREDENTIAL), "token": (section.token, TOKEN)}
    for name, (secret, variable) in asks.items():
        if secret:
            found["iceberg.rest-catalog.security"] = "OAUTH2"
            found[f"iceberg.rest-catalog.oauth2.{name}"] = f"${{ENV:{variable}}}"
    return found


def _files(config: Config) -> dict[str, str]:
    """How Trino reads the files of the tables."""
    bucket = config.bucket
    if bucket is None:
        # a location is written as file:/… by Spark; relative to a narrower folder Trino misses it
        return {"fs.native-local.enabled": "true", "local.location": "/"}
    found = {"fs.native-s3.enabled": "true", "s3.region": bucket.region}
    if bucket.endpoint:
        found |= {"s3.endpoint": bucket.endpoint, "s3.path-style-access": "true"}
    if bucket.secret_key:
        found["s3.aws-access-key"] = f"${{ENV:{ACCESS_KEY}}}"
        found["s3.aws-secret-key"] = f"${{ENV:{SECRET_KEY}}}"
    return found


def environment(config: Config) -> dict[str, str]:
    """Return the variables that Trino's process needs for :func:`properties`.

    Raises:
        ConfigError: ``SECRET_MISSING``.
    """
    secrets = {**catalog_backend(config).spark_secrets(), **warehouse_for(config).spark_secrets()}
    return {_VARIABLES[name]: secret for name, secret in secrets.items()}


def properties_file(found: Mapping[str, str]) -> str:
    """Return the text of a properties file."""
    return "".join(f"{name}={value}\n" for name, value in found.items())
