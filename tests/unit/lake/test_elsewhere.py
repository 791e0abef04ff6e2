"""The catalog of a sink's table: what Spark is told, and what it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import ConfigError
from headwater.lake.catalogs.foreign import ForeignCatalog, other_catalog

HERE = Path("/project")


def found(**options: str) -> ForeignCatalog:
    catalog = other_catalog(options, HERE)
    assert catalog is not None
    return catalog


def test_without_a_type_it_is_the_projects_own() -> None:
    assert other_catalog({"table": "a.b"}, HERE) is None


def test_a_database_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEIR_PASSWORD", "hunter22")
    catalog = found(
        catalog_type="jdbc",
        catalog_uri="postgresql://me@db:1/lake",
        catalog_password="${env:THEIR_PASSWORD}",
        catalog_name="theirs",
        warehouse_path="../there",
    )
    settings = catalog.spark_settings()
    own = "spark.sql.catalog.theirs"
    assert settings[f"{own}.uri"].startswith("jdbc:postgresql://db:1/lake?")
    assert settings[f"{own}.jdbc.user"] == "me"
    assert settings[f"{own}.jdbc.password"] == "hunter22"
    assert settings[f"{own}.jdbc.init-catalog-tables"] == "false"
    assert f"{own}.jdbc.schema-version" not in settings
    assert settings[f"{own}.warehouse"] == "file:///there"
    assert settings["spark.sql.defaultCatalog"] == "theirs"
    assert catalog.jars == ("core", "postgres")
    monkeypatch.delenv("THEIR_PASSWORD")
    with pytest.raises(ConfigError) as error:
        catalog.spark_settings()
    assert error.value.condition == "SECRET_MISSING"


def test_a_server_says_itself_where_tables_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("T", "token")
    catalog = found(
        catalog_type="rest",
        catalog_uri="http://h:1",
        catalog_warehouse="w",
        catalog_token="${env:T}",
    )
    settings = catalog.spark_settings()
    own = "spark.sql.catalog.lake"
    assert settings == {
        own: "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.defaultCatalog": "lake",
        f"{own}.type": "rest",
        f"{own}.uri": "http://h:1",
        f"{own}.warehouse": "w",
        f"{own}.token": "token",
        f"{own}.cache-enabled": "false",
    }
    assert (catalog.jars, catalog.warehouse) == (("core",), None)


def test_files_in_an_object_store_need_its_jar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S", "secret")
    catalog = found(
        catalog_type="rest",
        catalog_uri="http://h:1",
        warehouse_path="s3://lake/x/",
        warehouse_endpoint="http://s:2",
        warehouse_access_key="k",
        warehouse_secret_key="${env:S}",
    )
    assert catalog.jars == ("core", "s3")
    assert catalog.warehouse is not None
    assert catalog.warehouse.uri == "s3://lake/x"
    settings = catalog.spark_settings()
    own = "spark.sql.catalog.lake"
    assert settings[f"{own}.s3.endpoint"] == "http://s:2"
    assert settings[f"{own}.s3.secret-access-key"] == "secret"
    assert catalog.secrets() == {"s3.access-key-id": "k", "s3.secret-access-key": "secret"}
    assert "secret" not in repr(catalog)


def test_a_file_of_sqlite_is_in_the_folder() -> None:
    settings = found(catalog_type="embedded", warehouse_path="/there").spark_settings()
    assert "/there/catalog.db" in settings["spark.sql.catalog.lake.uri"]
