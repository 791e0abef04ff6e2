"""Where the first reading of an input begins: ``START FROM``.

In: the clause and the connector. Out: the place, or an error for what is none.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from headwater.analyze.connectors.contract import ConnectorOptions
from headwater.analyze.definitions import StartFrom
from headwater.analyze.diagnostics import Diagnostics
from headwater.dialect import syntax


def bind_start(
    statement: syntax.CreateSource, connector: ConnectorOptions | None, report: Diagnostics
) -> StartFrom:
    """Return the place at which the first reading begins; report an invalid one."""
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
        message = f"this is not a valid {kind.rstrip('s')} to start from"
        report.add("INVALID_OPTION", message, node, hint)
    return StartFrom(kind, value)


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
