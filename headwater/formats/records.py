"""Changes of a view → records: key, value and headers, as Spark SQL.

In: the rows that a view has gained and lost, with their sign. Out: one record for each change that
is left of them. The formats:

``PLAIN``: a record for each row: its columns.

``UPSERT``: a record for each key that differs: the row as it is now, or no value (a tombstone)
where the row is gone. A topic compacted by key equals the view.

``DEBEZIUM``: a change event, ``before`` and ``after`` being whole rows, ``op`` ``c``, ``u`` or
``d``; a deletion is followed by a tombstone.

As JSON, values are what ``ENCODE JSON`` reads back (:mod:`headwater.formats.json`): times in
ISO 8601 with microseconds, in UTC; bytes in base64; numbers that are not finite as text; in events
as Debezium writes them with ``decimal.handling.mode=string`` and
``time.precision.mode=isostring``. As Avro they have their own types
(:mod:`headwater.formats.avro.encode`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from sqlglot import exp

from headwater import __version__
from headwater.algebra.change import SIGN
from headwater.analyze.definitions import Field, RecordFormat, Sink
from headwater.analyze.typing import types as t
from headwater.plan.sql.spark_text import name, text

KEY, VALUE, HEADERS = "key", "value", "headers"
_BEFORE, _AFTER = "_before", "_after"
_SECONDS = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
_OPTIONS = {
    "ignoreNullFields": "false",
    "timestampFormat": f"{_SECONDS}XXX",
    "timestampNTZFormat": _SECONDS,
}


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """What the records of one delivery say of themselves.

    Attributes:
        namespace: the project's namespace.
        epoch: number of the delivery, from 0.
        at: when the newest commit in it was made, milliseconds since 1970 UTC.
        sent_at: when it is delivered, likewise.
    """

    namespace: str
    epoch: int
    at: int
    sent_at: int


@dataclass(frozen=True, slots=True)
class Encoding:
    """How structs become keys and values.

    Attributes:
        key: from the expression of a key's struct to that of the record's key.
        value: likewise of a row or an event.
        in_events: Spark SQL of values of a type that is written otherwise in Debezium's events.
    """

    key: Callable[[str], str]
    value: Callable[[str], str]
    in_events: Mapping[exp.DType, Callable[[str], str]] = field(default_factory=dict)


def records(sink: Sink, changed: DataFrame, batch: RecordBatch, encoding: Encoding) -> DataFrame:
    """Return the records of a delivery.

    Args:
        changed: the rows gained and lost, the sign last.
        batch: what they say of themselves.
        encoding: how they are encoded, :data:`JSON` or Avro.

    Returns:
        ``key``, ``value`` (text or bytes) and ``headers``.
    """
    return _FORMATS[sink.format](sink, changed, batch, encoding).selectExpr(
        f"{KEY}", f"{VALUE}", f"{_headers(sink, batch)} AS {HEADERS}"
    )


def _plain(sink: Sink, changed: DataFrame, batch: RecordBatch, encoding: Encoding) -> DataFrame:
    key = "CAST(NULL AS STRING)" if sink.key is None else encoding.key(_key(sink))
    value = encoding.value(_row(sink.fields))
    return changed.selectExpr(f"{key} AS {KEY}", f"{value} AS {VALUE}")


def _upsert(sink: Sink, changed: DataFrame, batch: RecordBatch, encoding: Encoding) -> DataFrame:
    value = f"CASE WHEN {_AFTER} IS NOT NULL THEN {encoding.value(_AFTER)} END"
    net = _net(sink, changed, _row(sink.fields), encoding)
    return net.selectExpr(KEY, f"{value} AS {VALUE}")


def _debezium(sink: Sink, changed: DataFrame, batch: RecordBatch, encoding: Encoding) -> DataFrame:
    net = _net(sink, changed, _row(sink.fields, encoding.in_events), encoding)
    op = f"CASE WHEN {_BEFORE} IS NULL THEN 'c' WHEN {_AFTER} IS NULL THEN 'd' ELSE 'u' END"
    parts = {
        "before": _BEFORE,
        "after": _AFTER,
        "source": _source(sink, batch),
        "op": op,
        "ts_ms": f"{batch.sent_at}L",
    }
    event = encoding.value(_struct(parts))
    ends = f"if({_AFTER} IS NULL, array({event}, NULL), array({event}))"
    return net.selectExpr(KEY, f"explode({ends}) AS {VALUE}")


def _net(sink: Sink, changed: DataFrame, row: str, encoding: Encoding) -> DataFrame:
    """What is left of the changes of each key: the row before, the row after, or both."""
    assert sink.key is not None
    keys = ", ".join(name(column) for column in sink.key)
    view = f"_changed_{sink.name}"
    changed.createOrReplaceTempView(view)
    return changed.sparkSession.sql(
        f"SELECT {encoding.key(_key(sink))} AS {KEY},"
        f" first({row}) FILTER (WHERE {SIGN} < 0) AS {_BEFORE},"
        f" first({row}) FILTER (WHERE {SIGN} > 0) AS {_AFTER}\n"
        f"FROM {name(view)}{f' GROUP BY {keys}' if keys else ''} HAVING count(*) > 0"
    )


def _key(sink: Sink) -> str:
    """The struct of the key's columns, which is written alike for equal ones."""
    kinds = {field.name: field.type for field in sink.fields}
    return _struct({column: _canonical(name(column), kinds[column]) for column in sink.key or ()})


def _canonical(value: str, kind: exp.DataType) -> str:
    """A value of a key: there is one NaN, and no -0.0."""
    if not t.is_float(kind):
        return value
    own = t.spark_type(kind)
    return f"nanvl({value} + CAST(0 AS {own}), CAST('NaN' AS {own}))"


def _row(
    fields: Sequence[Field], written: Mapping[exp.DType, Callable[[str], str]] | None = None
) -> str:
    """The struct of a row; a type may be written in another way than JSON's own."""
    ways = written or {}
    parts = {field.name: ways.get(field.type.this, str)(name(field.name)) for field in fields}
    return _struct(parts)


_AS_DEBEZIUM: Mapping[exp.DType, Callable[[str], str]] = {
    t.Type.DECIMAL: lambda value: f"CAST({value} AS STRING)",
    t.Type.DATE: lambda value: f"concat(CAST({value} AS STRING), 'Z')",
    t.Type.TIMESTAMPNTZ: lambda value: f"CAST({value} AS TIMESTAMP)",  # with Z behind it, in UTC
}
"""Spark SQL of values that Debezium writes in another way than JSON."""


def _source(sink: Sink, batch: RecordBatch) -> str:
    return _struct(
        {
            "version": text(__version__),
            "connector": "'headwater'",
            "name": text(batch.namespace),
            "ts_ms": f"{batch.at}L",
            "snapshot": text("false" if batch.epoch else "true"),
            "db": text(batch.namespace),
            "table": text(sink.view),
            "epoch": f"{batch.epoch}L",
        }
    )


def _headers(sink: Sink, batch: RecordBatch) -> str:
    said = {"headwater.view": sink.view, "headwater.epoch": str(batch.epoch)}
    pairs = (
        f"named_struct('key', {text(key)}, 'value', CAST({text(value)} AS BINARY))"
        for key, value in said.items()
    )
    return f"array({', '.join(pairs)})"


def _struct(parts: Mapping[str, str]) -> str:
    return f"named_struct({', '.join(f'{text(key)}, {value}' for key, value in parts.items())})"


def _json(value: str) -> str:
    options = ", ".join(f"{text(key)}, {text(option)}" for key, option in _OPTIONS.items())
    return f"to_json({value}, map({options}))"


JSON = Encoding(_json, _json, _AS_DEBEZIUM)
"""Objects as text."""
_FORMATS: Mapping[RecordFormat, Callable[[Sink, DataFrame, RecordBatch, Encoding], DataFrame]] = {
    RecordFormat.PLAIN: _plain,
    RecordFormat.UPSERT: _upsert,
    RecordFormat.DEBEZIUM: _debezium,
}
