"""Values of each format and type: what a text becomes, whichever way it comes in.

One table per format: a record, and the values of its columns as Spark shows them, or the beginning
of the reason why it is none. Each way of decoding must give what the table says.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.analyze.project import bind_all
from headwater.connectors.files.read import coordinates, record_columns
from headwater.dialect import parse
from headwater.formats.columns import KNOWN, Decoder, Records
from headwater.formats.flat_json import flat_reader
from headwater.formats.json import json_lines, json_rows, not_flat
from headwater.plan.sql.spark_text import moment

FLAT_COLUMNS = (
    "id bigint; s varchar; m decimal(38, 20); d double; b boolean; n integer; local timestamp;"
    " ts timestamp with time zone; day date"
)
NESTED_COLUMNS = (
    "r row(id bigint, s varchar, r2 row(s varchar)); list array(row(id bigint, s varchar));"
    " texts array(varchar); tags map(varchar, varchar); numbers map(varchar, double)"
)

NUMBERS = (
    *("0", "-0", "-0.0", "-0e0", "0e0", "0.0", "7", "-7", "10", "1.0", "12.10", "0.1000", "1e5"),
    *("1E+5", "1e0", "2.50E-3", "1e-7", "0.0000001", "1e400", "-1E400", "1e-400", "4.9e-325"),
    *("100000000000000000000.00", "9223372036854775808", "-123456789012345678901234567890"),
)
"""Read as text, each is what was written."""

VALUES = [
    # a name, in whatever case
    ('{"ID":1,"S":"x"}', {"id": "1", "s": "x"}),
    ('{"Id" : 1, "s":"\\"ID\\":2"}', {"id": "1", "s": '"ID":2'}),
    ('{"Id":1,"s":"a \\\\"}', {"id": "1", "s": "a \\"}),
    ('{"Id":1,"S":"é \U0001f600 \\u00e4"}', {"id": "1", "s": "é \U0001f600 ä"}),
    ('{"s":"Id","Id":1}', {"id": "1", "s": "Id"}),
    ('{"id":1,"ID":2}', "two keys that differ in case only"),
    ('{"Id":1,"ID":null}', "two keys that differ in case only"),
    ('{"id":1,"id":2}', {"id": "2"}),
    ('{"ID":1,"ID":2}', {"id": "2"}),
    ('{"ID":"x"}', "column \"id\": 'x' is not a valid BIGINT"),
    ('{"id":1,"OTHER":2,"other":3}', {"id": "1"}),
    # numbers, booleans and nested JSON as text: as it was written
    ('{"s":12.10}', {"s": "12.10"}),
    ('{"s":1e5}', {"s": "1e5"}),
    ('{"s":-1.50E+3,"d":1.5}', {"s": "-1.50E+3", "d": "1.5"}),
    ('{"s":10000000000000000000001}', {"s": "10000000000000000000001"}),
    ('{"s":0.1000000000000000055511151231257827}', {"s": "0.1000000000000000055511151231257827"}),
    *((f'{{"s":{each}}}', {"s": each}) for each in NUMBERS),
    *((f'{{"s": {each}, "id":1}}', {"s": each, "id": "1"}) for each in NUMBERS),
    *((f'{{"S":[{each}, {{"k":{each}}}]}}', {"s": f'[{each},{{"k":{each}}}]'}) for each in NUMBERS),
    *((f'{{"s":{{"k":{each}}}}}', {"s": f'{{"k":{each}}}'}) for each in NUMBERS),
    ('{"s":"12.10"}', {"s": "12.10"}),
    ('{"S":12.10}', {"s": "12.10"}),
    ('{"s":true,"b":true}', {"s": "true", "b": "true"}),
    ('{"s":"1.2.3 \\"4.5\\""}', {"s": '1.2.3 "4.5"'}),
    ('{"s":null}', {}),
    ('{"s":[1, 2.50,"3.0"]}', {"s": '[1,2.50,"3.0"]'}),
    ('{"s":{"a": 12.10, "Id":"1.5"}}', {"s": '{"a":12.10,"Id":"1.5"}'}),
    ('{"Id":7,"s":{"Id":1e5,"id":2}}', {"id": "7", "s": '{"Id":1e5,"id":2}'}),
    # digits that a DOUBLE has not
    (
        '{"m":123456789012345678.12345678901234567890}',
        {"m": "123456789012345678.12345678901234567890"},
    ),
    ('{"m":"1.5"}', {"m": "1.50000000000000000000"}),
    ('{"m":1e19}', "column \"m\": '1.0E19' is not a valid DECIMAL(38, 20)"),
    ('{"id":9223372036854775807}', {"id": "9223372036854775807"}),
    ('{"n":1.0}', 'column "n":'),
    ('{"d":"1.5"}', 'column "d":'),
    # a TIMESTAMP that is given an offset is the time of UTC
    ('{"local":"2024-03-10T02:30:00"}', {"local": "2024-03-10 02:30:00"}),
    ('{"local":"2024-03-10T02:30:00Z"}', {"local": "2024-03-10 02:30:00"}),
    ('{"local":"2024-03-10T02:30:00+05:30"}', {"local": "2024-03-09 21:00:00"}),
    ('{"local":"2024-03-10 02:30:00 America/New_York"}', {"local": "2024-03-10 07:30:00"}),
    ('{"local":"2024-03-10 02:30-07:00"}', 'column "local":'),
    ('{"ts":"2024-03-10T02:30:00+05:30"}', {"ts": "2024-03-09 21:00:00"}),
    ('{"day":"2024-03-10T00:00:00Z"}', 'column "day":'),
]
NESTED_VALUES = [
    *((f'{{"r":{{"s":{each}}}}}', {"r": f"{{null, {each}, null}}"}) for each in NUMBERS),
    *((f'{{"texts":[{each}, {each}]}}', {"texts": f"[{each}, {each}]"}) for each in NUMBERS),
    *((f'{{"tags":{{"k":{each}}}}}', {"tags": f"{{k -> {each}}}"}) for each in NUMBERS),
    *((f'{{"list":[{{"s":{each}}}]}}', {"list": f"[{{null, {each}}}]"}) for each in NUMBERS),
    ('{"R":{"Id":1,"S":1.10,"R2":{"s":"x"}}}', {"r": "{1, 1.10, {x}}"}),
    ('{"r":{"id":1,"ID":2}}', "two keys that differ in case only"),
    ('{"r":{"id":1,"r2":{"s":"x","S":"y"}}}', "two keys that differ in case only"),
    (
        '{"r":{"id":1},"LIST":[{"ID":1},{"id":2}]}',
        {"r": "{1, null, null}", "list": "[{1, null}, {2, null}]"},
    ),
    ('{"list":[{"ID":1,"s":2.50},null]}', {"list": "[{1, 2.50}, null]"}),
    ('{"list":[{"id":1},{"ID":1,"id":2}]}', "two keys that differ in case only"),
    ('{"texts":[1.10,"2.20",{"Id": 1e2},null]}', {"texts": '[1.10, 2.20, {"Id":1e2}, null]'}),
    ('{"Texts":[1.10,"Id"]}', {"texts": "[1.10, Id]"}),
    ('{"tags":{"Id":"web","id":1.10}}', {"tags": "{Id -> web, id -> 1.10}"}),
    ('{"TAGS":{"S":1.0,"x":null}}', {"tags": "{S -> 1.0, x -> null}"}),
    ('{"numbers":{"Id":1.10,"id":2}}', {"numbers": "{Id -> 1.1, id -> 2.0}"}),
    ('{"tags":{"Id":"x","Id":"y"}}', {"tags": "{Id -> y}"}),
    ('{"tags":{},"Texts":[]}', {"tags": "{}", "texts": "[]"}),
]


def as_text(source):
    return [f"CAST({c.name} AS STRING) AS {c.name}" for c in source.columns]


def found_in(spark, source, encoded, places):
    """By place, the values that a row has, or the reason."""
    decoder = Decoder(source, encoded, moment(0))
    good = spark.sql(decoder.rows()).where("NOT _bad")
    bad = spark.sql(decoder.rejected())
    found = {}
    for row in good.selectExpr(places, *as_text(source)).collect():
        place, *values = row
        named = zip(row.__fields__[1:], values, strict=True)
        found[place] = {column: value for column, value in named if value is not None}
    for place, reason in bad.selectExpr(places, "reason").collect():
        assert place not in found
        found[place] = reason
    return found


def judged(table, found):
    def alike(wanted, is_):
        if isinstance(wanted, dict) or isinstance(is_, dict):
            return wanted == is_
        return is_ is not None and is_.startswith(wanted)

    return [
        (record, wanted, found.get(number))
        for number, (record, wanted) in enumerate(table)
        if not alike(wanted, found.get(number))
    ]


@pytest.mark.parametrize(
    ("columns", "table"),
    [(FLAT_COLUMNS, VALUES), (f"{FLAT_COLUMNS}; {NESTED_COLUMNS}", VALUES + NESTED_VALUES)],
    ids=["flat", "nested"],
)
def test_a_json_value_is_the_same_whichever_way_it_comes(
    spark, drop, project, files_source, columns, table
):
    source = files_source(columns)
    records = [(record, "t/0", number) for number, (record, _) in enumerate(table)]
    schema = "_value STRING, _path STRING, _row BIGINT"
    spark.createDataFrame(records, schema).coalesce(1).createOrReplaceTempView("values_of_json")
    found = found_in(
        spark, source, json_lines(source, Records("values_of_json", KNOWN, lines=False)), "_row"
    )
    assert judged(table, found) == []
    file = drop("a.json", "\n".join(record for record, _ in table))
    lines = spark.read.option("lineSep", "\n").text(str(file)).coalesce(1)
    lines.selectExpr(*record_columns("_metadata.file_name")).createOrReplaceTempView(
        "lines_of_json"
    )
    assert found_in(spark, source, json_lines(source, Records("lines_of_json")), "_row") == found


def test_flat_lines_give_the_same_values(spark, drop, files_source):
    source = files_source(FLAT_COLUMNS)
    rows = [(record, number) for number, (record, _) in enumerate(VALUES)]
    lines = spark.createDataFrame(rows, "_value STRING, number INT")
    flat = {r.number for r in lines.where(f"NOT ({not_flat(source)})").collect()}
    table = [case for number, case in enumerate(VALUES) if number in flat]
    assert len(table) > 20
    file = drop("flat.json", "\n".join(record for record, _ in table))
    frame = flat_reader(spark.read, source).json(str(file)).coalesce(1)
    frame.selectExpr("*", *coordinates("_metadata.file_name")).createOrReplaceTempView("flat_json")
    rows = spark.sql(Decoder(source, json_rows(source, Records("flat_json")), moment(0)).rows())
    found = dict.fromkeys(range(len(table)), "")
    for row in rows.where("NOT _bad").selectExpr("_row", *as_text(source)).collect():
        place, *values = row
        named = zip(row.__fields__[1:], values, strict=True)
        found[place] = {column: value for column, value in named if value is not None}
    wanted = [(record, "" if isinstance(value, str) else value) for record, value in table]
    assert judged(wanted, found) == []


CSV_FILES = {
    # content: values of its rows, by place; a text is the beginning of a reason
    "id,s\n1,\"a\nb\"\n2,x\n": {1: {"id": "1", "s": "a\nb"}, 2: {"id": "2", "s": "x"}},
    'id,s\r\n1,"a\r\n\r\n""b"" c"\r\n2,x': {
        1: {"id": "1", "s": 'a\r\n\r\n"b" c'},
        2: {"id": "2", "s": "x"},
    },
    "\n\nid,s\n1,x\n": {3: {"id": "1", "s": "x"}},
    " \r\nid,s\r\n\r\n1,x\r\n": {3: {"id": "1", "s": "x"}},
    "id,s\r1,x\r2,y\r": {1: {"id": "1", "s": "x"}, 2: {"id": "2", "s": "y"}},
    'id,s\r1,"a\rb"\r2,y': {1: {"id": "1", "s": "a\rb"}, 2: {"id": "2", "s": "y"}},
    '\ufeff"ID","S "\n1,"é,\n\U0001f600"\n': {1: {"id": "1", "s": "é,\n\U0001f600"}},
    '"id\nx",id,s\n1,2,"a"\n': {1: {"id": "2", "s": "a"}},
    'id,s\n1,"half\n2,x\n': {1: "unbalanced quotes", 2: {"id": "2", "s": "x"}},
    'id,s\n1,"half\n2,"x"\n3,y\n': {
        1: "unbalanced quotes",
        2: {"id": "2", "s": "x"},
        3: {"id": "3", "s": "y"},
    },
    'id,s\n1,a 5" pipe\n2,b 7" x 3"\n3,"x"y\n4,z\n': {
        1: "unbalanced quotes",
        2: "unbalanced quotes",
        3: "unbalanced quotes",
        4: {"id": "4", "s": "z"},
    },
    'id,s\n1,""""\n2,"",\n3\n4,"a\nb",c\n5,\n': {
        1: {"id": "1", "s": '"'},
        2: "not 2 values",
        3: "not 2 values",
        4: "not 2 values",
        5: {"id": "5"},
    },
    b'id,s\n1,"\xff\n"\n2,"\xc3\xa9\n"\n': {1: "invalid UTF-8", 2: {"id": "2", "s": "é\n"}},
    'id,s,S\n1,x,y\n': {None: 'the header names column "s" more than once'},
    "id;s\n1;x\n": {None: 'the header does not name column "id"'},
    "": {},
    "\n\n": {},
    "id,s": {},
}  # fmt: skip
BACKSLASH_FILES = {
    'id,s\n1,"say \\"hi\\""\n2,"a 5\\" pipe"\n3,"x\\\\"\n4,"a\n\\"b"\n5,"c""d"\n6,y\\\n': {
        1: {"id": "1", "s": 'say "hi"'},
        2: {"id": "2", "s": 'a 5" pipe'},
        3: {"id": "3", "s": "x\\"},
        4: {"id": "4", "s": 'a\n"b'},
        5: "unbalanced quotes",
        6: {"id": "6", "s": "y\\"},
    },
}


TYPED_FILES = {
    'id,m,s,local\n1,1.239,"x\n",2024-03-10T02:30:00+05:30\n2,x,,\n': {
        1: {"id": "1", "m": "1.24", "s": "x\n", "local": "2024-03-09 21:00:00"},
        2: "column \"m\": 'x' is not a valid DECIMAL(10, 2)",
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "files", "options"),
    [
        ("id bigint; s varchar", CSV_FILES, {}),
        ("id bigint; s varchar", BACKSLASH_FILES, {"escape": "\\"}),
        ("id bigint; s varchar; m decimal(10, 2); local timestamp", TYPED_FILES, {}),
    ],
    ids=["rfc", "escape", "types"],
)
def test_records_of_csv_are_those_of_rfc_4180(
    lake, drop, landing, files_source, columns, files, options
):
    for number, content in enumerate(files):
        drop(f"{number:02}.csv", content)
    source = files_source(columns, encode="csv", encode_options=options)
    land = landing(source)
    land.step()
    assert land.step() is None
    wanted = {
        (f"{number:02}.csv", place): value
        for number, rows in enumerate(files.values())
        for place, value in rows.items()
    }
    found = landed(lake, source)
    assert found.keys() == wanted.keys()
    assert judged(list(wanted.items()), dict(enumerate(found[place] for place in wanted))) == []


def landed(lake, source):
    """By file and place, the values that landed, or the reason."""
    found = {}
    rows = lake.table("t").read().selectExpr("_path", "_row", *as_text(source))
    for row in rows.collect():
        path, place, *values = row
        named = zip(row.__fields__[2:], values, strict=True)
        found[path, place] = {column: value for column, value in named if value is not None}
    if lake.exists("t__quarantine"):
        for row in lake.table("t__quarantine").read().collect():
            assert (row._path, row._row) not in found
            found[row._path, row._row] = row.reason
    return found


KEYED = """
CREATE TABLE t (id BIGINT, s VARCHAR, PRIMARY KEY (id)) WITH ({connector}) FORMAT {format};
"""
FILES, TOPIC = "connector = 'files', path = 'in'", "connector = 'kafka', topic = 'x'"
CHANGES = {
    (FILES, "DEBEZIUM ENCODE JSON"): [
        (
            '{"op":"c","after":{"ID":1,"S":12.10},"ts_ms":1}',
            {"id": "1", "s": "12.10"},
        ),
        ('{"op":"c","after":{"id":1,"s":-0},"ts_ms":1}', {"id": "1", "s": "-0"}),
        ('{"schema":null,"payload":{"op":"c","after":{"Id":2},"ts_ms":1}}', {"id": "2"}),
        ('{"op":"c","after":{"Id":2,"id":3},"ts_ms":1}', "two keys that differ in case only"),
        ('{"op":"d","before":{"ID":3},"after":null,"ts_ms":1}', {"id": "3"}),
    ],
    (FILES, "UPSERT ENCODE JSON (delete_field = 'Op')"): [
        ('{"OP":"u","ID":1,"s":1e5}', {"id": "1", "s": "1e5"}),
        ('{"op":"D","id":2}', {"id": "2"}),
    ],
    (f"{TOPIC}, bootstrap_servers = 'host:9092'", "UPSERT ENCODE JSON"): [
        ('{"S":1.10}', {"id": "7", "s": "1.10"}),
    ],
}


@pytest.mark.parametrize(("connector", "form"), CHANGES, ids=["debezium", "upsert", "key"])
def test_keys_of_changes_are_found_in_any_case(spark, connector, form):
    text = KEYED.format(connector=connector, format=form)
    catalog, errors = bind_all({"t.sql": parse(text, file="t.sql")})
    assert not errors
    source, table = catalog.sources["t__changes"], CHANGES[connector, form]
    key, known = bytearray(b'{"ID":7}'), "_key BINARY, _tombstone BOOLEAN"
    rows = [(record, "t/0", number, key, False) for number, (record, _) in enumerate(table)]
    schema = f"_value STRING, _path STRING, _row BIGINT, {known}"
    spark.createDataFrame(rows, schema).createOrReplaceTempView("changes_in_json")
    carried = ("_key", "_tombstone") if "kafka" in connector else ()
    encoded = json_lines(source, Records("changes_in_json", KNOWN, carried))
    found = found_in(spark, source, encoded, "_row")
    kept = {
        place: {k: v for k, v in value.items() if k in ("id", "s")}
        if isinstance(value, dict)
        else value
        for place, value in found.items()
    }
    assert judged(table, kept) == []


MICROS = 1_710_037_800_123_456
PRICE = [Decimal("1.25"), None]
PARQUET = [
    # an array, how it is written, the declared type, and its first value or what it is said to be
    (pa.array([2**64 - 1], pa.uint64()), {}, "bigint", "UINT64"),
    (pa.array([2**64 - 1], pa.uint64()), {}, "decimal(20, 0)", "18446744073709551615"),
    (pa.array([4_000_000_000], pa.uint32()), {}, "bigint", "4000000000"),
    (pa.array([4_000_000_000], pa.uint32()), {}, "integer", "UINT32"),
    (pa.array([4_000_000_000], pa.uint32()), {}, "double", "UINT32"),
    (pa.array([65_000], pa.uint16()), {}, "integer", "65000"),
    (pa.array([5], pa.int8()), {}, "decimal(12, 2)", "5.00"),
    (pa.array([5], pa.int32()), {}, "date", "INT32"),
    (pa.array([5], pa.int64()), {}, "integer", "INT64"),
    (pa.array([5], pa.int64()), {"compression": "brotli"}, "bigint", "BROTLI"),
    (pa.array([5], pa.int64()), {"compression": "lz4"}, "bigint", "5"),
    (pa.nulls(2), {}, "varchar", None),
    (pa.nulls(2), {}, "array(varchar)", None),
    (pa.array([[None]], pa.list_(pa.null())), {}, "array(varchar)", "NULL"),
    (pa.array([MICROS], pa.timestamp("us")), {}, "timestamp", "2024-03-10 02:30:00.123456"),
    (
        pa.array([MICROS], pa.timestamp("us")),
        {"use_deprecated_int96_timestamps": True},
        "timestamp",
        "2024-03-10 02:30:00.123456",
    ),
    (
        pa.array([MICROS // 1000], pa.timestamp("ms", "Europe/Oslo")),
        {},
        "timestamp",
        "2024-03-10 02:30:00.123",
    ),
    (pa.array([MICROS * 1000], pa.timestamp("ns")), {}, "timestamp", "TIMESTAMP of nanoseconds"),
    (pa.array([MICROS * 1000], pa.timestamp("ns")), {}, "bigint", "TIMESTAMP of nanoseconds"),
    (pa.array([MICROS], pa.timestamp("us")), {}, "bigint", "TIMESTAMP of microseconds"),
    (pa.array([1000], pa.time64("us")), {}, "bigint", "TIME"),
    (pa.array([1000], pa.time32("ms")), {}, "integer", "TIME"),
    (pa.array([date(2024, 3, 10)]), {}, "date", "2024-03-10"),
    (pa.array([date(2024, 3, 10)]), {}, "integer", "DATE"),
    (pa.array(PRICE, pa.decimal128(5, 2)), {}, "decimal(10, 2)", "1.25"),
    (
        pa.array(PRICE, pa.decimal128(15, 2)),
        {"store_decimal_as_integer": True},
        "decimal(15, 2)",
        "1.25",
    ),
    (
        pa.array(PRICE, pa.decimal128(15, 2)),
        {"store_decimal_as_integer": True},
        "bigint",
        "DECIMAL(15, 2)",
    ),
    (pa.array(PRICE, pa.decimal128(5, 2)), {}, "decimal(10, 1)", "DECIMAL(5, 2)"),
    (pa.array(PRICE, pa.decimal128(5, 2)), {}, "varbinary", "DECIMAL(5, 2)"),
    (pa.array([b"xy"], pa.binary(2)), {}, "varbinary", "xy"),
    (pa.array([b"xy"], pa.binary(2)), {}, "varchar", "FIXED_LEN_BYTE_ARRAY(2)"),
    (pa.array(["x", "x"]).dictionary_encode(), {}, "varchar", "x"),
    (pa.array(["x"], pa.large_string()), {}, "varchar", "x"),
    (pa.array([1.5], pa.float32()), {}, "double", "1.5"),
    (pa.array([1.5]), {}, "real", "DOUBLE"),
    (pa.array([[1]]), {}, "array(varchar)", "INT64"),
    (pa.array([{"A": 1, "b": "x"}]), {}, "row(a bigint, b varchar, c date)", "{1, x, null}"),
    (pa.array([{"a": "x"}]), {}, "row(a bigint)", "STRING"),
    (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())), {}, "map(varchar, bigint)",
     "{k -> 1}"),
    (pa.array([{"a": 1}]), {}, "bigint", "a group"),
]  # fmt: skip


def test_types_of_parquet_are_read_as_what_they_are_or_refused_by_file_and_column(
    lake, project, landing, files_source
):
    declared = list(dict.fromkeys(kind for _, _, kind, _ in PARQUET))
    columns = {kind: f"c{number}" for number, kind in enumerate(declared)}
    for number, (values, options, kind, _) in enumerate(PARQUET):
        file = project.directory / "in" / f"{number:02}.parquet"
        pq.write_table(pa.table({columns[kind].upper(): values}), file, **options)
    twice = pa.table([pa.array([1]), pa.array([2])], names=["c0", "C0"])
    pq.write_table(twice, project.directory / "in" / "twice.parquet")
    source = files_source(
        "; ".join(f"{column} {kind}" for kind, column in columns.items()), encode="parquet"
    )
    landing(source).step()
    found = landed(lake, source)
    assert found.pop(("twice.parquet", None)) == (
        'unreadable file: column "c0": the file has "c0" and "C0"'
    )
    different = []
    for number, (values, _, kind, wanted) in enumerate(PARQUET):
        column, file = columns[kind], f"{number:02}.parquet"
        row = found.get((file, 0))
        reason = found.get((file, None), "")
        fine = row is not None and row.get(column) == wanted
        says = f'unreadable file: column "{column}'
        if not fine and not (reason.startswith(says) and wanted and wanted in reason):
            different.append((str(values.type), kind, wanted, row, reason))
        if row is not None:
            assert ((file, 1) in found) == (len(values) == 2)
    assert different == []
