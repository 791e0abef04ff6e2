"""A project that has run once."""

from __future__ import annotations

import pytest

from tests.spark.deploy.world import World


@pytest.fixture
def world(spark, lake, tmp_path):
    """The project; its files can be changed."""
    found = World(spark, lake, tmp_path)
    found.run()
    return found
