"""What is scraped from a real ``headwater run`` is what ``headwater status`` says of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError

import headwater
from headwater.project import Project, load_project
from headwater.serve.status import Status, status
from headwater.servers.ports import free_port
from tests.support.metrics import Scrape, scrape
from tests.support.waiting import wait_for

DEFINITIONS = """
CREATE TABLE orders (
  id BIGINT NOT NULL, amount BIGINT, ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH (connector = 'files', path = 'in', ordering = 'name') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW per_minute AS
SELECT window_start, count(*) AS orders FROM TUMBLE(orders, ts, INTERVAL '1' MINUTE)
GROUP BY window_start EMIT ON WINDOW CLOSE;
CREATE STREAMING VIEW shares AS SELECT id, 100 / amount AS share FROM orders;
CREATE STREAMING VIEW large AS SELECT count(*) AS n FROM shares WHERE share < 10;
"""
WITHIN = 120.0


def put(folder: Path, name: str, rows: list[dict[str, object] | str]) -> None:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    hidden = folder / "in" / f".{name}"
    hidden.write_text("\n".join(lines) + "\n")
    hidden.rename(folder / "in" / f"{name}.json")


def order(number: int, minute: int, amount: int = 20) -> dict[str, object]:
    return {"id": number, "amount": amount, "ts": f"2024-01-01T00:{minute:02}:00Z"}


@contextmanager
def running(folder: Path) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "headwater", "run", "--metrics-port", str(port)]
    environ = os.environ | {
        "PYTHONPATH": str(Path(headwater.__file__).parents[1]),
        "HEADWATER_SPARK_MASTER": "local[2]",
        "HEADWATER_RUN_TRIGGER": "200 ms",
    }
    log = (folder / "log").open("w")
    with log, subprocess.Popen(command, cwd=folder, env=environ, stdout=log, stderr=log) as process:
        try:
            yield f"http://127.0.0.1:{port}/metrics"
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(WITHIN) == 0, (folder / "log").read_text()


def settled(project: Project, address: str, rows: int) -> tuple[Scrape, dict[str, Status]]:
    """A scrape and the status at a moment at which every view has read everything."""

    def look() -> tuple[Scrape, dict[str, Status]] | None:
        before = {each.name: each for each in status(project)}
        try:
            found = scrape(address)
        except URLError:
            found = Scrape([])
        after = {each.name: each for each in status(project)}
        still = {n: e.epoch for n, e in before.items()} == {n: e.epoch for n, e in after.items()}
        done = after["orders"].rows_out == rows and not any(each.lag for each in after.values())
        states = {each.state for each in before.values()} | {found.state(name) for name in after}
        lags = {found.value("headwater_lag_commits", n) for n in ("per_minute", "shares", "large")}
        if states == {"running"} and still and done and lags == {0}:
            return found, after
        return None

    found = wait_for(look, f"every view, see {project.root / 'log'}", within=WITHIN, every=0.5)
    assert found is not None
    return found


def compare(found: Scrape, said: dict[str, Status]) -> None:
    for name, each in said.items():
        assert found.state(name) == each.state == "running"
        assert found.value("headwater_epoch", name, kind=each.kind) == each.epoch
        watermark = each.watermark.timestamp() if each.watermark else None
        assert found.value("headwater_watermark_timestamp_seconds", name) == watermark
        assert found.value("headwater_lag_commits", name) == each.lag
        assert each.age is not None
        age = found.value("headwater_age_seconds", name)
        assert age is not None and abs(age - each.age.total_seconds()) < 5


def test_a_scrape_says_what_status_says(tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").write_text('name = "shop"')
    (tmp_path / "views.sql").write_text(DEFINITIONS)
    (tmp_path / "in").mkdir()
    put(tmp_path, "1", [order(1, 0), order(2, 30), "no JSON", order(3, 30, amount=0)])
    project = load_project(tmp_path)
    with running(tmp_path) as address:
        settled(project, address, rows=3)
        put(tmp_path, "2", [order(4, 0), order(5, 40)])  # the first is too late
        settled(project, address, rows=5)
        put(tmp_path, "3", ["no JSON either"])  # an epoch without rows
        wait_for(
            lambda: {each.name: each for each in status(project)}["orders"].epoch == 2,
            "an epoch without rows",
        )
        found, said = settled(project, address, rows=5)
        compare(found, said)
        counted = {"in": "rows_in", "out": "rows_out", "late": "late", "quarantined": "quarantined"}
        for name, each in said.items():
            rows = {kind: found.value(f"headwater_rows_{kind}_total", name) for kind in counted}
            assert rows == {kind: getattr(each, field) for kind, field in counted.items()}, name
            commits = found.value("headwater_commit_duration_seconds_count", name)
            assert each.epoch is not None and commits == each.epoch + 1
            assert found.value("headwater_commit_duration_seconds_sum", name)
        assert (said["orders"].quarantined, said["shares"].quarantined) == (2, 1)
        assert said["per_minute"].late == 1
    with running(tmp_path) as address:
        found, said = settled(project, address, rows=5)
        compare(found, said)
        assert found.value("headwater_rows_out_total", "orders") == 0
        put(tmp_path, "4", [order(6, 41)])
        found, said = settled(project, address, rows=6)
        compare(found, said)
        assert found.value("headwater_rows_out_total", "orders") == 1
        assert found.value("headwater_rows_in_total", "shares") == 1
