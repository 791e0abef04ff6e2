"""The console of a run: a socket that costs nothing, and a process while somebody looks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from headwater.console.listening import address_of, console_on_demand, listen
from headwater.console.serving import _Answering
from headwater.errors import ServiceError

ROOT = Path(__file__).parents[3]
SQL = """CREATE TABLE t (id BIGINT)
WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW v AS SELECT id FROM t;
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "headwater.toml").write_text('name = "shop"\n')
    (tmp_path / "views.sql").write_text(SQL)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path


def children() -> set[int]:
    """Processes that this one has started."""
    found: set[int] = set()
    for thread in Path(f"/proc/{os.getpid()}/task").iterdir():
        with suppress(OSError):  # the thread has ended
            found |= set(map(int, (thread / "children").read_text().split()))
    return found


def test_a_free_port_is_taken_and_a_taken_one_is_refused() -> None:
    with listen(None) as first, listen(None) as second:
        assert address_of(first) != address_of(second)
        port = first.getsockname()[1]
        assert first.getsockname()[0] == "127.0.0.1"
        with pytest.raises(ServiceError) as caught:
            listen(port)
    assert caught.value.condition == "CONSOLE_PORT"


def test_a_process_answers_while_somebody_looks_and_ends_with_the_run(root: Path) -> None:
    before = children()
    threads = threading.active_count()
    with console_on_demand(root, None) as address:
        assert children() == before, "nobody has looked yet"
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert 'id="box-v"' in answer.read().decode()
        (process,) = children() - before
        with urllib.request.urlopen(f"{address}/relations/v", timeout=60) as answer:
            assert answer.status == 200
        assert children() - before == {process}, "one process answers all"
    assert children() == before
    assert threading.active_count() == threads


def test_a_browser_that_comes_too_early_is_told_to_wait(root: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow(_Answering):
        def prepare(self) -> None:
            begun.set()
            go_on.wait(60)
            super().prepare()

    client = TestClient(Slow(root), base_url="http://127.0.0.1:8642")
    threading.Thread(target=client.app.prepare, daemon=True).start()
    assert begun.wait(60)
    early = client.get("/", headers={"sec-fetch-mode": "navigate"})
    assert (early.status_code, early.headers["refresh"]) == (503, "1")
    go_on.set()
    assert client.get("/").status_code == 200  # what is no page waits
    assert 'id="box-v"' in client.get("/", headers={"sec-fetch-mode": "navigate"}).text


def test_a_console_that_dies_is_started_again_by_the_next_request(root: Path) -> None:
    before = children()
    with console_on_demand(root, None) as address:
        urllib.request.urlopen(address, timeout=60).close()
        (process,) = children() - before
        os.kill(process, 9)
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert answer.status == 200
        assert children() - before not in (set(), {process})


def test_a_run_loads_no_web_server(root: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from headwater.console.listening import console_on_demand\n"
        f"with console_on_demand(Path({str(root)!r}), None): pass\n"
        "print([m for m in ('starlette', 'uvicorn', 'jinja2', 'duckdb') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (run.stdout.strip(), run.stderr) == ("[]", "")


def test_the_command_serves_until_it_is_stopped(root: Path) -> None:
    command = [sys.executable, "-m", "headwater", "--project", str(root), "console"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout
        line = process.stdout.readline()
        assert line.startswith("console of shop: http://127.0.0.1:")
        with urllib.request.urlopen(line.split()[-1], timeout=60) as answer:
            assert answer.status == 200
        process.terminate()
        assert process.wait(60) == 0
