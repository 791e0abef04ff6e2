"""Servers that the test run starts itself, and a Spark session whose catalog is one of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from docker.local.kafka import Kafka
from headwater.config import Config, Secret
from headwater.lake import postgres as module
from headwater.lake.catalog import Lake
from headwater.runtime.session import open_session
from tests.faults.postgres import MISSING, Server, postgres
from tests.faults.proxy import Proxy

_namespaces = itertools.count()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """A Kafka broker."""
    with Kafka(tmp_path_factory.mktemp("stack")) as running:
        yield running


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server."""
    if MISSING:
        pytest.skip(MISSING)
    with postgres() as running:
        yield running


@pytest.fixture(scope="session")
def proxy(server: Server) -> Iterator[Proxy]:
    """The proxy between the server and everyone whose configuration is `proxied`."""
    with Proxy(server.port) as running:
        yield running


@pytest.fixture(scope="session")
def direct(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A project whose catalog is in PostgreSQL."""
    folder = tmp_path_factory.mktemp("lake")
    return Config(
        directory=folder,
        name="tests",
        namespace="tests",
        warehouse=folder / "warehouse",
        state=folder / "state",
        master="local[2]",
        shuffle_partitions=2,
        catalog="jdbc",
        catalog_uri=Secret(server.uri()),
    )


@pytest.fixture(scope="session")
def proxied(direct: Config, server: Server, proxy: Proxy) -> Config:
    """The same project, reached through the proxy."""
    return replace(direct, catalog_uri=Secret(server.uri(proxy.port)))


@pytest.fixture(scope="session")
def spark(proxied: Config) -> Iterator[SparkSession]:
    """The one Spark session of the test run; it waits for locks for two seconds only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BUSY_TIMEOUT", 2000)
        session = open_session(proxied, app_name="headwater-services")
    yield session
    session.stop()


@pytest.fixture
def lake(spark: SparkSession, proxy: Proxy) -> Iterator[Lake]:
    """A namespace that no other test uses, over a connection that works again afterwards."""
    yield Lake(spark, f"test_{next(_namespaces)}")
    proxy.disarm()
