"""One Spark session for all ``.slt`` files of a test run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from headwater.testing.harness import shared_session


@pytest.fixture(scope="session")
def slt_session() -> Iterator[SparkSession]:
    with shared_session() as spark:
        yield spark
