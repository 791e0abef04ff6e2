"""The identities and bodies of messages, and what the environment must hold for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.analyze.definitions import Sink
from headwater.connectors.webhook.bodies import body_of
from headwater.connectors.webhook.messages import Message, RowRecord, messages
from headwater.connectors.webhook.sink import Webhook
from headwater.errors import ConfigError
from tests.unit.analyze.small_project import catalog

VIEW = """CREATE STREAMING VIEW v AS
SELECT flight, any_value(origin) AS origin, sum(price) AS price, count(*) > 1 AS many
FROM departures GROUP BY flight;"""


def sink(options: str, format_: str = "") -> Sink:
    text = f"CREATE SINK s FROM v WITH (connector = 'webhook', {options}) {format_}"
    return catalog(f"{VIEW} {text}").sinks["s"]


def record(origin: object, key: str = "1") -> RowRecord:
    value = {"flight": key, "origin": origin, "price": 1.5, "many": True}
    text = json.dumps(value).replace("1.5", "1.50")
    return RowRecord(json.dumps({"flight": key}), text)


def body(made: Sink, *batch: RowRecord) -> str:
    return body_of(made, "shop.s", "the-key")([*batch], "msg_1")


RECORDS = st.lists(
    st.builds(
        RowRecord,
        st.none() | st.sampled_from(["", "a", "ab", "0:"]),
        st.none() | st.sampled_from(["", "a", "b", "ab", "-1:"]),
    ),
    max_size=12,
)


def made(records: list[RowRecord], size: int, delivery: str = "d") -> list[Message]:
    return list(messages(records, size, delivery, lambda batch, _: str(batch)))


@given(RECORDS, st.integers(1, 4))
def test_identities_differ_within_a_delivery_and_are_the_same_the_next_time(
    records: list[RowRecord], size: int
) -> None:
    found = made(records, size)
    assert found == made(records, size)
    ids = {each.id for each in found}
    assert len(ids) == len(found) == -(-len(records) // size)
    assert not ids & {each.id for each in made(records, size, "e")}
    if size == 1:  # in whatever order
        assert ids == {each.id for each in made(records[::-1], size)}


def test_rows_are_sent_as_they_are() -> None:
    assert body(sink("url = 'https://a'"), record("ü")) == record("ü").value
    two = body(sink("url = 'https://a', batch_size = 2"), record(1), record(2))
    assert two == f"[{record(1).value},{record(2).value}]"
    one = body(sink("url = 'https://a', batch_size = 2"), record(1))
    assert one == f"[{record(1).value}]"


@pytest.mark.parametrize(
    ("text", "origin", "shown"),
    [
        ("{origin} costs {price}", "JFK", "JFK costs 1.50"),
        ("<!here> *{origin}*", "<!channel> & co", "<!here> *&lt;!channel&gt; &amp; co*"),
        ("{origin} {many}", None, "NULL true"),
        ("{origin}", {"a": [1, None]}, "{a: [1, NULL]}"),
        ("{origin}", 'a"b\n', 'a"b\n'),
    ],
)
def test_a_slack_message_is_its_text_with_values(text: str, origin: object, shown: str) -> None:
    made = sink(f"url = '${{env:HOOK}}', template = 'slack', text = '{text}'")
    assert json.loads(body(made, record(origin))) == {"text": shown}


def test_an_incident_is_of_its_key_and_resolved_with_it() -> None:
    options = "template = 'pagerduty', routing_key = '${env:KEY}', summary = '{flight}: {price}'"
    made = sink(f"{options}, source = '{{origin}}', severity = 'critical'")
    text = body(made, record("JFK"))
    assert '"price": 1.50' in text  # as the view has it
    found = json.loads(text)
    assert found["payload"].pop("custom_details")["origin"] == "JFK"
    assert found == {
        "routing_key": "the-key",
        "event_action": "trigger",
        "dedup_key": 'shop.s {"flight": "1"}',
        "payload": {"summary": "1: 1.50", "source": "JFK", "severity": "critical"},
    }
    gone = json.loads(body(made, RowRecord(record("JFK").key, None)))
    assert gone == {
        "routing_key": "the-key", "event_action": "resolve", "dedup_key": found["dedup_key"],
    }  # fmt: skip


def test_what_pagerduty_limits_is_within_its_limits() -> None:
    options = "template = 'pagerduty', routing_key = '${env:KEY}', summary = '{origin}'"
    found = json.loads(body(sink(options), record("x" * 2000, key="k" * 300)))
    assert len(found["payload"]["summary"]) == 1024
    assert len(found["dedup_key"]) == 64
    without = RowRecord(None, record("x").value)
    assert json.loads(body(sink(options), without))["dedup_key"] == "msg_1"


@pytest.mark.parametrize(
    ("options", "variables", "condition"),
    [
        ("url = '${env:HOOK}'", {}, "SECRET_MISSING"),
        ("url = '${env:HOOK}'", {"HOOK": "http://example.com"}, "INVALID_OPTION"),
        ("url = '${env:HOOK}'", {"HOOK": "services/T0/B0"}, "INVALID_OPTION"),
        ("url = 'https://a', secret = '${env:KEY}'", {"KEY": "sesame-sesame"}, "INVALID_OPTION"),
        ("url = 'https://a', header.x = '${env:X}'", {"X": "a\nb: c"}, "INVALID_OPTION"),
        ("url = 'https://a', ssl_ca = 'missing.pem'", {}, "INVALID_OPTION"),
        ("template = 'pagerduty', routing_key = '${env:KEY}', summary = 'x'", {}, "SECRET_MISSING"),
    ],
)
def test_what_the_environment_lacks_is_said_without_a_secret(
    options: str,
    variables: dict[str, str],
    condition: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as caught:
        Webhook(sink(options), tmp_path)
    assert caught.value.condition == condition
    assert not [value for value in variables.values() if value in str(caught.value)]


def test_an_endpoint_has_its_secrets_and_shows_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOOK", " https://hooks.slack.com/services/T0/B0/x \n")
    monkeypatch.setenv("TOKEN", "sesame")
    options = "url = '${env:HOOK}', template = 'slack', text = 'x', timeout = '2 seconds'"
    made = Webhook(sink(f"{options}, header.authorization = 'Bearer ${{env:TOKEN}}'"), tmp_path)
    to = made._endpoint
    assert to.url == "https://hooks.slack.com/services/T0/B0/x"
    assert to.headers["authorization"] == "Bearer sesame"
    assert (to.shown, to.every, to.timeout, to.proxies) == ("${env:HOOK}", 1.0, 2.0, True)
    local = Webhook(sink("url = 'http://127.0.0.1:1', max_per_second = 4"), tmp_path)._endpoint
    assert (local.every, local.proxies, local.key) == (0.25, False, None)
