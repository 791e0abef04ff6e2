"""What a schema registry answers, and what is made of it; a server of our own stands for it."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from headwater.analyze.definitions import Source
from headwater.errors import ServiceError, TerminalError
from headwater.formats.avro.registry import Registry
from headwater.formats.avro.schema import Schema
from tests.support.avro import Json, fields

UNKNOWN = (404, {"error_code": 40403, "message": "Schema not found"})


class Answers(ThreadingHTTPServer):
    """A registry that answers what a test tells it to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.given: dict[str, tuple[int, Json]] = {}
        self.asked: list[str] = []
        self.sent: list[tuple[str, Json]] = []
        self.users: set[str] = set()
        self.address = f"http://127.0.0.1:{self.server_port}/base"


class Handler(BaseHTTPRequestHandler):
    """Looks an address up."""

    server: Answers

    def do_POST(self) -> None:  # noqa: N802 - the name is Python's
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.sent.append((self.headers["Content-Type"], json.loads(body)))
        self.do_GET()

    def do_GET(self) -> None:  # noqa: N802 - the name is Python's
        path = self.path.removeprefix("/base")
        self.server.asked.append(path)
        self.server.users.add(self.headers.get("Authorization", ""))
        status, said = self.server.given.get(path, UNKNOWN)
        body = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Answers() as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def registry(server: Answers, **options: str) -> Registry:
    given = {"registry": f"{server.address}/", **options}
    source = Source("t", True, (), "kafka", encode="avro", encode_options=given)
    return Registry(source, Path())


def avro(schema: Json, **more: Json) -> tuple[int, Json]:
    return 200, {"schema": json.dumps(schema), **more}


def test_a_schema_is_asked_for_once_and_an_unknown_one_again(server: Answers) -> None:
    asked = registry(server)
    assert asked.schema(7) == "schema 7 is not in the registry"
    server.given["/schemas/ids/7"] = avro(fields(id="long"))
    for _ in range(2):
        found = asked.schema(7)
        assert isinstance(found, Schema)
        assert (found.number, found.field_names()) == (7, ("id",))
    assert server.asked == ["/schemas/ids/7"] * 2


def test_schemas_that_one_refers_to_come_before_it(server: Answers) -> None:
    money = {"type": "fixed", "name": "shop.Money", "size": 3}
    customer = {**fields(paid="shop.Money"), "name": "shop.Customer"}
    of_money = {"name": "shop.Money", "subject": "a/b money", "version": 1}
    of_customer = {"name": "shop.Customer", "subject": "customer", "version": 2}
    order = fields(customer="shop.Customer", total="shop.Money")
    server.given |= {
        "/schemas/ids/1": avro(order, references=[of_customer, of_money]),
        "/subjects/customer/versions/2": avro(customer, references=[of_money]),
        "/subjects/a%2Fb%20money/versions/1": avro(money),
    }
    found = registry(server).schema(1)
    assert isinstance(found, Schema)
    assert [*found.named] == ["shop.Money", "shop.Customer", "R"]
    del server.given["/subjects/customer/versions/2"]
    missing = 'schema 1 cannot be read: version 2 of "customer" is not in the registry'
    assert registry(server).schema(1) == missing


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"schema": "{}", "schemaType": "JSON"}, "schema 1 is of type JSON, not AVRO"),
        ({"schema": '"Nowhere"'}, 'schema 1 cannot be read: type "Nowhere" is not defined'),
        ({"schema": "{"}, "schema 1 cannot be read: Expecting property name"),
    ],
)
def test_what_is_no_schema_has_a_reason(server: Answers, answer: Json, reason: str) -> None:
    server.given["/schemas/ids/1"] = 200, answer
    assert str(registry(server).schema(1)).startswith(reason)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, {"error_code": 50001}),
        (503, b"busy"),
        (404, b"<html>"),
        (404, {}),
        (200, []),
        (200, b"a"),
    ],
)
def test_a_registry_that_does_not_answer_is_tried_again(
    server: Answers, status: int, said: Json
) -> None:
    server.given["/schemas/ids/1"] = status, said
    with pytest.raises(ServiceError) as caught:
        registry(server).schema(1)
    assert not isinstance(caught.value, TerminalError)
    assert caught.value.condition == "REGISTRY_UNAVAILABLE"
    assert f"{server.address}" in caught.value.message and str(status) in caught.value.message


def test_a_registry_that_is_not_there_is_tried_again(server: Answers) -> None:
    asked = registry(server, registry="http://127.0.0.1:1")
    with pytest.raises(ServiceError, match=r"registry at http://127\.0\.0\.1:1 does not answer"):
        asked.schema(1)


@pytest.mark.parametrize("status", [401, 403])
def test_a_user_who_may_not_read_is_told(
    server: Answers, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_PASSWORD", "hunter2-secret")
    server.given["/schemas/ids/1"] = status, {"error_code": status}
    user = {"registry_username": "ann", "registry_password": "${env:REGISTRY_PASSWORD}"}
    with pytest.raises(TerminalError) as caught:
        registry(server, **user).schema(1)
    assert caught.value.condition == "REGISTRY_REFUSED"
    assert "hunter2-secret" not in caught.value.render()
    assert server.users == {"Basic " + base64.b64encode(b"ann:hunter2-secret").decode()}


def test_a_schema_of_ours_gets_a_number(server: Answers) -> None:
    server.given["/subjects/a%2Fb-value/versions"] = 200, {"id": 9}
    assert registry(server).number("a/b-value", '"string"') == 9
    kind = "application/vnd.schemaregistry.v1+json"
    assert server.sent == [(kind, {"schema": '"string"'})]


@pytest.mark.parametrize("status", [409, 422])
def test_a_schema_that_is_not_taken_says_why(server: Answers, status: int) -> None:
    said = {"error_code": status, "message": "Incompatible schema: READER_FIELD_MISSING"}
    server.given["/subjects/t-value/versions"] = status, said
    with pytest.raises(TerminalError) as caught:
        registry(server).number("t-value", '"string"')
    assert caught.value.condition == "SCHEMA_REFUSED"
    assert "READER_FIELD_MISSING" in caught.value.message and "t-value" in caught.value.message


@pytest.mark.parametrize(
    ("answer", "condition"),
    [
        ((404, {"error_code": 404}), "REGISTRY_UNAVAILABLE"),
        ((200, {}), "REGISTRY_UNAVAILABLE"),
        ((403, {}), "REGISTRY_REFUSED"),
    ],
)
def test_without_a_number_nothing_is_written(
    server: Answers, answer: tuple[int, Json], condition: str
) -> None:
    server.given["/subjects/t-value/versions"] = answer
    with pytest.raises(ServiceError) as caught:
        registry(server).number("t-value", '"string"')
    assert caught.value.condition == condition
