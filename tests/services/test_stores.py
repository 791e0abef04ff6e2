"""The same project behaves the same over every catalog, format and store.

A run is killed in the middle and another goes on; the view is equal to its SELECT in DuckDB, also
after maintenance; what everybody asks (status, doctor, sql) is answered; Trino agrees.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyarrow.fs import S3FileSystem

from headwater.config.settings import load_config
from headwater.serve.trino.catalog import environment, properties
from headwater.servers.trino import TrinoServer
from jobs.demos.catalogs import settings
from jobs.demos.servers.postgres import Postgres
from jobs.demos.servers.rest import Rest
from jobs.demos.servers.store import ACCESS_KEY, SECRET_KEY, Store

pytestmark = pytest.mark.services

HEADWATER = [sys.executable, "-m", "headwater"]
BUCKET = "lake"
SECRET = "LAKE_STORE_SECRET_KEY"
CATALOGS = ("embedded", "jdbc", "rest")
STORES = ("folder", "bucket")
# Delta tables are in a folder, whatever the catalog is
WORLDS = [
    *((catalog, "iceberg", store) for catalog in CATALOGS for store in STORES),
    *((catalog, "delta", "folder") for catalog in CATALOGS),
]
PROJECT = """CREATE TABLE sales (id BIGINT, item VARCHAR, amount BIGINT)
WITH (connector = 'files', path = 'sales') FORMAT PLAIN ENCODE JSON;
CREATE TABLE items (item VARCHAR, price BIGINT, PRIMARY KEY (item))
WITH (connector = 'files', path = 'items') FORMAT UPSERT ENCODE JSON (delete_field = 'gone');
CREATE STREAMING VIEW totals WITH (format = '{format}') AS
SELECT s.item, count(*) AS sold, sum(s.amount * i.price) AS worth
FROM sales AS s JOIN items AS i ON i.item = s.item GROUP BY s.item;
"""
EQUAL = {"items": "equal", "totals": "equal"}


def environment_of(more: Mapping[str, str]) -> dict[str, str]:
    """Return what a process is told: the environment as it is now, the store's secret, and more."""
    return {**os.environ, SECRET: SECRET_KEY, **more}


@dataclass(frozen=True)
class World:
    """A project whose tables are somewhere."""

    folder: Path

    def write(self, number: int, sales: list[tuple[str, int]], items: Mapping[str, int]) -> None:
        """Write a file of sales and one of items; a price of 0 means that the item is gone."""
        self.put("sales", number, [
            {"id": 100 * number + at, "item": item, "amount": amount}
            for at, (item, amount) in enumerate(sales)
        ])  # fmt: skip
        self.put("items", number, [
            {"item": item, "price": price, "gone": not price} for item, price in items.items()
        ])  # fmt: skip

    def put(self, table: str, number: int, rows: Sequence[Mapping[str, object]]) -> None:
        """Write a file of a table."""
        path = self.folder / table / f"{number:02}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run a command of Headwater's on the project."""
        command = [*HEADWATER, "--project", str(self.folder), *arguments]
        return subprocess.run(
            command,
            env=environment_of(environ),
            capture_output=True,
            text=True,
            timeout=500,
            start_new_session=True,  # a crash point kills the group
        )

    def ask(self, *arguments: str, **environ: str) -> list[list[str]]:
        """Run a command that succeeds and says nothing of errors; return the rows of its table."""
        done = self.run(*arguments, "--output", "csv", **environ)
        assert (done.returncode, done.stderr) == (0, "")
        return [line.split(",") for line in done.stdout.splitlines()[1:]]


def verdicts(world: World, *arguments: str, **environ: str) -> dict[str, str]:
    """Return what `verify` says of each table and view that can be computed."""
    return {row[0]: row[1] for row in world.ask("verify", *arguments, **environ)}


@pytest.fixture(scope="module")
def bucket(store: Store) -> str:
    """A bucket's name."""
    client = S3FileSystem(
        access_key=ACCESS_KEY, secret_key=SECRET_KEY, endpoint_override=store.address,
        region="us-east-1", allow_bucket_creation=True,
    )  # fmt: skip
    with suppress(OSError):
        client.create_dir(BUCKET)
    return BUCKET


@pytest.fixture(scope="module")
def make(
    tmp_path_factory: pytest.TempPathFactory,
    server: Postgres,
    rest: Rest,
    store: Store,
    bucket: str,
) -> Callable[[str, str, str], World]:
    """Makes the project of a world, once."""
    made: dict[str, World] = {}
    catalogs = {
        "embedded": settings("embedded"),
        "jdbc": settings("postgres", {"postgres:5432/lake": server.uri().partition("@")[2]}),
        "rest": settings("rest", {"http://rest:8181": rest.address}),
    }

    def world(catalog: str, form: str, kept: str) -> World:
        name = f"{catalog}_{form}_{kept}"
        if name in made:
            return made[name]
        folder = tmp_path_factory.mktemp("lake house") / name
        folder.mkdir()
        place = {"lake/headwater": f"{bucket}/{name} house", "http://store:8000": store.address}
        files = settings("s3", place) if kept == "bucket" else ""
        text = f'name = "{name}"\n{catalogs[catalog]}{files}'
        text += '[spark]\nmaster = "local[2]"\n[run]\nlease = "2 seconds"\n'
        (folder / "headwater.toml").write_text(text)
        (folder / "project.sql").write_text(PROJECT.format(format=form))
        made[name] = World(folder)
        return made[name]

    return world


@pytest.mark.parametrize(("catalog", "form", "kept"), WORLDS)
def test_a_project_behaves_the_same(
    make: Callable[[str, str, str], World], stack: Path, catalog: str, form: str, kept: str
) -> None:
    world = make(catalog, form, kept)
    world.write(1, [("a", 1), ("b", 2), ("a", 3)], {"a": 10, "b": 20})
    killed = world.run(
        "run", "--once", "--end-of-input", HEADWATER_CRASH_POINT="5-published@totals:2:group"
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    world.write(2, [("b", 1), ("c", 5)], {"b": 0, "c": 7, "a": 11})
    done = world.run("run", "--once", "--end-of-input")
    assert done.returncode == 0, done.stderr
    query = ["sql", "SELECT item, sold, worth FROM totals ORDER BY item"]
    assert world.ask(*query) == [["a", "2", "44"], ["c", "1", "35"]]
    assert verdicts(world) == EQUAL
    assert {row[2] for row in world.ask("status")} == {"stopped"}
    maintained = world.run("maintain")
    assert maintained.returncode == 0, maintained.stderr
    assert world.ask(*query) == [["a", "2", "44"], ["c", "1", "35"]]
    assert verdicts(world) == EQUAL
    assert world.ask("doctor") == []
    if form == "iceberg":  # Trino does not read the others
        assert agrees_in_trino(world, stack)


def agrees_in_trino(world: World, stack: Path) -> bool:
    """Return whether everything is equal to its SELECT in a Trino of the world's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET, SECRET_KEY)
        config = load_config(world.folder)
        secrets = environment(config)
    catalogs = {config.trino.catalog: properties(config)}
    with TrinoServer(stack, catalogs, variables=secrets) as server:
        return verdicts(world, "--engine", "trino", HEADWATER_TRINO_URL=server.address) == EQUAL


def test_an_object_store_keeps_no_delta_tables(make: Callable[[str, str, str], World]) -> None:
    refused = make("embedded", "delta", "bucket").run("check")
    assert refused.returncode == 1
    assert "NOT_YET — view totals is a Delta table" in refused.stderr


def test_what_is_wrong_with_the_store_is_said(make: Callable[[str, str, str], World]) -> None:
    world = make("embedded", "iceberg", "bucket")
    world.write(9, [("z", 1)], {"z": 0})  # tables are there, whichever test came first
    assert world.run("run", "--once", "--end-of-input").returncode == 0
    wrong = {
        "STORE_DOWN": {"HEADWATER_WAREHOUSE_ENDPOINT": "http://127.0.0.1:9"},
        "STORE_REFUSED": {SECRET: "wrong"},
        # of another lake: this one would have moved
        "BUCKET_MISSING": {
            "HEADWATER_NAME": "new",
            "HEADWATER_WAREHOUSE_PATH": "s3://nobody/lake",
        },
    }
    for condition, environ in wrong.items():
        done = world.run("run", "--once", "--end-of-input", **environ)
        assert (done.returncode, done.stderr.split(" — ")[0]) == (3, condition)
    for command in (["sql", "SELECT * FROM totals"], ["verify"], ["doctor"], ["status"]):
        done = world.run(*command, **wrong["STORE_DOWN"])
        assert (done.returncode, done.stderr.split(" — ")[0]) == (3, "STORE_DOWN"), command
    assert SECRET_KEY not in done.stdout + done.stderr


def test_a_store_that_dies_is_waited_for(
    make: Callable[[str, str, str], World], store: Store
) -> None:
    world = make("rest", "iceberg", "bucket")
    command = [*HEADWATER, "--project", str(world.folder), "run"]
    world.write(3, [("c", 1)], {"a": 12})
    with subprocess.Popen(
        command, env=environment_of({}), stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr
        next(line for line in running.stderr if "maintained totals" in line)
        store.kill()
        world.write(4, [("d", 2), ("c", 1)], {"d": 3})
        next(line for line in running.stderr if "STORE_DOWN" in line)
        store.start()
        next(line for line in running.stderr if "maintained totals" in line)
        running.send_signal(signal.SIGINT)
        running.stderr.read()
    assert world.run("run", "--once", "--end-of-input").returncode == 0
    assert world.ask("sql", "SELECT sold, worth FROM totals WHERE item = 'd'") == [["1", "6"]]
    assert verdicts(world) == EQUAL


WINDOWS = """CREATE SOURCE sales (id BIGINT, at TIMESTAMP WITH TIME ZONE, WATERMARK FOR at AS at)
WITH (connector = 'files', path = 'sales') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW hours AS SELECT window_start, count(*) AS n
FROM TUMBLE(sales, at, INTERVAL '1' HOUR) GROUP BY window_start EMIT ON WINDOW CLOSE;
"""


def test_a_machine_without_its_state_goes_on_from_the_copy_in_the_store(
    make: Callable[[str, str, str], World],
) -> None:
    world = World(make("jdbc", "iceberg", "bucket").folder.with_name("windows"))
    world.folder.mkdir()
    settings = (world.folder.with_name("jdbc_iceberg_bucket") / "headwater.toml").read_text()
    renamed = settings.replace("jdbc_iceberg_bucket", "windows")
    (world.folder / "headwater.toml").write_text(renamed)
    (world.folder / "project.sql").write_text(WINDOWS)
    queries = set()
    for number in range(4):
        world.put("sales", number, [{"id": number, "at": f"2026-01-01T{number:02}:30:00Z"}])
        done = world.run("run", "--once", "--end-of-input")
        assert done.returncode == 0, done.stderr
        state = world.folder / ".headwater" / "state"
        queries.add((state / "hours" / "v1" / "checkpoint" / "metadata").read_text())
        shutil.rmtree(state)
    assert len(queries) == 1  # what Spark calls one query is one checkpoint, in four places
    examined = world.run("doctor", "hours")
    assert examined.returncode == 1
    assert "the next run restores its replica of epoch" in examined.stdout
    assert [row[1] for row in world.ask("sql", "SELECT * FROM hours")] == ["1"] * 4
