"""Chromium opens the dashboard of every worked example; pictures are kept for its page."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from headwater.plan.planner import plan_project
from headwater.project import load_project
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


LEFT_OPEN = ("feature_store",)
"""Its input ends a week after the last payment, when no card has paid in the last hour."""


def copied(name: str, folder: Path) -> Path:
    """Copy an example with its charts; all copies share a warehouse."""
    project = folder / name
    shutil.copytree(SQL / name, project, ignore=shutil.ignore_patterns("data", ".headwater"))
    shutil.copytree(ROOT / "dashboards" / name, project / "dashboards")
    settings = (project / "headwater.toml").read_text()
    settings = settings.replace(f"../../dashboards/{name}", "dashboards")
    (project / "headwater.toml").write_text(f'{settings}\n[warehouse]\npath = "../warehouse"\n')
    return project


def fill(name: str, project: Path) -> None:
    """Generate the events of an example and run its views; what is there is not made again."""
    generate(name, project=project)
    command = [*HEADWATER, "run", "--project", str(project), "--once", "--no-console"]
    if name not in LEFT_OPEN:
        command.append("--end-of-input")
    subprocess.run(command, cwd=ROOT, check=True, timeout=400)


@pytest.fixture(scope="module")
def examples(
    tmp_path_factory: pytest.TempPathFactory, superset: SupersetServer
) -> Iterator[dict[str, Path]]:
    """All examples by name, and a Trino over their tables; the settings say where servers are."""
    base = tmp_path_factory.mktemp("examples")
    found = {name: copied(name, base) for name in NAMES}
    projects = [load_project(folder) for folder in found.values()]
    plans = [plan for each in projects for plan in plan_project(each.catalog).values()]
    with (
        temporary_stack() as stack,
        TrinoServer(stack, catalogs(projects[0].config), hidden=state_columns(plans)) as trino,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("HEADWATER_TRINO_URL", trino.address)
        patch.setenv("HEADWATER_SUPERSET_URL", superset.address)
        patch.setenv("HEADWATER_SUPERSET_PASSWORD", "${env:EXAMPLES_PASSWORD}")
        patch.setenv("EXAMPLES_PASSWORD", superset.password)
        yield found


@pytest.mark.parametrize("name", NAMES)
def test_each_chart_of_an_example_shows_something(
    name: str, examples: dict[str, Path], page: Page
) -> None:
    fill(name, examples[name])
    pushed = push(examples[name])
    title = next(each for each in pushed if not each.endswith(": pipeline"))
    charts, address = pushed[title]
    assert charts == len(list((ROOT / "dashboards" / name).glob("*.yaml")))
    open_dashboard(page, charts, address)
    keep_screenshot(page, f"example-{name}")


def test_a_page_shows_the_span_of_time_that_its_project_says(
    examples: dict[str, Path], page: Page
) -> None:
    project = examples["ad_clicks"]
    fill("ad_clicks", project)
    settings = project / "headwater.toml"
    lines = [each for each in settings.read_text().splitlines() if "time_range" not in each]
    before = lines.index("[superset]") + 1
    lines.insert(before, 'time_range = "2020-01-01 : 2020-01-02"')
    settings.write_text("\n".join(lines))
    _, address = push(project)["Ad clicks"]
    page.goto(address)
    page.wait_for_selector("text=2020-01-01 ≤ col < 2020-01-02")
    page.wait_for_selector("text=No data")
    assert page.query_selector("text=15,968") is None
