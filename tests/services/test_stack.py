"""Starting and stopping servers as a person does; nothing that was started stays behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.servers.leftover import sweep
from jobs.demos.servers.postgres import Postgres
from jobs.demos.servers.stack import Stack

pytestmark = pytest.mark.services

ROOT = Path(__file__).parents[2]


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "jobs.demos.servers", *arguments, "--folder", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def test_up_status_down(stack: Path) -> None:
    folder = stack / "person"
    code, said = run(folder, "up", "store", "postgres")
    assert code == 0, said
    processes = {one.name: one.process for one in Stack(folder).choose(["store", "postgres"])}
    assert all(processes.values())
    again = run(folder, "up", "store", "postgres")
    running = "".join(line for line in said.splitlines(keepends=True) if " runs, " in line)
    assert running.count("\n") == 2
    assert again == (0, running), "it starts nothing twice"
    assert run(folder, "status", "store", "postgres") == (0, running)
    assert run(folder, "status")[0] == 1, "the others do not run"
    code, said = run(folder, "down")
    assert (code, said.count("stopped")) == (0, 2)
    assert not any(process and process.alive for process in processes.values())


@pytest.mark.parametrize("server", ["postgres", "kafka", "connect", "registry", "store"])
def test_no_process_is_left_by_a_stop(stack: Path, server: str) -> None:
    services = Stack(stack / "stopped").choose([server])
    try:
        for service in services:
            service.start()
        processes = [one.process for one in services if one.process]
        processes += [child for one in processes for child in one.children()]
    finally:
        for service in reversed(services):
            service.stop()
    assert processes
    assert not any(process.alive for process in processes)
    assert all(service.process is None for service in services)


def test_servers_of_a_killed_program_are_found(stack: Path) -> None:
    base = stack / "orphans"
    text = f"""
import os, signal
from pathlib import Path
from jobs.demos.servers.postgres import Postgres
Postgres(Path({str(base / "one")!r})).start()
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, timeout=120)
    assert done.returncode == -signal.SIGKILL
    left = Postgres(base / "one").process
    assert left is not None
    with Postgres(base / "two") as owned:
        assert sweep(base) == [f"killed postgres, process {left.pid}: left by an earlier run"]
        assert owned.process is not None, "one whose owner lives is left alone"
    assert not left.alive
