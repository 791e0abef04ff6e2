"""What is pushed to a real Superset, as a person sees it in a browser."""

from __future__ import annotations

import io
import json
import re
import subprocess
import urllib.parse
import zipfile
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Page

from headwater.servers.superset import SupersetServer
from tests.serving.conftest import HEADWATER, ROOT, SCREENSHOTS
from tests.serving.shop import Shop, copied

pytestmark = pytest.mark.services

_RENDERED = """count => {
  const charts = [...document.querySelectorAll('[data-test="chart-grid-component"]')];
  return charts.length === count
    && charts.every(chart => chart.querySelector('canvas, table tbody tr, .header-line'));
}"""
NUMBER = '[data-test-chart-name="{}"] .header-line'
_RESULT = ".ag-body-viewport .row-number-col"
_WRONG = '[data-test="chart-grid-component"] [role="alert"]'


@pytest.fixture(scope="module")
def pushed(project: Path) -> dict[str, tuple[int, str]]:
    """What a push says: the number of charts and the address, by the dashboard's title."""
    return push(project)


def push(project: Path) -> dict[str, tuple[int, str]]:
    command = [*HEADWATER, "dashboards", "push", "--project", str(project), "--output", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return {row["dashboard"]: (row["charts"], row["address"]) for row in json.loads(done.stdout)}


def number_of(page: Page, chart: str) -> str:
    """The number that a chart shows large."""
    text = page.text_content(NUMBER.format(chart))
    assert text is not None
    return text


def open_dashboard(page: Page, charts: int, address: str) -> None:
    """Open a dashboard and wait until each chart has drawn something."""
    page.goto(address)
    page.wait_for_function(_RENDERED, arg=charts)
    page.wait_for_timeout(2000)  # lines grow to their place
    assert page.query_selector_all(_WRONG) == []


def keep_screenshot(page: Page, name: str) -> None:
    """Keep what is seen, the whole page."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


# first, since a browser that opens a dashboard makes Superset write down the colours of its lines
def test_a_second_push_changes_nothing_and_leaves_alone_what_people_made(
    superset: SupersetServer, project: Path, pushed: dict[str, tuple[int, str]]
) -> None:
    session = session_of(superset)
    api = f"{superset.address}/api/v1"
    own = {"slice_name": "My own", "viz_type": "table", "datasource_id": 1, "params": "{}"}
    made = session.post(f"{api}/chart/", json=own | {"datasource_type": "table"}, timeout=180)
    assert made.status_code == 201, made.text
    before = exported(session, api)
    assert push(project) == pushed
    assert exported(session, api) == before
    assert any(path.startswith("charts/My_own") for path in before)


def test_the_charts_of_the_shop_show_its_views_and_follow_them(
    page: Page, shop: Shop, pushed: dict[str, tuple[int, str]]
) -> None:
    charts, address = pushed["Shop"]
    open_dashboard(page, charts, address)
    keep_screenshot(page, "shop")
    before = number_of(page, "Orders so far")
    assert int(before.replace(",", "")) == orders_in(shop.folder)
    page.evaluate("window.opened = true")
    shop.sell(40, minutes=1)
    page.wait_for_function(
        "([chart, before]) => document.querySelector(chart)?.textContent !== before",
        arg=[NUMBER.format("Orders so far"), before],
        timeout=180_000,
    )
    assert page.evaluate("window.opened"), "nobody has loaded the page again"
    assert int(number_of(page, "Orders so far").replace(",", "")) == orders_in(shop.folder)


def orders_in(folder: Path) -> int:
    """The orders that the view counts, by another engine."""
    query = "SELECT sum(orders) AS orders FROM revenue_per_minute"
    command = [*HEADWATER, "sql", query, "--project", str(folder), "--output", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180)
    return int(json.loads(done.stdout)[0]["orders"])


def test_pages_ask_nobody_else_for_pictures(superset: SupersetServer) -> None:
    answer = requests.get(f"{superset.address}/login/", timeout=180)
    assert answer.headers["Content-Security-Policy"].startswith("img-src 'self'")


def test_the_pipeline_shows_each_view(page: Page, pushed: dict[str, tuple[int, str]]) -> None:
    open_dashboard(page, *pushed["Shop: pipeline"])
    keep_screenshot(page, "pipeline")
    table = page.text_content('[data-test-chart-name^="Views and tables"]') or ""
    for view in ("orders", "revenue_per_minute", "lifetime_value", "low_stock"):
        assert view in table


def test_projects_whose_tables_have_equal_names_do_not_meet(
    project: Path, pushed: dict[str, tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_NAMESPACE", "elsewhere")
    other = push(project)
    assert not {address for _, address in other.values()} & {one for _, one in pushed.values()}


def test_what_the_project_has_no_more_is_removed(
    superset: SupersetServer, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_NAMESPACE", "shrinking")
    copy = copied(tmp_path / "shop")
    assert push(copy)["Shop"][0] == 8
    (copy / "low_stock.sql").unlink()
    (copy / "lifetime_value.sql").unlink()
    for chart in (copy / "dashboards").iterdir():
        if "view: revenue_per_minute\n" not in chart.read_text():
            chart.unlink()

    session, api = session_of(superset), f"{superset.address}/api/v1"
    number = dataset_of(session, api, "lifetime_value", "shrinking")
    own = {"slice_name": "Mine", "viz_type": "table", "datasource_id": number, "params": "{}"}
    made = session.post(f"{api}/chart/", json=own | {"datasource_type": "table"}, timeout=180)
    assert made.status_code == 201, made.text
    before = exported(session, api)
    assert push(copy)["Shop"][0] == 4
    gone = {name.rpartition("/")[2] for name in before.keys() - exported(session, api).keys()}
    assert sorted(re.sub(r"(_\d+)?\.yaml$", "", name) for name in gone) == [
        "Best_customers_EUR",
        "Products_to_be_ordered_again",
        "Revenue_by_city_EUR_and_share",
        "Stock_at_or_below_the_limit_pieces",
        "low_stock",
    ], "and the dataset of somebody's chart is still there"


def dataset_of(session: requests.Session, api: str, name: str, schema: str) -> int:
    """The number of a dataset."""
    query = f"(filters:!((col:table_name,opr:eq,value:{name}),(col:schema,opr:eq,value:{schema})))"
    answer = session.get(f"{api}/dataset/", params={"q": query}, timeout=180)
    (only,) = answer.json()["result"]
    return int(only["id"])


def session_of(superset: SupersetServer) -> requests.Session:
    """A session of the REST interface, logged in."""
    session = requests.Session()
    login = {"username": superset.username, "password": superset.password, "provider": "db"}
    api = f"{superset.address}/api/v1/security"
    token = session.post(f"{api}/login", json=login, timeout=180).json()["access_token"]
    session.headers.update({"Authorization": f"Bearer {token}", "Referer": superset.address})
    found = session.get(f"{api}/csrf_token/", timeout=180).json()
    session.headers["X-CSRFToken"] = found["result"]
    return session


def exported(session: requests.Session, api: str) -> dict[str, str]:
    """All that Superset holds, as it exports it; the names of the files have its own numbers."""
    answer = session.get(f"{api}/assets/export/", timeout=180)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        texts = {name.partition("/")[2]: archive.read(name).decode() for name in archive.namelist()}
    del texts["metadata.yaml"]  # when it was exported
    return texts


@pytest.mark.usefixtures("pushed")
def test_a_limit_in_sql_lab_is_the_number_of_rows(page: Page, superset: SupersetServer) -> None:
    number = database_of(session_of(superset), superset)
    query = urllib.parse.urlencode(
        {"dbid": number, "sql": "SELECT * FROM shop.orders LIMIT 10", "autorun": "true"}
    )
    page.goto(f"{superset.address}/sqllab/?{query}")
    rows = page.locator(_RESULT)
    rows.first.wait_for()
    keep_screenshot(page, "sql-lab")
    assert rows.count() == 10


def database_of(session: requests.Session, superset: SupersetServer) -> int:
    """The number of the database that the project's datasets are in."""
    found = session.get(f"{superset.address}/api/v1/database/", timeout=180).json()["result"]
    return int(found[0]["id"])
