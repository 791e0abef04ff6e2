"""What a table over Kafka must say beyond its options: topics, who reads them, where it begins.

In: a bound source and its statement. Out: errors for what cannot be read, and its ``START FROM``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import SplitResult, urlsplit

from sqlglot import exp

from headwater.analyze.connectors.options import option_node
from headwater.analyze.connectors.registry import ConnectorOptions
from headwater.analyze.definitions import Source, StartFrom
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.typing import types as t
from headwater.dialect import syntax

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_COMMON_PATTERN = re.compile(
    r"(?:[\w.|)^$-]|\((?!\?)|[*+?](?![*+?])|\{\d+,?\d*\}|\\[.dw-]|\[\^?[\w.-]+\])*"
)
"""Regular expressions that mean the same to Spark, which reads topics, and to us, who check."""


def topics(source: Source) -> list[str]:
    """Return the topics that a source names; none if it has a pattern.

    Args:
        source: over Kafka.
    """
    listed = (name.strip() for name in source.options.get("topic", "").split(","))
    return list(dict.fromkeys(name for name in listed if name))


def bind_start(
    statement: syntax.CreateSource, connector: ConnectorOptions | None, report: Diagnostics
) -> StartFrom:
    """Return where the first reading begins; report what is none.

    Args:
        statement: as parsed.
        connector: what it reads.
        report: where errors go.
    """
    node = statement.args.get("start_from")
    if node is None or connector is None:
        return StartFrom()
    kind = str(node.args["kind"])
    if kind not in connector.start:
        hint = "remove it: reading starts at the earliest row"
        report.not_yet(f"START FROM {kind.upper()} with this connector", node, hint)
        return StartFrom()
    value = node.this.name if node.this is not None else ""
    if kind == "timestamp":
        value = _micros(value)
        hint = "write it like TIMESTAMP '2026-01-31 12:00:00+00:00'; without a zone it is in UTC"
    else:
        hint = """write the offset of each partition: OFFSETS '{"topic": {"0": 17, "1": 4}}'"""
    if not value and kind == "timestamp" or kind == "offsets" and not _are_offsets(value):
        report.add(
            "INVALID_OPTION", f"this is not a valid {kind.rstrip('s')} to start from", node, hint
        )
    return StartFrom(kind, value)


def check_kafka(statement: syntax.CreateSource, source: Source, report: Diagnostics) -> None:
    """Refuse what cannot be read from Kafka.

    Args:
        statement: as parsed.
        source: as bound so far.
        report: where errors go.
    """
    if source.connector != "kafka":
        if "key_encode" in source.encode_options:
            hint = "leave it out: only Kafka records have a separate key"
            report.add("INVALID_OPTION", "key_encode needs connector kafka", statement, hint)
        return
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
    """Refuse what cannot be the name of a topic.

    Args:
        statement: where it stands.
        name: the name.
        report: where errors go.
    """
    if not _TOPIC.fullmatch(name):
        hint = "use letters, digits, '.', '_' and '-'"
        report.add("INVALID_OPTION", f'"{name}" is not a valid topic name', statement, hint)


def check_security(statement: exp.Expr, options: Mapping[str, str], report: Diagnostics) -> None:
    """Refuse a user without a protocol that has one, and the other way round.

    Args:
        statement: where the options stand.
        options: those of a source or sink.
        report: where errors go.
    """
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
        statement: where the options stand.
        given: those of ``ENCODE AVRO``.
        report: where errors go.
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
    if source.format != "debezium":
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
    if source.format == "upsert" and "delete_field" in source.encode_options:
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


def _micros(value: str) -> str:
    """A time as microseconds since 1970 UTC; empty if it is none."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return ""
    whole = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return str(round(whole.timestamp() * 1_000_000))


def _are_offsets(value: str) -> bool:
    try:
        held = json.loads(value)
    except ValueError:
        return False
    return (
        isinstance(held, dict)
        and all(isinstance(offsets, dict) for offsets in held.values())
        and all(
            number.isdecimal() and isinstance(offset, int) and offset >= 0
            for offsets in held.values()
            for number, offset in offsets.items()
        )
    )
