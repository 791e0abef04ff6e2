"""What Spark, PyIceberg and Trino are told of the warehouse and the catalog; secrets apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.config.settings import CatalogSection, Config, WarehouseSection
from headwater.lake.catalogs.opening import catalog_backend
from headwater.lake.storage.warehouse import table_folder, warehouse_for

SECRET = "geheim"
STORE = WarehouseSection(
    path="s3://lake/air/", endpoint="http://s:9", access_key="me", secret_key="${env:STORE_SECRET}"
)
SERVER = CatalogSection(
    type="rest", uri="https://t:8181", warehouse="prod", credential="${env:STORE_SECRET}"
)


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORE_SECRET", SECRET)


def config(bucket: WarehouseSection | None = None, rest: CatalogSection | None = None) -> Config:
    return Config(Path("/p"), "air", "air", Path("/w h"), Path("/s"), bucket=bucket, rest=rest)


def test_a_folder_needs_nothing_of_spark() -> None:
    folder = warehouse_for(config())
    assert (folder.uri, folder.jars, folder.classes) == ("file:///w h", (), ())
    assert {**folder.spark_settings(), **folder.spark_secrets(), **folder.reader_settings()} == {}


def test_a_bucket_is_reached_by_iceberg_itself() -> None:
    bucket = warehouse_for(config(STORE))
    assert bucket.uri == "s3://lake/air"
    settings = bucket.spark_settings()
    assert settings["io-impl"] in bucket.classes
    assert settings["s3.endpoint"] == bucket.reader_settings()["s3.endpoint"] == "http://s:9"
    assert settings["client.region"] == bucket.reader_settings()["s3.region"] == "us-east-1"
    assert settings["s3.path-style-access"] == "true"
    assert SECRET not in settings.values()
    assert bucket.spark_secrets() == {"s3.access-key-id": "me", "s3.secret-access-key": SECRET}


def test_without_keys_the_environment_says_who_asks() -> None:
    bucket = warehouse_for(config(WarehouseSection(path="s3://lake")))
    assert bucket.spark_secrets() == {}
    assert set(bucket.spark_settings()) == {"io-impl", "client.region"}
    assert set(bucket.reader_settings()) == {"s3.region"}


def test_a_server_decides_what_its_warehouse_is() -> None:
    server = catalog_backend(config(rest=SERVER))
    settings = server.spark_settings("file:///w")
    assert settings == {"type": "rest", "uri": "https://t:8181", "warehouse": "prod"}
    assert server.spark_secrets() == {"credential": SECRET}
    assert server.reader_settings() == {**settings, "credential": SECRET}


@pytest.mark.parametrize(
    ("warehouse", "folder"),
    [
        ("file:///w h", Path("/w h/air/t")),
        ("file:/w", Path("/w/air/t")),
        ("s3://lake/air", None),
    ],
)
def test_tables_have_folders_in_folders_only(warehouse: str, folder: Path | None) -> None:
    assert table_folder(warehouse, "air", "t") == folder
