"""What Trino is told of a project: properties, environment, and the command that prints them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from headwater.config.settings import CatalogSection, Config, Secret, WarehouseSection
from headwater.serve.trino.catalog import catalogs, environment

WAREHOUSE = Path("/lake/warehouse")


def config(uri: str | None = None) -> Config:
    return Config(
        Path("/project"), "shop", "shop", WAREHOUSE, Path("/state"),
        catalog_uri=Secret(uri) if uri else None,
    )  # fmt: skip


def behind_rest() -> Config:
    server = CatalogSection(
        type="rest", uri="https://tables:8181", credential="${env:LAKE_PASSWORD}"
    )
    bucket = WarehouseSection(
        path="s3://lake", endpoint="http://store:9000",
        access_key="me", secret_key="${env:LAKE_PASSWORD}",
    )  # fmt: skip
    return replace(config(), rest=server, bucket=bucket)


def test_the_password_is_handed_over_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE_PASSWORD", "geheim")
    assert environment(config()) == {}
    assert environment(config("postgresql://lake:${env:LAKE_PASSWORD}@db/lake")) == {
        "LAKE_CATALOG_PASSWORD": "geheim"
    }
    assert environment(behind_rest()) == {
        "LAKE_CATALOG_CREDENTIAL": "geheim",
        "LAKE_STORE_ACCESS_KEY": "me",
        "LAKE_STORE_SECRET_KEY": "geheim",
    }


def test_it_is_printed_for_a_project(tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").write_text('name = "shop"\n')
    (tmp_path / "tables.sql").write_text("CREATE TABLE t (a BIGINT) WITH (connector = 'datagen');")
    base = [sys.executable, "-m", "headwater", "--project", str(tmp_path), "trino", "--catalog"]
    command = [*base, "iceberg"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert f"default-warehouse-dir=file://{tmp_path}/.headwater/warehouse\n" in printed
    printed = subprocess.run([*base, "delta"], capture_output=True, text=True, check=True).stdout
    assert f"catalog.dir=local://{tmp_path}/.headwater/warehouse/.metastore\n" in printed
    in_bucket = 'name = "shop"\n[warehouse]\npath = "s3://lake/w"\n'
    (tmp_path / "headwater.toml").write_text(in_bucket)
    refused = subprocess.run([*base, "delta"], capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "Delta tables are stored in folders only" in refused.stderr


def test_tables_of_delta_have_a_catalog_of_their_own_that_nobody_writes() -> None:
    found = catalogs(config())
    assert list(found) == ["lake", "lake_delta"]
    assert found["lake_delta"]["delta.security"] == "read_only"
    assert list(catalogs(behind_rest())) == ["lake"]
