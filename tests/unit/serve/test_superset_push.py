"""A push as a server sees it, and what each way to fail is told as; the server is a small one."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest

from headwater.cli.main import main
from headwater.serve.superset.naming import uuid_of
from headwater.servers.ports import free_port

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
        self.held: dict[str, list[dict[str, object]]] = {"dataset": [], "chart": []}
        self.deleted: list[str] = []

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
            self._say(200, json.dumps({"result": {"id": SLUGS.index(self.path.split("/")[-1])}}))
        elif found := re.fullmatch(r"/api/v1/dataset/(\d+)/related_objects", self.path):
            place = ("table", int(found[1]))
            charts = [
                each
                for each in self.held("chart")
                if (each["datasource_type"], each["datasource_id"]) == place
            ]
            self._say(200, json.dumps({"charts": {"count": len(charts)}}))
        elif found := re.fullmatch(r"/api/v1/(dataset|chart)/\?q=(.+)", self.path):
            asked = re.search(r"page:(\d+),page_size:(\d+)\)$", unquote(found[2]))
            assert asked
            page, size = int(asked[1]), int(asked[2])
            held = self.held(found[1])[page * size : (page + 1) * size]
            self._say(200, json.dumps({"result": held}))
        else:
            self._say(404, '{"message": "Not found"}')

    def do_DELETE(self) -> None:
        assert self.headers["X-CSRFToken"] == "c"
        self.server.deleted.append(self.path.removeprefix("/api/v1/"))
        self._say(200, '{"message": "OK"}')

    def held(self, kind: str) -> list[dict[str, object]]:
        """What is there and was not deleted."""
        gone = self.server.deleted
        return [each for each in self.server.held[kind] if f"{kind}/{each['id']}" not in gone]

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


def dataset(number: int, name: str, uuid: str = "") -> dict[str, object]:
    made = uuid or uuid_of("sample", "dataset", name)
    return {"id": number, "uuid": made, "table_name": name}


def chart(
    number: int, title: str, of: int, *, uuid: str = "", **other: object
) -> dict[str, object]:
    made = uuid or uuid_of("sample", "chart", title)
    where = {"datasource_id": of, "datasource_type": "table", "dashboards": [{"id": 0}]}
    managed = {"is_managed_externally": True}
    return {"id": number, "uuid": made, "slice_name": title, **where, **managed, **other}


def test_what_a_project_has_no_more_goes_and_what_people_made_or_use_stays(
    superset: Superset, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = [{"id": 0}, {"id": 7}]  # one is the project's, one is somebody's own
    superset.held = {
        "dataset": [
            dataset(1, "total"),
            dataset(2, "dropped"),
            dataset(3, "kept", uuid="5e0f8a3c-0000-4000-8000-000000000000"),
            dataset(4, "shown"),
            dataset(5, "drawn"),
        ],
        "chart": [
            *(chart(n, f"Old {n}", 2) for n in range(100, 230)),
            chart(1, "A copy", 1, is_managed_externally=False),
            chart(2, "Of another", 3),
            chart(3, "Shown", 4, dashboards=mine),
            chart(4, "Somebody's", 5, is_managed_externally=False),
            chart(5, "Of a query", 2, datasource_type="query"),
            chart(6, "Total", 1, uuid=uuid_of("sample", "chart", "total.orders")),
            chart(7, "Unfiled", 1, dashboards=[]),
        ],
    }
    code, _, err = push(capsys, "--url", superset.url)
    assert code == 0
    removed, left = err.splitlines()
    assert '"Old 100", ' in removed and 'chart "Unfiled", dataset dropped' in removed
    assert left == 'retained, because people use them: chart "Shown", dataset shown, dataset drawn'
    old = [f"chart/{number}" for number in range(100, 230)]
    assert superset.deleted == [*old, "chart/7", "dataset/2"]
    assert push(capsys, "--url", superset.url)[2] == f"{left}\n"


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
    assert f"SUPERSET_UNREACHABLE — {url} cannot be reached: nothing answers there" in err
    assert "hint: start it" in err


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((200, "<html>log in</html>"), "SUPERSET_ANSWER"),
        ((500, "<html>oops</html>"), "check that Superset reaches Trino"),
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
    assert (code, "superset:8088 cannot be reached: not an address" in err) == (3, True)


def test_a_bundle_is_written_without_a_server(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = push(capsys, "--write", "bundle.zip")
    assert (code, out.splitlines()[1]) == (0, "Sample,1,bundle.zip")
    assert (project / "bundle.zip").read_bytes().startswith(b"PK")
