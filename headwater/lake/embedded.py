"""Where the embedded catalog lies: one SQLite database in the warehouse folder.

In: the warehouse folder. Out: paths and addresses. Knows neither Spark nor Iceberg, so that readers
without a JVM find the same catalog.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

CATALOG = "lake"
"""Name of the catalog, in Spark and in the rows of the database."""

BUSY_TIMEOUT = 10_000
"""How long a statement waits for another writer of the catalog, in milliseconds."""


def catalog_database(warehouse: Path) -> Path:
    """Return the path of the catalog's database.

    Args:
        warehouse: folder of the warehouse.
    """
    return warehouse.absolute() / "catalog.db"


def jdbc_uri(warehouse: Path) -> str:
    """Return the address by which Iceberg's JDBC catalog opens the database.

    Args:
        warehouse: folder of the warehouse.
    """
    path = quote(str(catalog_database(warehouse)))
    return f"jdbc:sqlite:file:{path}?journal_mode=WAL&busy_timeout={BUSY_TIMEOUT}"
