"""A namespace of its own for each test that commits to the lake."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from headwater.lake.catalog import Lake

_namespaces = itertools.count()


@pytest.fixture
def lake(spark: SparkSession) -> Iterator[Lake]:
    """A namespace that no other test uses."""
    yield Lake(spark, f"test_{next(_namespaces)}")
    gc.collect()  # the JVM keeps the sessions of a test until Python lets them go
