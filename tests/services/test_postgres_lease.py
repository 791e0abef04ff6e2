"""The lease in PostgreSQL, and what a database that cannot be had says. No Spark here."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from headwater.config.settings import Config, RunSection, Secret
from headwater.errors import EXIT_SERVICE, ServiceError, TerminalError
from headwater.lake.catalogs import postgres as module
from headwater.lake.catalogs.lease_record import LeaseRow, Owner
from headwater.lake.catalogs.opening import catalog_database, owner_of
from headwater.runtime import lease as leases
from headwater.runtime.lease import Lease
from headwater.serve.lake_reader import LakeReader
from jobs.demos.servers.postgres import Postgres
from tests.faults.postgres import PASSWORD
from tests.faults.proxy import Proxy
from tests.support.waiting import FakeClock


@pytest.fixture
def config(direct: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """A project of its own in the shared database."""
    monkeypatch.setattr(leases, "RENEW_EVERY", 0.2)
    run = RunSection(lease=timedelta(seconds=600))
    return replace(direct, namespace=tmp_path.name[-60:], state=tmp_path / "a", run=run)


def test_one_owner_at_a_time_and_rising_tokens(config: Config) -> None:
    assert owner_of(config) is None
    with Lease.acquire(config) as lease:
        assert lease.token == 1
        assert owner_of(config).pid == os.getpid()
        with pytest.raises(ServiceError) as error:
            Lease.acquire(replace(config, state=config.state.with_name("b")))
        assert error.value.condition == "ALREADY_RUNNING"
        lease.check()
    assert owner_of(config) is None
    with Lease.acquire(config) as lease:
        assert lease.token == 2


def test_silent_owner_is_replaced_and_fenced(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(config, run=RunSection(lease=timedelta(seconds=0.9)))
    row = LeaseRow(catalog_database(config), config.namespace)
    row.create()
    far = replace(Owner.this_process(config.run.lease), machine="m", host="far", pid=77)
    assert row.take(far, None) == 1
    clock = FakeClock()
    began = clock.now
    monkeypatch.setattr(leases, "time", clock)
    with Lease.acquire(config) as lease:
        assert clock.now >= began + config.run.lease.total_seconds()
        assert lease.token == 2
        assert not row.renew(1)
        seen = row.read()
        assert row.take(far, replace(seen, renewals=-1)) is None
        while row.take(far, row.read()) is None:  # a renewal may come between
            pass
        with pytest.raises(TerminalError) as error:
            lease.check()
    assert error.value.condition == "FENCED"


def test_newcomers_on_an_empty_database_do_not_trip_over_each_other(config: Config) -> None:
    with catalog_database(config).transaction() as run:
        run("DROP TABLE IF EXISTS headwater_lease")
    gate = threading.Barrier(4)

    def start(state: str) -> Lease | str:
        gate.wait()
        try:
            return Lease.acquire(replace(config, state=config.state / state))
        except ServiceError as error:
            return error.condition

    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(start, "abcd"))
    (lease,) = [end for end in ends if isinstance(end, Lease)]
    assert ends.count("ALREADY_RUNNING") == 3, ends
    lease.release()


def test_owner_survives_a_cut_connection_and_a_dead_server(
    config: Config, server: Postgres, proxy: Proxy
) -> None:
    proxied = replace(config, catalog_uri=Secret(server.uri(proxy.port)))
    with Lease.acquire(proxied) as lease:
        proxy.cut_all()
        lease.check()
        proxy.down = True
        proxy.cut_all()
        with pytest.raises(ServiceError) as error:
            lease.check()
        assert error.value.condition == "CATALOG_DOWN"
        proxy.disarm()
        server.kill()
        with pytest.raises(ServiceError) as error:
            lease.check()
        assert error.value.condition == "CATALOG_DOWN"
        server.start()
        lease.check()
    assert owner_of(config) is None


def test_locked_table_is_named(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BUSY_TIMEOUT", 100)
    with Lease.acquire(replace(config, run=RunSection(lease=timedelta(seconds=60)))) as lease:
        with catalog_database(config).transaction() as run:
            run("LOCK TABLE headwater_lease IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(ServiceError) as error:
                lease.check()
        assert error.value.condition == "CATALOG_LOCKED"
        lease.check()


def test_readers_find_no_tables_before_the_first_run(config: Config) -> None:
    assert LakeReader(config).names() == ()


@pytest.mark.parametrize(
    "change",
    [("POSTGRES_PASSWORD", "HOME"), ("headwater:", "nobody_here:"), ("/postgres", "/nowhere")],
)
def test_refused_user_is_told(config: Config, server: Postgres, change: tuple[str, str]) -> None:
    wrong = replace(config, catalog_uri=Secret(server.uri().replace(*change)))
    for ask in (owner_of, Lease.acquire, lambda config: LakeReader(config).names()):
        with pytest.raises(ServiceError) as error:
            ask(wrong)
        assert error.value.condition == "CATALOG_REFUSED"
        assert PASSWORD not in str(error.value)


def test_refused_is_one_line_of_every_command(server: Postgres, tmp_path: Path) -> None:
    uri = server.uri(variable="HOME")
    settings = f'name = "a"\n[catalog]\ntype = "jdbc"\nuri = "{uri}"\n'
    (tmp_path / "headwater.toml").write_text(settings)
    (tmp_path / "a.sql").write_text(
        "CREATE TABLE a (k INT) WITH (connector = 'datagen', number_of_rows = 1);"
    )
    for command in (["run", "--once", "--end-of-input"], ["status"], ["sql", "SELECT * FROM a"]):
        done = subprocess.run(
            [sys.executable, "-m", "headwater", "--project", str(tmp_path), *command],
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == EXIT_SERVICE, done
        assert done.stderr.startswith("CATALOG_REFUSED — the catalog refuses this user")
        assert PASSWORD not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
