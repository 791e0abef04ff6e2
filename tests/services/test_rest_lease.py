"""The lease in a catalog behind REST: the same moves as in a database, on a real server."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from headwater.config.settings import CatalogSection, Config, RunSection
from headwater.errors import ServiceError, TerminalError
from headwater.lake.catalogs.lease_record import Owner
from headwater.lake.catalogs.opening import lease_record, owner_of
from headwater.runtime import lease as module
from headwater.runtime.lease import Lease
from jobs.demos.servers.rest import Rest
from tests.support.waiting import FakeClock

pytestmark = pytest.mark.services

_numbers = count()


@pytest.fixture
def config(rest: Rest, tmp_path: Path) -> Config:
    """A project that never ran."""
    section = CatalogSection(type="rest", uri=rest.address)
    state = tmp_path / "state"
    return Config(
        tmp_path, "x", f"x{next(_numbers)}", tmp_path, state, catalog="rest", rest=section
    )


def test_one_owner_at_a_time_and_each_has_a_higher_token(config: Config) -> None:
    assert owner_of(config) is None
    with Lease.acquire(config) as lease:
        assert lease.token == 1
        owner = owner_of(config)
        assert owner and owner.pid == os.getpid()
        with pytest.raises(ServiceError) as error:
            Lease.acquire(replace(config, state=config.state.with_name("b")))
        assert error.value.condition == "ALREADY_RUNNING"
        lease.check()
    assert owner_of(config) is None
    with Lease.acquire(config) as lease:
        assert lease.token == 2


def test_a_silent_owner_is_replaced_and_fenced(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(config, run=RunSection(lease=timedelta(seconds=0.9)))
    record = lease_record(config)
    record.create()
    far = replace(Owner.this_process(config.run.lease), machine="m", host="far", pid=77)
    assert record.take(far, None) == 1
    seen = record.read()
    clock = FakeClock()
    began = clock.now
    monkeypatch.setattr(module, "time", clock)
    with Lease.acquire(config) as lease:
        assert clock.now >= began + config.run.lease.total_seconds()
        assert lease.token == 2
        assert not record.renew(1)
        record.release(1)
        assert owner_of(config)
        assert record.take(far, seen) is None
        assert record.take(far, record.read()) == 3
        with pytest.raises(TerminalError) as fenced:
            lease.check()
    assert fenced.value.condition == "FENCED"
    record.close()


def test_renewals_are_seen_and_leave_few_files(config: Config, rest: Rest) -> None:
    record = lease_record(config)
    record.create()
    token = record.take(Owner.this_process(config.run.lease), None)
    assert token
    for _ in range(10):
        before = record.read()
        assert record.renew(token)
        assert record.read() != before
    folder = rest.folder / "warehouse" / "headwater_lease" / config.namespace
    assert len(list(folder.rglob("*.metadata.json"))) <= 3
    record.close()


def test_newcomers_do_not_trip_over_each_other(config: Config) -> None:
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


def test_the_owner_survives_a_dead_server(config: Config, rest: Rest) -> None:
    with Lease.acquire(config) as lease:
        rest.kill()
        with pytest.raises(ServiceError) as error:
            lease.check()
        assert error.value.condition == "CATALOG_DOWN"
        rest.start()
        lease.check()
