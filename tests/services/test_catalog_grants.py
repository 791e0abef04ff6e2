"""The SQL of ``catalog/`` in PostgreSQL: who may do what. No Spark here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from headwater.config.settings import Config, Secret, load_config
from headwater.errors import ServiceError
from headwater.lake.catalogs.backend import CATALOG
from headwater.lake.catalogs.opening import catalog_backend, lease_record, owner_of
from headwater.runtime.lease import Lease
from headwater.serve.lake_reader import LakeReader
from jobs.demos.catalogs import sql
from jobs.demos.cdc.pipeline import copy_example
from jobs.demos.cdc.stack import catalog_of, open_shop
from jobs.demos.servers.postgres import Postgres, connection_to
from tests.faults.postgres import PASSWORD

pytestmark = pytest.mark.services

DATABASE = "grants"
ROWS = pa.table({"id": pa.array([1, 2], pa.int64())})


@pytest.fixture(scope="module")
def lake(server: Postgres) -> Iterator[psycopg.Connection]:
    """A database in which both namespaces were made, twice, and each has a table."""
    with server.connect() as connection:
        connection.execute(f"CREATE DATABASE {DATABASE}")
    account = server.host, server.port, server.user, server.password
    with connection_to(*account, database=DATABASE) as connection:
        for namespace in ("shop", "flights") * 2:
            connection.execute(sql(namespace))
        for role in ("shop_reader", "shop_writer", "flights_writer"):
            connection.execute(f"CREATE ROLE my_{role} LOGIN PASSWORD '{quoted(PASSWORD)}'")
            connection.execute(f"GRANT {role} TO my_{role}")
        yield connection


def quoted(text: str) -> str:
    return text.replace("'", "''")


def as_user(config: Config, server: Postgres, role: str, namespace: str) -> Config:
    """The project of a namespace, run by a user of a role."""
    where = server.uri(database=DATABASE).replace(f"//{server.user}:", f"//my_{role}:")
    state = config.state / role
    return replace(config, catalog_uri=Secret(where), namespace=namespace, state=state)


def opened(config: Config) -> SqlCatalog:
    """The catalog as a writer opens it."""
    settings = catalog_backend(config).writer_settings()
    return SqlCatalog(CATALOG, **settings | {"warehouse": f"file://{config.warehouse}"})


def test_the_namespaces_are_those_that_iceberg_would_make(
    lake: psycopg.Connection, direct: Config, server: Postgres
) -> None:
    catalog = opened(as_user(direct, server, "shop_reader", "shop"))
    assert sorted(catalog.list_namespaces()) == [("flights",), ("shop",)]
    found = catalog.load_namespace_properties("shop")
    assert found == {"exists": "true", "comment": found["comment"]}
    assert "shop" in found["comment"]
    catalog.close()


def test_each_role_sees_and_writes_its_own_namespace(
    lake: psycopg.Connection, direct: Config, server: Postgres
) -> None:
    for name in ("shop", "flights"):
        catalog = opened(as_user(direct, server, f"{name}_writer", name))
        table = catalog.create_table(f"{name}.things", ROWS.schema)
        table.append(ROWS)
        assert catalog.load_table(f"{name}.things").scan().to_arrow().num_rows == 2
        assert catalog.list_tables("flights" if name == "shop" else "shop") == []
        catalog.close()
    assert LakeReader(as_user(direct, server, "shop_reader", "shop")).names() == ("things",)
    assert LakeReader(as_user(direct, server, "shop_reader", "flights")).names() == ()


def test_the_demo_stack_makes_its_catalog_by_these_files(server: Postgres, tmp_path: Path) -> None:
    for _ in range(2):  # the second time on what is there
        open_shop(server)
    copy_example(tmp_path, "127.0.0.1:9092", catalog_of(server))
    config = load_config(tmp_path)
    catalog = opened(config)
    assert catalog.list_namespaces() == [(config.namespace,)]
    catalog.close()
    with Lease.acquire(config) as lease:
        assert lease.token == 1
    assert LakeReader(config).names() == ()


def test_readers_write_nothing(lake: psycopg.Connection, direct: Config, server: Postgres) -> None:
    account = server.host, server.port, "my_shop_reader", PASSWORD
    with connection_to(*account, database=DATABASE) as connection:
        for statement in (
            "DELETE FROM iceberg_tables",
            "UPDATE headwater_lease SET owner = NULL",
            "INSERT INTO iceberg_namespace_properties VALUES ('lake', 'x', 'exists', 'true')",
            "CREATE TABLE mine (id INT)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())
    reader = as_user(direct, server, "shop_reader", "shop")
    with pytest.raises(ServiceError):
        Lease.acquire(reader)


def test_a_writer_who_may_create_nothing_takes_the_lease_of_its_namespace_only(
    lake: psycopg.Connection, direct: Config, server: Postgres
) -> None:
    shop = as_user(direct, server, "shop_writer", "shop")
    with Lease.acquire(shop) as lease:
        lease.check()
        assert owner_of(as_user(direct, server, "shop_reader", "shop")) == owner_of(shop)
        assert owner_of(as_user(direct, server, "flights_writer", "shop")) is None
        with pytest.raises(ServiceError):
            Lease.acquire(as_user(direct, server, "flights_writer", "shop"))
    flights = as_user(direct, server, "flights_writer", "flights")
    record = lease_record(flights)
    record.create()
    assert record.read() is None
    record.close()
