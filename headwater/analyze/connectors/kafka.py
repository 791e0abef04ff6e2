"""Options of a table or sink over Kafka, and the checks that the tables cannot express.

In: a bound source or sink and its statement. Out: errors for what cannot be read or written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import SplitResult, urlsplit

from sqlglot import exp

from headwater.analyze.connectors.contract import (
    LIMITS,
    MAX_RECORD_BYTES,
    RECORD_POSITION,
    ConnectorOptions,
    Option,
    Options,
    SinkOptions,
)
from headwater.analyze.connectors.options import option_node
from headwater.analyze.definitions import RecordFormat, Source
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.typing import types as t
from headwater.dialect import syntax

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_COMMON_PATTERN = re.compile(
    r"(?:[\w.|)^$-]|\((?!\?)|[*+?](?![*+?])|\{\d+,?\d*\}|\\[.dw-]|\[\^?[\w.-]+\])*"
)
"""Regular expressions that mean the same to Spark, which reads topics, and to us, who check."""


def topics(source: Source) -> list[str]:
    """Return the topics that a source names; none if it has a pattern."""
    listed = (name.strip() for name in source.options.get("topic", "").split(","))
    return list(dict.fromkeys(name for name in listed if name))


def check_kafka(statement: syntax.CreateSource, source: Source, report: Diagnostics) -> None:
    """Refuse what cannot be read from Kafka."""
    if not source.kept:
        _check_stream(statement, source, report)
    named, pattern = topics(source), source.options.get("topic_pattern")
    if bool(named) == bool(pattern):
        hint = "add topic = '…', or topic_pattern = '…'"
        message = f'"{source.name}" needs either topic or topic_pattern'
        report.add("MISSING_OPTION" if not named else "INVALID_OPTION", message, statement, hint)
    for name in named:
        check_topic(statement, name, report)
    if source.one_order and (pattern or len(named) > 1):
        hint = f"define a table of each topic, or leave {source.one_order} out"
        message = f"{source.one_order} needs changes in one order, which several topics do not have"
        report.add("INVALID_OPTION", message, statement, hint)
    if pattern and not _is_pattern(pattern):
        hint = "use Python's syntax; the pattern must match whole names"
        report.add("INVALID_OPTION", "topic_pattern is not a regular expression", statement, hint)
    check_security(statement, source.options, report)
    _check_transactions(statement, source, report)
    _check_encoding(statement, source, report)
    _check_key(statement, source, report)


def _check_stream(statement: syntax.CreateSource, source: Source, report: Diagnostics) -> None:
    """Refuse what a SOURCE, which Spark itself reads, cannot have yet."""
    hint = "write CREATE TABLE: its rows are landed, and views can be verified"
    pattern = source.options.get("topic_pattern", "")
    if _is_pattern(pattern) and not _COMMON_PATTERN.fullmatch(pattern):
        node = option_node(statement, "topic_pattern")
        message = "a topic_pattern that Java and Python may read differently"
        alike = (
            "write it with names, '.', '|', '(…)', '[…]', and '*', '+', '?' or '{…}' behind them"
        )
        report.add("INVALID_OPTION", message, node, alike)
    if source.options.get("on_data_loss") == "skip":
        node = option_node(statement, "on_data_loss")
        report.not_yet("a SOURCE over Kafka with on_data_loss = 'skip'", node, hint)


def check_topic(statement: exp.Expr, name: str, report: Diagnostics) -> None:
    """Refuse what cannot be the name of a topic."""
    if not _TOPIC.fullmatch(name):
        hint = "use letters, digits, '.', '_' and '-'"
        report.add("INVALID_OPTION", f'"{name}" is not a valid topic name', statement, hint)


def check_security(statement: exp.Expr, options: Mapping[str, str], report: Diagnostics) -> None:
    """Refuse a user without a protocol that has one, and the other way round."""
    needed: Sequence[str] = ()
    if options.get("security_protocol", "").startswith("sasl"):
        needed = ("sasl_username", "sasl_password")
    elif given := [name for name in options if name.startswith("sasl_")]:
        hint = "add security_protocol = 'sasl_ssl'"
        message = f'option "{given[0]}" needs a security_protocol with SASL'
        report.add("INVALID_OPTION", message, statement, hint)
    for name in needed:
        if name not in options:
            message = f"security_protocol {options['security_protocol']} needs {name}"
            report.add("MISSING_OPTION", message, statement, f"add {name} = '…'")


def check_registry(statement: exp.Expr, given: Mapping[str, str], report: Diagnostics) -> None:
    """Refuse what is no schema registry, and a user without a password or the other way round.

    Args:
        given: those of ``ENCODE AVRO``.
    """
    place = _address(given.get("registry", "http://-"))
    if place is None:
        hint = "write it like 'http://localhost:8081'"
        report.add("INVALID_OPTION", "registry is not an HTTP address", statement, hint)
    elif "@" in place.netloc:
        hint = "write registry_username = '…' and registry_password = '${env:NAME}'"
        report.add("INVALID_OPTION", "the address of the registry contains a user", statement, hint)
    both = ("registry_username", "registry_password")
    for name, other in (both, both[::-1]):
        if name in given and other not in given:
            message = f"{name} needs {other}"
            report.add("MISSING_OPTION", message, statement, f"add {other} = '…'")


def _check_transactions(
    statement: syntax.CreateSource, source: Source, report: Diagnostics
) -> None:
    topic = source.options.get("transaction_topic")
    if topic is None:
        return
    node = option_node(statement, "transaction_topic")
    check_topic(node, topic, report)
    if source.format is not RecordFormat.DEBEZIUM:
        hint = "leave it out: only Debezium's events name their transaction"
        report.add("INVALID_OPTION", "transaction_topic needs FORMAT DEBEZIUM", node, hint)


def _check_encoding(statement: syntax.CreateSource, source: Source, report: Diagnostics) -> None:
    if source.encode == "csv" and source.encode_options.get("header", "false") != "false":
        hint = "leave header out: the values of a record are in the order of the columns"
        report.add("INVALID_OPTION", "Kafka records have no header", statement, hint)
    if source.encode == "raw":
        stored = [c for c in source.columns if c.metadata is None and c.computed is None]
        wrong = [c for c in stored if c.type.this not in (t.Type.VARCHAR, t.Type.VARBINARY)]
        if len(stored) != 1 or wrong:
            hint = "declare one column of type VARBINARY or VARCHAR, and compute others from it"
            message = "ENCODE RAW takes exactly one column, for the record's bytes or text"
            report.add("INVALID_ENCODING", message, statement, hint)
    if source.format is RecordFormat.UPSERT and "delete_field" in source.encode_options:
        hint = "leave it out: a record without a value deletes the row of its key"
        report.add("INVALID_OPTION", "connector kafka takes no delete_field", statement, hint)
    if source.encode_options.get("key_encode") == "text" and len(source.primary_key) > 1:
        hint = "leave key_encode out, and write the keys as JSON objects"
        message = "key_encode = 'text' needs a PRIMARY KEY of one column"
        report.add("INVALID_OPTION", message, statement, hint)


def _check_key(statement: syntax.CreateSource, source: Source, report: Diagnostics) -> None:
    if source.encode == "avro":
        check_registry(statement, source.encode_options, report)
    elif source.encode_options.get("key_encode") == "avro":
        hint = "write ENCODE AVRO (registry = '…'), or leave key_encode out"
        report.add("INVALID_OPTION", "keys in Avro need values in Avro", statement, hint)


def _address(value: str) -> SplitResult | None:
    """An address of HTTP; None if it is none."""
    try:
        place = urlsplit(value)
        known = place.scheme in ("http", "https") and place.hostname and place.port != 0
    except ValueError:  # of a port that is no number
        return None
    return place if known else None


def _is_pattern(value: str) -> bool:
    try:
        re.compile(value)
    except re.error:
        return False
    return True


def check_kafka_sink(statement: syntax.CreateSink, options: Options, report: Diagnostics) -> None:
    """Refuse what cannot be written to Kafka."""
    if "topic" in options:
        check_topic(statement, options["topic"], report)
    check_security(statement, options, report)


KAFKA = ConnectorOptions(
    options={
        "bootstrap_servers": Option(
            "text", "brokers to begin with, as host:port, separated by commas", required=True
        ),
        "topic": Option("list", "topics to read, separated by commas"),
        "topic_pattern": Option(
            "text",
            "regular expression that matches the whole names of the topics to read; new "
            "topics are found",
        ),
        "transaction_topic": Option(
            "text",
            "topic with Debezium's transaction metadata; the changes of a transaction then "
            "land in one epoch",
        ),
        "isolation": Option(
            "choice",
            "whether to read records of transactions that are open or were aborted",
            default="read_committed",
            choices=("read_committed", "read_uncommitted"),
        ),
        "on_data_loss": Option(
            "choice",
            "what to do if records were deleted before they were read: fail, or skip and "
            "count them",
            default="fail",
            choices=("fail", "skip"),
        ),
        "max_rows_per_epoch": Option(
            "integer", "maximum number of records in one epoch", default="500000", minimum=1
        ),
        "max_record_bytes": MAX_RECORD_BYTES,
        "security_protocol": Option(
            "choice",
            "protocol of the connection to the brokers",
            default="plaintext",
            choices=("plaintext", "ssl", "sasl_plaintext", "sasl_ssl"),
        ),
        "sasl_mechanism": Option(
            "choice",
            "SASL mechanism that authenticates the user",
            default="plain",
            choices=("plain", "scram-sha-256", "scram-sha-512"),
        ),
        "sasl_username": Option("text", "user name"),
        "sasl_password": Option("secret", "password of the user, as '${env:NAME}'"),
        "ssl_ca": Option(
            "text", "PEM file with the authorities that sign the brokers' certificates"
        ),
        "ssl_keystore": Option("text", "PEM file with the client's private key and certificates"),
        "ssl_key_password": Option(
            "secret", "password of the client's private key, as '${env:NAME}'"
        ),
        **LIMITS,
    },
    encodings=("json", "csv", "avro", "raw"),
    metadata={
        "topic": "VARCHAR",
        "partition": "INTEGER",
        "offset": "BIGINT",
        "timestamp": "TIMESTAMP WITH TIME ZONE",
        "key": "VARBINARY",
        "headers": "ARRAY(ROW(key VARCHAR, value VARBINARY))",
    },
    position=RECORD_POSITION,
    start=("earliest", "latest", "timestamp", "offsets"),
    check=check_kafka,
    reader="headwater.connectors.kafka.source:Kafka",
    jars=lambda options: ("kafka",),  # noqa: ARG005 - of all options
    keyed_records=True,
)
"""Of a record, ``_path`` is ``<topic>/<partition>`` and ``_row`` its offset."""

_OF_CLIENTS = (
    *("bootstrap_servers", "security_protocol", "sasl_mechanism", "sasl_username"),
    *("sasl_password", "ssl_ca", "ssl_keystore", "ssl_key_password"),
)

KAFKA_SINK = SinkOptions(
    {
        "topic": Option("text", "topic to write to; it must exist", required=True),
        "key": Option(
            "list",
            "columns of a record's key, separated by commas; default: the view's own key",
        ),
        **{name: KAFKA.options[name] for name in _OF_CLIENTS},
    },
    place=("topic",),
    held_by=("bootstrap_servers", "topic"),
    encodings=("json", "avro"),
    check=check_kafka_sink,
    writer="headwater.connectors.kafka.sink:KafkaTopic",
)
