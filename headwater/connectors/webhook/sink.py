"""Connector ``webhook``: a request for each row that a view gains, sent one after the other.

In: changes. Out: requests, each accepted by the server. What is sent of a change depends on the
format:

- ``PLAIN``: each row
- ``UPSERT``: of each key that differs, the row as it is now. A row that is gone is not sent, except
  to PagerDuty, where it resolves its incident.
- ``DEBEZIUM``: a change event, also of a row that is gone

The records of a delivery have one order: rows that are only added that of their columns, others
that of their keys. So messages and their identities are the same each time. Rows pass through the
driver, a partition at a time: a request takes longer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from pyspark.sql import DataFrame
from sqlglot import exp

from headwater import __version__
from headwater.analyze.connectors.webhook import HEADER, PAGERDUTY, is_loopback, wrong_address
from headwater.analyze.definitions import RecordFormat, Sink
from headwater.analyze.typing import types as t
from headwater.config.secrets import Secret
from headwater.connectors.sink_contract import DeliveryEpoch, SinkConnector
from headwater.connectors.webhook.bodies import body_of
from headwater.connectors.webhook.messages import RowRecord, messages
from headwater.connectors.webhook.sender import Endpoint, Sender, SentMessages
from headwater.connectors.webhook.signature import signing_key
from headwater.errors import ConfigError
from headwater.formats.records import JSON, KEY, VALUE, RecordBatch, records
from headwater.lake.catalog import Lake
from headwater.lake.protocol.commit import Fence
from headwater.plan.sql.spark_text import interval, name

_SENT: dict[str, SentMessages] = {}
"""By sink, what this process has sent: a delivery that failed is opened anew."""
_FENCE_EVERY = 1.0  # seconds: it is asked in a database


class Webhook(SinkConnector):
    """The requests of one sink.

    Args:
        directory: where relative paths of options start.
    """

    def __init__(self, sink: Sink, directory: Path) -> None:
        self._sink = sink
        self._endpoint = _endpoint(sink, directory)
        routing_key = sink.options.get("routing_key")
        self._routing_key = Secret(routing_key).reveal().strip() if routing_key else ""
        self._namespace = self._owner = ""
        self._sender: Sender

    def open(self, lake: Lake) -> None:
        """See :meth:`SinkConnector.open`: nothing is sent yet."""
        self._namespace = lake.namespace
        self._owner = f"{lake.namespace}.{self._sink.name}"
        self._sender = Sender(self._endpoint, _SENT.setdefault(self._owner, SentMessages()))

    def place(self, before: str | None) -> str:
        """See :meth:`SinkConnector.place`: an address may change, and the sink goes on there."""
        self._sender.check_pause()
        return "webhook"

    def deliver(self, changed: DataFrame, epoch: DeliveryEpoch) -> None:
        """See :meth:`SinkConnector.deliver`: each message was accepted."""
        marker = epoch.marker
        if marker.epoch == 0 and self._sink.options.get("snapshot") == "false":
            return
        delivery = f"{self._owner}\0{marker.epoch}\0{marker.cut_to[self._sink.view]}"
        body = body_of(self._sink, self._owner, self._routing_key)
        size = int(self._sink.options.get("batch_size", "1"))
        found = messages(self._records(changed, epoch), size, delivery, body)
        self._sender.send(found, delivery, _now_and_then(epoch.fence))

    def interrupt(self) -> None:
        """See :meth:`SinkConnector.interrupt`."""
        self._sender.stop()

    def _records(self, changed: DataFrame, epoch: DeliveryEpoch) -> Iterator[RowRecord]:
        """The records of a delivery, in an order that is the same each time."""
        at = epoch.at  # as the time of sending too: a repeated event is the same
        batch = RecordBatch(self._namespace, epoch.marker.epoch, at, at)
        plain = self._sink.format is RecordFormat.PLAIN
        if plain and (columns := _sortable(self._sink)):
            changed = changed.sort(*columns)
        made = records(self._sink, changed, batch, JSON).select(KEY, VALUE)
        if not plain:
            made = made.sort(KEY, VALUE)
        resolves = self._sink.options.get("template") == "pagerduty"
        for key, value in made.toLocalIterator():
            if value is not None or (resolves and key is not None):
                yield RowRecord(key, value)


def _sortable(sink: Sink) -> list[str]:
    """The columns that have an order, quoted: maps have none."""
    return [
        name(field.name)
        for field in sink.fields
        if all(kind.this is not t.Type.MAP for kind in field.type.find_all(exp.DataType))
    ]


def _endpoint(sink: Sink, directory: Path) -> Endpoint:
    """Where messages go; secrets are read.

    Raises:
        ConfigError: ``SECRET_MISSING``; ``INVALID_OPTION`` of a secret that cannot be used.
    """
    options = sink.options
    template = options.get("url", PAGERDUTY)
    url = Secret(template).reveal().strip()
    allow_http = options.get("allow_http") == "true"
    if wrong := wrong_address(url, allow_http=allow_http):
        raise _invalid(sink, "url", *wrong)
    headers = {
        option.removeprefix(HEADER): Secret(value).reveal().strip()
        for option, value in options.items()
        if option.startswith(HEADER)
    }
    for header, value in headers.items():
        if not value.isprintable() or not value.isascii():
            raise _invalid(sink, HEADER + header, "is not a valid value of a header", "set it anew")
    rate = options.get("max_per_second", "1" if options.get("template") == "slack" else "")
    ca = directory / options["ssl_ca"] if "ssl_ca" in options else None
    if ca is not None and not ca.is_file():
        raise _invalid(sink, "ssl_ca", f"names no file: {ca}", "correct its path")
    return Endpoint(
        sink.name,
        template,
        url,
        {"Content-Type": "application/json", "User-Agent": f"headwater/{__version__}", **headers},
        key=_signing_key(sink),
        timeout=interval(options.get("timeout", "10 seconds")).total_seconds(),
        every=1 / float(rate) if rate else 0.0,
        verify=str(ca) if ca else True,
        proxies=not is_loopback(urlsplit(url).hostname or ""),
        skips=options.get("on_error") == "skip",
        span=sink.span,
    )


def _signing_key(sink: Sink) -> bytes | None:
    if "secret" not in sink.options:
        return None
    try:
        return signing_key(Secret(sink.options["secret"]).reveal())
    except ValueError as error:
        hint = 'make one: echo "whsec_$(openssl rand -base64 32)"'
        raise _invalid(sink, "secret", f"is {error}", hint) from None


def _invalid(sink: Sink, option: str, what: str, hint: str) -> ConfigError:
    message = f'option "{option}" of sink "{sink.name}" {what}'
    return ConfigError("INVALID_OPTION", message, hint=hint, span=sink.span)


def _now_and_then(fence: Fence | None) -> Callable[[], None]:
    """Return what asks the fence, but not before every message."""
    asked = time.monotonic()

    def ask() -> None:
        nonlocal asked
        if fence is not None and time.monotonic() - asked > _FENCE_EVERY:
            fence.check()
            asked = time.monotonic()

    return ask
