"""The catalog of a project, by its configuration: what holds it, its database, its lease."""

from __future__ import annotations

from headwater.config.settings import Config
from headwater.lake.catalogs.backend import CatalogBackend
from headwater.lake.catalogs.database import CatalogDatabase
from headwater.lake.catalogs.lease_record import LeaseRecord, LeaseRow, Owner
from headwater.lake.catalogs.postgres import PostgresDatabase, postgres_url
from headwater.lake.catalogs.rest import RestServer, TableLease
from headwater.lake.catalogs.sqlite import SqliteDatabase


def catalog_backend(config: Config) -> CatalogBackend:
    """Return what holds the catalog of a project.

    Raises:
        ConfigError: ``INVALID_OPTION`` for an address that is none.
    """
    if config.rest is not None:
        return RestServer(config.rest)
    return catalog_database(config)


def catalog_database(config: Config, *, keep_open: bool = False) -> CatalogDatabase:
    """Return the database of a project's catalog.

    Args:
        keep_open: whether connections may be kept for the next transaction, until ``close``.

    Raises:
        ConfigError: ``INVALID_OPTION`` for an address that is none.
    """
    if config.catalog_uri is not None:
        return PostgresDatabase(postgres_url(config.catalog_uri), keep_open=keep_open)
    return SqliteDatabase(config.warehouse)


def owner_of(config: Config) -> Owner | None:
    """Return the owner of a project as recorded in its catalog; it may be dead (``Owner.life``).

    Returns:
        The owner; None if nobody ever ran the project, or the last one gave the lease back.

    Raises:
        ServiceError: the catalog's database cannot be read.
    """
    record = lease_record(config)
    standing = record.read() if record.exists() else None
    return standing.owner if standing else None


def lease_record(config: Config, *, keep_open: bool = False) -> LeaseRecord:
    """Return where the lease of a project is written down: in its catalog.

    Args:
        keep_open: whether connections may be kept between two moves, until ``close``.

    Raises:
        ConfigError: ``INVALID_OPTION`` for an address that is none.
    """
    if config.rest is not None:
        return TableLease(RestServer(config.rest), config.namespace)
    return LeaseRow(catalog_database(config, keep_open=keep_open), config.namespace)
