"""Random rows of a source as JSON, for projects whose definitions come from elsewhere.

In: a random generator and a source. Out: lines that its connector reads once it reads JSON files.
Values are few, so that keys meet; event times follow each other, some a little late. The names of
columns say which texts and numbers are times.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from random import Random

from sqlglot import exp

from headwater.analyze.definitions import Source

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
_TEXTS = ("a", "b", "1", "2026-01-01 10:00:00", '{"a": "b"}', "x,y")
_KIND = exp.DataType.Type


def random_lines(rnd: Random, source: Source, count: int) -> list[str]:
    """Return the lines of a file.

    Args:
        rnd: the generator.
        source: what reads the file.
        count: how many lines.
    """
    lines = []
    for number in range(count):
        row = _row(rnd, source, NOON + timedelta(minutes=7 * number))
        whole: object = row
        if source.format.value.upper() == "DEBEZIUM":
            whole = {"op": "c", "before": None, "after": row, "source": {"ts_ms": number}}
        lines.append(json.dumps(whole))
    return lines


def _row(rnd: Random, source: Source, clock: datetime) -> dict[str, object]:
    needed = {*source.primary_key, source.watermark.column if source.watermark else ""}
    row = {}
    for column in (each for each in source.columns if not each.name.startswith("_")):
        if column.name in needed or rnd.random() < 0.9:
            moment = clock - timedelta(minutes=rnd.choice((0, 0, 1, 3, 90)))
            row[column.name] = _value(rnd, column.type, moment)
            if column.name.endswith("_ms"):
                row[column.name] = int(moment.timestamp() * 1000)
            elif column.name.endswith("_at") and column.type.this in exp.DataType.TEXT_TYPES:
                row[column.name] = moment.replace(tzinfo=None).isoformat(sep=" ")
    return row


def _value(rnd: Random, kind: exp.DataType, moment: datetime) -> object:
    if kind.this in (_KIND.ARRAY, _KIND.LIST):
        return [_value(rnd, kind.expressions[0], moment) for _ in range(rnd.randint(0, 3))]
    if kind.this is _KIND.STRUCT:
        return {each.name: _value(rnd, each.args["kind"], moment) for each in kind.expressions}
    if kind.this is _KIND.MAP:
        return {text: _value(rnd, kind.expressions[1], moment) for text in _TEXTS[:2]}
    if kind.this in (*exp.DataType.REAL_TYPES, _KIND.DECIMAL):
        return rnd.choice((0.5, 1, 2.25, 25))
    if kind.this in exp.DataType.NUMERIC_TYPES:
        return rnd.randint(0, 4)
    if kind.this is _KIND.BOOLEAN:
        return rnd.random() < 0.5
    if kind.this is _KIND.DATE:
        return moment.date().isoformat()
    if kind.this in (_KIND.TIMESTAMP, _KIND.TIMESTAMPNTZ):
        return moment.replace(tzinfo=None).isoformat(sep=" ")
    if kind.this in exp.DataType.TEMPORAL_TYPES:
        return moment.isoformat()
    if kind.this in (_KIND.VARBINARY, _KIND.BINARY):
        return "YQ=="
    return rnd.choice(_TEXTS)
