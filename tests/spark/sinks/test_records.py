"""What is left of the changes of a key, and the texts of keys and values."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import DataFrame, SparkSession

from headwater.analyze.definitions import Sink
from headwater.plan.program import SIGN
from headwater.sinks.records import Batch, records
from tests.spark.running import planned

BATCH = Batch("shop", 7, 1_000, 2_000)


def sink(columns: str, key: str, format_: str) -> Sink:
    catalog, _ = planned(
        f"CREATE TABLE t ({columns}, PRIMARY KEY ({key})) WITH (connector = 'files', path = 't')"
        " FORMAT UPSERT ENCODE PARQUET; CREATE SINK s FROM t WITH (connector = 'kafka',"
        f" topic = 'out', bootstrap_servers = 'k:1') FORMAT {format_} ENCODE JSON"
    )
    return catalog.sinks["s"]


def written(made: DataFrame) -> set[tuple[str, str | None]]:
    return {(one.key, one.value) for one in made.collect()}


def changes(spark: SparkSession, kinds: str, *rows: tuple[object, ...]) -> DataFrame:
    return spark.createDataFrame(rows, f"{kinds}, {SIGN} INT")


def test_an_update_is_one_record_and_a_deletion_a_tombstone(spark: SparkSession) -> None:
    gone, come = -1, 1
    rows = [(1, "a", gone), (1, "b", come), (2, None, gone), (3, None, come)]
    changed = changes(spark, "id INT, s STRING", *rows)
    definition = sink("id INTEGER, s VARCHAR", "id", "UPSERT")
    assert written(records(definition, changed, BATCH)) == {
        ('{"id":1}', '{"id":1,"s":"b"}'),
        ('{"id":2}', None),
        ('{"id":3}', '{"id":3,"s":null}'),
    }


def test_equal_keys_have_one_text(spark: SparkSession) -> None:
    changed = changes(spark, "x DOUBLE, n INT", (0.0, 1, -1), (-0.0, 2, 1))
    definition = sink("x DOUBLE, n INTEGER", "x", "UPSERT")
    again = changes(spark, "x DOUBLE, n INT", (-0.0, 3, 1))
    keys = {
        key for rows in (changed, again) for key, _ in written(records(definition, rows, BATCH))
    }
    assert keys == {'{"x":0.0}'}


def test_an_event_says_both_rows_and_where_it_is_from(spark: SparkSession) -> None:
    changed = changes(spark, "id INT, s STRING", (1, "a", -1), (1, "b", 1), (2, "c", -1))
    made = records(sink("id INTEGER, s VARCHAR", "id", "DEBEZIUM"), changed, BATCH).collect()
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
    assert not written(records(sink("id INTEGER, s VARCHAR", "id", format_), changed, BATCH))
