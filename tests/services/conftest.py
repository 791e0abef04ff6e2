"""Servers that the test run starts itself, and a Spark session whose catalog is one of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headwater.config.settings import Config, RunSection, Secret
from headwater.lake.catalog import Lake
from headwater.lake.catalogs import postgres as module
from headwater.runtime.session import open_session
from headwater.runtime.spark_requirements import KAFKA
from headwater.servers.leftover import temporary_stack
from jobs.demos.servers.connect import Connect
from jobs.demos.servers.kafka import Kafka
from jobs.demos.servers.postgres import Postgres, is_installed
from jobs.demos.servers.redis import Redis
from jobs.demos.servers.redis import is_installed as redis_is_installed
from jobs.demos.servers.registry import Registry
from jobs.demos.servers.rest import Rest
from jobs.demos.servers.store import ACCESS_KEY, SECRET_KEY, Store
from tests.faults.postgres import postgres
from tests.faults.proxy import Proxy

_namespaces = itertools.count()


@pytest.fixture(scope="session")
def stack() -> Iterator[Path]:
    """The folder of the servers; a test starts those whose fixtures it asks for, no others."""
    with temporary_stack() as folder:
        yield folder


@pytest.fixture(scope="session")
def broker(stack: Path) -> Iterator[Kafka]:
    """A Kafka broker."""
    with Kafka(stack) as running:
        yield running


@pytest.fixture(scope="session")
def connect(stack: Path, broker: Kafka) -> Iterator[Connect]:
    """Kafka Connect with Debezium."""
    with Connect(stack, broker) as running:
        yield running


@pytest.fixture(scope="session")
def registry(stack: Path) -> Iterator[Registry]:
    """A schema registry."""
    with Registry(stack) as running:
        yield running


@pytest.fixture(scope="session")
def rest(stack: Path, store: Store) -> Iterator[Rest]:
    """A REST catalog with tables in folders and in the object store."""
    files = {
        "warehouse": (stack / "rest" / "warehouse").as_uri(),
        "io-impl": "org.apache.iceberg.io.ResolvingFileIO",
        "client.region": "us-east-1",
        "s3.endpoint": store.address,
        "s3.path-style-access": "true",
        "s3.access-key-id": ACCESS_KEY,
        "s3.secret-access-key": SECRET_KEY,
    }
    with Rest(stack, files) as running:
        yield running


@pytest.fixture(scope="session")
def store(stack: Path) -> Iterator[Store]:
    """An object store."""
    with Store(stack) as running:
        yield running


@pytest.fixture(scope="session")
def redis(stack: Path) -> Iterator[Redis]:
    """A Redis server."""
    if not redis_is_installed():
        pytest.skip("no Redis is installed")
    with Redis(stack) as running:
        yield running


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    """A PostgreSQL server."""
    if not is_installed():
        pytest.skip("no PostgreSQL is installed")
    with postgres() as running:
        yield running


@pytest.fixture(scope="session")
def proxy(server: Postgres) -> Iterator[Proxy]:
    """The proxy between the server and everyone whose configuration is `proxied`."""
    with Proxy(server.port) as running:
        yield running


@pytest.fixture(scope="session")
def direct(server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A project whose catalog is in PostgreSQL."""
    folder = tmp_path_factory.mktemp("lake")
    return Config(
        directory=folder,
        name="tests",
        namespace="tests",
        warehouse=folder / "warehouse",
        state=folder / "state",
        master="local[2]",
        run=RunSection(shuffle_partitions=2),
        catalog="jdbc",
        catalog_uri=Secret(server.uri()),
    )


@pytest.fixture(scope="session")
def proxied(direct: Config, server: Postgres, proxy: Proxy) -> Config:
    """The same project, reached through the proxy."""
    return replace(direct, catalog_uri=Secret(server.uri(proxy.port)))


@pytest.fixture(scope="session")
def spark(proxied: Config) -> Iterator[SparkSession]:
    """The one Spark session of the test run; it waits for locks for two seconds only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BUSY_TIMEOUT", 2000)
        session = open_session(proxied, app_name="headwater-services", further=(KAFKA,))
    yield session
    session.stop()


@pytest.fixture
def lake(spark: SparkSession, proxy: Proxy) -> Iterator[Lake]:
    """A namespace that no other test uses, over a connection that works again afterwards."""
    yield Lake(spark, f"test_{next(_namespaces)}")
    proxy.disarm()
