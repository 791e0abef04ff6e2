"""The files of ``catalog/`` say what Headwater reads, writes and creates.

``make golden`` rewrites what Headwater's own code gives: ``trino/*.properties``, ``commits.sql``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import sqlglot
from pyiceberg.catalog.sql import IcebergNamespaceProperties, IcebergTables
from sqlglot import exp

from headwater.config.settings import Config, load_config
from headwater.lake.catalogs.backend import CATALOG
from headwater.lake.catalogs.lease_record import _CREATE
from headwater.lake.protocol.commits import commits_sql
from headwater.lake.reserved_names import QUARANTINE
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.serve.trino.access import state_columns, with_hidden
from headwater.serve.trino.catalog import catalogs, environment, properties_file
from headwater.servers.trino import TrinoServer
from jobs.demos.catalogs import FOLDER, settings
from tests.support.golden_files import check_golden

ROOT = Path(__file__).parents[2]
PROJECTS = [load_project(ROOT / "sql" / name) for name in ("flights", "shop")]
CATALOGS = ("embedded", "postgres", "rest")
OPTION = re.compile(r"^# (\w+) = .*$", re.MULTILINE)
SECRETS = {
    "LAKE_CATALOG_PASSWORD": "geheim-1", "LAKE_CATALOG_CREDENTIAL": "geheim-2",
    "LAKE_CATALOG_TOKEN": "geheim-3", "LAKE_STORE_SECRET_KEY": "geheim-4",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, secret in SECRETS.items():
        monkeypatch.setenv(name, secret)


def config(folder: Path, text: str) -> Config:
    """The settings of a project with a catalog."""
    (folder / "headwater.toml").write_text('name = "shop"\n' + text)
    return load_config(folder, environ={})


def with_option(text: str, name: str) -> str:
    """A file with one of the options that it names in a comment."""
    return re.sub(rf"^# ({name} = )", r"\1", text, count=1, flags=re.MULTILINE)


def test_these_are_all_environments() -> None:
    assert {file.stem for file in FOLDER.glob("*.toml")} == {*CATALOGS, "s3"}


@pytest.mark.parametrize("name", CATALOGS)
@pytest.mark.parametrize("store", ["", "s3"])
def test_a_project_takes_them(name: str, store: str, tmp_path: Path) -> None:
    found = config(tmp_path, settings(name) + (settings(store) if store else ""))
    assert found.catalog == {"postgres": "jdbc"}.get(name, name)
    assert (found.bucket is not None) == bool(store)
    assert catalogs(found)


@pytest.mark.parametrize(
    ("name", "option"),
    [(name, option) for name in CATALOGS for option in OPTION.findall(settings(name))],
)
def test_a_project_takes_each_option(name: str, option: str, tmp_path: Path) -> None:
    found = config(tmp_path, with_option(settings(name), option))
    assert found.rest and getattr(found.rest, option)


def test_options_are_shown() -> None:
    assert OPTION.findall(settings("rest")) == ["credential", "token", "warehouse"]


@pytest.mark.parametrize(
    ("name", "text", "catalog"),
    [
        ("embedded", settings("embedded"), "lake"),
        ("postgres", settings("postgres"), "lake"),
        ("rest", with_option(settings("rest"), "credential") + settings("s3"), "lake"),
        ("delta", settings("embedded"), "lake_delta"),
    ],
)
def test_trino_is_told_of_the_same_catalogs(
    name: str, text: str, catalog: str, tmp_path: Path
) -> None:
    found = config(tmp_path, text)
    said = properties_file(catalogs(found)[catalog])
    filled = said.replace(str(found.warehouse), "${ENV:WAREHOUSE}")
    file = FOLDER / "trino" / f"{name}.properties"
    comment = re.match(r"(#.*\n)*", file.read_text())
    assert comment
    check_golden(file, comment[0] + filled)
    assert not [secret for secret in SECRETS.values() if secret in filled]
    asked = set(re.findall(r"\$\{ENV:(\w+)\}", filled))
    assert asked <= {"WAREHOUSE", *environment(found)}


def test_these_are_all_catalogs_of_trino() -> None:
    files = {file.stem for file in (FOLDER / "trino").glob("*.properties")}
    assert files - {"access-control"} == {"embedded", "postgres", "rest", "delta"}


def test_the_grants_of_trino_are_those_that_its_server_reads() -> None:
    here, read = FOLDER / "trino", TrinoServer.configuration / "trino"
    assert (here / "access-control.properties").resolve() == read / "access-control.properties"
    (shop,) = (project for project in PROJECTS if project.config.name == "shop")
    hidden = state_columns(plan_project(shop.catalog).values())
    check_golden(here / "rules.json", with_hidden(read / "rules.json", hidden))


def test_trino_may_write_nothing_in_any_of_the_catalogs() -> None:
    rules = json.loads((FOLDER / "trino" / "rules.json").read_text())
    for kind, granted in (("catalogs", ("read-only",)), ("tables", (["SELECT"], []))):
        for rule in rules[kind]:
            assert re.fullmatch(rule["catalog"], "lake")
            assert rule.get("allow", rule.get("privileges")) in granted
    assert rules["procedures"] == [{"privileges": []}]


def tables(text: str) -> dict[str, exp.Create]:
    """The tables that a file creates."""
    found = sqlglot.parse(text, dialect="postgres")
    return {one.this.this.name: one for one in found if isinstance(one, exp.Create)}


def test_each_sql_file_is_read_by_something() -> None:
    files = {str(file.relative_to(FOLDER)) for file in FOLDER.rglob("*.sql")}
    made = {f"namespaces/{project.config.namespace}.sql" for project in PROJECTS}
    assert files == {"postgres/iceberg.sql", "postgres/lease.sql", "commits.sql", *made}


def test_the_lease_is_the_table_that_headwater_creates() -> None:
    (name, ours), = tables(_CREATE).items()  # fmt: skip
    assert tables((FOLDER / "postgres" / "lease.sql").read_text())[name] == ours


def test_the_tables_of_iceberg_have_its_columns() -> None:
    found = tables((FOLDER / "postgres" / "iceberg.sql").read_text())
    assert len(found) == 2
    for model in (IcebergTables, IcebergNamespaceProperties):
        table = model.__table__
        written = found[table.name]
        columns = {each.name: each.kind for each in written.find_all(exp.ColumnDef)}
        assert list(columns) == [column.name for column in table.columns]
        for column in table.columns:
            assert columns[column.name].sql(dialect="postgres") == str(column.type)
        (key,) = written.find_all(exp.PrimaryKey)
        assert [part.name for part in key.expressions] == [each.name for each in table.primary_key]


def test_each_example_has_its_namespace() -> None:
    names = {project.config.namespace for project in PROJECTS}
    assert {file.stem for file in (FOLDER / "namespaces").glob("*.sql")} == names
    one, *others = (
        (FOLDER / "namespaces" / f"{name}.sql").read_text().replace(name, "…")
        for name in sorted(names)
    )
    for other in others:
        assert re.sub("'comment', .*", "", other) == re.sub("'comment', .*", "", one)
    assert f"('{CATALOG}', '…', 'exists', 'true')" in one


def test_commits_is_the_view_of_the_shop() -> None:
    (shop,) = (project for project in PROJECTS if project.config.name == "shop")
    written = {*shop.catalog.sources, *shop.catalog.views}
    written |= {name + QUARANTINE for name in shop.catalog.sources}
    file = FOLDER / "commits.sql"
    comment = re.match(r"(--.*\n)*", file.read_text())
    assert comment
    query = commits_sql(written)
    check_golden(file, f"{comment[0]}CREATE VIEW lake.shop.commits AS\n{query};\n")
