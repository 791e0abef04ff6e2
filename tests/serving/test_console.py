"""The console of a live run, as a person sees it in a browser: by mouse, keys and phone."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from headwater.project import load_project
from headwater.servers.ports import is_free
from tests.serving.conftest import SCREENSHOTS
from tests.serving.shop import Shop
from tests.support.waiting import wait_for

pytestmark = pytest.mark.services

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
SECONDS = 120_000


@pytest.fixture(scope="module")
def address(shop: Shop) -> str:
    """Where the console of the run is, once the run listens."""
    port = load_project(shop.folder).config.console.port
    assert port is not None
    wait_for(lambda: not is_free(port), "the console of the run")
    address = f"http://127.0.0.1:{port}"
    urllib.request.urlopen(address, timeout=120).close()  # it waits until the console is loaded
    return address


@pytest.fixture
def seen(browser: Browser) -> Iterator[Page]:
    """A page that nobody has opened yet; an error of a script, or of the policy, fails the test."""
    context = browser.new_context(viewport=WIDE, color_scheme="light")
    page = context.new_page()
    page.set_default_timeout(SECONDS)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    yield page
    context.close()
    assert wrong == []


def keep(page: Page, name: str) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")


def test_the_graph_shows_every_view_of_the_run(seen: Page, address: str) -> None:
    seen.goto(address)
    for name in ("orders", "customers", "lifetime_value", "pieces_per_product"):
        expect(seen.locator(f"#box-{name}")).to_contain_text("running", timeout=SECONDS)
    expect(seen.locator(".run")).to_contain_text("running")
    keep(seen, "console")
    seen.emulate_media(color_scheme="dark")
    assert seen.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 26)"
    keep(seen, "console-dark")


def test_a_view_is_reached_and_read_with_the_keyboard(seen: Page, address: str) -> None:
    seen.goto(address)
    seen.locator("#box-customers").focus()
    seen.keyboard.press("ArrowRight")
    expect(seen.locator("#box-lifetime_value")).to_be_focused()
    assert seen.locator(".lines path.near").count() == 2
    seen.wait_for_timeout(5000)  # two refreshes
    expect(seen.locator("#box-lifetime_value")).to_be_focused()
    seen.keyboard.press("Enter")
    seen.wait_for_url("**/relations/lifetime_value")
    seen.keyboard.press("4")
    seen.wait_for_url("**/relations/lifetime_value/rows")
    seen.locator("a.why").first.focus()
    seen.keyboard.press("Enter")
    expect(seen.locator("main")).to_contain_text("decided by")
    seen.keyboard.press("?")
    expect(seen.locator("#keys")).to_be_visible()
    seen.keyboard.press("Escape")
    expect(seen.locator("#keys")).to_be_hidden()
    seen.keyboard.press("g")
    seen.keyboard.press("o")
    seen.wait_for_url(f"{address}/")


def test_a_new_commit_appears_without_a_reload(seen: Page, address: str, shop: Shop) -> None:
    seen.goto(f"{address}/relations/revenue_per_minute/commits")
    rows = seen.locator("tr[id^=commit-]")
    expect(rows.first).to_be_visible()
    newest = rows.first.get_attribute("id")
    seen.evaluate("window.opened = true")
    shop.sell(40, minutes=1)
    expect(rows.first).not_to_have_id(newest or "", timeout=SECONDS)
    assert seen.evaluate("window.opened"), "nobody has loaded the page again"
    keep(seen, "console-commits")


def test_verify_is_a_button(seen: Page, address: str) -> None:
    seen.goto(f"{address}/relations/revenue_per_minute/verify")
    seen.get_by_role("button", name="Verify").click()
    expect(seen.locator(".verdict .good")).to_have_text("equal", timeout=SECONDS)


def test_a_query_runs_with_the_keyboard(seen: Page, address: str) -> None:
    seen.goto(f"{address}/sql")
    expect(seen.locator("#sql")).to_be_focused()
    seen.keyboard.type("SELECT city, count(*) AS customers FROM customers GROUP BY city ORDER BY 1")
    seen.keyboard.press("Control+Enter")
    expect(seen.locator("#answer tbody tr")).to_have_count(5, timeout=SECONDS)
    keep(seen, "console-sql")
    seen.locator("#sql").fill("DROP TABLE customers")
    seen.get_by_role("button", name="Run").click()
    expect(seen.locator("#answer [role=alert]")).to_be_visible()


def test_the_filter_stays_while_the_page_refreshes(seen: Page, address: str) -> None:
    seen.goto(address)
    seen.keyboard.press("/")
    seen.keyboard.type("revenue")
    shown = seen.locator("tr[data-name]:visible")
    expect(shown).to_have_count(1)
    seen.wait_for_timeout(5000)  # two refreshes
    expect(shown).to_have_count(1)
    expect(seen.locator("#filter")).to_be_focused()
    expect(seen.locator("#filter")).to_have_value("revenue")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/sql",
        "/quarantine",
        *(
            f"/relations/lifetime_value/{section}"
            for section in ("definition", "plan", "commits", "rows", "why", "verify")
        ),
    ],
)
def test_a_narrow_screen_never_scrolls_to_the_side(seen: Page, address: str, path: str) -> None:
    seen.set_viewport_size(NARROW)
    seen.goto(address + path)
    assert seen.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    for target in seen.locator("nav a:visible").all():
        box = target.bounding_box()
        assert box and box["height"] >= 24, "a finger finds it"
    keep(seen, "console-narrow" + re.sub(r"\W+", "-", path).rstrip("-"))
