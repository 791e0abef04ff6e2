"""The address of a PostgreSQL catalog, and what each of its three clients is told. No server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from sqlalchemy import URL, make_url

from headwater.config.settings import Config, Secret
from headwater.errors import ConfigError, ServiceError
from headwater.lake.catalogs.opening import catalog_database, owner_of
from headwater.lake.catalogs.postgres import PostgresDatabase, postgres_url

ODD = "p@ss/w:rd %41'"


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_PASSWORD", ODD)
    monkeypatch.setenv("DB_URI", "postgresql://me:hunter2@db:6432/lake")


def parse(uri: str) -> URL:
    return postgres_url(Secret(uri))


def test_every_part_of_an_address_is_read() -> None:
    address = parse("postgresql://me:${env:DB_PASSWORD}@[::1]:6432/lake?sslmode=verify-full")
    assert (address.host, address.port, address.database) == ("::1", 6432, "lake")
    assert (address.username, address.password) == ("me", "${env:DB_PASSWORD}")
    assert address.query == {"sslmode": "verify-full"}
    url = PostgresDatabase(address).url()
    assert (url.username, url.password, url.host) == ("me", ODD, "::1")
    assert ODD not in f"{address!r} {url!r} {url}"


def test_the_user_may_be_a_reference_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_USER", "me@home:1")
    database = PostgresDatabase(parse("postgresql://${env:DB_USER}:${env:DB_PASSWORD}@db/lake"))
    url = make_url(database.url().render_as_string(hide_password=False))
    assert (url.username, url.password, url.host) == ("me@home:1", ODD, "db")
    assert database.jdbc_settings()["jdbc.user"] == "me@home:1"


def test_what_can_be_left_out_may_be() -> None:
    address = parse("postgres://db/lake")
    assert (address.port, address.username, address.password) == (5432, None, None)


def test_a_whole_address_may_be_a_secret() -> None:
    address = parse("${env:DB_URI}")
    assert (address.host, address.port) == ("db", 6432)


@pytest.mark.parametrize(
    "uri",
    [
        *("postgresql://db", "postgresql:///lake", "mysql://db/lake", "postgresql://db/l?host=x"),
        *("postgresql://db:port/lake", "postgresql://${env:DB_PASSWORD}/lake", "://"),
        "postgresql://db/l?sslmode=require&sslmode=disable",
    ],
)
def test_other_addresses_are_refused(uri: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse(uri)
    assert error.value.condition == "INVALID_OPTION"
    assert error.value.hint


def test_spark_gets_the_password_apart_from_what_stands_on_command_lines() -> None:
    database = PostgresDatabase(parse("postgresql://me:${env:DB_PASSWORD}@db/lake?sslmode=require"))
    settings = database.jdbc_settings()
    assert settings["uri"].startswith("jdbc:postgresql://db:5432/lake?")
    assert "sslmode=require" in settings["uri"]
    assert settings["jdbc.user"] == "me"
    assert not any(ODD in text for text in settings.values())
    assert database.spark_secrets() == {"jdbc.password": ODD}


def test_readers_get_an_address_that_says_the_same() -> None:
    told = PostgresDatabase(parse("postgresql://me:${env:DB_PASSWORD}@db/l")).url(read_only=True)
    url = make_url(told.render_as_string(hide_password=False))
    assert (url.drivername, url.username, url.password) == ("postgresql+psycopg", "me", ODD)
    assert (url.host, url.port, url.database) == ("db", 5432, "l")
    assert url.query["options"] == "-c default_transaction_read_only=on"


def test_a_server_that_is_not_there_is_named_without_secrets(tmp_path: Path) -> None:
    uri = Secret("postgresql://me:${env:DB_PASSWORD}@127.0.0.1:1/lake")
    paths = (tmp_path / "warehouse", tmp_path / "state")
    config = Config(tmp_path, "a", "a", *paths, catalog="jdbc", catalog_uri=uri)
    with pytest.raises(ServiceError) as error:
        owner_of(config)
    assert error.value.condition == "CATALOG_DOWN"
    assert ODD not in str(error.value)
    assert isinstance(catalog_database(config), PostgresDatabase)


def test_a_missing_client_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    database = PostgresDatabase(parse("postgresql://me:${env:DB_PASSWORD}@127.0.0.1:1/lake"))
    with pytest.raises(ServiceError) as error:
        database.has_table("t")
    assert error.value.condition == "EXTRA_MISSING"
    assert "headwater[postgres]" in error.value.hint
