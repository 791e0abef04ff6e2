"""``make stack-up`` gives the whole stack: rows of PostgreSQL come out of Trino; all of it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import requests
import trino

from headwater.project import load_project
from headwater.serve.trino.catalog import PASSWORD
from headwater.servers.superset import SupersetServer
from jobs.demos.cdc.pipeline import EXAMPLE
from jobs.demos.cdc.stack import IN_CONTAINERS, Database, ShopStack
from jobs.demos.servers.postgres import is_installed
from tests.support.metrics import scrape
from tests.support.waiting import wait_for

pytestmark = pytest.mark.services

ROOT = Path(__file__).parents[2]
WITHIN = 120.0
PATIENCE = 1500  # seconds: the first time all jars are fetched, and Superset is installed
NEWEST = "SELECT max(changed_at) FROM orders"


def run(folder: Path, command: str) -> str:
    words = [sys.executable, "-m", "jobs.demos.stack", command, "--folder", str(folder)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not is_installed(), reason="no PostgreSQL is installed")
def test_up_and_down_and_up_again(stack: Path) -> None:
    folder = stack / "shop"
    try:
        for _ in range(2):  # the second time on the data of the first
            said = run(folder, "up")
            shop = ShopStack(folder)
            services = shop.choose(())
            processes = [service.process for service in services]
            assert all(processes)
            for address in (shop.kafka.address, shop.headwater.metrics, shop.postgres.address):
                assert address in said
            assert f"{shop.superset.address}/superset/dashboard/headwater-shop/" in said
            assert f"trino://me@127.0.0.1:{shop.trino.ports['TRINO_PORT']}/lake/shop" in said
            _rows_arrive(shop)
            _equal_in_trino(shop)
            assert _titles(shop.superset) >= {"Shop", "Shop: pipeline"}
            assert scrape(shop.headwater.metrics).state("orders") == "running"
            _prepare_as_a_container_does(shop, folder / "copy")
            again = run(folder, "up")
            assert again == run(folder, "status")
            assert set(again.splitlines()) <= set(said.splitlines())
            assert run(folder, "down").count("stopped") == len(services)
            assert not any(process and process.alive for process in processes)
    finally:
        run(folder, "down")


def _equal_in_trino(shop: ShopStack) -> None:
    """Each keyed table and view is what its SELECT says, while rows go on coming."""
    command = [sys.executable, "-m", "headwater", "--project", str(shop.project), "verify"]
    options = ["--engine", "trino", "--output", "csv"]
    environ = os.environ | {PASSWORD: shop.postgres.password}
    done = subprocess.run(
        [*command, *options], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    verdicts = dict(line.split(",")[:2] for line in done.stdout.splitlines()[1:])
    assert verdicts == dict.fromkeys(load_project(EXAMPLE).catalog.views, "equal")


def _titles(superset: SupersetServer) -> set[str]:
    """The dashboards that there are, asked for as a program does."""
    session, api = requests.Session(), f"{superset.address}/api/v1"
    user = {"username": superset.username, "password": superset.password, "provider": "db"}
    token = session.post(f"{api}/security/login", json=user, timeout=60).json()["access_token"]
    session.headers["Authorization"] = f"Bearer {token}"
    found = session.get(f"{api}/dashboard/", timeout=60).json()["result"]
    return {each["dashboard_title"] for each in found}


def _prepare_as_a_container_does(shop: ShopStack, project: Path) -> None:
    """What is prepared already stays as it is."""
    server = shop.postgres
    told = Database(server.host, server.port, server.user, server.password).variables()
    told |= {"CONNECT_URL": shop.connect.address, "BROKER": shop.kafka.address}
    assert list(IN_CONTAINERS["prepare"](told | {"PROJECT": str(project)}))
    assert load_project(project).catalog.views.keys() == load_project(EXAMPLE).catalog.views.keys()


def _rows_arrive(shop: ShopStack) -> None:
    """What happens in PostgreSQL from now on is seen in Trino."""
    with shop.postgres.connect() as connection:
        (now,) = connection.execute(NEWEST.encode()).fetchone() or (None,)
    assert now is not None
    # as the printed line says it
    lake = trino.dbapi.connect(
        host="127.0.0.1", port=shop.trino.ports["TRINO_PORT"], user="me", catalog="lake",
        schema="shop",
    )  # fmt: skip

    def seen() -> bool:
        ((newest,),) = lake.cursor().execute(NEWEST).fetchall()
        return bool(newest and newest > now)

    wait_for(seen, f"what is newer than {now} in PostgreSQL", within=WITHIN, every=1)
