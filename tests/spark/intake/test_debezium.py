"""Debezium's values at their edges, and real messages of its PostgreSQL connector.

``debezium-samples.jsonl`` holds what Debezium 3.7 wrote for PostgreSQL 15 with
``decimal.handling.mode=precise`` and ``time.precision.mode=adaptive``: 18 messages without and 7
with their schema.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headwater.analyze.definitions import Column, Source
from headwater.analyze.project import bind
from headwater.analyze.typing import types as t
from headwater.dialect import parse
from headwater.formats.columns import Decoder, Records
from headwater.formats.debezium import reading, unavailable
from headwater.formats.json import json_lines

pytestmark = pytest.mark.spark

PLACEHOLDER = b"__debezium_unavailable_value"
SAMPLES = [
    json.loads(line)
    for line in Path(__file__).with_name("debezium-samples.jsonl").read_text().splitlines()
]
ORDERS = """
CREATE TABLE orders (
  id BIGINT, ref VARCHAR NOT NULL, customer VARCHAR NOT NULL, amount DECIMAL(12, 2) NOT NULL,
  any_num ROW(scale INTEGER, value VARBINARY), qty BIGINT, ratio DOUBLE, weight DOUBLE,
  paid BOOLEAN, d DATE, t BIGINT, ts TIMESTAMP(6), {ts3} tstz TIMESTAMP WITH TIME ZONE, iv BIGINT,
  meta VARCHAR, js VARCHAR, tags ARRAY(VARCHAR), nums ARRAY(INTEGER), blob VARBINARY, m VARCHAR,
  ip VARCHAR, big VARCHAR, remark VARCHAR, prio INTEGER, extra TIMESTAMP WITH TIME ZONE,
  PRIMARY KEY (id)
) WITH (connector = 'files', path = 'orders')
FORMAT DEBEZIUM ENCODE JSON (decimals = 'precise', times = 'adaptive')
"""


def wall(text: str) -> datetime:
    """Return a wall-clock time."""
    return datetime.fromisoformat(text)


def values(
    spark: SparkSession, column: Column, parsed: str, given: Iterable[object], **modes: str
) -> list[Any]:
    """Return what a column makes of values that JSON has shown."""
    found = reading(column, "v", modes)
    assert found is not None
    rows = [(number, value) for number, value in enumerate(given)]
    frame = spark.createDataFrame(rows, f"n INT, v {parsed}").selectExpr("n", f"{found.value} AS v")
    return [row.v for row in sorted(frame.collect())]


def unscaled(number: int) -> bytearray:
    """Return a number as Java's BigInteger writes it."""
    bits = (number if number >= 0 else -number - 1).bit_length()
    return bytearray(number.to_bytes(bits // 8 + 1, "big", signed=True))


@pytest.mark.parametrize("scale", [0, 2, 38])
def test_bytes_are_the_number_or_nothing(spark: SparkSession, scale: int) -> None:
    chance = random.Random(scale)
    around = [2**bits for bits in (7, 8, 31, 32, 63, 64, 95, 96, 126)]
    numbers = [0, 1, 1234, 10**38 - 1, 10**38, 2**127 - 1, *around]
    numbers += [number - 1 for number in around]
    numbers += [chance.randrange(10 ** chance.randrange(1, 39)) for _ in range(60)]
    numbers += [-number for number in numbers] + [-(2**127)]
    column = Column("v", t.decimal(38, scale))
    given = [*map(unscaled, numbers), bytearray(), bytearray(17), None]
    with localcontext() as context:
        context.prec = 60
        expected = [
            Decimal(number).scaleb(-scale) if abs(number) < 10**38 else None for number in numbers
        ]
    assert values(spark, column, "BINARY", given, decimals="precise") == [*expected, *[None] * 3]


def test_a_number_that_does_not_fit_its_column_is_none(spark: SparkSession) -> None:
    column = Column("v", t.decimal(4, 2))
    given = [unscaled(number) for number in (9999, 10000, -9999, -10000)]
    expected = [Decimal("99.99"), None, Decimal("-99.99"), None]
    assert values(spark, column, "BINARY", given, decimals="precise") == expected


TEXTS = {
    "12.50": "12.50",
    "-0.01": "-0.01",
    "0.1": "0.10",
    "12.500": "12.50",
    "12.345": None,
    "1234": None,  # may be base64
    "BNI=": None,
    "1E10": None,
    "1.5E1": None,
    "NaN": None,
    "": None,
    " 1.00": None,
    "123456789.00": None,
}


def test_text_is_a_number_with_a_point(spark: SparkSession) -> None:
    found = values(spark, Column("v", t.decimal(10, 2)), "STRING", TEXTS, decimals="string")
    assert found == [None if text is None else Decimal(text) for text in TEXTS.values()]
    whole = values(
        spark, Column("v", t.decimal(5, 0)), "STRING", ["1234", "-7", "1.0"], decimals="string"
    )
    assert whole == [Decimal(1234), Decimal(-7), None]


def test_a_double_is_taken_for_the_number_whose_nearest_it_is(spark: SparkSession) -> None:
    given = [0.1, -7.0, 12345678.91, 12.345, float("nan"), float("inf"), 1e300]
    found = values(spark, Column("v", t.decimal(10, 2)), "DOUBLE", given, decimals="double")
    assert found == [Decimal("0.10"), Decimal("-7.00"), Decimal("12345678.91"), *[None] * 4]


DAYS = {0: date(1970, 1, 1), -1: date(1969, 12, 31), -25567: date(1900, 1, 1), -25568: None,
        2147483647: None, 9223372036825200000: None}  # fmt: skip
MICROS = {0: wall("1970-01-01 00:00:00"), -1: wall("1969-12-31 23:59:59.999999"),
          1769862896123456: wall("2026-01-31 12:34:56.123456"),
          9223372036825200000: None, -9223372036832400000: None}  # fmt: skip
MILLIS = {0: wall("1970-01-01 00:00:00"), -1: wall("1969-12-31 23:59:59.999000"),
          1769862896123: wall("2026-01-31 12:34:56.123000"),
          1769862896123456: None, 9223372036825200000: None,
          -9223372036832400000: None}  # fmt: skip


@pytest.mark.parametrize("mode", ["adaptive", "adaptive_time_microseconds", "connect"])
def test_times_are_counted_from_1970(spark: SparkSession, mode: str) -> None:
    assert values(spark, Column("v", t.DATE), "BIGINT", DAYS, times=mode) == [*DAYS.values()]
    for digits in range(7):
        expected = MICROS if mode != "connect" and digits > 3 else MILLIS
        column = Column("v", t.TIMESTAMP, digits=digits)
        assert values(spark, column, "BIGINT", expected, times=mode) == [*expected.values()]


def test_iso_times_are_text_and_those_with_a_zone_always_are(spark: SparkSession) -> None:
    iso = {"times": "isostring"}
    dates = ["2026-01-31Z", "2026-01-31", "20484", "2026-01-31T00:00:00Z"]
    found = values(spark, Column("v", t.DATE), "STRING", dates, **iso)
    assert found == [date(2026, 1, 31), date(2026, 1, 31), None, None]
    column = Column("v", t.TIMESTAMP)
    found = values(spark, column, "STRING", ["1969-12-31T23:59:59.999999Z", "0"], **iso)
    assert found == [wall("1969-12-31 23:59:59.999999"), None]
    found = values(spark, Column("v", t.TIMESTAMPTZ), "STRING", ["infinity", None])
    assert found == [None, None]


ABSENT = {
    "STRING": (t.VARCHAR, PLACEHOLDER.decode(), f'{{"{PLACEHOLDER.decode()}": ""}}'),
    "BINARY": (t.VARBINARY, bytearray(PLACEHOLDER), bytearray(PLACEHOLDER[1:])),
    "ARRAY<STRING>": (t.array(t.VARCHAR), [PLACEHOLDER.decode()], [PLACEHOLDER.decode(), "b"]),
    "ARRAY<BINARY>": (t.array(t.VARBINARY), [bytearray(PLACEHOLDER)], [bytearray(b"a")]),
    "ARRAY<INT>": (t.array(t.INTEGER), [*PLACEHOLDER], [*PLACEHOLDER, 1]),
    "ARRAY<BIGINT>": (t.array(t.BIGINT), [*PLACEHOLDER], []),
}


@pytest.mark.parametrize("kind", ABSENT)
def test_what_stands_for_a_value_that_is_not_there(spark: SparkSession, kind: str) -> None:
    declared, absent, there = ABSENT[kind]
    frame = spark.createDataFrame([(absent,), (there,)], f"v {kind}")
    condition = unavailable(declared, "v")
    assert [row.found for row in frame.selectExpr(f"{condition} AS found").collect()] == [
        True,
        False,
    ]


def read(spark: SparkSession, source: Source, lines: list[str]) -> tuple[list[Any], dict[int, str]]:
    """Return the good rows of records, and the reason of each bad one by its number."""
    rows = [(line, "f", number) for number, line in enumerate(lines)]
    frame = spark.createDataFrame(rows, "_value STRING, _path STRING, _row BIGINT")
    frame.createOrReplaceTempView("records")
    decoder = Decoder(
        source, json_lines(source, Records("records", "_row")), "TIMESTAMP '2026-11-22 00:00:00'"
    )
    good = spark.sql(decoder.rows()).where("NOT _bad").orderBy("_row").collect()
    bad = {row["_row"]: row.reason for row in spark.sql(decoder.rejected()).collect()}
    return good, bad


def changes_of(sql: str) -> Source:
    catalog = bind({"test.sql": parse(sql, file="test.sql")})
    return next(iter(catalog.sources.values()))


def test_all_that_a_real_connector_wrote_is_read_or_refused_with_a_reason(
    spark: SparkSession,
) -> None:
    topics: dict[str, list[str]] = {}
    for sample in SAMPLES:
        topics.setdefault(sample["topic"], []).append(sample["value"] or "null")
    assert sum(map(len, topics.values())) == 25
    orders = topics["shop.public.orders"] + topics["sch.public.orders"]
    good, bad = read(spark, changes_of(ORDERS.format(ts3="ts3 TIMESTAMP(3),")), orders)
    infinity = 'column "ts3": 9223372036825200000 is not between 1900-01-01 and 2200-01-01'
    assert bad == {1: infinity, 2: infinity, 5: "a row begins without the value of big"}
    good, bad = read(spark, changes_of(ORDERS.format(ts3="")), orders)
    assert bad == {5: "a row begins without the value of big"}
    kinds = "".join({"UPSERT": "+", "DELETE": "-"}[row["_change_type"]] for row in good)
    assert kinds == "+++-++++" + "+++++-"  # without the tombstones, and the key that changed
    first, update = good[0], good[2]
    assert (first.amount, first.d, first.qty) == (Decimal("12.34"), date(2026, 1, 31), 3)
    assert first.ts == wall("2026-01-31 12:34:56.123456")
    assert first.tstz.astimezone(UTC) == datetime(2026, 1, 31, 10, 34, 56, 123456, UTC)
    assert first.blob == bytearray.fromhex("deadbeef") and first.tags == ["a", "b", None]
    assert first.any_num.scale == 3
    assert (update.big, update["_unchanged"], update.amount) == (None, "big", Decimal("100000.99"))
    gone = good[3].asDict()
    named = {"id": 3, "_change_type": "DELETE", "_unchanged": "", "_path": "f", "_row": 3}
    assert {k: v for k, v in gone.items() if v is not None and k[:2] not in ("_b", "_v")} == named
    assert [row.qty for row in good if row.id == 1][-1] == 5_000_000_000


def test_a_truncate_is_a_change_without_a_key_where_it_is_applied(spark: SparkSession) -> None:
    source = changes_of("""
    CREATE TABLE items (id BIGINT, sku VARCHAR NOT NULL, twice AS id * 2, PRIMARY KEY (id))
    WITH (connector = 'files', path = 'items') FORMAT DEBEZIUM ENCODE JSON (truncate = 'apply')
    """)
    items = [sample["value"] for sample in SAMPLES if sample["topic"] == "shop.public.items"]
    keyless = '{"before":null,"after":{"id":null,"sku":"x"},"op":"c"}'
    good, bad = read(spark, source, [*items, keyless])
    assert [(row.id, row.sku, row.twice, row["_change_type"]) for row in good] == [
        (1, "SKU-1", 2, "UPSERT"),
        (None, None, None, "TRUNCATE"),
    ]
    assert bad == {2: 'column "id": NULL in PRIMARY KEY'}


def test_the_rows_of_a_snapshot_that_replaces_name_it(spark: SparkSession) -> None:
    sql = """
    CREATE TABLE orders (id BIGINT, PRIMARY KEY (id))
    WITH (connector = 'files', path = 'orders') FORMAT DEBEZIUM ENCODE JSON (snapshot = 'replace')
    """
    schemas = [s["value"] for s in SAMPLES if s["note"].startswith("with schema envelope, op=")]
    events = [
        '{"after":{"id":7},"op":"r","source":{"snapshot":"last"}}',
        '{"after":{"id":8},"op":"r"}',
        '{"after":{"id":9},"op":"r","source":{"snapshot":"incremental","lsn":5}}',
    ]
    good, bad = read(spark, changes_of(sql), [*filter(None, schemas), *events])
    assert [(row["_snapshot"], row["_snapshot_end"]) for row in good] == [
        *((26841688, None), (26841688, None), (26841688, 26841688)),
        *(((None, None),) * 4),
    ]
    reason = "a row of a snapshot without source.lsn, by which snapshots are told apart"
    assert [*bad.values()] == [reason, reason]
    assert "_snapshot" not in [
        column.name for column in changes_of(sql.replace("replace", "merge")).columns
    ]


def test_what_is_about_no_row_is_passed_over(spark: SparkSession) -> None:
    heartbeat = '{"schema":{"type":"struct"},"payload":{"ts_ms":1795247222287}}'
    about_no_row = [
        sample["value"]
        for sample in SAMPLES
        if sample["topic"] in ("shop.message", "shop.transaction")
    ]
    assert len(about_no_row) == 3
    items = [sample["value"] for sample in SAMPLES if sample["topic"] == "shop.public.items"]
    source = changes_of("""
    CREATE TABLE items (
      id BIGINT, order_id BIGINT, sku VARCHAR, price DECIMAL(19, 2), PRIMARY KEY (id)
    ) WITH (connector = 'files', path = 'items') FORMAT DEBEZIUM ENCODE JSON (decimals = 'precise')
    """)
    flat = '{"id":7,"order_id":1,"sku":"a row without its envelope","price":"AA=="}'
    lines = [*about_no_row, '{"ts_ms":1}', heartbeat, "null", *items, flat, '{"status":"BEGIN"}']
    good, bad = read(spark, source, lines)
    assert [(row.id, row.price) for row in good] == [(1, Decimal("12.50"))]
    assert bad == {
        7: "neither writes nor deletes a row: t",
        8: "neither writes nor deletes a row: NULL",
        9: "neither writes nor deletes a row: NULL",
    }
