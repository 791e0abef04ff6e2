"""A sink that posts rows to a web server: its options, and the checks that tables cannot express.

In: the options of ``CREATE SINK … WITH (connector = 'webhook', …)``, and the bound sink. Out:
errors for addresses, headers and columns that cannot be. An address that is a secret itself is
checked by :func:`wrong_address` when the sink starts.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from headwater.analyze.connectors.contract import Option, Options, SinkOptions
from headwater.analyze.connectors.message_text import MessageText
from headwater.analyze.connectors.options import SPAN, option_node
from headwater.analyze.definitions import RecordFormat, Sink
from headwater.analyze.diagnostics import Diagnostics
from headwater.config.secrets import REFERENCE, written_secrets
from headwater.dialect import syntax
from headwater.errors.nearest import did_you_mean
from headwater.redact import remember

PAGERDUTY = "https://events.pagerduty.com/v2/enqueue"
"""Where PagerDuty takes events (Events API v2), unless an account is in another region."""
SEVERITIES = ("critical", "error", "warning", "info")
"""The severities that PagerDuty knows."""
HEADER = "header."

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
_OWN_HEADERS = (
    *("connection", "content-length", "content-type", "host", "transfer-encoding"),
    *("idempotency-key", "webhook-id", "webhook-timestamp", "webhook-signature"),
)
_SECRET_HEADERS = ("authorization", "proxy-authorization", "cookie")
_SECRET_PATHS = re.compile(r"hooks\.slack(-gov)?\.com|discord(app)?\.com|.*\.webhook\.office\.com")
"""Hosts whose webhooks are known by their path alone."""
_OF_TEMPLATES: Mapping[str, str] = {
    "text": "slack",
    "summary": "pagerduty",
    "severity": "pagerduty",
    "source": "pagerduty",
    "routing_key": "pagerduty",
}
TEXTS: Mapping[str, Mapping[str, str | None]] = {
    "json": {},
    "slack": {"text": None},
    "pagerduty": {"summary": None, "severity": "error", "source": "headwater"},
}
"""The texts of a template, each with its default; None if there is none."""


def text_of(sink: Sink, name: str) -> MessageText | None:
    """Return a text of a sink's template: its option, else the column of that name, else a default.

    Args:
        sink: the definition.
        name: of the text, one of :data:`TEXTS`.

    Returns:
        The text; None if there is neither.

    Raises:
        ValueError: the option has a brace that is no place.
    """
    default = TEXTS[sink.options.get("template", "json")][name]
    if any(field.name == name for field in sink.fields):
        default = f"{{{name}}}"
    written = sink.options.get(name, default)
    return None if written is None else MessageText.parse(written)


def wrong_address(url: str, *, allow_http: bool) -> tuple[str, str] | None:
    """Return what is wrong with an address and a hint, or None."""
    try:
        place = urlsplit(url)
        known = place.scheme in ("http", "https") and place.hostname and place.port != 0
    except ValueError:  # of a port that is no number
        known = False
    if not known or place.fragment or re.search(r"[\s\x00-\x1f]", url):
        return "is not an HTTP address", "write it like 'https://example.com/hooks'"
    if place.username is not None:
        return "contains a user", "write header.authorization = '${env:NAME}'"
    if place.scheme == "http" and not allow_http and not is_loopback(place.hostname or ""):
        hint = "write https://, or add allow_http = true if you trust the network between"
        return "sends rows in the clear", hint
    return None


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_webhook(statement: syntax.CreateSink, options: Options, report: Diagnostics) -> None:
    """Refuse what cannot be posted to, or must not be written there."""
    template = options.get("template", "json")
    for name, message, hint in _wrong_options(options, template):
        report.add("INVALID_OPTION", message, option_node(statement, name), hint)
    for name, needed in (
        ("url", template != "pagerduty"),
        ("routing_key", template == "pagerduty"),
    ):
        if needed and name not in options:
            message = f'a sink with connector webhook needs the option "{name}"'
            hint = f"add {name} = '…': {WEBHOOK_SINK.options[name].description}"
            report.add("MISSING_OPTION", message, statement, hint)


def _wrong_options(options: Options, template: str) -> Iterator[tuple[str, str, str]]:
    """Yield option, message and hint of what is wrong."""
    if wrong := _wrong_url(options):
        yield "url", f'option "url" {wrong[0]}', wrong[1]
    for name, owner in _OF_TEMPLATES.items():
        if name in options and template != owner:
            yield name, f'option "{name}" is for template {owner}', f"add template = '{owner}'"
    if template != "json" and "batch_size" in options:
        yield "batch_size", f"template {template} takes a row a message", "leave batch_size out"
    if (span := SPAN.fullmatch(options.get("timeout", ""))) and not float(span[1]):
        yield "timeout", "timeout must be longer than nothing", "write timeout = '10 seconds'"
    for name, value in options.items():
        if name.startswith(HEADER) and (wrong := _wrong_header(name, value)):
            yield name, *wrong


def _wrong_url(options: Options) -> tuple[str, str] | None:
    url = options.get("url")
    if url is None or REFERENCE.fullmatch(url):
        return None
    known = REFERENCE.sub("x", url)
    wrong = wrong_address(known, allow_http=options.get("allow_http") == "true")
    if wrong:
        written_secrets(url)
        return wrong
    place = urlsplit(url)
    if _SECRET_PATHS.fullmatch(place.hostname or "") and known == url:
        remember(place.path)  # whoever knows it may post
        return "contains a secret", "write url = '${env:NAME}' and set NAME outside"
    if written_secrets(url):
        return "contains a secret", "write '${env:NAME}' in its place and set NAME outside"
    return None


def _wrong_header(option: str, value: str) -> tuple[str, str] | None:
    name = option.removeprefix(HEADER).lower()
    if not _HEADER_NAME.fullmatch(name):
        return f'"{name}" is not a valid name of a header', "write \"header.x-name\" = '…'"
    if name in _OWN_HEADERS:
        return f'header "{name}" is set by the sink itself', "leave it out"
    secret = written_secrets(value, name)
    if name in _SECRET_HEADERS and not REFERENCE.search(value):
        remember(value)
        secret = [value]
    if secret:
        return f'option "{option}" contains a secret', "write '${env:NAME}' and set NAME outside"
    if not _HEADER_VALUE.fullmatch(value):
        return f'option "{option}" is not a valid value of a header', "use printable characters"
    return None


def check_columns(statement: syntax.CreateSink, sink: Sink, report: Diagnostics) -> None:
    """Refuse a template whose texts name columns that the view lacks, and events as a template."""
    template = sink.options.get("template", "json")
    if template != "json" and sink.format is RecordFormat.DEBEZIUM:
        hint = "write FORMAT PLAIN or UPSERT, or template = 'json'"
        node = option_node(statement, "template")
        report.add("INVALID_OPTION", f"template {template} takes rows, no events", node, hint)
    for name in TEXTS[template]:
        _check_text(statement, sink, name, report)
    severity = sink.options.get("severity", SEVERITIES[0])
    if "{" not in severity and severity not in SEVERITIES:
        hint = did_you_mean(severity, SEVERITIES, "severities")
        node = option_node(statement, "severity")
        report.add("INVALID_OPTION", f"severity cannot be {severity}", node, hint)


def _check_text(statement: syntax.CreateSink, sink: Sink, name: str, report: Diagnostics) -> None:
    columns, node = [field.name for field in sink.fields], option_node(statement, name)
    try:
        text = text_of(sink, name)
    except ValueError:
        hint = f"write {name} = '… {{column}} …', and {{{{ for a brace"
        report.add("INVALID_OPTION", f'option "{name}" has a brace that is no place', node, hint)
        return
    if text is None:
        message = f'template {sink.options["template"]} needs a column "{name}"'
        hint = f"name a column of the view {name}, or add {name} = '… {{column}} …'"
        report.add("MISSING_OPTION", message, option_node(statement, "template"), hint)
    for column in text.columns if text else ():
        if column not in columns:
            hint = did_you_mean(column, columns, "columns")
            report.add("UNKNOWN_COLUMN", f'column "{column}" does not exist', node, hint)


WEBHOOK_SINK = SinkOptions(
    {
        "url": Option(
            "template",
            "address that rows are posted to, or a secret '${env:NAME}'; of template pagerduty the "
            f"default is {PAGERDUTY}",
        ),
        "template": Option(
            "choice",
            "format of a message: the row itself, or what Slack's incoming webhooks or PagerDuty's "
            "Events API v2 take",
            default="json",
            choices=("json", "slack", "pagerduty"),
        ),
        "text": Option(
            "text", "Slack: text of a message, with {column} for values; default: the column text"
        ),
        "summary": Option(
            "text",
            "PagerDuty: what happened, with {column} for values; default: the column summary",
        ),
        "severity": Option(
            "text",
            "PagerDuty: critical, error, warning or info, or {column}; default: the column "
            "severity, else error",
        ),
        "source": Option(
            "text",
            "PagerDuty: what it happened to, with {column} for values; default: the column source, "
            "else headwater",
        ),
        "routing_key": Option(
            "secret", "PagerDuty: integration key of the service, as '${env:NAME}'"
        ),
        "secret": Option(
            "secret",
            "secret that signs the messages as Standard Webhooks does, as '${env:NAME}'; its value "
            "is whsec_ and 16 to 64 bytes in base64",
        ),
        "key": Option(
            "list",
            "columns that identify what a row is about, separated by commas; default: the view's "
            "own key",
        ),
        "batch_size": Option(
            "integer",
            "maximum number of rows in a message of template json; above 1 the body is an array",
            default="1",
            minimum=1,
        ),
        "snapshot": Option(
            "boolean",
            "whether to send the rows that the view holds when the sink starts for the first time",
            default="true",
        ),
        "max_per_second": Option(
            "number",
            "maximum number of requests per second; default: 1 for slack, else no limit",
            minimum=0.001,
        ),
        "timeout": Option(
            "interval",
            "how long to wait for a connection, and for an answer",
            default="10 seconds",
        ),
        "on_error": Option(
            "choice",
            "what to do about a message that the server refuses for good: stop the sink, or skip "
            "it with a warning",
            default="stop",
            choices=("stop", "skip"),
        ),
        "allow_http": Option(
            "boolean",
            "whether an address without TLS may be on another machine",
            default="false",
        ),
        "ssl_ca": Option(
            "text", "PEM file with the authorities that sign the server's certificate"
        ),
    },
    encodings=("json",),
    named={
        "header": Option("template", "header of each request; secrets as '${env:NAME}'"),
    },
    implied=True,
    check=check_webhook,
    check_sink=check_columns,
    writer="headwater.connectors.webhook.sink:Webhook",
)
