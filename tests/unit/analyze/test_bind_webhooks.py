"""What a webhook may be, and how it is delivered if its format is left out."""

from __future__ import annotations

import pytest

from headwater.analyze.connectors.message_text import MessageText
from headwater.analyze.definitions import Sink
from tests.unit.analyze.small_project import catalog

PLAIN = "AS SELECT flight, origin AS text FROM departures"
COUNTED = "AS SELECT origin AS text, count(*) AS n FROM departures GROUP BY origin"


def sink(view: str, options: str, format_: str = "") -> Sink:
    text = f"CREATE SINK s FROM v WITH (connector = 'webhook', {options}) {format_}"
    return catalog(f"CREATE STREAMING VIEW v {view}; {text}").sinks["s"]


@pytest.mark.parametrize(
    ("view", "format_", "found"),
    [
        (PLAIN, "", ("plain", None)),
        (PLAIN, "FORMAT PLAIN", ("plain", None)),
        (PLAIN, "FORMAT PLAIN ENCODE JSON", ("plain", None)),
        (COUNTED, "", ("upsert", ("text",))),
        (COUNTED, "FORMAT DEBEZIUM ENCODE JSON", ("debezium", ("text",))),
    ],
)
def test_the_format_is_that_of_the_view_if_none_is_written(
    view: str, format_: str, found: tuple[object, object]
) -> None:
    made = sink(view, "url = 'https://example.com'", format_)
    assert (made.format, made.key) == found
    assert (made.encode, made.encode_options) == ("json", {})


@pytest.mark.parametrize(
    "options",
    [
        "url = 'http://[::1]:8080/hooks', \"header.x-team\" = 'risk'",
        "url = 'http://localhost', header.authorization = 'Bearer ${env:TOKEN}'",
        "url = '${env:HOOK}', template = 'slack'",
        "url = 'https://hooks.slack.com/services/${env:HOOK}', template = 'slack'",
        "url = 'http://intern/', allow_http = true, secret = '${env:KEY}', timeout = '1 minute'",
        "url = 'https://example.com/?key=${env:KEY}', batch_size = 100, max_per_second = 0.5",
        "template = 'pagerduty', routing_key = '${env:KEY}', summary = '{{{Text}}}'",
        "template = 'pagerduty', routing_key = '${env:KEY}', summary = 'x', severity = '{text}'",
        "url = 'https://example.com', key = 'text', on_error = 'skip', snapshot = false",
    ],
)  # fmt: skip
def test_what_is_right_is_taken(options: str) -> None:
    assert sink(PLAIN, options).connector == "webhook"


def test_the_address_may_change_and_the_sink_goes_on() -> None:
    one, other = (
        sink(COUNTED, f"url = 'https://{host}', template = '{template}'")
        for host, template in (("a", "json"), ("b", "slack"))
    )
    assert one.fingerprint == other.fingerprint


def test_several_sinks_may_post_to_one_address() -> None:
    texts = [
        f"CREATE SINK s{n} FROM v WITH (connector = 'webhook', url = 'https://a');" for n in (1, 2)
    ]
    assert len(catalog(f"CREATE STREAMING VIEW v {COUNTED}; {' '.join(texts)}").sinks) == 2


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("", ""),
        ("no place", "no place"),
        ("{a}", "<a>"),
        ("{ A }{b}", "<a><b>"),
        ("{{a}} {{{a}}} }}", "{a} {<a>} }"),
        ("{a} is 100 % of {a}", "<a> is 100 % of <a>"),
    ],
)
def test_places_are_filled_and_braces_stay(text: str, filled: str) -> None:
    assert MessageText.parse(text).filled(lambda column: f"<{column}>") == filled


@pytest.mark.parametrize("text", ["{", "}", "{}", "{a", "{a:10}", "{a!r}", "{a{b}}", "{a:{b}}"])
def test_a_brace_that_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        MessageText.parse(text)
