"""Where reading begins, and how long an input may be idle: values of options that are no names.

In: a table under way and a value as another system writes it. Out: the clause of the table.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

from headwater.importing.contract import TableDraft

_OFFSETS = re.compile(r"partition:(\d+),offset:(\d+)")
_DURATION = re.compile(r"(\d+)\s*([a-z]+)")
_UNITS = {"ms": "MILLISECOND", "s": "SECOND", "m": "MINUTE", "h": "HOUR", "d": "DAY"}


def start_at(table: TableDraft, value: str) -> None:
    """Begin at a time in milliseconds since 1970; other numbers are left out with a note."""
    if not value.isdigit():
        note = f"START FROM TIMESTAMP needs a time as text, not {value}"
        table.remark(note, "write START FROM TIMESTAMP '2026-01-31 12:00:00+00:00'")
        return
    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(value))
    table.start_from = f"TIMESTAMP '{time.isoformat(sep=' ')}'"


def start_at_offsets(table: TableDraft, value: str) -> None:
    """Begin at ``partition:0,offset:42;…`` of the table's one topic."""
    offsets = {partition: int(offset) for partition, offset in _OFFSETS.findall(value)}
    text = json.dumps({table.foreign.get("topic", table.name): offsets})
    table.start_from = f"OFFSETS '{text}'"


def idle_after(table: TableDraft, value: str) -> None:
    """Let the watermark go on after a time without rows."""
    if interval := duration(value):
        table.idle = interval


def duration(value: str) -> str:
    """Return ``5 min`` as an interval; empty if it is none."""
    found = _DURATION.fullmatch(value.strip().lower())
    unit = _UNITS.get(found[2] if found and found[2] == "ms" else found[2][0]) if found else None
    return f"INTERVAL '{found[1]}' {unit}" if found and unit else ""
