"""The embedded catalog is locked or read-only during a commit: nothing is lost or doubled."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
from pyspark.sql import SparkSession

from headwater.config.settings import Config
from headwater.lake.catalog import Lake
from headwater.lake.catalogs import sqlite
from headwater.lake.catalogs.sqlite import SqliteDatabase
from headwater.lake.failures import explain_failure
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.commit import Outcome, commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Target
from headwater.lake.spec import TableSpec


@pytest.fixture
def database(spark_config: Config) -> SqliteDatabase:
    return SqliteDatabase(spark_config.warehouse)


@pytest.fixture
def other(database: SqliteDatabase) -> Iterator[sqlite3.Connection]:
    """A second connection; what it begins is rolled back in the end."""
    opened = sqlite3.connect(
        database.path, isolation_level=None, timeout=60, check_same_thread=False
    )
    with closing(opened) as connection:
        yield connection


def reached_by(lake: Lake, uri: str) -> Lake:
    """The same lake, in a session that reaches the catalog in another way."""
    session: SparkSession = lake.spark.newSession()
    session.conf.set("spark.sql.catalog.lake.uri", uri)
    return lake.using(session)


@pytest.fixture
def impatient(lake: Lake, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """The same lake, in a session that waits for locks for 200 ms only."""
    lake.ensure(TableSpec("t", (("k", "INT", True),)))
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 200)
    return reached_by(lake, database.jdbc_settings()["uri"])


def epoch(number: int) -> Marker:
    return Marker("t", 1, number, {"in": str(number)} if number else {}, {"in": str(number + 1)})


def rows(lake: Lake, key: int):
    return lambda target: target.append(lake.spark.sql(f"SELECT {key} AS k"))


def check(lake: Lake, condition: str, error: Exception, held: int) -> None:
    """The fault has a name, and as many epochs as before; when it is over, it goes on."""
    known = explain_failure(error)
    assert known is not None, error
    assert known.condition == condition
    table = lake.table("t")
    for number in range(held, held + 2):
        done = commit(table, epoch(number), rows(lake, number), session=lake.spark)
        assert done is Outcome.COMMITTED
    assert sorted(row.k for row in table.read().collect()) == list(range(held + 2))


STEPS = [("rows", "publish"), ("merge", "stage"), ("merge", "write"), ("merge", "publish")]


@pytest.mark.parametrize(("kind", "step"), STEPS)
def test_catalog_locked_for_longer_than_one_waits(
    lake: Lake, impatient: Lake, other: sqlite3.Connection, kind: str, step: str
) -> None:
    class Locked(LakeTable):
        def stage(self, view: str, base: int) -> str:
            if step == "stage":
                other.execute("BEGIN EXCLUSIVE")
            return super().stage(view, base)

        def publish(self, branch: str, head: int) -> None:
            if step == "publish":
                other.execute("BEGIN EXCLUSIVE")
            super().publish(branch, head)

        def publish_files(self, view: str, base: int, update: object) -> None:
            other.execute("BEGIN EXCLUSIVE")
            super().publish_files(view, base, update)

    def write(target: Target) -> None:
        if kind == "merge":
            assert target.identifier
        if step == "write":
            other.execute("BEGIN EXCLUSIVE")
        rows(impatient, 0)(target)

    table = Locked(impatient.spark, "t", impatient.identifier("t"))
    with pytest.raises(Exception) as error:  # noqa: B017, PT011 - Spark's or py4j's
        commit(table, epoch(0), write, session=impatient.spark)
    assert other.in_transaction, "the fault did not fire"
    other.rollback()
    check(lake, "CATALOG_LOCKED", error.value, held=0)


def test_catalog_locked_for_a_moment_is_waited_for(lake: Lake, other: sqlite3.Connection) -> None:
    class Locked(LakeTable):
        def publish_files(self, view: str, base: int, update: object) -> None:
            other.execute("BEGIN EXCLUSIVE")
            threading.Timer(0.5, other.rollback).start()
            super().publish_files(view, base, update)

    lake.ensure(TableSpec("t", (("k", "INT", True),)))
    table = Locked(lake.spark, "t", lake.identifier("t"))
    done = commit(table, epoch(0), rows(lake, 0), session=lake.spark)
    assert done is Outcome.COMMITTED


def test_read_only_catalog_refuses_and_keeps_everything(
    lake: Lake, database: SqliteDatabase
) -> None:
    table = lake.ensure(TableSpec("t", (("k", "INT", True),)))
    commit(table, epoch(0), rows(lake, 0), session=lake.spark)
    frozen = reached_by(lake, database.jdbc_settings()["uri"] + "&mode=ro")
    with pytest.raises(Exception) as error:  # noqa: B017, PT011
        commit(frozen.table("t"), epoch(1), rows(frozen, 1), session=frozen.spark)
    check(lake, "WAREHOUSE_NOT_WRITABLE", error.value, held=1)
