"""Sinks into tables of other catalogs and of Delta: each change once, whatever is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import deltalake
import psycopg
import pyarrow as pa
import pytest
from pyarrow.fs import S3FileSystem
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import LongType, NestedField, StringType

from headwater.config.secrets import Secret
from headwater.lake.catalogs.postgres import PostgresDatabase, postgres_url
from jobs.demos.servers.postgres import Postgres
from jobs.demos.servers.rest import Rest
from jobs.demos.servers.store import ACCESS_KEY, SECRET_KEY, Store

pytestmark = pytest.mark.services

HEADWATER = [sys.executable, "-m", "headwater"]
BUCKET = "elsewhere"
PROJECT = """CREATE TABLE sales (id BIGINT, item VARCHAR, amount BIGINT, PRIMARY KEY (id))
WITH (connector = 'files', path = 'sales') FORMAT UPSERT ENCODE JSON (delete_field = 'gone');
CREATE TABLE clicks (id BIGINT, item VARCHAR)
WITH (connector = 'files', path = 'clicks') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW totals AS
SELECT item, count(*) AS sold, sum(amount) AS worth FROM sales GROUP BY item;
CREATE SINK totals_out FROM totals WITH ({totals}) FORMAT UPSERT;
CREATE SINK clicks_out FROM clicks WITH ({clicks}) FORMAT PLAIN;
"""


@dataclass
class World:
    """A project with an embedded catalog, and the catalog of somebody else that it delivers to."""

    folder: Path
    name: str
    where: Mapping[str, str]
    other: Mapping[str, str]
    files: int = field(default=0)

    def __post_init__(self) -> None:
        text = PROJECT.format(totals=self.options("totals"), clicks=self.options("clicks"))
        (self.folder / "project.sql").write_text(text)
        text = 'name = "shop"\n[spark]\nmaster = "local[2]"\n[run]\nlease = "2 seconds"\n'
        (self.folder / "headwater.toml").write_text(text)

    def called(self, name: str) -> str:
        """What the project calls a table there."""
        return f"{self.name}.{name}"

    def options(self, name: str) -> str:
        """The options of the sink into a table."""
        place = {"connector": "iceberg", "table": self.called(name)}
        return ", ".join(
            f"{option} = '{value}'" for option, value in {**place, **self.where}.items()
        )

    def change(self, sales: Mapping[int, tuple[str, int] | None], clicks: int) -> None:
        """Let sales come, or go, and some clicks."""
        self.files += 1
        self._put("sales", [
            {"id": id_, "item": "" if sale is None else sale[0], "amount": sale and sale[1],
             "gone": sale is None}
            for id_, sale in sales.items()
        ])  # fmt: skip
        self._put("clicks", [{"id": self.files, "item": f"i{n}"} for n in range(clicks)])

    def _put(self, table: str, rows: list[dict[str, object]]) -> None:
        path = self.folder / table / f"{self.files:02}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(each) + "\n" for each in rows))

    def environ(self, **more: str) -> dict[str, str]:
        return {**os.environ, "STORE_SECRET": SECRET_KEY, **more}

    def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*HEADWATER, "--project", str(self.folder), *arguments],
            env=self.environ(**environ),
            capture_output=True,
            text=True,
            timeout=500,
            start_new_session=True,  # a crash point kills the group
        )

    def done(self, *arguments: str, **environ: str) -> str:
        """Run what succeeds, and return what it prints."""
        done = self.run(*arguments, **environ)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @cached_property
    def catalog(self) -> Catalog:
        return load_catalog(self.where.get("catalog_name", "lake"), **self.other)

    def table(self, name: str) -> Table:
        return self.catalog.load_table((self.name, name))

    def held(self, name: str) -> list[tuple[object, ...]]:
        """The rows of a table there, as PyIceberg reads them."""
        rows = self.table(name).scan().to_arrow().to_pylist()
        return sorted(tuple(each.values()) for each in rows)

    def view(self, name: str) -> list[tuple[object, ...]]:
        """The rows of a view here, as DuckDB reads them."""
        columns = {"totals": "item, sold, worth", "clicks": "id, item"}[name]
        rows = json.loads(self.done("sql", f"SELECT {columns} FROM {name}", "--output", "json"))
        return sorted(tuple(each.values()) for each in rows)

    def epochs(self, name: str) -> list[int]:
        """The epochs of the sink in the history of a table, newest first."""
        table, found = self.table(name), []
        current = table.current_snapshot()
        while current is not None:
            said = current.summary.additional_properties if current.summary else {}
            if said.get("headwater.view") == f"shop.{name}_out":
                found.append(int(said["headwater.epoch"]))
            parent = current.parent_snapshot_id
            current = table.snapshot_by_id(parent) if parent else None
        return found

    def append(self, name: str, **columns: list[object]) -> None:
        """Commit as somebody else."""
        table = self.table(name)
        schema = table.schema().as_arrow()
        table.append(pa.table({f.name: pa.array(columns[f.name], f.type) for f in schema}, schema))

    def equal(self) -> bool:
        return all(self.held(name) == self.view(name) for name in ("totals", "clicks"))


class Delta(World):
    """The same, delivering into Delta tables in a folder."""

    def called(self, name: str) -> str:
        return f"out/{name}"

    def options(self, name: str) -> str:
        return f"connector = 'delta', path = '{self.called(name)}'"

    def delta(self, name: str) -> deltalake.DeltaTable:
        return deltalake.DeltaTable(self.folder / self.called(name))

    def held(self, name: str) -> list[tuple[object, ...]]:
        rows = self.delta(name).to_pyarrow_table().to_pylist()
        return sorted(tuple(each.values()) for each in rows)

    def epochs(self, name: str) -> list[int]:
        said = (each.get("userMetadata") for each in self.delta(name).history())
        markers = [json.loads(each) for each in said if each]
        assert {each["headwater.view"] for each in markers} == {f"shop.{name}_out"}
        return [int(each["headwater.epoch"]) for each in markers]

    def append(self, name: str, **columns: list[object]) -> None:
        table = self.delta(name)
        schema = pa.schema(table.schema().to_arrow())
        rows = pa.table({f.name: pa.array(columns[f.name], f.type) for f in schema}, schema)
        deltalake.write_deltalake(table, rows, mode="append")


@pytest.fixture(params=["jdbc", "rest"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """A catalog in a database of its own, one behind REST whose files are in S3; Delta tables."""
    if request.param == "delta":
        yield Delta(tmp_path, "out", {}, {})
        return
    name = f"out_{request.param}_{os.getpid()}_{uuid.uuid4().hex[:12]}"
    if request.param == "jdbc":
        server: Postgres = request.getfixturevalue("server")
        with server.connect() as connection, suppress(psycopg.errors.DuplicateDatabase):
            connection.execute("CREATE DATABASE elsewhere")
        uri = server.uri(database="elsewhere")
        where = {
            "catalog_type": "jdbc",
            "catalog_uri": uri.replace(":${env:POSTGRES_PASSWORD}", ""),
            "catalog_password": "${env:POSTGRES_PASSWORD}",
            "catalog_name": "theirs",
            "warehouse_path": str(tmp_path / "elsewhere"),
        }
        url = PostgresDatabase(postgres_url(Secret(uri))).url()
        uri = url.render_as_string(hide_password=False)
        other = {"type": "sql", "uri": uri, "warehouse": where["warehouse_path"]}
        made = World(tmp_path, name, where, other)
        made.catalog.create_namespace(name)  # makes the catalog too
        yield made
        made.catalog.close()
        return
    store: Store = request.getfixturevalue("store")
    rest: Rest = request.getfixturevalue("rest")
    client = S3FileSystem(
        access_key=ACCESS_KEY, secret_key=SECRET_KEY, endpoint_override=store.address,
        region="us-east-1", allow_bucket_creation=True,
    )  # fmt: skip
    with suppress(OSError):
        client.create_dir(BUCKET)
    where = {
        "catalog_type": "rest",
        "catalog_uri": rest.address,
        "warehouse_path": f"s3://{BUCKET}/lake",
        "warehouse_endpoint": store.address,
        "warehouse_access_key": ACCESS_KEY,
        "warehouse_secret_key": "${env:STORE_SECRET}",
    }
    other = {
        "type": "rest",
        "uri": rest.address,
        "s3.endpoint": store.address,
        "s3.region": "us-east-1",
        "s3.access-key-id": ACCESS_KEY,
        "s3.secret-access-key": SECRET_KEY,
    }
    yield World(tmp_path, name, where, other)


@pytest.mark.parametrize("world", ["jdbc", "rest", "delta"], indirect=True)
def test_each_change_is_there_once_whatever_was_killed(world: World) -> None:
    world.change({1: ("a", 1), 2: ("b", 2), 3: ("a", 3)}, 2)
    world.done("run", "--once", "--end-of-input")
    assert world.equal()
    # before the table is committed, and between that and the project's own marker
    for number, (name, point) in enumerate(
        [("totals", "5-staged"), ("clicks", "5-published"), ("totals", "5-published")], 2
    ):
        world.change({1: None, 10 * number: ("a", number), 2: ("b", number)}, number)
        killed = world.run(
            "run",
            "--once",
            "--end-of-input",
            HEADWATER_CRASH_POINT=f"{point}@{world.called(name)}:1:group",
        )
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        # somebody else commits before we are back
        world.append("totals", item=["z"], sold=[0], worth=[None])
        world.change({10 * number + 1: ("c", 5), 10 * number: None}, 1)
        world.done("run", "--once", "--end-of-input")
        assert [each for each in world.held("totals") if each[0] != "z"] == world.view("totals")
        assert world.held("clicks") == world.view("clicks")
        for each in ("totals", "clicks"):
            epochs = world.epochs(each)
            assert epochs == [*range(epochs[0], -1, -1)]
    assert [each[0] for each in world.held("totals")].count("z") == 3
    shown = {each["name"]: each for each in json.loads(world.done("status", "--output", "json"))}
    assert [shown[f"{name}_out"]["lag"] for name in ("totals", "clicks")] == [0, 0]
    text = world.done("explain", "totals") + "".join(
        path.read_text(errors="replace")
        for path in (world.folder / ".headwater").rglob("*")
        if path.suffix in (".log", ".json")
    )
    assert SECRET_KEY not in text
    assert os.environ.get("POSTGRES_PASSWORD", SECRET_KEY) not in text


def test_a_table_that_was_made_again_is_refused(world: World) -> None:
    world.change({1: ("a", 1)}, 1)
    world.done("run", "--once", "--end-of-input")
    schema = world.table("clicks").schema()
    world.catalog.drop_table((world.name, "clicks"))
    world.catalog.create_table((world.name, "clicks"), schema)
    world.change({2: ("a", 1)}, 1)
    refused = world.run("run", "--once", "--end-of-input")
    assert refused.returncode == 3
    assert "TABLE_RECREATED" in refused.stderr
    assert world.held("clicks") == []
    assert world.held("totals") == world.view("totals")  # the other sink is not disturbed


def test_a_catalog_that_is_down_disturbs_no_view(world: World, tmp_path: Path) -> None:
    world.change({1: ("a", 1)}, 1)
    text = (tmp_path / "project.sql").read_text()
    uri = world.where["catalog_uri"]
    away = uri.replace(uri.rpartition(":")[2].partition("/")[0], "9")
    (tmp_path / "project.sql").write_text(text.replace(uri, away))
    down = world.run("run", "--once", "--end-of-input")
    assert down.returncode == 3
    assert "CATALOG_DOWN — of sink" in down.stderr
    assert world.view("totals") == [("a", 1, 1)]
    (tmp_path / "project.sql").write_text(text)
    world.done("run", "--once", "--end-of-input")
    assert world.equal()


def test_columns_that_differ_are_named(world: World) -> None:
    with suppress(Exception):
        world.catalog.create_namespace(world.name)
    schema = Schema(
        NestedField(1, "id", LongType(), required=False),
        NestedField(2, "items", StringType(), required=False),
    )
    world.catalog.create_table((world.name, "clicks"), schema)
    world.change({1: ("a", 1)}, 1)
    refused = world.run("run", "--once", "--end-of-input")
    assert refused.returncode == 3
    assert f'table "{world.name}.clicks" has no column "item" (STRING)' in refused.stderr
