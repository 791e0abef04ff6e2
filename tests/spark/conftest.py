"""One Spark session for all tests that need one, and a namespace of its own for each test."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from headwater.config.settings import Config
from headwater.lake.catalog import Lake
from headwater.runtime.session import open_session
from headwater.runtime.spark_requirements import DELTA, KAFKA

_namespaces = itertools.count()


@pytest.fixture(scope="session")
def spark_config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """The configuration of the shared session; its namespace is not the one of `lake`."""
    folder = tmp_path_factory.mktemp("lake")
    return Config(
        directory=folder,
        name="tests",
        namespace="tests",
        warehouse=folder / "warehouse",
        state=folder / "state",
        master="local[2]",
        shuffle_partitions=2,
        spark={"spark.driver.memory": "2g"},  # hundreds of views in one session
    )


@pytest.fixture(scope="session")
def spark(spark_config: Config) -> Iterator[SparkSession]:
    """The one Spark session of the test run."""
    # Spark's Avro comes with Kafka's jars
    session = open_session(spark_config, app_name="headwater-tests", further=(DELTA, KAFKA))
    yield session
    session.stop()


@pytest.fixture
def lake(spark: SparkSession) -> Iterator[Lake]:
    """A namespace that no other test uses."""
    yield Lake(spark, f"test_{next(_namespaces)}")
    gc.collect()  # the JVM keeps the sessions of a test until Python lets them go
