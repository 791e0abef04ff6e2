"""What decides the rows that a table lands, in parts that can be compared and kept as text.

In: a source. Out: its parts by their word in SQL; the columns are not among them, a table of the
lake knows its own. A landed table holds the parts by which its newest rows were landed
(:data:`headwater.lake.reserved_names.LANDED_BY`), so that a change is noticed, and the watermark
can be carried on by the clause that it had. Secrets are no parts: options refer to them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta

from headwater.analyze.definitions import AdaptiveDelay, Source, Watermark
from headwater.dialect import to_sql
from headwater.errors.words import duration
from headwater.plan.sql.spark_text import micros

WATERMARK = "WATERMARK"
CONNECTOR, FORMAT, COMPUTED, FIELDS = "connector", "FORMAT", "computed columns", "FROM"
START = "START FROM"
WORDS = (CONNECTOR, FORMAT, "WITH", "ENCODE", FIELDS, COMPUTED, WATERMARK, "ON ERROR", START)
"""Every part: a table that another release has written may name others."""
_MICROSECOND = timedelta(microseconds=1)


def parts_of(source: Source) -> dict[str, str]:
    """Return the parts of the definition of a landed table."""
    computed = {
        column.name: to_sql(column.computed, pretty=False) if column.computed else column.metadata
        for column in source.columns
        if column.metadata or column.computed
    }
    start = source.start
    parts = {
        CONNECTOR: source.connector,
        "WITH": _text(source.options),
        FORMAT: source.format.value,
        "ENCODE": " ".join(filter(None, (source.encode, _text(source.encode_options)))),
        FIELDS: _text({c.name: c.read_from for c in source.columns if c.read_from}),
        COMPUTED: _text(computed),
        WATERMARK: _watermark(source.watermark),
        "ON ERROR": source.on_error.value,
        START: f"{start.kind} {start.value}".strip(),
    }
    return {word: text for word, text in parts.items() if text}


def event_time(parts: Mapping[str, str]) -> str:
    """Return the column of the watermark, empty without one."""
    rule = watermark_of(parts)
    return rule.column if rule else ""


def watermark_of(parts: Mapping[str, str]) -> Watermark | None:
    """Return the watermark of a table by its parts."""
    if WATERMARK not in parts:
        return None
    said = json.loads(parts[WATERMARK])
    lengths = {name: length * _MICROSECOND for name, length in said.items() if name in _LENGTHS}
    adaptive = None
    if "percentile" in said:
        adaptive = AdaptiveDelay(said["percentile"], lengths["least"], lengths["most"])
    return Watermark(said["column"], lengths["delay"], adaptive, lengths.get("idle_timeout"))


_LENGTHS = ("delay", "least", "most", "idle_timeout")


def _watermark(rule: Watermark | None) -> str:
    if rule is None:
        return ""
    said: dict[str, object] = {"column": rule.column, "delay": micros(rule.delay)}
    if rule.adaptive is not None:
        said["percentile"] = rule.adaptive.percentile
        said["least"], said["most"] = micros(rule.adaptive.least), micros(rule.adaptive.most)
    if rule.idle_timeout is not None:
        said["idle_timeout"] = micros(rule.idle_timeout)
    return json.dumps(said)


def shown(word: str, parts: Mapping[str, str]) -> str:
    """Return a part as people read it."""
    rule = watermark_of(parts) if word == WATERMARK else None
    if rule is None:
        return parts.get(word, "")
    text = f"{rule.column} - {duration(rule.delay)}"
    if rule.adaptive is not None:
        text += f" adaptive {rule.adaptive.percentile:g} from {duration(rule.adaptive.least)}"
    return f"{text} idle {duration(rule.idle_timeout)}" if rule.idle_timeout else text


def _text(options: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(options.items()))
