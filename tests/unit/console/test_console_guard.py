"""Only pages of the console itself ask it for anything: other pages and other names are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.datastructures import Headers
from starlette.testclient import TestClient

from headwater.console.app import Console
from headwater.console.guard import refusal

LOCAL = "127.0.0.1:8642"


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    (tmp_path / "headwater.toml").write_text('name = "shop"\n')
    (tmp_path / "a.sql").write_text(
        "CREATE TABLE t (id BIGINT) WITH (connector = 'files', path = 'in')"
        " FORMAT PLAIN ENCODE JSON;\nCREATE STREAMING VIEW v AS SELECT id FROM t;\n"
    )
    return TestClient(Console(tmp_path).app(), base_url=f"http://{LOCAL}")


@pytest.mark.parametrize(
    "host", [LOCAL, "localhost:8642", "[::1]:8642", "localhost", "LOCALHOST:1"]
)
def test_names_of_this_machine_are_answered(host: str) -> None:
    assert refusal("GET", Headers({"host": host})) == ""


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "127.0.0.1.evil.example:8642", "10.0.0.1", "localhost@evil", "[::1"],
)
def test_a_name_that_is_bound_to_loopback_by_somebody_is_refused(
    client: TestClient, host: str
) -> None:
    for path in ("/", "/sql", "/static/console.js"):
        answer = client.get(path, headers={"host": host})
        assert answer.status_code == 403
        assert "shop" not in answer.text


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:3000", ""])
def test_another_origin_is_refused(client: TestClient, origin: str) -> None:
    assert client.get("/", headers={"origin": origin}).status_code == 403
    post = client.post("/sql", data={"sql": "SELECT 1"}, headers={"origin": origin})
    assert post.status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_may_link_here_and_nothing_else(client: TestClient, site: str) -> None:
    link = {"sec-fetch-site": site, "sec-fetch-mode": "navigate"}
    assert client.get("/", headers=link).status_code == 200
    image = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}
    assert client.get("/", headers=image).status_code == 403
    form = client.post("/relations/v/verify", headers={**link, "hx-request": "true"})
    assert form.status_code == 403


@pytest.mark.parametrize("path", ["/sql", "/relations/v/verify"])
def test_a_form_of_another_page_starts_no_work(client: TestClient, path: str) -> None:
    assert client.post(path, data={"sql": "SELECT 1"}).status_code == 403
    answer = client.post(path, data={"sql": "SELECT 1"}, headers={"hx-request": "true"})
    assert answer.status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_there_is_nothing_to_change(client: TestClient, method: str) -> None:
    for path in ("/", "/sql", "/relations/v", "/relations/v/verify"):
        answer = client.request(method, path, headers={"hx-request": "true"})
        assert answer.status_code == 405


def test_every_answer_confines_its_page(client: TestClient) -> None:
    for path in ("/", "/nowhere", "/static/console.css"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_a_page_asks_no_other_server_for_anything(client: TestClient) -> None:
    for path in ("/", "/sql", "/quarantine", "/relations/v"):
        text = client.get(path).text
        assert "//" not in text.replace("http://www.w3.org/2000/svg", "").replace("<!--", "")
        assert " style=" not in text and "<style" not in text  # the policy would drop them
