"""How Trino finds a project's tables: the properties of its Iceberg catalog.

In: a project's configuration. Out: what a file ``<catalog>.properties`` of Trino has to say. Trino
reads; everything that writes is refused by the connector, and by the rules in ``docker/trino``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from headwater.config import Config, load_config
from headwater.errors import EXIT_BAD_INPUT, EXIT_OK, HeadwaterError
from headwater.lake.database import CATALOG, catalog_database

PASSWORD = "HEADWATER_CATALOG_PASSWORD"
"""The variable of Trino's environment that holds the password of the catalog's database."""

_READER: Mapping[str, str] = {
    "connector.name": "iceberg",
    # what the access rules of the server cannot refuse: ALTER TABLE … EXECUTE optimize
    "iceberg.security": "read_only",
    "iceberg.catalog.type": "jdbc",
    "iceberg.jdbc-catalog.catalog-name": CATALOG,
    "iceberg.jdbc-catalog.schema-version": "V1",
    "fs.native-local.enabled": "true",
    # a location is written as file:/… by Spark; relative to a narrower folder Trino misses it
    "local.location": "/",
}


def properties(config: Config) -> dict[str, str]:
    """Return the properties of Trino's catalog for a project; secrets are references.

    Args:
        config: the settings of the project.

    Raises:
        ConfigError: ``SECRET_MISSING`` if the address of the catalog's database is a reference that
            is not set.
    """
    database = catalog_database(config)
    spark = database.spark_settings()
    warehouse = config.warehouse.absolute().as_uri()
    found = {
        **_READER,
        "iceberg.jdbc-catalog.driver-class": database.driver,
        "iceberg.jdbc-catalog.connection-url": spark["uri"],
        "iceberg.jdbc-catalog.default-warehouse-dir": warehouse,
    }
    if user := spark.get("jdbc.user"):
        found["iceberg.jdbc-catalog.connection-user"] = user
    if database.spark_secrets():
        found["iceberg.jdbc-catalog.connection-password"] = f"${{ENV:{PASSWORD}}}"
    return found


def environment(config: Config) -> dict[str, str]:
    """Return the variables that Trino's process needs for :func:`properties`.

    Raises:
        ConfigError: ``SECRET_MISSING``.
    """
    secrets = catalog_database(config).spark_secrets()
    return {PASSWORD: secrets["jdbc.password"]} if secrets else {}


def properties_file(found: Mapping[str, str]) -> str:
    """Return the text of a properties file."""
    return "".join(f"{name}={value}\n" for name, value in found.items())


def main() -> int:
    """Print the properties for the project of a folder; return the exit code."""
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python -m headwater.serve.trino.catalog DIR\n")
        return EXIT_BAD_INPUT
    try:
        sys.stdout.write(properties_file(properties(load_config(Path(sys.argv[1])))))
    except HeadwaterError as error:
        sys.stderr.write(f"{error.render()}\n")
        return error.exit_code
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())
