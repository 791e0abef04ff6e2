"""What a webhook's server does, and what the sink makes of it; the server is a real one."""

from __future__ import annotations

import base64
import email.utils
import hashlib
import hmac
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.connectors.webhook.messages import Message, RowRecord, messages
from headwater.connectors.webhook.sender import (
    Endpoint,
    Patience,
    Sender,
    SendingStopped,
    SentMessages,
)
from headwater.connectors.webhook.signature import signed_headers, signing_key
from headwater.errors import HeadwaterError, ServiceError, TerminalError
from tests.support.receiver import Behaviour, Receiver, receiving

SHORT = Patience(first=0.002, longest=0.01, whole=0.3)
LONG = Patience(first=0.002, longest=0.01, whole=20)
TIMEOUT = 60.0


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


def made(rows: list[RowRecord], delivery: str = "d", size: int = 1) -> list[Message]:
    return list(messages(rows, size, delivery, lambda batch, _: str(batch[0].value)))


def numbered(count: int, delivery: str = "d") -> list[Message]:
    return made([RowRecord(None, json.dumps({"n": n})) for n in range(count)], delivery)


def sender(server: Receiver, sent: SentMessages | None = None, **more: object) -> Sender:
    options = {"timeout": TIMEOUT, "proxies": False, **more}
    return Sender(
        Endpoint("alerts", server.url, server.url, **options), sent or SentMessages(), LONG
    )


def send(
    server: Receiver, count: int = 1, sent: SentMessages | None = None, **more: object
) -> None:
    sender(server, sent, **more).send(numbered(count), "d", lambda: None)


def refused(server: Receiver, count: int = 1, **more: object) -> HeadwaterError:
    with pytest.raises(HeadwaterError) as caught:
        send(server, count, **more)
    return caught.value


def test_messages_arrive_in_order_over_one_connection(receiver: Receiver) -> None:
    send(receiver, 20, headers={"Content-Type": "application/json", "x-team": "risk"})
    assert [each.json["n"] for each in receiver.arrived] == list(range(20))
    first = receiver.arrived[0].headers
    assert (first["content-type"], first["x-team"]) == ("application/json", "risk")
    assert first["idempotency-key"] == first["webhook-id"]
    assert receiver.connections == 1


@pytest.mark.parametrize(
    "failure",
    [408, 425, 429, 500, 502, 503, 599, "close", "half", "hang", (429, {"Retry-After": "0"})],
    ids=str,
)
def test_what_may_pass_is_tried_again_with_the_same_identity(
    receiver: Receiver, failure: Behaviour
) -> None:
    receiver.then(200, failure, failure)
    send(receiver, 3, timeout=0.3 if failure == "hang" else TIMEOUT)
    assert receiver.rows() == [{"n": 0}, {"n": 1}, {"n": 2}]
    ids = [each.id for each in receiver.arrived]
    assert len(ids) > 3 and len(set(ids)) == 3
    assert ids == sorted(ids, key=ids.index)


def test_what_was_accepted_stays_accepted_whatever_is_said_besides(receiver: Receiver) -> None:
    receiver.then(204, "short", 202)
    send(receiver, 3)
    assert len(receiver.arrived) == 3


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 401, 403, 404, 405, 407])
def test_an_address_that_does_not_take_it_is_tried_by_the_worker(
    receiver: Receiver, status: int
) -> None:
    receiver.then((status, {"Location": "/elsewhere"}))
    error = refused(receiver)
    assert (type(error), error.condition) == (ServiceError, "WEBHOOK_REFUSED")
    assert f"{status}" in error.message and "no: not today" in error.message
    assert [each.path for each in receiver.arrived] == ["/hooks"]


@pytest.mark.parametrize("skips", [False, True])
def test_a_sink_whose_address_is_wrong_skips_nothing(receiver: Receiver, skips: bool) -> None:
    receiver.then(403)
    assert refused(receiver, skips=skips).condition == "WEBHOOK_REFUSED"


@pytest.mark.parametrize(
    ("status", "condition"),
    [(400, "MESSAGE_REFUSED"), (409, "MESSAGE_REFUSED"), (413, "MESSAGE_REFUSED"),
     (422, "MESSAGE_REFUSED"), (410, "WEBHOOK_GONE")],
)  # fmt: skip
def test_what_is_refused_for_good_stops_the_sink(
    receiver: Receiver, status: int, condition: str
) -> None:
    receiver.then(200, status)
    error = refused(receiver, 3)
    assert (type(error), error.condition) == (TerminalError, condition)
    assert len(receiver.arrived) == 2


def test_a_refused_message_is_skipped_if_it_may_be(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.then(200, 422)
    send(receiver, 3, skips=True)
    assert [each.json["n"] for each in receiver.arrived if each.accepted] == [0, 2]
    assert 'sink "alerts" skips a message' in caplog.text


def test_what_was_accepted_is_not_sent_again_by_this_process(receiver: Receiver) -> None:
    sent = SentMessages()
    receiver.then(200, 404)
    with pytest.raises(ServiceError):
        send(receiver, 3, sent)
    send(receiver, 3, sent)
    send(receiver, 3, sent)
    assert [each.json["n"] for each in receiver.arrived] == [0, 1, 1, 2]
    sender(receiver, sent).send(numbered(1, "next"), "next", lambda: None)
    assert len(receiver.arrived) == 5


def test_a_server_that_stays_away_is_the_workers_to_wait_for() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"
        to = Endpoint("alerts", "${env:HOOK}", url, timeout=TIMEOUT, proxies=False)
        with pytest.raises(ServiceError) as caught:
            Sender(to, SentMessages(), SHORT).send(numbered(1), "d", lambda: None)
    assert caught.value.condition == "WEBHOOK_UNAVAILABLE"
    assert '${env:HOOK} of sink "alerts" takes no messages' in caught.value.message
    assert "the connection is refused" in caught.value.message and url not in str(caught.value)


@pytest.mark.parametrize("as_date", [False, True])
def test_retry_after_is_waited_for_also_by_the_next_attempt_of_the_worker(
    receiver: Receiver, as_date: bool
) -> None:
    when = email.utils.formatdate(time.time() + 3_000, usegmt=True) if as_date else "3000"
    receiver.then((429, {"Retry-After": when}))
    sent = SentMessages()
    with pytest.raises(ServiceError) as caught:
        send(receiver, 1, sent)
    assert "429" in caught.value.message
    with pytest.raises(ServiceError) as again:
        sender(receiver, sent).check_pause()
    assert "asks to wait 29" in again.value.message or "asks to wait 3000" in again.value.message
    assert len(receiver.arrived) == 1


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """For how many seconds a sender wants to wait; it goes on at once."""
    seconds: list[float] = []
    monkeypatch.setattr(Sender, "_wait", lambda _, each: seconds.append(each))
    return seconds


def test_a_short_retry_after_is_waited_for_at_once(receiver: Receiver, waits: list[float]) -> None:
    receiver.then((503, {"Retry-After": "5"}))
    send(receiver)
    assert [each for each in waits if each > 1] == [5]
    assert len(receiver.arrived) == 2


@pytest.mark.parametrize("bundle", [None, "REQUESTS_CA_BUNDLE"])
def test_a_certificate_is_checked_by_the_authorities_that_are_named(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bundle: str | None
) -> None:
    known, stranger = trustme.CA(), trustme.CA()
    known.cert_pem.write_to_path(tmp_path / "ca.pem")
    stranger.cert_pem.write_to_path(tmp_path / "stranger.pem")
    if bundle:
        monkeypatch.setenv(bundle, str(tmp_path / "stranger.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    known.issue_cert("localhost").configure_cert(context)
    receiver.socket = context.wrap_socket(receiver.socket, server_side=True)
    url = f"https://localhost:{receiver.server_port}/hooks"

    def send_by(authority: str, sent: SentMessages) -> None:
        to = Endpoint("alerts", url, url, timeout=5, verify=str(tmp_path / authority))
        Sender(to, sent, SHORT).send(numbered(1), "d", lambda: None)

    with pytest.raises(ServiceError) as caught:
        send_by("stranger.pem", SentMessages())
    assert "its certificate is not accepted" in caught.value.message
    send_by("ca.pem", SentMessages())
    assert len(receiver.arrived) == 1


def test_requests_keep_their_distance(receiver: Receiver, waits: list[float]) -> None:
    receiver.then(200, 500)
    send(receiver, 4, every=1000.0)
    assert len(receiver.arrived) == 5
    assert [round(each, -3) for each in waits if each > 1] == [1000] * 4


def test_a_stop_ends_a_pause_and_finishes_what_is_quick(receiver: Receiver) -> None:
    slow = sender(receiver, every=300.0)

    class Paused(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            stopping.start()
            return super().wait(timeout)

    slow._stopping = Paused()
    stopping = threading.Thread(target=slow.stop)
    with pytest.raises(SendingStopped):
        slow.send(numbered(3), "d", lambda: None)
    stopping.join()
    quick = sender(receiver)
    quick.stop()
    quick.send(numbered(3, "e"), "e", lambda: None)
    assert len({each.id for each in receiver.arrived}) == 4


def test_the_signature_is_that_of_standard_webhooks() -> None:
    key = signing_key("whsec_plJ3nmyCDGBKInavdOK15jsl")  # the example of the standard
    body = b'{"event_type":"ping","data":{"success":true}}'
    headers = signed_headers(key, "msg_loFOjxBNrRLzqYUf", 1731705121, body)
    assert headers["webhook-signature"] == "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="


@pytest.mark.parametrize("secret", ["", "abc", "whsec_", "whsec_c2hvcnQ=", "whsec_%%%", "A" * 40])
def test_a_secret_that_is_none_is_refused(secret: str) -> None:
    with pytest.raises(ValueError, match="whsec_"):
        signing_key(secret)


def test_a_repeated_message_is_signed_anew(receiver: Receiver) -> None:
    key = bytes(range(32))
    receiver.then((503, {"Retry-After": "1.1"}))
    send(receiver, key=key)
    first, second = receiver.arrived
    assert first.headers["webhook-timestamp"] < second.headers["webhook-timestamp"]
    for each in (first, second):
        signed = f"{each.id}.{each.headers['webhook-timestamp']}.".encode() + each.body
        wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        assert each.headers["webhook-signature"] == f"v1,{wanted}"


def test_the_fence_ends_a_delivery(receiver: Receiver) -> None:
    def fenced() -> None:
        if receiver.arrived:
            raise TerminalError("FENCED", "taken over")

    with pytest.raises(TerminalError):
        sender(receiver).send(numbered(3), "d", fenced)
    assert len(receiver.arrived) == 1


FAILURES = st.sampled_from(
    [200, 200, 200, 204, 429, 500, 503, 404, 302, "close", "half", "short", 422]
)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=12),
    st.lists(FAILURES, max_size=25),
    st.integers(1, 3),
)
def test_whatever_fails_each_row_arrives_and_those_of_a_key_in_order(
    rows: list[tuple[int, bool]], failures: list[Behaviour], size: int
) -> None:
    """A row is a key and its place; ``True`` ends a delivery, and the process may die in it."""
    deliveries: list[list[RowRecord]] = [[]]
    for place, (key, ends) in enumerate(rows):
        deliveries[-1].append(RowRecord(str(key), json.dumps({"key": key, "place": place})))
        if ends:
            deliveries.append([])
    with receiving(failures) as server:
        sent, ids = SentMessages(), set()
        to = Endpoint("a", server.url, server.url, timeout=TIMEOUT, proxies=False)
        for number, delivery in enumerate(deliveries):
            found = list(
                messages(delivery, size, str(number),
                         lambda batch, _: f"[{','.join(each.value or '' for each in batch)}]")
            )  # fmt: skip
            ids |= {each.id for each in found}
            while True:
                try:
                    Sender(to, sent, Patience(0.0001, 0.0002, 0.002)).send(
                        found, str(number), lambda: None
                    )
                    break
                except ServiceError as error:
                    if isinstance(error, TerminalError):  # the process ends, and is started again
                        sent = SentMessages()
    accepted = [each for each in server.arrived if each.accepted]
    assert {each.id for each in accepted} == ids
    once = {each.id: each.json for each in accepted}.values()
    places: dict[int, list[int]] = {}
    for row in (row for batch in once for row in batch):
        places.setdefault(row["key"], []).append(row["place"])
    wanted: dict[int, list[int]] = {}
    for place, (key, _) in enumerate(rows):
        wanted.setdefault(key, []).append(place)
    assert places == wanted
