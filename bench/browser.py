"""Chromium, as benchmarks and tests open pages in it."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, Playwright

from headwater.servers.superset import SupersetServer

_OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


def chromium(playwright: Playwright, path: str | None) -> Browser:
    """Start the Chromium of the machine, where it is installed."""
    return playwright.chromium.launch(executable_path=path, args=_OPTIONS)


def log_in(page: Page, superset: SupersetServer) -> None:
    """Log in to Superset by its form."""
    page.set_default_timeout(180_000)
    page.goto(f"{superset.address}/login/")
    page.fill("#username", superset.username)
    page.fill("#password", superset.password)
    page.press("#password", "Enter")
    page.wait_for_url("**/superset/welcome/**")
