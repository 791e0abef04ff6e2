"""Bodies of messages: the rows themselves, or what Slack and PagerDuty take.

In: records and the texts of a template. Out: JSON.

Slack ("Sending messages using incoming webhooks"): the text of a message. Values of columns are
escaped, so that no row can call a channel or forge a link; the text of the option is not.

PagerDuty ("Events API v2"): an event ``trigger`` for a row, ``resolve`` for a row that is gone.
Both have one ``dedup_key``: the row's key, or the identity of the message if there is none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from headwater.analyze.connectors.message_text import MessageText
from headwater.analyze.connectors.webhook import TEXTS, text_of
from headwater.analyze.definitions import Sink
from headwater.connectors.webhook.messages import Body, RowRecord

_LONGEST_KEY = 255
_LONGEST_SUMMARY = 1024


def body_of(sink: Sink, owner: str, routing_key: str) -> Body:
    """Return what makes the bodies of a sink.

    Args:
        sink: the definition; its columns were checked.
        owner: identifies the sink among those of all projects.
        routing_key: of PagerDuty; empty for other templates.
    """
    template = sink.options.get("template", "json")
    found = {name: text_of(sink, name) for name in TEXTS[template]}
    texts = {name: text for name, text in found.items() if text is not None}
    if template == "slack":
        return lambda batch, _: _slack(texts["text"], batch[0])
    if template == "pagerduty":
        return lambda batch, id_: _pagerduty(texts, batch[0], owner, id_, routing_key)
    if int(sink.options.get("batch_size", "1")) > 1:
        return lambda batch, _: f"[{','.join(record.value or 'null' for record in batch)}]"
    return lambda batch, _: batch[0].value or "null"


def _slack(text: MessageText, record: RowRecord) -> str:
    row = _read(record)
    return json.dumps({"text": text.filled(lambda name: _escaped(_shown(row[name])))})


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _pagerduty(
    texts: Mapping[str, MessageText], record: RowRecord, owner: str, id_: str, routing_key: str
) -> str:
    event = {
        "routing_key": routing_key,
        "event_action": "resolve" if record.value is None else "trigger",
        "dedup_key": id_ if record.key is None else _dedup_key(f"{owner} {record.key}"),
    }
    if record.value is None:
        return json.dumps(event)
    row = _read(record)
    payload = {name: text.filled(lambda name: _shown(row[name])) for name, text in texts.items()}
    payload["summary"] = payload["summary"][:_LONGEST_SUMMARY]
    # the row goes in as it is: reading and writing it would change numbers
    head, details = json.dumps(payload)[:-1], record.value
    return f'{json.dumps(event)[:-1]}, "payload": {head}, "custom_details": {details}}}}}'


def _dedup_key(text: str) -> str:
    return text if len(text) <= _LONGEST_KEY else hashlib.sha256(text.encode()).hexdigest()


def _read(record: RowRecord) -> dict[str, Any]:
    """The columns of a row; numbers are text with all their digits."""
    row: dict[str, Any] = json.loads(record.value or "{}", parse_float=str, parse_int=str)
    return row


def _shown(value: Any) -> str:  # noqa: ANN401 - JSON
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_shown(each)}' for key, each in value.items())}}}"
    return str(value)
