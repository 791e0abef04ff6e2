"""What a scrape says of a run, from the run's events alone."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.cli.main import main
from headwater.errors import ServiceError
from headwater.project import load_project
from headwater.runtime import run_metrics as module
from headwater.runtime.events import (
    EpochLanded,
    RecordsWaiting,
    Resumed,
    RunState,
    StateChanged,
    ViewCommitted,
    ViewDelivered,
)
from headwater.runtime.metrics import Metrics, served
from headwater.runtime.run_metrics import Tally
from headwater.servers.ports import free_port
from tests.support.metrics import Scrape, scrape

DEFINITIONS = """
CREATE TABLE orders (id BIGINT, amount BIGINT)
WITH (connector = 'kafka', topic = 'orders', bootstrap_servers = 'localhost:9092')
FORMAT PLAIN ENCODE JSON;
CREATE SOURCE hints (id BIGINT) WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW large AS SELECT id FROM orders WHERE amount > 100;
CREATE STREAMING VIEW larger AS SELECT id FROM large;
CREATE SINK large_ones FROM large
WITH (connector = 'kafka', topic = 'large', bootstrap_servers = 'localhost:9092')
FORMAT PLAIN ENCODE JSON;
"""
NOW = 1_700_000_000.0
LOADED = time.time()


class Run:
    """A run that tells what the test says, and can be scraped."""

    def __init__(self, folder: Path, address: str, tally: Tally) -> None:
        self.folder, self.address, self.tell = folder, address, tally

    def land(self, epoch: int, rows: int, *, bad: int = 0, dropped: int = 0, lost: int = 0) -> None:
        self.tell(
            EpochLanded(
                *("orders", epoch, rows, bad, dropped, lost, 0, 0, 1_600_000_000_500_000),
                snapshot_id=epoch + 10,
                seconds=0.5,
            )
        )

    def commit(self, view: str, epoch: int, rows: int, cut: dict[str, str], **counts: int) -> None:
        self.tell(ViewCommitted(view, epoch, rows, counts, None, cut, epoch + 20, 0.25))

    def scraped(self) -> Scrape:
        return scrape(self.address)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    (tmp_path / "headwater.toml").write_text('name = "shop"')
    (tmp_path / "views.sql").write_text(DEFINITIONS)
    project = load_project(tmp_path)
    tally = Tally(project.catalog)
    with served(Metrics(project, tally), "127.0.0.1", free_port()) as address:
        yield Run(tmp_path, address, tally)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [NOW]
    monkeypatch.setattr(module.time, "time", lambda: now[0])
    return now


def test_it_says_whose_metrics_they_are(run: Run) -> None:
    (about,) = run.scraped().samples("headwater_info")
    assert (about.labels["project"], about.labels["namespace"]) == ("shop", "shop")


def test_names_keep_to_the_conventions(run: Run) -> None:
    run.land(0, 1)
    for family in run.scraped().families:
        assert family.name.startswith("headwater")
        assert family.documentation
        assert family.unit == ("seconds" if family.name.endswith("_seconds") else "")
        assert not family.name.endswith(("_total", "_count"))


def test_rows_of_a_table_are_counted(run: Run) -> None:
    run.land(0, 7, bad=2, dropped=1, lost=4)
    run.land(1, 3)
    found = run.scraped()
    counted = ("rows_in", "rows_out", "rows_quarantined", "rows_dropped", "records_lost")
    values = [found.value(f"headwater_{name}_total", "orders") for name in counted]
    assert values == [13, 10, 2, 1, 4]
    assert found.value("headwater_epoch", "orders", kind="table") == 1
    assert found.value("headwater_watermark_timestamp_seconds", "orders") == 1_600_000_000.5
    assert found.value("headwater_commit_duration_seconds_count", "orders") == 2
    assert found.value("headwater_commit_duration_seconds_sum", "orders") == 1.0


def test_rows_of_a_view_are_counted_up_to_what_it_has_read(run: Run) -> None:
    run.land(0, 7)
    run.commit("large", 0, 5, {"orders": "10"}, late=2, quarantined=1)
    run.land(1, 3)
    found = run.scraped()
    counted = ("rows_in", "rows_out", "rows_late", "rows_quarantined")
    assert [found.value(f"headwater_{n}_total", "large") for n in counted] == [7, 5, 2, 1]
    run.commit("large", 1, 0, {"orders": "11"})
    assert run.scraped().value("headwater_rows_in_total", "large") == 10


def test_a_commit_that_is_told_again_is_counted_once(run: Run) -> None:
    for _ in range(2):
        run.commit("large", 0, 5, {}, late=2)
    found = run.scraped()
    assert found.value("headwater_rows_late_total", "large") == 2
    assert found.value("headwater_commit_duration_seconds_count", "large") == 1


def test_lag_is_what_the_inputs_have_and_a_view_has_not(run: Run, clock: list[float]) -> None:
    run.land(0, 1)
    assert run.scraped().value("headwater_lag_commits", "large") is None
    run.commit("large", 0, 1, {"orders": "10"})
    found = run.scraped()
    assert found.value("headwater_lag_commits", "large") == 0
    assert found.value("headwater_lag_seconds", "large") == 0
    assert found.value("headwater_lag_commits", "orders") is None
    for epoch in (1, 2):
        clock[0] += 10
        run.land(epoch, 1)
    clock[0] += 5
    found = run.scraped()
    assert found.value("headwater_lag_commits", "large") == 2
    assert found.value("headwater_lag_seconds", "large") == 15
    assert found.value("headwater_age_seconds", "large") == 25
    assert found.value("headwater_age_seconds", "orders") == 5


def test_a_reader_may_be_told_of_before_what_it_has_read(run: Run) -> None:
    run.land(0, 4)
    run.commit("large", 0, 1, {"orders": "10"})
    assert run.scraped().value("headwater_rows_in_total", "large") == 4
    run.commit("large", 1, 1, {"orders": "11"})
    assert run.scraped().value("headwater_rows_in_total", "large") == 4
    run.land(1, 6)
    found = run.scraped()
    assert found.value("headwater_rows_in_total", "large") == 10
    assert found.value("headwater_lag_commits", "large") == 0


def test_what_was_there_before_the_process_began_is_known(run: Run, clock: list[float]) -> None:
    at = int(NOW - 60) * 1000
    run.tell(Resumed("orders", 41, 5_000_000, {}, 100, at))
    run.tell(Resumed("large", 12, 4_000_000, {"orders": "100"}, 200, at))
    run.tell(Resumed("larger", 3, None, {"large": "199"}, 300, at))
    found = run.scraped()
    assert found.value("headwater_epoch", "large") == 12
    assert found.value("headwater_watermark_timestamp_seconds", "large") == 4
    assert found.value("headwater_age_seconds", "large") == 60
    assert found.value("headwater_lag_commits", "large") == 0
    assert found.value("headwater_lag_commits", "larger") == 1
    assert found.value("headwater_lag_seconds", "larger") == 60
    assert found.value("headwater_rows_out_total", "orders") == 0


def test_the_end_of_the_input_is_a_commit_that_views_read(run: Run) -> None:
    run.land(0, 4)
    run.tell(Resumed("orders", 1, 7_000_000, {}, 11, 1000))  # `run --once` has closed it
    run.commit("large", 0, 4, {"orders": "11"})
    found = run.scraped()
    assert found.value("headwater_epoch", "orders") == 1
    assert found.value("headwater_lag_commits", "large") == 0
    assert found.value("headwater_rows_in_total", "large") == 4


def test_old_commits_are_forgotten(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 3)
    run.land(0, 1)
    run.commit("large", 0, 1, {"orders": "10"})
    for epoch in range(1, 9):
        run.land(epoch, 1)
    assert run.scraped().value("headwater_lag_commits", "large") == 3


def test_a_sink_has_no_rows_of_its_own(run: Run) -> None:
    run.commit("large", 0, 5, {})
    run.tell(ViewDelivered("large_ones", 0, {"large": "20", "@place": "x"}, 0.1))
    found = run.scraped()
    assert found.value("headwater_epoch", "large_ones", kind="sink") == 0
    assert found.value("headwater_lag_commits", "large_ones") == 0
    assert found.value("headwater_rows_in_total", "large_ones") == 5
    assert found.value("headwater_rows_out_total", "large_ones") is None


def test_kafka_s_lag_is_told_by_partition(run: Run) -> None:
    run.tell(RecordsWaiting("orders", {"orders/0": 4, "orders/1": 0}))
    waiting = {
        s.labels["partition"]: s.value for s in run.scraped().samples("headwater_waiting_records")
    }
    assert waiting == {"orders/0": 4, "orders/1": 0}


def test_states_and_restarts_are_told(run: Run) -> None:
    assert run.scraped().state("large") is None
    run.tell(StateChanged("large", RunState.RUNNING))
    for _ in range(2):
        run.tell(StateChanged("large", RunState.BACKING_OFF, ServiceError("X", "x"), 1.0))
    found = run.scraped()
    assert found.state("large") == "backing off"
    assert found.value("headwater_restarts_total", "large") == 2
    run.tell(StateChanged("hints", RunState.FAILED))
    assert run.scraped().state("hints") == "failed"


def test_counters_begin_with_the_process(run: Run) -> None:
    created = run.scraped().value("headwater_rows_in_created", "orders")
    assert created and LOADED <= created <= time.time()


@pytest.mark.parametrize("setting", ["option", "file", "environment"])
def test_a_port_that_is_taken_is_told_before_anything_starts(
    run: Run, setting: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        options = ["--metrics-port", port] if setting == "option" else []
        if setting == "file":
            (run.folder / "headwater.toml").write_text(f"[metrics]\nport = {port}")
        if setting == "environment":
            monkeypatch.setenv("HEADWATER_METRICS_PORT", port)
        monkeypatch.setattr("headwater.runtime.supervisor.Supervisor.run", pytest.fail)
        assert main(["--project", str(run.folder), "run", *options]) == 3
    error = capsys.readouterr().err
    assert f"METRICS_PORT — cannot serve metrics on 127.0.0.1, port {port}" in error
    assert "--metrics-port" in error


def test_nothing_listens_unless_it_is_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headwater.runtime.metrics.served", pytest.fail)
    monkeypatch.setattr("headwater.runtime.supervisor.Supervisor.run", lambda self, **how: 0)
    assert main(["--project", str(run.folder), "run"]) == 0


def test_the_server_ends_with_the_run(run: Run) -> None:
    project, port = load_project(run.folder), free_port()
    with served(Metrics(project, Tally(project.catalog)), "127.0.0.1", port) as address:
        scrape(address)
    with socket.create_server(("127.0.0.1", port)):
        pass
