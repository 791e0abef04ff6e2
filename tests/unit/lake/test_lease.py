"""One process at a time runs a project, and tokens rise."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys

import pytest

from headwater.errors import EXIT_SERVICE, ServiceError, TerminalError
from headwater.lake.embedded import catalog_database
from headwater.runtime import lease as module
from headwater.runtime.lease import Lease

HOLDER = """
import sys
from pathlib import Path
from headwater.runtime.lease import Lease
lease = Lease.acquire(Path(sys.argv[1]), Path(sys.argv[2]), "flights")
print(lease.token, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lease."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "state"), str(tmp_path / "warehouse")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "1\n"
        yield process
        process.kill()


def acquire(tmp_path, state: str = "state") -> Lease:
    return Lease.acquire(tmp_path / state, tmp_path / "warehouse", "flights")


def test_second_process_is_told_who_runs_the_project(tmp_path, holder):
    with pytest.raises(ServiceError) as error:
        acquire(tmp_path)
    assert error.value.condition == "ALREADY_RUNNING"
    assert error.value.exit_code == EXIT_SERVICE
    assert f"process {holder.pid} on host {os.uname().nodename}, for " in error.value.message


def test_lease_of_a_killed_process_is_free(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with acquire(tmp_path) as lease:
        assert lease.token == 2
        lease.check()


def test_token_rises_with_each_owner_even_if_the_state_folder_is_lost(tmp_path):
    for token in (1, 2, 3):
        with acquire(tmp_path, f"state{token}") as lease:
            assert lease.token == token


def test_owner_is_fenced_when_another_state_folder_takes_over(tmp_path):
    with acquire(tmp_path, "a") as first, acquire(tmp_path, "b") as second:
        second.check()
        with pytest.raises(TerminalError) as error:
            first.check()
    assert error.value.condition == "FENCED"


def test_locked_catalog_is_named(tmp_path, monkeypatch):
    acquire(tmp_path).release()
    monkeypatch.setattr(module, "BUSY_TIMEOUT", 20)
    other = sqlite3.connect(catalog_database(tmp_path / "warehouse"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ServiceError) as error:
        acquire(tmp_path)
    other.close()
    assert error.value.condition == "CATALOG_LOCKED"


def test_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "warehouse").write_text("a file")
    with pytest.raises(ServiceError) as error:
        acquire(tmp_path)
    assert error.value.condition == "WAREHOUSE_NOT_WRITABLE"
