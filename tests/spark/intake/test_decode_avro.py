"""Avro: every type as it was written, everything else with its reason."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headwater.analyze.definitions import Source
from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.formats.avro.decode import avro_records
from headwater.formats.avro.schema import parse as parse_schema
from headwater.formats.columns import Decoder, Records
from tests.support.avro import Json, fields, message, number

pytestmark = pytest.mark.spark


def table(columns: str, format_: str = "PLAIN", options: str = "") -> Source:
    sql = (
        f"CREATE TABLE t ({columns}) WITH (connector = 'kafka', bootstrap_servers = 'h:1',"
        f" topic = 't') FORMAT {format_} ENCODE AVRO (registry = 'http://h:1'{options})"
    )
    return next(iter(bind({"t.sql": parse(sql, file="t.sql")}).sources.values()))


Written = Sequence[bytes | None | tuple[bytes | None, bytes | None]]


def decoder(
    spark: SparkSession, source: Source, records: Written, schemas: dict[int, Json]
) -> Decoder:
    """Return what decodes records, values or keys and values."""
    rows = []
    for at, record in enumerate(records):
        key, value = record if isinstance(record, tuple) else (None, record)
        kept = value if source.format == "debezium" else value or b""
        rows.append((kept, "t/0", at, key, value is None))
    kinds = "_value BINARY, _path STRING, _row BIGINT, _key BINARY, _tombstone BOOLEAN"
    spark.createDataFrame(rows, kinds).createOrReplaceTempView("records")
    known = {
        number: said if isinstance(said, str) else parse_schema(number, json.dumps(said))
        for number, said in schemas.items()
    }
    kept_beside = Records("records", "_row", ("_key", "_tombstone"), lines=False)
    encoded = avro_records(source, kept_beside, {"_key": known, "_value": known})
    return Decoder(source, encoded, "TIMESTAMP '2026-11-22 00:00:00'")


def read(
    spark: SparkSession, source: Source, records: Written, schemas: dict[int, Json]
) -> tuple[list[dict[str, Any]], dict[int, str]]:
    """Return the good rows of records, and why others are bad."""
    made = decoder(spark, source, records, schemas)
    names = [column.name for column in source.columns]
    found = spark.sql(made.rows())
    good = found.where("NOT _bad").orderBy("_row").select(*names).collect()
    bad = {row["_row"]: row.reason for row in spark.sql(made.rejected()).collect()}
    assert found.where("_bad").count() == len(bad)
    return [row.asDict(recursive=True) for row in good], bad


def logical(kind: str, meaning: str, **more: Json) -> Json:
    return {"type": kind, "logicalType": meaning, **more}


def connect(kind: str, name: str) -> Json:
    return {"type": kind, "connect.name": name}


MICROS = 1_767_225_599_999_999  # 2025-12-31 23:59:59.999999
WALL = datetime(2025, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001 - Spark gives all times so
MILLIS = WALL.replace(microsecond=999000)
FIXED = logical("fixed", "decimal", precision=30, scale=1, name="F", size=20)
SUB = {
    "type": "record",
    "name": "Sub",
    "namespace": "deep",
    "fields": [{"name": "x", "type": "int"}, {"name": "Kind", "type": "Kind"}],
}
VALUES: list[tuple[str, str, Json, Any, Any]] = [
    ("flag", "BOOLEAN", "boolean", True, True),
    ("small", "INTEGER", "int", -(2**31), -(2**31)),
    ("wider", "BIGINT", "int", 2**31 - 1, 2**31 - 1),
    ("big", "BIGINT", "long", -(2**63), -(2**63)),
    ("counted", "DOUBLE", "int", 7, 7.0),
    ("whole", "DECIMAL(20, 1)", "long", -12, Decimal("-12.0")),
    ("single", "REAL", "float", 0.5, 0.5),
    ("single_wider", "DOUBLE", "float", -0.25, -0.25),
    ("real_", "DOUBLE", "double", 1e300, 1e300),
    ("text_", "VARCHAR", "string", "grün\0", "grün\0"),
    ("uuid_", "VARCHAR", logical("string", "uuid"), "a-b", "a-b"),
    ("kind", "VARCHAR", {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}, "B", "B"),
    ("again", "VARCHAR", "Kind", "A", "A"),
    ("raw", "VARBINARY", "bytes", b"\x00\xff", bytearray(b"\x00\xff")),
    ("sized", "VARBINARY", {"type": "fixed", "name": "Two", "size": 2}, b"ab", bytearray(b"ab")),
    ("money", "DECIMAL(12, 4)", logical("bytes", "decimal", precision=64, scale=2),
     Decimal("-99999999.99"), Decimal("-99999999.9900")),
    ("fixed_money", "DECIMAL(30, 1)", FIXED, Decimal("-12345678901234567890.5"),
     Decimal("-12345678901234567890.5")),
    ("day", "DATE", logical("int", "date"), -1, date(1969, 12, 31)),
    ("day_of_debezium", "DATE", connect("int", "io.debezium.time.Date"), 0, date(1970, 1, 1)),
    ("time_", "BIGINT", logical("long", "time-micros"), 86_399_999_999, 86_399_999_999),
    ("milli_time", "INTEGER", logical("int", "time-millis"), 1, 1),
    ("micros", "TIMESTAMP(6)", logical("long", "timestamp-micros"), MICROS, WALL),
    ("millis", "TIMESTAMP", logical("long", "timestamp-millis"), MICROS // 1000, MILLIS),
    ("local", "TIMESTAMP", logical("long", "local-timestamp-micros"), MICROS, WALL),
    ("local_millis", "TIMESTAMP", logical("long", "local-timestamp-millis"), -1,
     datetime(1969, 12, 31, 23, 59, 59, 999000)),  # noqa: DTZ001
    ("moment", "TIMESTAMP WITH TIME ZONE", logical("long", "timestamp-micros"), MICROS,
     WALL),
    ("of_debezium", "TIMESTAMP", connect("long", "io.debezium.time.MicroTimestamp"), MICROS, WALL),
    ("zoned", "TIMESTAMP WITH TIME ZONE", connect("string", "io.debezium.time.ZonedTimestamp"),
     "2026-01-31T11:34:56.5+01:00", datetime(2026, 1, 31, 10, 34, 56, 500000)),  # noqa: DTZ001
    ("zoned_text", "VARCHAR", connect("string", "io.debezium.time.ZonedTimestamp"), "x", "x"),
    ("list_", "ARRAY(BIGINT)", {"type": "array", "items": ["null", "int"]}, [1, None], [1, None]),
    ("days", "ARRAY(DATE)", {"type": "array", "items": logical("int", "date")}, [0],
     [date(1970, 1, 1)]),
    ("map_", "MAP(VARCHAR, DECIMAL(9, 2))",
     {"type": "map", "values": logical("bytes", "decimal", precision=4, scale=2)},
     {"a": Decimal("1.50")}, {"a": Decimal("1.50")}),
    ("sub", "ROW(x BIGINT, kind VARCHAR, missing INTEGER)", SUB, {"x": 1, "Kind": "A"},
     {"x": 1, "kind": "A", "missing": None}),
    ("subs", "ARRAY(ROW(x INTEGER))", {"type": "array", "items": "deep.Sub"},
     [{"x": 5, "Kind": "A"}], [{"x": 5}]),
    ("nothing", "DATE", "null", None, None),
]  # fmt: skip


@pytest.mark.parametrize("optional", [False, True])
def test_each_type_is_read_as_it_was_written(spark: SparkSession, optional: bool) -> None:
    def kind_of(kind: Json) -> Json:
        return ["null", kind] if optional and kind != "null" else kind

    unread = {"tree": ["null", {"type": "record", "name": "Tree", "fields": [
        {"name": "next", "type": ["null", "Tree"]}]}], "either": ["int", "string"]}  # fmt: skip
    written = fields(**unread, **{name: kind_of(kind) for name, _, kind, _, _ in VALUES})
    written["namespace"] = "deep"
    source = table(", ".join(f"{name} {declared}" for name, declared, *_ in VALUES))
    value = {name: held for name, _, _, held, _ in VALUES}
    records = [message(7, written, {**value, "tree": {"next": {"next": None}}, "either": 5})]
    if optional:
        records.append(message(7, written, {**dict.fromkeys(value), "tree": None, "either": 5}))
    good, bad = read(spark, source, records, {7: written})
    assert not bad
    assert good[0] == {name: expected for name, *_, expected in VALUES}
    assert good[1:] == [dict.fromkeys(value)] * optional


ZONED = connect("string", "io.debezium.time.ZonedTimestamp")
MONEY = logical("bytes", "decimal", precision=10, scale=2)


def test_each_record_is_read_by_its_own_schema_or_says_why_not(spark: SparkSession) -> None:
    first = fields(id="long", amount=MONEY)
    second = fields(
        note="string", ID="int", amount=["null", logical("bytes", "decimal", precision=4)]
    )
    wrong = fields(id="string", amount=MONEY)
    whole = message(1, first, {"id": 1, "amount": Decimal("1.50")})
    records = [
        whole,
        message(2, second, {"note": "x", "ID": 2, "amount": Decimal("7")}),
        message(2, second, {"note": "x", "ID": 3, "amount": None}),
        message(3, wrong, {"id": "4", "amount": Decimal("1.50")}),
        message(4, first, {"id": 5, "amount": Decimal("1.50")}),
        *(None, b"", b"{}", b"\0\0\0", whole[:5], whole[:-1], whole + b"\0"),
        whole[:5] + b"\2" + b"\xfe\xff\xff\xff\x0f",  # a length of 2 GB, less one
        message(1, first, {"id": 6, "amount": Decimal("123456.00")}),
    ]
    source = table("id BIGINT NOT NULL, amount DECIMAL(7, 2)")
    schemas = {1: first, 2: second, 3: wrong, 4: "schema 4 is not in the registry"}
    good, bad = read(spark, source, records, schemas)
    assert [tuple(row.values()) for row in good] == [
        (1, Decimal("1.50")),
        (2, Decimal("7.00")),
        (3, None),
    ]
    unknown = "its value is not Avro with the number of a schema: it begins with "
    cut = "its value is not one of schema 1, or is cut off or too long"
    assert bad == {
        3: 'column "id": schema 3 says string, which is not read as BIGINT',
        4: "schema 4 is not in the registry",
        5: "a record without a value",
        6: "a record without a value",
        7: unknown + "7B7D",
        8: unknown + "000000",
        **dict.fromkeys(range(9, 13), cut),
        13: "column \"amount\": '123456.00' is not a valid DECIMAL(7, 2)",
    }


def test_fields_of_a_schema_that_the_definition_does_not_name_are_told(
    spark: SparkSession,
) -> None:
    plain, more = fields(ID="long"), fields(id="long", extra="string", Other="int")
    records = [
        message(1, plain, {"ID": 1}),
        message(2, more, {"id": 2, "extra": "x", "Other": 3}),
        message(2, more, {"id": 3, "extra": "y", "Other": 4}),
    ]
    found = decoder(spark, table("id BIGINT, other INTEGER"), records, {1: plain, 2: more})
    assert [tuple(row) for row in spark.sql(found.unknown()).collect()] == [
        ('["extra"]', "t/0", 1), ('["extra"]', "t/0", 2),
    ]  # fmt: skip
    change = event(id="long", late="int")
    records = [message(1, change, {"before": None, "after": {"id": 1, "late": 2}, "op": "c"})]
    keyed = table("id BIGINT, PRIMARY KEY (id)", "DEBEZIUM")
    found = decoder(spark, keyed, records, {1: change})
    assert [row[0] for row in spark.sql(found.unknown()).collect()] == ['["late"]']


def test_a_length_that_no_memory_holds_is_a_bad_record(spark: SparkSession) -> None:
    kinds: dict[str, Json] = {
        "VARCHAR": "string",
        "VARBINARY": "bytes",
        "ARRAY(INTEGER)": {"type": "array", "items": "int"},
        "MAP(VARCHAR, INTEGER)": {"type": "map", "values": "int"},
    }
    for declared, kind in kinds.items():
        header = message(1, "null", None)
        records = [header + number(length) + b"\2\2" for length in (10**9, 2**31 - 1, 2**62, -3)]
        good, bad = read(spark, table(f"v {declared}"), records, {1: fields(v=kind)})
        assert not good
        assert set(bad.values()) == {"its value is not one of schema 1, or is cut off or too long"}
    options = spark.sparkContext.getConf()
    for process in ("driver", "executor"):  # 2 GB are there in this session, 1 in a project's
        given = options.get(f"spark.{process}.extraJavaOptions") or ""
        assert "-Dorg.apache.avro.limits.bytes.maxLength=67108864" in given


def test_a_value_that_is_none_of_its_column_is_told(spark: SparkSession) -> None:
    kinds: dict[str, tuple[str, Json, Any]] = {
        "s": ("VARCHAR", "string", b"\xff"),
        "a": ("ARRAY(VARCHAR)", {"type": "array", "items": "string"}, ["x", b"\xff"]),
        "m": ("MAP(VARCHAR, VARCHAR)", {"type": "map", "values": "string"}, {"k": b"\xff"}),
        "at": ("TIMESTAMP", logical("long", "timestamp-millis"), 9_223_372_036_825_200_000),
        "day": ("DATE", logical("int", "date"), 2**31 - 1),
        "tz": ("TIMESTAMP WITH TIME ZONE", ZONED, "now"),
        "r": ("ROW(n DECIMAL(2, 0))", fields(n="int"), {"n": 100}),
        "n": ("INTEGER NOT NULL", ["null", "int"], None),
    }  # fmt: skip
    fine = {
        "s": "",
        "a": [],
        "m": {},
        "at": 0,
        "day": 0,
        "tz": "2026-01-31T00:00:00Z",
        "r": {"n": 1},
        "n": 1,
    }
    written = fields(**{name: kind for name, (_, kind, _) in kinds.items()})
    written["fields"][6]["type"]["name"] = "Inner"
    source = table(", ".join(f"{name} {declared}" for name, (declared, *_) in kinds.items()))
    records = [message(1, written, {**fine, name: bad}) for name, (*_, bad) in kinds.items()]
    good, bad = read(spark, source, [message(1, written, fine), *records], {1: written})
    assert len(good) == 1
    assert [*bad.values()] == [
        'column "s": invalid UTF-8',
        'column "a": a value in it is not valid in ARRAY(VARCHAR)',
        'column "m": a value in it is not valid in MAP(VARCHAR, VARCHAR)',
        "column \"at\": '9223372036825200000' is not a valid TIMESTAMP",
        "column \"day\": '2147483647' is not a valid DATE",
        "column \"tz\": 'now' is not a valid TIMESTAMP WITH TIME ZONE",
        "column \"r.n\": '100' is not a valid DECIMAL(2, 0)",
        'column "n": NULL in NOT NULL column',
    ]


Kind = tuple[str, Json, Callable[[], tuple[Any, Any]]]
"""A declared type, a type of Avro, and what makes a value and what is to be read of it."""


def random_kind(rnd: Random, names: Iterator[int], depth: int = 0) -> Kind:
    """One more type; NULL is a value of every second one."""
    declared, avro, made = random_nested(rnd, names, depth)
    if rnd.random() < 0.5:
        return declared, avro, made
    union = ["null", avro] if rnd.random() < 0.5 else [avro, "null"]
    return declared, union, lambda: (None, None) if rnd.random() < 0.3 else made()


def random_nested(rnd: Random, names: Iterator[int], depth: int) -> Kind:
    shape = rnd.choice(["array", "map", "row", *["plain"] * 3]) if depth < 3 else "plain"
    if shape == "array":
        declared, avro, made = random_kind(rnd, names, depth + 1)

        def items() -> tuple[Any, Any]:
            pairs = [made() for _ in range(rnd.randint(0, 3))]
            return [value for value, _ in pairs], [read for _, read in pairs]

        return f"ARRAY({declared})", {"type": "array", "items": avro}, items
    if shape == "map":
        declared, avro, made = random_kind(rnd, names, depth + 1)

        def pairs() -> tuple[Any, Any]:
            found = {rnd.choice("abü"): made() for _ in range(rnd.randint(0, 3))}
            return {k: v for k, (v, _) in found.items()}, {k: r for k, (_, r) in found.items()}

        return f"MAP(VARCHAR, {declared})", {"type": "map", "values": avro}, pairs
    if shape == "row":
        return random_row(rnd, names, depth)
    _, declared, avro, value, read = rnd.choice([each for each in VALUES if each[0] in PLAIN])
    return declared, avro, lambda: (value, read)


def random_row(rnd: Random, names: Iterator[int], depth: int) -> Kind:
    """A record with fields that are read, in any order and case, and others that are not."""
    kinds = {f"f{at}": random_kind(rnd, names, depth + 1) for at in range(rnd.randint(1, 4))}
    written = {rnd.choice([name, name.upper()]): kind for name, kind in kinds.items()}
    written |= {f"u{at}": random_kind(rnd, names, depth + 1) for at in range(rnd.randint(0, 2))}
    order = rnd.sample([*written], len(written))
    avro = fields(**{name: written[name][1] for name in order})

    def row() -> tuple[Any, Any]:
        found = {name: kind[2]() for name, kind in written.items()}
        read = {name.lower(): read for name, (_, read) in found.items() if name[0] != "u"}
        return {name: value for name, (value, _) in found.items()}, read

    declared = ", ".join(f"{name} {kind[0]}" for name, kind in kinds.items())
    return f"ROW({declared})", {**avro, "name": f"R{next(names)}"}, row


PLAIN = ("flag", "wider", "big", "single_wider", "text_", "raw", "money", "day", "micros", "zoned")


def test_random_records_are_read_as_they_were_written(spark: SparkSession) -> None:
    for seed in range(6):
        rnd = Random(seed)
        row, avro, made = random_row(rnd, itertools.count(), -1)
        source = table(row.removeprefix("ROW(").removesuffix(")"))
        pairs = [made() for _ in range(20)]
        records: list[bytes | None] = [message(seed, avro, value) for value, _ in pairs]
        cut = [record[:-1] for record in records if record]
        good, bad = read(spark, source, [*records, *cut], {seed: avro})
        assert good == [expected for _, expected in pairs], seed
        assert sorted(bad) == [*range(20, 40)]


PLACEHOLDER = "__debezium_unavailable_value"


def event(**kinds: Json) -> Json:
    row = {**fields(**kinds), "name": "Value"}
    return {
        **fields(before=["null", row], after=["null", "Value"], op="string"),
        "name": "Envelope",
    }


def test_events_of_debezium_are_read_as_their_json_is(spark: SparkSession) -> None:
    written = event(
        id="long",
        amount=["null", {**MONEY, "connect.name": "org.apache.kafka.connect.data.Decimal"}],
        price="string",
        rate="double",
        at=["null", connect("long", "io.debezium.time.MicroTimestamp")],
        body=["null", "string"],
    )
    source = table(
        "id BIGINT, amount DECIMAL(10, 2), price DECIMAL(6, 2), rate DECIMAL(4, 1), at TIMESTAMP,"
        " body VARCHAR, PRIMARY KEY (id)",
        "DEBEZIUM",
    )
    row = {
        "id": 1,
        "amount": Decimal("1.50"),
        "price": "7.25",
        "rate": 0.1,
        "at": MICROS,
        "body": "b",
    }
    zeros = {**row, "amount": None, "price": "0", "at": None, "body": None}
    heartbeat, marker = (
        fields(ts_ms="long"),
        fields(
            status="string", id="string", event_count="null", data_collections="null", ts_ms="long"
        ),
    )
    flat = fields(id="long")
    changes = [
        (None, row, "c"), (row, {**row, "body": PLACEHOLDER}, "u"), (zeros, None, "d"),
        (None, {**row, "price": "1e2"}, "u"), (None, row, "t"), (None, None, "m"),
        (None, {**row, "body": PLACEHOLDER}, "r"),
    ]  # fmt: skip
    records: list[bytes | None] = [
        message(1, written, {"before": before, "after": after, "op": op})
        for before, after, op in changes
    ]
    records += [
        None,
        message(2, heartbeat, {"ts_ms": 1}),
        message(
            3,
            marker,
            {
                "status": "BEGIN",
                "id": "1",
                "event_count": None,
                "data_collections": None,
                "ts_ms": 1,
            },
        ),
        message(4, flat, {"id": 1}),
    ]
    good, bad = read(spark, source, records, {1: written, 2: heartbeat, 3: marker, 4: flat})
    money = {
        "amount": Decimal("1.50"),
        "price": Decimal("7.25"),
        "rate": Decimal("0.1"),
        "at": WALL,
    }
    nulls = dict.fromkeys(["amount", "price", "rate", "at", "body"])
    assert good == [
        {"id": 1, **money, "body": "b", "_change_type": "UPSERT", "_unchanged": ""},
        {"id": 1, **money, "body": None, "_change_type": "UPSERT", "_unchanged": "body"},
        {"id": 1, **nulls, "_change_type": "DELETE", "_unchanged": ""},
    ]
    assert bad == {
        3: "column \"price\": '1e2' is not a valid DECIMAL(6, 2)",
        4: "neither writes nor deletes a row: t",
        6: "a row begins without the value of body",
        10: "neither writes nor deletes a row: NULL",
    }


KEYED = "id BIGINT, note VARCHAR, PRIMARY KEY (id)"


@pytest.mark.parametrize("key", ["record", "bare", "text"])
def test_the_key_of_a_record_says_which_row_it_writes_or_deletes(
    spark: SparkSession, key: str
) -> None:
    kind = fields(id="int") if key == "record" else {"type": "long"}
    value = fields(note="string", id="long")

    def of(number: int) -> bytes:
        if key == "text":
            return str(number).encode()
        return message(1, kind, {"id": number} if key == "record" else number)

    source = table(KEYED, "UPSERT", ", key_encode = 'text'" if key == "text" else "")
    records = [
        (of(1), message(2, value, {"note": "a", "id": 9})),
        (of(1), None),
        (of(2), b"\0"),
        (b"x", None),
        (None, message(2, value, {"note": "a", "id": 9})),
    ]
    good, bad = read(spark, source, records, {1: kind, 2: value})
    assert good == [
        {"id": 1, "note": "a", "_change_type": "UPSERT"},
        {"id": 1, "note": None, "_change_type": "DELETE"},
    ]
    assert bad[2] == "its value is not Avro with the number of a schema: it begins with 00"
    assert sorted(bad) == [2, 3, 4]
    if key != "text":
        assert bad[3] == "its key is not Avro with the number of a schema: it begins with 78"
        assert bad[4] == "a record without a key"


def test_a_column_may_be_of_a_field_with_another_name(spark: SparkSession) -> None:
    named = "key BIGINT FROM 'ID', note VARCHAR FROM 'Notiz', plain BIGINT, PRIMARY KEY (key)"
    key, value = fields(ID="long"), fields(Notiz="string", PLAIN="long", notiz="int", note="long")
    row = {"Notiz": "a", "PLAIN": 2, "notiz": 3, "note": 4}
    records = [
        (message(1, key, {"ID": 1}), message(2, value, row)),
        (message(1, key, {"ID": 1}), None),
        (message(1, key, {"ID": 1}), message(3, fields(NOTIZ="string"), {"NOTIZ": "b"})),
        (message(1, key, {"ID": 1}), message(4, fields(notiz="long"), {"notiz": 3})),
    ]
    schemas = {1: key, 2: value, 3: fields(NOTIZ="string"), 4: fields(notiz="long")}
    source = table(named, "UPSERT")
    good, bad = read(spark, source, records, schemas)
    assert [tuple(row.values()) for row in good] == [
        (1, "a", 2, "UPSERT"),
        (1, None, None, "DELETE"),
        (1, "b", None, "UPSERT"),
    ]
    assert bad == {3: 'column "note": schema 4 says long, which is not read as VARCHAR'}
    made = decoder(spark, source, records[:1], schemas)
    assert spark.sql(made.unknown()).first()._unknown == '["note"]'
