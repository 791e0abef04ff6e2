"""Who looks at a view: queries to Trino, five a second at most, or a dashboard in Chromium.

In: a project with servers, and what to look at. Out: when the newest record came into sight.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

from bench.browser import chromium, log_in
from bench.delay.kinds import Kind
from bench.delay.steps import Shown
from headwater.config.settings import Config
from headwater.serve.trino.client import trino_query
from headwater.servers.superset import SupersetServer
from headwater.servers.trino import TrinoServer

PAUSE = 0.2
"""Seconds between two queries: without it they take a core, as nobody's do."""
NUMBER = '[data-test="chart-grid-component"] .header-line'
_CHART = """view: {view}
title: Newest record
viz_type: big_number_total
params:
  metric:
    expressionType: SQL
    sqlExpression: MAX({column})
    label: newest
  y_axis_format: ",d"
"""


def watch(newest: Callable[[], int | None], seconds: float) -> list[Shown]:
    """Look again and again; return what was new, and when.

    Args:
        newest: returns the number of the newest record in sight.
        seconds: for how long.
    """
    found: list[Shown] = []
    until = time.time() + seconds
    while time.time() < until:
        number = newest()
        if number is not None and (not found or number + 1 > found[-1].upto):
            found.append(Shown(number + 1, time.time(), 0))
    return found


def by_query(config: Config, kind: Kind) -> Callable[[], int | None]:
    """Return what asks Trino for the newest record."""

    def newest() -> int | None:
        time.sleep(PAUSE)
        with trino_query(config, f"SELECT max({kind.newest}) FROM {kind.shown}") as result:
            ((number,),) = result.rows
        return None if number is None else int(str(number))

    return newest


@contextmanager
def by_chart(
    folder: Path, kind: Kind, trino: TrinoServer, superset: SupersetServer
) -> Iterator[Callable[[], int]]:
    """Open a dashboard with the newest record as a large number; yield what reads it."""
    servers = {
        "HEADWATER_TRINO_URL": trino.address,
        "HEADWATER_SUPERSET_URL": superset.address,
        "HEADWATER_SUPERSET_PASSWORD": "${env:BENCH_PASSWORD}",
        "BENCH_PASSWORD": superset.password,
    }
    charts = folder / "dashboards"
    charts.mkdir(exist_ok=True)
    chart = _CHART.format(view=kind.shown, column=kind.newest)
    (charts / "newest.yaml").write_text(chart, encoding="utf-8")
    command = [sys.executable, "-m", "headwater", "--project", str(folder), "dashboards", "push"]
    command += ["--output", "json"]
    done = subprocess.run(command, env=os.environ | servers, stdout=subprocess.PIPE, check=True)
    address = next(
        each["address"]
        for each in json.loads(done.stdout)
        if not each["dashboard"].endswith(": pipeline")
    )
    with sync_playwright() as playwright:
        browser = chromium(playwright, shutil.which("chromium"))
        page = browser.new_page()
        log_in(page, superset)
        page.goto(address)
        page.wait_for_selector(NUMBER)

        def newest() -> int:
            time.sleep(0.02)
            text = page.text_content(NUMBER) or "0"
            return int(text.replace(",", "")) if text[:1].isdigit() else 0

        yield newest
        browser.close()
