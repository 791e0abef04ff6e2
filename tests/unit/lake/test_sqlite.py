"""The embedded catalog's database: where it is, who may write to it, and what its failures say."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import OperationalError

from headwater.errors import ServiceError
from headwater.lake.catalogs.sqlite import SqliteDatabase


@pytest.fixture(params=["plain", "a b%41?x#y&z=ü'", "c:d@e"])
def database(tmp_path: Path, request: pytest.FixtureRequest) -> SqliteDatabase:
    """In folders whose names mean something in an address."""
    return SqliteDatabase(tmp_path / request.param)


def test_asking_for_a_table_makes_no_database(database: SqliteDatabase) -> None:
    assert not database.has_table("t")
    assert not database.path.parent.exists()


def test_all_clients_find_the_same_file(database: SqliteDatabase) -> None:
    with database.transaction() as run:
        run("CREATE TABLE t (k INT)")
        run("INSERT INTO t VALUES (:k)", k=7)
    assert database.path.is_file()
    assert database.has_table("t") and not database.has_table("u")
    for read_only in (False, True):
        told = database.url(read_only=read_only).render_as_string(hide_password=False)
        engine = create_engine(make_url(told))
        with engine.connect() as connection:
            assert connection.execute(text("SELECT k FROM t")).scalar() == 7
        engine.dispose()


def test_readers_cannot_write(database: SqliteDatabase) -> None:
    database.create_table("CREATE TABLE IF NOT EXISTS t (k INT)")
    engine = create_engine(database.url(read_only=True))
    with pytest.raises(OperationalError, match="readonly"), engine.begin() as connection:
        connection.execute(text("INSERT INTO t VALUES (1)"))
    engine.dispose()


def test_what_fails_is_rolled_back_and_said_without_the_statement(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "w")
    database.create_table("CREATE TABLE t (k INT)")
    with pytest.raises(ServiceError) as caught, database.transaction() as run:
        run("INSERT INTO t VALUES (:k)", k="hunter2")
        run("INSERT INTO u VALUES (:k)", k="hunter2")
    assert caught.value.condition == "CATALOG_FAILED"
    assert caught.value.message == "the catalog's database failed: no such table: u"
    with database.transaction(writes=False) as run:
        assert run("SELECT count(*) FROM t").scalar() == 0
