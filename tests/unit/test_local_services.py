"""Processes of the local stack: known again, ready or told why not, never left behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections import namedtuple
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from headwater.errors import HeadwaterError, ServiceError
from headwater.servers import service as module
from headwater.servers.leftover import sweep
from headwater.servers.ports import claim_ports, free_port, is_free
from headwater.servers.process import Process, ServerRecord, read_record
from jobs.demos.servers.postgres import Postgres
from jobs.demos.servers.redis import Redis, is_installed
from jobs.demos.servers.service import HOST, Service
from jobs.demos.servers.stack import Stack

WEB = """
import http.server, sys
handler = http.server.SimpleHTTPRequestHandler
http.server.test(handler, port=int(sys.argv[1]), bind="127.0.0.1")
"""


class Web(Service):
    """A server that any Python has."""

    name = "web"
    files = ()
    port_names = ("WEB_PORT",)
    program = WEB

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.ports['WEB_PORT']}"

    def command(self) -> Sequence[str | Path]:
        return [sys.executable, "-c", self.program, str(self.ports["WEB_PORT"])]

    def answers(self) -> bool:
        with urllib.request.urlopen(self.address, timeout=1) as answer:
            return bool(answer.status == 200)


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with Web(tmp_path) as running:
        yield running


def refused(service: Service) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        service.start()
    assert service.process is None or caught.value.condition == "SERVICE_RUNNING"
    assert caught.value.hint
    return caught.value


def test_it_runs_within_the_block(tmp_path: Path) -> None:
    with Web(tmp_path) as web:
        process = web.process
        assert process is not None
        assert web.answers()
    assert not process.alive
    assert web.process is None
    assert is_free(web.ports["WEB_PORT"])


def test_another_program_finds_it_and_can_stop_it(web: Web, tmp_path: Path) -> None:
    same = Web(tmp_path)
    assert same.process == web.process
    assert same.address == web.address
    same.stop()
    assert web.process is None


def test_after_a_kill_it_comes_back_where_it_was(web: Web) -> None:
    before, address = web.process, web.address
    web.kill()
    assert web.process is None
    web.start()
    assert web.process != before
    assert web.address == address


def test_what_was_killed_holds_no_port_any_more() -> None:
    program = """
import signal, socket, sys, threading
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
for _ in range(500):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print("up", flush=True)
signal.pause()
"""
    for _ in range(10):  # without looking at its threads about half of them do
        port = free_port()
        command = [sys.executable, "-c", program, str(port)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"up\n"
            process = Process.of(child.pid)
            process.send(signal.SIGKILL)
            assert process.wait(10)
            assert is_free(port)


def test_it_is_not_started_twice(web: Web, tmp_path: Path) -> None:
    assert web.process is not None
    error = refused(Web(tmp_path))
    assert error.condition == "SERVICE_RUNNING"
    assert f"process {web.process.pid}" in error.message
    assert web.answers()


def test_a_process_of_the_same_number_is_another_one(tmp_path: Path) -> None:
    web = Web(tmp_path)
    web.folder.mkdir()
    ServerRecord(Process(os.getpid(), "long ago"), None).write(web.folder / "process.json")
    assert web.process is None
    web.stop()  # and nobody is hurt
    web.kill()


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with Web(tmp_path) as web:
        port = web.ports["WEB_PORT"]
    with socket.create_server((HOST, port)):
        error = refused(web)
    assert error.condition == "PORT_TAKEN"
    assert str(port) in error.message
    assert str(web.folder / "ports.json") in error.hint


def test_ports_are_below_those_of_clients(tmp_path: Path) -> None:
    chosen = claim_ports(tmp_path / "ports.json", ["A", "B", "C"], "web")
    assert len(set(chosen.values())) == 3
    assert claim_ports(tmp_path / "ports.json", ["A", "B", "C"], "web") == chosen
    assert max(free_port() for _ in range(50)) < 32768


def test_a_server_that_ends_is_told_with_the_end_of_its_log(tmp_path: Path) -> None:
    web = Web(tmp_path)
    web.program = "raise SystemExit('no room for ' + 'tables')"
    error = refused(web)
    assert error.condition == "SERVICE_ENDED"
    assert "no room for tables" in error.message
    assert str(web.log) in error.hint


def test_a_server_that_does_not_answer_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Service, "ready_within", 0.5)
    web = Web(tmp_path)
    web.program = "import signal; print('waiting', flush=True); signal.pause()"
    error = refused(web)
    assert error.condition == "SERVICE_NOT_READY"
    assert "waiting" in error.message
    record = read_record(web.folder / "process.json")
    assert record is not None
    assert not record.server.alive


def test_a_server_that_does_not_stop_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STOPPED_WITHIN", 0.5)
    web = Web(tmp_path)
    web.program = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{WEB}"
    with web:
        process = web.process
    assert process is not None
    assert not process.alive


def test_a_full_disk_is_told_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: usage(10**9, 10**9, 10**6))
    error = refused(Web(tmp_path))
    assert error.condition == "SERVICE_FOLDER"
    assert "1 MB are free" in error.message


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert refused(Web(tmp_path / "file")).condition == "SERVICE_FOLDER"


def test_what_a_killed_program_left_is_found(tmp_path: Path) -> None:
    lost, kept = Web(tmp_path / "lost"), Web(tmp_path / "kept")
    with kept:
        lost.start()
        process = lost.process
        assert process is not None
        ended = subprocess.Popen([sys.executable, "-c", ""])
        owner = Process.of(ended.pid)
        ended.wait()
        ServerRecord(process, owner).write(lost.folder / "process.json")
        assert sweep(tmp_path) == [f"killed web, process {process.pid}: left by an earlier run"]
        assert not process.alive
        assert not lost.folder.exists()
        assert sweep(tmp_path) == []
        assert kept.answers(), "one whose owner lives is left alone"


def test_a_lasting_server_has_no_owner(tmp_path: Path) -> None:
    web = Web(tmp_path, lasting=True)
    with web:
        record = read_record(web.folder / "process.json")
        assert record is not None
        assert record.owner is None
        assert sweep(tmp_path.parent) == []


def test_ctrl_c_does_not_reach_it(web: Web) -> None:
    assert web.process is not None
    assert os.getpgid(web.process.pid) != os.getpgid(0)


def test_a_stack_names_the_servers_that_it_has(tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    with pytest.raises(HeadwaterError) as caught:
        stack.choose(["zookeeper"])
    assert caught.value.condition == "UNKNOWN_SERVICE"
    assert "kafka" in caught.value.hint
    assert [one.name for one in stack.choose(["connect"])] == ["kafka", "connect"]


def test_one_program_at_a_time_starts_and_stops(tmp_path: Path) -> None:
    lines = Stack(tmp_path).down()
    with Stack(tmp_path)._alone(), pytest.raises(ServiceError) as caught:
        next(lines)
    assert caught.value.condition == "SERVICE_BUSY"
    (only,) = Stack(tmp_path).down()
    assert f"data stay in {tmp_path}" in only, "nothing runs"


def test_what_died_is_started_again(tmp_path: Path) -> None:
    web = Web(tmp_path)
    stack = Stack(tmp_path, [web])
    assert [line.split()[1] for line in stack.up()] == ["starts", "runs,"]
    try:
        lines = stack.keep(pause=0.1)
        web.kill()
        assert next(lines) == "web       had died, and runs again"
        assert web.process is not None
    finally:
        web.stop()


def test_postgres_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("jobs.demos.servers.postgres._INSTALLATIONS", "nowhere/*")
    monkeypatch.setattr(Postgres, "account", lambda self: (None, None))
    assert refused(Postgres(tmp_path)).condition == "POSTGRES_MISSING"


def test_redis_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refused(Redis(tmp_path)).condition == "REDIS_MISSING"
    assert not is_installed()


def test_a_torn_record_is_none(tmp_path: Path) -> None:
    (tmp_path / "process.json").write_text(json.dumps({"server": None})[:5])
    assert read_record(tmp_path / "process.json") is None
