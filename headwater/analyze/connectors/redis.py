"""What a table over a stream of Redis must say beyond its options.

In: a bound source and its statement. Out: errors for what cannot be read.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from headwater.analyze.connectors.contract import (
    LIMITS,
    MAX_RECORD_BYTES,
    ConnectorOptions,
    Option,
    Plugin,
)
from headwater.analyze.definitions import RecordFormat, Source
from headwater.analyze.diagnostics import Diagnostics
from headwater.config.secrets import written_secrets
from headwater.dialect import syntax

_DATABASE = re.compile(r"(/\d*)?")


def check_redis(statement: syntax.CreateSource, source: Source, report: Diagnostics) -> None:
    """Refuse what cannot be read from a stream of Redis."""
    if not source.kept:
        hint = "write CREATE TABLE, which lands the entries"
        message = "a SOURCE cannot read a queue: a second view would miss the entries"
        report.add("INVALID_OPTION", message, statement, hint)
    if source.format is not RecordFormat.PLAIN:
        hint = "write FORMAT PLAIN: each entry is a row"
        report.not_yet(f"FORMAT {source.format.upper()} with connector redis", statement, hint)
    url = source.options.get("url", "redis://-")
    if written_secrets(url) or "@" in url:
        hint = "write username = '…' and password = '${env:NAME}'"
        report.add("INVALID_OPTION", "the address of Redis contains a user", statement, hint)
    elif not _is_address(url):
        hint = "write it like 'redis://localhost:6379/0', or 'rediss://…' for TLS"
        report.add("INVALID_OPTION", "url is not a Redis address", statement, hint)
    if "username" in source.options and "password" not in source.options:
        message, hint = "username needs password", "add password = '${env:NAME}'"
        report.add("MISSING_OPTION", message, statement, hint)
    if "ssl_ca" in source.options and not url.startswith("rediss:"):
        hint = "write url = 'rediss://…', or leave ssl_ca out"
        report.add("INVALID_OPTION", "ssl_ca needs TLS", statement, hint)


def _is_address(url: str) -> bool:
    try:
        place = urlsplit(url)
        known = place.scheme in ("redis", "rediss") and place.hostname and place.port != 0
    except ValueError:  # of a port that is no number
        return False
    # what else can be said in it, clients take for settings of theirs
    return bool(known and _DATABASE.fullmatch(place.path) and not (place.query or place.fragment))


REDIS = ConnectorOptions(
    options={
        "url": Option(
            "text",
            "address of the server: redis://host:port/database, or rediss://… with TLS",
            required=True,
        ),
        "stream": Option("text", "stream to read", required=True),
        "group": Option(
            "text",
            "consumer group that shows in Redis how far the stream was landed; only this "
            "table may use it",
            default="headwater",
        ),
        "field": Option("text", "field of an entry that holds the row", default="value"),
        "trim": Option(
            "boolean",
            "whether to delete entries from the stream once they are landed",
            default="false",
        ),
        "on_data_loss": Option(
            "choice",
            "what to do if entries were deleted before they were read: fail, or skip and "
            "count them",
            default="fail",
            choices=("fail", "skip"),
        ),
        "max_rows_per_epoch": Option(
            "integer", "maximum number of entries in one epoch", default="100000", minimum=1
        ),
        "max_record_bytes": MAX_RECORD_BYTES,
        "username": Option("text", "user name; without it the password is that of the server"),
        "password": Option("secret", "password, as '${env:NAME}'"),
        "ssl_ca": Option(
            "text", "PEM file with the authorities that sign the server's certificate"
        ),
        **LIMITS,
    },
    encodings=("json",),
    metadata={"id": "VARCHAR", "timestamp": "TIMESTAMP WITH TIME ZONE"},
    start=("earliest", "latest"),
    check=check_redis,
    reader="headwater.connectors.redis.source:Redis",
)
"""Of an entry, ``_path`` is ``<stream>/<id>``, and ``_row`` is 0."""

PLUGIN = Plugin(source=REDIS)
"""The entry point ``redis`` in ``pyproject.toml`` names it, as that of another package would."""
