"""A shop that is kept live, Trino and Superset before it, and a browser that has logged in."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from bench.browser import chromium, log_in
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.serve.trino.access import state_columns
from headwater.serve.trino.catalog import catalogs
from headwater.servers.leftover import temporary_stack
from headwater.servers.ports import free_port
from headwater.servers.superset import SupersetServer
from headwater.servers.trino import TrinoServer
from tests.serving.shop import Shop

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"
HEADWATER = [sys.executable, "-m", "headwater"]
_PASSWORD = "SHOP_SUPERSET_PASSWORD"


@pytest.fixture(scope="session")
def stack() -> Iterator[Path]:
    """The folder of the servers."""
    with temporary_stack() as folder:
        yield folder


@pytest.fixture(scope="session")
def superset(stack: Path) -> Iterator[SupersetServer]:
    """A Superset that nobody has used yet."""
    with SupersetServer(stack) as running:
        yield running


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A project with a first run behind it, kept by a process of its own from then on."""
    folder = tmp_path_factory.mktemp("serving") / "shop"
    shop = Shop(folder, f"\n[console]\nport = {free_port()}\n")
    shop.sell(150)
    command = [*HEADWATER, "run", "--project", str(folder)]
    subprocess.run([*command, "--once", "--end-of-input"], cwd=ROOT, check=True, timeout=400)
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as running:
        yield shop
        running.terminate()


@pytest.fixture(scope="session")
def trino(stack: Path, shop: Shop) -> Iterator[TrinoServer]:
    """A Trino over the shop's tables."""
    project = load_project(shop.folder)
    hidden = state_columns(plan_project(project.catalog).values())
    with TrinoServer(stack, catalogs(project.config), hidden=hidden) as running:
        yield running


@pytest.fixture(scope="session")
def project(
    shop: Shop,
    trino: TrinoServer,
    superset: SupersetServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    """The shop's folder; its settings say where the servers are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWATER_TRINO_URL", trino.address)
        patch.setenv("HEADWATER_SUPERSET_URL", superset.address)
        patch.setenv("HEADWATER_SUPERSET_PASSWORD", f"${{env:{_PASSWORD}}}")
        patch.setenv(_PASSWORD, superset.password)
        yield shop.folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("no Chromium is installed (for example apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = chromium(playwright, path)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def page(superset: SupersetServer, browser: Browser) -> Page:
    """A page of a browser, logged in by the form."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    log_in(page, superset)
    return page
