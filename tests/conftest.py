"""What all tests share: their lanes, and one Spark session for those that need one."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import settings
from pyspark import java_gateway
from pyspark.sql import SparkSession

from headwater.config.settings import Config, RunSection
from tests.lanes import entries_in_turn, is_fast
from tests.support.parts import in_part
from tests.support.sampling import some_cases

# Goldens fit a small terminal: processes of pytest-xdist have this width, one alone has not.
os.environ["COLUMNS"] = "80"

ROOT = Path(__file__).parent
MARKERS = {"spark": "spark", "slt": "spark", "services": "services"}
"""Folder of tests → the marker that each test in it gets."""
WITH_JVM = ("spark", "services", "bench")
"""The lanes whose tests may start a JVM in the process of the tests."""

FIRST = (
    "unit/plan/test_algebra.py",
    "unit/patterns/test_pattern_views.py",
    "unit/plan/test_size_of_plans.py",
    "unit/analyze/test_accepted_in_duckdb.py",
    "unit/analyze/test_author_text.py",
    "unit/analyze/test_conformance.py",
    "unit/plan/test_units_algebra.py",
    "unit/plan/test_failing_aggregates.py",
)
"""The files that take longest: a process that begins one last leaves the other without work."""
settings.register_profile("headwater", deadline=None)  # no test measures time
settings.load_profile("headwater")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", metavar="K/N", help="only the tests of one of N parts: 2/3")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part, first = config.getoption("part"), [ROOT / name for name in FIRST]
    _mark(items)
    asked = {each for each in _asked(items) if in_part(_together(each), part)}
    config.hook.pytest_deselected(items=[each for each in items if each not in asked])
    items[:] = [each for each in items if each in asked]
    items.sort(key=lambda item: first.index(item.path) if item.path in first else len(first))


def _mark(items: list[pytest.Item]) -> None:
    """Give each test the markers of its lane."""
    for item in items:
        folder = item.path.relative_to(ROOT).parts[0]
        if folder in MARKERS:
            item.add_marker(MARKERS[folder])
        if item.get_closest_marker("spark") and not is_fast(item.nodeid):
            item.add_marker("long")
        if folder != "slt":
            item.add_marker(pytest.mark.xdist_group(_together(item)))


def _asked(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests whose turn it is."""
    plain = {each.nodeid for each in items if not each.get_closest_marker("spark")}
    cases, turn = set(some_cases(sorted(plain))), entries_in_turn()

    def asked(node: str) -> bool:
        return node in cases if node in plain else is_fast(node, turn) or not is_fast(node)

    return [each for each in items if asked(each.nodeid)]


def _together(item: pytest.Item) -> str:
    """What an item is run together with: the tests of a file share what they make."""
    path = item.path.relative_to(ROOT)
    alone = path.parts[0] == "slt" or item.get_closest_marker("apart")
    return item.nodeid if alone else path.as_posix()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep tests without a JVM from starting one, and let Python look for garbage seldom.

    Syntax trees are many small objects; the search for those that nobody has was a sixth of all
    the tests compute. What has been imported is never looked through.
    """
    if not any(item.get_closest_marker(each) for item in session.items for each in WITH_JVM):
        java_gateway.Popen = _no_jvm
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _no_jvm(*_: object, **__: object) -> NoReturn:
    pytest.fail("a test of the lane without a JVM starts Spark: mark it spark, or ask another way")


def pytest_unconfigure() -> None:
    gc.unfreeze()


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
        run=RunSection(shuffle_partitions=2),
        spark={"spark.driver.memory": "2g"},  # hundreds of views in one session
    )


@pytest.fixture(scope="session")
def spark(spark_config: Config) -> Iterator[SparkSession]:
    """The one Spark session of the test run."""
    from headwater.runtime.session import open_session
    from headwater.runtime.spark_requirements import DELTA, KAFKA

    # Spark's Avro comes with Kafka's jars
    session = open_session(spark_config, app_name="headwater-tests", further=(DELTA, KAFKA))
    yield session
    session.stop()
