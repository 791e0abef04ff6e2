"""Chromium opens the dashboard of every worked example; its picture goes to the example's page."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from headwater.plan.planner import plan_project
from headwater.project import Project, load_project
from headwater.serve.trino.access import state_columns
from headwater.serve.trino.catalog import catalogs
from headwater.servers.leftover import temporary_stack
from headwater.servers.superset import SupersetServer
from headwater.servers.trino import TrinoServer
from jobs.examples.__main__ import NAMES
from jobs.examples.generate import SQL, generate
from tests.serving.conftest import HEADWATER, ROOT
from tests.serving.test_dashboards import keep_screenshot, open_dashboard, push

pytestmark = pytest.mark.services


def ran(name: str, folder: Path) -> Project:
    """Return a copy of an example that has run; all copies share a warehouse."""
    project = folder / name
    shutil.copytree(SQL / name, project, ignore=shutil.ignore_patterns("data", ".headwater"))
    shutil.copytree(ROOT / "dashboards" / name, project / "dashboards")
    settings = (project / "headwater.toml").read_text()
    settings = settings.replace(f"../../dashboards/{name}", "dashboards")
    (project / "headwater.toml").write_text(f'{settings}\n[warehouse]\npath = "../warehouse"\n')
    generate(name, project=project)
    command = [*HEADWATER, "run", "--project", str(project), "--once", "--end-of-input"]
    subprocess.run([*command, "--no-console"], cwd=ROOT, check=True, timeout=400)
    return load_project(project)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Project]:
    """All examples by name."""
    folder = tmp_path_factory.mktemp("examples")
    return {name: ran(name, folder) for name in NAMES}


@pytest.fixture(scope="module")
def before_trino(
    examples: dict[str, Project], superset: SupersetServer
) -> Iterator[dict[str, Project]]:
    """The examples, read by a Trino; the settings say where the servers are."""
    plans = [plan for each in examples.values() for plan in plan_project(each.catalog).values()]
    lake = catalogs(next(iter(examples.values())).config)
    with (
        temporary_stack() as folder,
        TrinoServer(folder, lake, hidden=state_columns(plans)) as trino,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("HEADWATER_TRINO_URL", trino.address)
        patch.setenv("HEADWATER_SUPERSET_URL", superset.address)
        patch.setenv("HEADWATER_SUPERSET_PASSWORD", "${env:EXAMPLES_PASSWORD}")
        patch.setenv("EXAMPLES_PASSWORD", superset.password)
        yield examples


@pytest.mark.parametrize("name", NAMES)
def test_each_chart_of_an_example_shows_something(
    name: str, before_trino: dict[str, Project], page: Page
) -> None:
    pushed = push(before_trino[name].root)
    title = next(each for each in pushed if not each.endswith(": pipeline"))
    charts, address = pushed[title]
    assert charts == len(list((ROOT / "dashboards" / name).glob("*.yaml")))
    open_dashboard(page, charts, address)
    keep_screenshot(page, f"example-{name}")
