"""What is left of the changes of a key, and the texts of keys and values."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from pyspark.sql import DataFrame, SparkSession

from headwater import __version__
from headwater.algebra.change import SIGN
from headwater.analyze.definitions import Sink
from headwater.formats.avro.encode import key_schema, value_schema
from headwater.formats.avro.encode import written as as_avro
from headwater.formats.records import JSON, Encoding, RecordBatch, records
from tests.spark.running import planned
from tests.support.avro import message

BATCH = RecordBatch("shop", 7, 1_000, 2_000)


def sink(columns: str, key: str, format_: str, encode: str = "JSON") -> Sink:
    catalog, _ = planned(
        f"CREATE TABLE t ({columns}, PRIMARY KEY ({key})) WITH (connector = 'files', path = 't')"
        " FORMAT UPSERT ENCODE PARQUET; CREATE SINK s FROM t WITH (connector = 'kafka',"
        f" topic = 'out', bootstrap_servers = 'k:1') FORMAT {format_} ENCODE {encode}"
    )
    return catalog.sinks["s"]


def avro_sink(columns: str, key: str, format_: str) -> tuple[Sink, Encoding]:
    definition = sink(columns, key, format_, "AVRO (registry = 'http://localhost:1')")
    key_, value = key_schema(definition), value_schema(definition)
    return definition, Encoding(as_avro(3, key_), as_avro(4, value))


def written(made: DataFrame) -> set[tuple[str, str | None]]:
    return {(one.key, one.value) for one in made.collect()}


def changes(spark: SparkSession, kinds: str, *rows: tuple[object, ...]) -> DataFrame:
    return spark.createDataFrame(rows, f"{kinds}, {SIGN} INT")


def test_an_update_is_one_record_and_a_deletion_a_tombstone(spark: SparkSession) -> None:
    gone, come = -1, 1
    rows = [(1, "a", gone), (1, "b", come), (2, None, gone), (3, None, come)]
    changed = changes(spark, "id INT, s STRING", *rows)
    definition = sink("id INTEGER, s VARCHAR", "id", "UPSERT")
    assert written(records(definition, changed, BATCH, JSON)) == {
        ('{"id":1}', '{"id":1,"s":"b"}'),
        ('{"id":2}', None),
        ('{"id":3}', '{"id":3,"s":null}'),
    }


def test_equal_keys_have_one_text(spark: SparkSession) -> None:
    changed = changes(spark, "x DOUBLE, n INT", (0.0, 1, -1), (-0.0, 2, 1))
    definition = sink("x DOUBLE, n INTEGER", "x", "UPSERT")
    again = changes(spark, "x DOUBLE, n INT", (-0.0, 3, 1))
    keys = {
        key
        for rows in (changed, again)
        for key, _ in written(records(definition, rows, BATCH, JSON))
    }
    assert keys == {'{"x":0.0}'}


def test_an_event_says_both_rows_and_where_it_is_from(spark: SparkSession) -> None:
    changed = changes(spark, "id INT, s STRING", (1, "a", -1), (1, "b", 1), (2, "c", -1))
    made = records(sink("id INTEGER, s VARCHAR", "id", "DEBEZIUM"), changed, BATCH, JSON).collect()
    assert sorted((one.key, one.value is None) for one in made) == [
        ('{"id":1}', False),
        ('{"id":2}', False),
        ('{"id":2}', True),
    ]
    event = next(json.loads(one.value) for one in made if one.key == '{"id":1}')
    source = event.pop("source")
    assert event == {
        "before": {"id": 1, "s": "a"},
        "after": {"id": 1, "s": "b"},
        "op": "u",
        "ts_ms": 2_000,
    }
    assert {source[part] for part in ("db", "table", "epoch", "ts_ms", "snapshot")} == {
        *("shop", "t", 7, 1_000, "false")
    }
    headers = {one.key: bytes(one.value) for one in made[0].headers}
    assert headers == {"headwater.view": b"t", "headwater.epoch": b"7"}


@pytest.mark.parametrize("format_", ["UPSERT", "DEBEZIUM"])
def test_a_change_that_changed_nothing_is_no_record(spark: SparkSession, format_: str) -> None:
    changed = changes(spark, "id INT, s STRING")
    assert not written(records(sink("id INTEGER, s VARCHAR", "id", format_), changed, BATCH, JSON))


COLUMNS = """id BIGINT, ok BOOLEAN, small INTEGER, brief REAL, wide DOUBLE, exact DECIMAL(10, 2),
  day DATE, clock TIMESTAMP(6), moment TIMESTAMP WITH TIME ZONE, said VARCHAR, raw VARBINARY,
  many ARRAY(DOUBLE), named MAP(VARCHAR, INTEGER), a ROW(b ROW(x BIGINT)), a_b ROW(x VARCHAR)"""
KINDS = """id BIGINT, ok BOOLEAN, small INT, brief FLOAT, wide DOUBLE, exact DECIMAL(10, 2),
  day DATE, clock TIMESTAMP_NTZ, moment TIMESTAMP, said STRING, raw BINARY, many ARRAY<DOUBLE>,
  named MAP<STRING, INT>, a STRUCT<b: STRUCT<x: BIGINT>>, a_b STRUCT<x: STRING>"""
FULL = (
    *(
        1,
        True,
        -7,
        0.5,
        0.1,
        Decimal("-1.50"),
        date(1500, 1, 2),
        datetime.fromisoformat("1969-12-31 23:59:00"),
    ),
    *(datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC), "ü", b"\0x", [0.5, None], {"k": 1}),
    *({"b": {"x": 2}}, {"x": "y"}),
)
AS_AVRO = (
    *(1, True, -7, 0.5, 0.1, Decimal("-1.50"), (date(1500, 1, 2) - date(1970, 1, 1)).days),
    *(-60_000_000, 1_767_323_045_000_006, "ü", b"\0x", [0.5, None], {"k": 1}),
    *({"b": {"x": 2}}, {"x": "y"}),
)


@pytest.mark.parametrize("format_", ["UPSERT", "DEBEZIUM"])
def test_avro_is_written_as_its_schema_says(spark: SparkSession, format_: str) -> None:
    definition, encoding = avro_sink(COLUMNS, "id", format_)
    empty = (2, *[None] * (len(FULL) - 1))
    changed = changes(spark, KINDS, (*FULL, 1), (*empty, -1))
    made = records(definition, changed, BATCH, encoding).collect()
    key, value = json.loads(key_schema(definition)), json.loads(value_schema(definition))
    names = [field.name for field in definition.fields]
    row, old = dict(zip(names, AS_AVRO, strict=True)), dict(zip(names, empty, strict=True))

    def keyed(of: int) -> bytes:
        return message(3, key, {"id": of})

    found = {(bytes(one.key), one.value and bytes(one.value)) for one in made}
    if format_ == "UPSERT":
        assert found == {(keyed(1), message(4, value, row)), (keyed(2), None)}
        return
    source = {"version": __version__, "connector": "headwater", "name": "shop", "ts_ms": 1_000}
    source |= {"snapshot": "false", "db": "shop", "table": "t", "epoch": 7}

    def event(op: str, before: object, after: object) -> bytes:
        told = {"before": before, "after": after, "source": source, "op": op, "ts_ms": 2_000}
        return message(4, value, told)

    assert found == {
        (keyed(1), event("c", None, row)),
        (keyed(2), event("d", old, None)),
        (keyed(2), None),
    }


def test_equal_keys_are_the_same_bytes_in_avro(spark: SparkSession) -> None:
    definition, encoding = avro_sink("x REAL, n INTEGER", "x", "UPSERT")
    schema = json.loads(key_schema(definition))
    other_nan = "CAST(-CAST('NaN' AS FLOAT) AS FLOAT)"
    values = ("CAST(0.0 AS FLOAT)", "CAST('-0.0' AS FLOAT)", "CAST('NaN' AS FLOAT)", other_nan)
    found = set()
    for value in values:
        changed = spark.sql(f"SELECT {value} AS x, 1 AS n, 1 AS {SIGN}")
        found |= {bytes(one.key) for one in records(definition, changed, BATCH, encoding).collect()}
    assert found == {message(3, schema, {"x": x}) for x in (0.0, float("nan"))}


def test_a_view_of_one_row_has_one_key_in_avro(spark: SparkSession) -> None:
    definition, encoding = avro_sink("id BIGINT", "id", "UPSERT")
    definition = replace(definition, key=())
    schema = key_schema(definition)
    encoding = Encoding(as_avro(3, schema), encoding.value)
    made = records(definition, changes(spark, "id BIGINT", (5, 1)), BATCH, encoding).collect()
    assert [bytes(one.key) for one in made] == [message(3, json.loads(schema), {})]
