"""A push as a server sees it, and what each way to fail is told as; the server is a small one."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from docker.local.ports import free_port
from headwater.cli.main import main

VIEW = """
CREATE TABLE orders (id BIGINT) WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW total AS SELECT count(*) AS orders FROM orders;
"""
SETTINGS = '[trino]\nurl = "http://127.0.0.1:1"\n[superset]\npassword = "${env:OURS}"\n'
SLUGS = ("headwater-sample", "headwater-sample-pipeline")


class Superset(HTTPServer):
    """Answers as Superset does where a push asks it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.password = "right one"
        self.importing: tuple[int, str] = (200, '{"message": "OK"}')
        self.imported: list[bytes] = []
        self.knows = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Superset

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/api/v1/security/login":
            right = json.loads(body)["password"] == self.server.password
            answer = '{"access_token": "t"}' if right else '{"message": "Not authorized"}'
            self._say(200 if right else 401, answer)
        else:
            allowed = self.headers["X-CSRFToken"] == "c" and self.headers["Referer"]
            assert self.path == "/api/v1/assets/import/"
            assert allowed, "without these Superset answers 200 and does nothing"
            self.server.imported.append(body)
            self._say(*self.server.importing)

    def do_GET(self) -> None:
        if self.path == "/api/v1/security/csrf_token/":
            self._say(200, '{"result": "c"}')
        elif self.path in [f"/api/v1/dashboard/{slug}" for slug in SLUGS] and self.server.knows:
            self._say(200, '{"result": {}}')
        else:
            self._say(404, '{"message": "Not found"}')

    def _say(self, status: int, text: str) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def superset() -> Iterator[Superset]:
    with Superset() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "sample"
    folder.mkdir()
    (folder / "views.sql").write_text(VIEW)
    (folder / "headwater.toml").write_text(SETTINGS)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OURS", "right one")
    return folder


def push(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    code = main(["dashboards", "push", "--output", "csv", *options])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_push_brings_the_bundle_and_says_where_the_dashboards_are(
    superset: Superset, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = push(capsys, "--url", f"{superset.url}/")
    assert (code, err) == (0, "")
    assert [line.split(",")[-1] for line in out.splitlines()[1:]] == [
        f"{superset.url}/superset/dashboard/{slug}/" for slug in SLUGS
    ]
    (body,) = superset.imported
    assert b'name="bundle"; filename="headwater.zip"' in body
    assert push(capsys, "--url", superset.url)[0] == 0
    first, second = (
        body.partition(b"PK")[2].rpartition(b"\r\n--")[0] for body in superset.imported
    )
    assert first == second, "a second push brings the same"


def test_a_wrong_password_is_told_without_it(
    superset: Superset,
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OURS", "wrong one")
    code, out, err = push(capsys, "--url", superset.url)
    assert (code, out) == (2, "")
    assert "SUPERSET_LOGIN" in err
    assert "wrong one" not in err
    assert not superset.imported


def test_a_server_that_is_down(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    code, _, err = push(capsys, "--url", url)
    assert code == 3
    assert f"SUPERSET_UNREACHABLE — {url} cannot be reached: nobody answers there" in err
    assert "hint: start it" in err


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((200, "<html>log in</html>"), "SUPERSET_ANSWER"),
        ((500, "<html>oops</html>"), "does Superset reach Trino"),
        (
            (
                422,
                '{"errors": [{"message": "Error importing", "extra": {"charts/a.yaml": "bad"}}]}',
            ),
            'Error importing {"charts/a.yaml": "bad"}',
        ),
    ],
)
def test_what_the_server_does_not_take_is_told(
    superset: Superset,
    project: Path,
    capsys: pytest.CaptureFixture[str],
    answer: tuple[int, str],
    told: str,
) -> None:
    superset.importing = answer
    code, _, err = push(capsys, "--url", superset.url)
    assert code == 3
    assert told in err


def test_an_import_that_made_nothing_is_no_success(
    superset: Superset, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    superset.knows = False
    code, _, err = push(capsys, "--url", superset.url)
    assert (code, "SUPERSET_REFUSED" in err) == (3, True)


@pytest.mark.parametrize(
    ("settings", "condition", "hint"),
    [
        (SETTINGS, "SUPERSET_URL", "--url"),
        ('[trino]\nurl = "http://t:1"\n[superset]\nurl = "http://s:1"\n', "SUPERSET_LOGIN", "env:"),
        ('[superset]\nurl = "http://s:1"\npassword = "${env:OURS}"\n', "TRINO_URL", "--trino-url"),
        ('[trino]\nurl = "http://t:1"\n[superset]\npassword = "abc"\n', "INVALID_OPTION", ""),
    ],
)
def test_what_is_not_said_is_asked_for(
    project: Path, capsys: pytest.CaptureFixture[str], settings: str, condition: str, hint: str
) -> None:
    (project / "headwater.toml").write_text(settings)
    code, _, err = push(capsys)
    assert code == 2
    assert err.count(condition) == 1
    assert hint in err
    assert "abc" not in err


def test_what_is_no_address_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert '"trino:8080" is no address' in push(capsys, "--trino-url", "trino:8080")[2]
    code, _, err = push(capsys, "--url", "superset:8088")
    assert (code, "superset:8088 cannot be reached: it is no address" in err) == (3, True)


def test_a_bundle_is_written_without_a_server(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = push(capsys, "--write", "bundle.zip")
    assert (code, out.splitlines()[1]) == (0, "Sample,1,bundle.zip")
    assert (project / "bundle.zip").read_bytes().startswith(b"PK")
