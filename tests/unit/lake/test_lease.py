"""One process at a time runs a project, tokens rise, and a silent owner is replaced."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from headwater.config.settings import Config, RunSection
from headwater.errors import EXIT_SERVICE, ServiceError, TerminalError
from headwater.lake.catalogs import sqlite
from headwater.lake.catalogs.lease_record import LeaseRow, Life, Owner
from headwater.lake.catalogs.opening import catalog_database, owner_of
from headwater.lake.catalogs.sqlite import SqliteDatabase
from headwater.runtime import lease as module
from headwater.runtime.events import Event, LeaseAwaited
from headwater.runtime.lease import Lease
from tests.support.waiting import FakeClock, wait_for

HOLDER = """
import os
import sys
from datetime import timedelta
from pathlib import Path
from headwater.config.settings import Config, RunSection
from headwater.runtime import lease as module
from headwater.runtime.lease import Lease
module.RENEW_EVERY = 0.2

def say(word):  # at once: two threads speak
    os.write(1, f"{word}\\n".encode())

folder, state, seconds = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
config = Config(folder, "flights", "flights", folder / "warehouse", folder / state,
                run=RunSection(lease=timedelta(seconds=seconds)))
lease = Lease.acquire(config, on_lost=lambda: say("lost"))
say(lease.token)
for line in sys.stdin:
    try:
        lease.check()
        say("still mine")
    except Exception as error:
        say(error.condition)
"""
LONG = 600.0  # seconds: nobody waits for such a lease to run out
SHORT = 0.9


def config(folder: Path, state: str = "state", lease: float = LONG) -> Config:
    warehouse, run = folder / "warehouse", RunSection(lease=timedelta(seconds=lease))
    return Config(folder, "flights", "flights", warehouse, folder / state, run=run)


def acquire(folder: Path, state: str = "state", lease: float = LONG, **more) -> Lease:
    return Lease.acquire(config(folder, state, lease), **more)


class Holder:
    """Another process that holds the lease."""

    def __init__(self, folder: Path, lease: float) -> None:
        command = [sys.executable, "-c", HOLDER, str(folder), "holder", str(lease)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, text=True, **pipes)
        self.pid = self.process.pid
        assert self.process.stdout.readline() == "1\n"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def answers(self, count: int) -> set[str]:
        """Ask whether the lease is still its own; return this and other lines it writes."""
        self.process.stdin.write("check\n")
        self.process.stdin.flush()
        return {self.process.stdout.readline().strip() for _ in range(count)}


@pytest.fixture
def holder(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Holder]:
    held = Holder(tmp_path, getattr(request, "param", LONG))
    with held.process:
        yield held
        held.process.kill()


def elsewhere(folder: Path, lease: float) -> tuple[LeaseRow, int]:
    """Let a process of another host take the lease; return its row and its token."""
    row = LeaseRow(catalog_database(config(folder)), "flights")
    row.create()
    owner = replace(Owner.this_process(timedelta(seconds=lease)), machine="m", host="far")
    token = row.take(replace(owner, pid=77), None)
    assert token is not None
    return row, token


# -- a live owner


@pytest.mark.parametrize("state", ["holder", "another folder"])
def test_second_process_is_told_who_runs_the_project(tmp_path, holder, state):
    with pytest.raises(ServiceError) as error:
        acquire(tmp_path, state)
    assert error.value.condition == "ALREADY_RUNNING"
    assert error.value.exit_code == EXIT_SERVICE
    assert f"process {holder.pid} on host {os.uname().nodename}, for " in error.value.message
    assert holder.answers(1) == {"still mine"}


def test_owner_on_another_host_is_left_alone_while_it_renews(tmp_path, monkeypatch):
    row, token = elsewhere(tmp_path, LONG)
    monkeypatch.setattr(module, "time", FakeClock(on_sleep=lambda: row.renew(token)))
    with pytest.raises(ServiceError) as error:
        acquire(tmp_path, lease=SHORT)
    assert error.value.condition == "ALREADY_RUNNING"
    assert "process 77 on host far" in error.value.message


def test_two_newcomers_at_once_are_one_owner_and_one_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "RENEW_EVERY", 0.1)
    gate = threading.Barrier(2)

    def start(state: str) -> Lease | str:
        gate.wait()
        try:
            return acquire(tmp_path, state)
        except ServiceError as error:
            return error.condition

    for _ in range(5):
        with ThreadPoolExecutor(2) as pool:
            ends = list(pool.map(start, ("a", "b")))
        (lease,) = [end for end in ends if isinstance(end, Lease)]
        assert "ALREADY_RUNNING" in ends
        lease.release()


def test_a_newcomer_waits_for_another_that_makes_the_catalog(tmp_path, monkeypatch):
    tried, is_busy = threading.Event(), sqlite._is_busy
    monkeypatch.setattr(sqlite, "_is_busy", lambda error: tried.set() or is_busy(error))
    database = SqliteDatabase(config(tmp_path).warehouse)
    database.path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # as long as no WAL is on, SQLite gives up at once
        with ThreadPoolExecutor(1) as pool:
            made = pool.submit(database.create_table, "CREATE TABLE t (a)")
            assert tried.wait(60) and not made.done()
            other.execute("COMMIT")
            made.result()
    assert database.has_table("t")


# -- a dead one


def test_lease_of_a_killed_process_of_this_host_is_free_at_once(tmp_path, holder):
    holder.kill()
    waited: list[Event] = []
    with acquire(tmp_path, progress=waited.append) as lease:
        assert lease.token == 2
        lease.check()
    assert not waited


def test_lease_of_a_silent_owner_on_another_host_runs_out(tmp_path, monkeypatch):
    row, _ = elsewhere(tmp_path, SHORT)
    waited: list[Event] = []
    clock = FakeClock()
    began = clock.now
    monkeypatch.setattr(module, "time", clock)
    with acquire(tmp_path, lease=SHORT, progress=waited.append) as lease:
        assert clock.now >= began + SHORT
        assert lease.token == 2
        assert not row.renew(1)
    assert isinstance(waited[0], LeaseAwaited)
    assert waited[0].owner.startswith("process 77 on host far")
    assert 0 < waited[0].seconds <= SHORT


def test_process_id_used_again_is_another_process(tmp_path):
    this = Owner.this_process(timedelta(seconds=1))
    assert this.life is Life.ALIVE
    assert replace(this, started="1").life is Life.DEAD
    assert replace(this, machine="another").life is Life.ELSEWHERE


# -- a stopped one


@pytest.mark.parametrize("holder", [SHORT], indirect=True)
def test_stopped_owner_finds_out_that_it_was_replaced(tmp_path, holder):
    os.kill(holder.pid, signal.SIGSTOP)
    try:
        with acquire(tmp_path, "another folder") as lease:
            assert lease.token == 2
            os.kill(holder.pid, signal.SIGCONT)
            assert holder.answers(2) == {"FENCED", "lost"}
            lease.check()
    finally:
        os.kill(holder.pid, signal.SIGCONT)


def test_fenced_owner_is_told_who_took_over(tmp_path):
    with acquire(tmp_path) as lease:
        row = LeaseRow(catalog_database(config(tmp_path)), "flights")
        seen = row.read()
        assert row.take(replace(seen.owner, host="far", pid=77), seen) == 2
        with pytest.raises(TerminalError) as error:
            lease.check()
    assert error.value.condition == "FENCED"
    assert "by process 77 on host far" in error.value.message


def test_owner_that_cannot_renew_for_a_while_stays_the_owner(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 20)
    with acquire(tmp_path, lease=0.3) as lease:
        path = SqliteDatabase(config(tmp_path).warehouse).path
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            wait_for(lambda: "could not be renewed" in caplog.text, "a failed renewal")
            lease.check()  # reads beside a writer
        before = lease._row.read().renewals
        wait_for(lambda: lease._row.read().renewals != before, "a renewal")
        lease.check()


# -- a clean end


def test_token_rises_with_each_owner_even_if_the_state_folder_is_lost(tmp_path):
    for token in (1, 2, 3):
        with acquire(tmp_path, f"state{token}") as lease:
            assert lease.token == token
            assert owner_of(config(tmp_path)).pid == os.getpid()
        assert owner_of(config(tmp_path)) is None


def test_nobody_owns_a_project_that_never_ran(tmp_path):
    assert owner_of(config(tmp_path)) is None
    assert not (tmp_path / "warehouse").exists()


def test_leases_of_the_first_version_are_taken_over_with_their_token(tmp_path):
    (tmp_path / "warehouse").mkdir()
    with closing(sqlite3.connect(SqliteDatabase(tmp_path / "warehouse").path)) as database:
        database.execute("CREATE TABLE headwater_lease (namespace TEXT PRIMARY KEY, token INTEGER)")
        database.execute("INSERT INTO headwater_lease VALUES ('flights', 6)")
        database.commit()
    with acquire(tmp_path) as lease:
        assert lease.token == 7
        lease.check()


def test_lock_file_names_the_owner(tmp_path):
    with acquire(tmp_path):
        signed = json.loads((tmp_path / "state" / "lease.lock").read_text())
    assert Owner(**signed).pid == os.getpid()


# -- a catalog that cannot be had


def test_locked_catalog_is_named(tmp_path, monkeypatch):
    acquire(tmp_path).release()
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 20)
    path = SqliteDatabase(config(tmp_path).warehouse).path
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ServiceError) as error:
            acquire(tmp_path)
    assert error.value.condition == "CATALOG_LOCKED"


def test_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "warehouse").write_text("a file")
    with pytest.raises(ServiceError) as error:
        acquire(tmp_path)
    assert error.value.condition == "WAREHOUSE_NOT_WRITABLE"
