"""Whether the deletions of a keyed table have an event time, and what to declare so that they do.

In: the log of a keyed table. Out: an answer that needs no row. The record of a deletion often has
its key only. What the connector or the database says beside it is there all the same.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.connectors.encodings import SOURCE_TIME
from headwater.analyze.connectors.registry import CONNECTORS
from headwater.analyze.definitions import RecordFormat, Source
from headwater.analyze.typing import types as t


def dates_deletions(log: Source) -> bool:
    """Return whether every deletion in a log has an event time, or else is a bad row."""
    return log.watermark is not None and _in_deletions(log, log.watermark.column)


def _in_deletions(log: Source, name: str) -> bool:
    column = next(each for each in log.columns if each.name == name)
    if column.metadata is not None or name in log.primary_key:
        return True
    if column.computed is not None:
        return all(_in_deletions(log, each.name) for each in column.computed.find_all(exp.Column))
    return _has_columns(log) and not column.nullable


def _has_columns(log: Source) -> bool:
    """Whether the record of a deletion has the columns of a row."""
    return log.format is RecordFormat.UPSERT and not CONNECTORS[log.connector].keyed_records


def dated(log: Source) -> str:
    """Return a hint: the clauses that give all changes of a log an event time."""
    if log.watermark and _has_columns(log):
        time = log.watermark.column
        return f"declare {time} NOT NULL: a deletion without it goes to the quarantine then"
    times = [each.name for each in log.columns if t.is_timestamp(each.type)]
    time, what = times[0] if times else "changed_at", "NOT NULL"
    if not _has_columns(log):
        key = SOURCE_TIME if log.format is RecordFormat.DEBEZIUM else "timestamp"
        time, what = "changed_at", f"METADATA FROM '{key}'"
    return (
        f"declare {time} TIMESTAMP WITH TIME ZONE {what},"
        f" WATERMARK FOR {time} AS {time} - INTERVAL '10' SECOND"
    )
