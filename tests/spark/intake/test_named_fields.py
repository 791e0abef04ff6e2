"""Columns of fields whose names are no plain words (``FROM 'unit price'``), in every encoding."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.analyze.project import bind
from headwater.connectors.files import read as raw
from headwater.connectors.kafka.records import encoding_of
from headwater.dialect import parse
from headwater.formats.columns import KNOWN, Decoder, Records
from headwater.lake.protocol.unknown_field_counts import fields_in

QUOTED = 'it\'s "so" \\ $1'
NAMES = {
    "unit_price": "unit price",
    "a_b": "a.b",
    "strasse": "Straße",
    "order_id": "Order ID",
    "share": "50%",
    "quoted": QUOTED,
    "plain": "plain",
    "own_id": "_id",
}
KINDS = {"unit_price": "DECIMAL(10, 2)", "share": "DOUBLE", "strasse": "VARCHAR"}
COLUMNS = ", ".join(
    f"{column} {KINDS.get(column, 'BIGINT')} FROM '{field.replace(chr(39), chr(39) * 2)}'"
    for column, field in NAMES.items()
)
ROW = {field: number for number, field in enumerate(NAMES.values())} | {
    "unit price": 1.5,
    "Straße": "12.10",
    "50%": 0.5,
}
READ = tuple("1.50" if field == "unit price" else value for field, value in ROW.items())


def table(encode, columns=COLUMNS, connector="files", format_="PLAIN", more=""):
    where = "path = 'in'" if connector == "files" else "bootstrap_servers = 'h:1', topic = 't'"
    sql = (
        f"CREATE TABLE t ({columns}) WITH (connector = '{connector}', {where})"
        f" FORMAT {format_} ENCODE {encode}{more}"
    )
    return next(iter(bind({"t.sql": parse(sql, file="t.sql")}).sources.values()))


def told(row):
    return tuple(str(row[c]) if c == "unit_price" else row[c] for c in NAMES)


def landed(lake):
    return sorted(map(told, lake.table("t").read().collect()), key=str)


def refused(lake):
    return sorted(row.reason for row in lake.table("t__quarantine").read().collect())


def counted(lake):
    return fields_in(lake.table("t__quarantine").marker().counts)


OTHER_CASE = {field.replace("ß", "_").swapcase().replace("_", "ß" if "ß" in field else "_"): value
              for field, value in ROW.items()}  # fmt: skip
BAD = ROW | {"a.b": "x"}
REASON = """column "a_b" (field "a.b"): 'x' is not a valid BIGINT"""


@pytest.mark.parametrize("flat", [False, True])
def test_json(lake, drop, landing, monkeypatch, flat):
    monkeypatch.setattr(raw, "_WORTH_A_CHECK", 0 if flat else 10**9)
    land = landing(table("JSON"))
    more = {"unit_price": 7, "a": 1, "b c": 2, "none": None}
    for file in ("a.json", "b.json"):  # the fields of the first are expected of the second
        lines = [ROW, ROW | more, BAD, {"Order ID": 9}]
        drop(file, "".join(json.dumps(line, ensure_ascii=flat) + "\n" for line in lines))
        land.step()
    nothing = [told(dict.fromkeys(NAMES) | {"order_id": 9, "unit_price": None})]
    assert landed(lake) == sorted([*[READ] * 4, *nothing * 2], key=str)
    assert refused(lake) == [REASON] * 2
    assert counted(lake) == {"unit_price": 2, "a": 2, "b c": 2}


def test_json_without_regard_to_case(lake, drop, landing):
    land = landing(table("JSON"))
    lines = [OTHER_CASE, ROW | {"ORDER ID": 8}, {"order id": 1, "ORDER ID": 2}]
    drop("a.json", "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    land.step()
    assert landed(lake) == [READ, READ]
    assert [reason[:34] for reason in refused(lake)] == ["two keys that differ in case only:"]


def test_json_beside_nested_fields(lake, drop, landing):
    columns = "a ROW(id BIGINT, s VARCHAR) FROM 'Or der', s VARCHAR FROM 's!',"
    columns += " m MAP(VARCHAR, DOUBLE) FROM 'm m'"
    land = landing(table("JSON", columns))
    drop(
        "a.json",
        '{"Or der":{"ID":1,"s":1.10},"s!":{"S!":1.0},"M M":{"S!":0.5}}\n{"Or der":{"id":"x"}}\n',
    )
    land.step()
    (row,) = lake.table("t").read().collect()
    assert (row.a.asDict(), row.s, row.m) == ({"id": 1, "s": "1.10"}, '{"S!":1.0}', {"S!": 0.5})
    assert refused(lake) == ["""column "Or der.id": 'x' is not a valid BIGINT"""]


def test_csv(lake, drop, landing):
    def cells(values):
        return ",".join('"' + str(value).replace('"', '""') + '"' for value in values) + "\n"

    land = landing(table("CSV"))
    drop("a.csv", cells([*ROW, "unit_price"]) + cells([*ROW.values(), 7]))
    drop("b.csv", cells(OTHER_CASE) + cells(OTHER_CASE.values()) + cells(BAD.values()))
    drop("c.csv", cells([*ROW, "order id"]) + cells([*ROW.values(), 8]))
    drop("d.csv", cells(list(ROW)[1:]) + cells(list(ROW.values())[1:]))
    drop("e.csv", cells([*OTHER_CASE, "order id"]) + cells([*OTHER_CASE.values(), 8]))
    land.step()
    assert landed(lake) == [READ] * 3
    assert refused(lake) == [
        REASON,
        'the header does not name column "unit_price" (field "unit price")',
        'the header names column "order_id" (field "Order ID") more than once',
    ]
    assert counted(lake) == {"unit_price": 1, "order id": 1}


def test_parquet(lake, project, landing):
    folder = project.directory / "in"

    def write(file, rows):
        price = [pa.scalar(1.5).cast(pa.decimal128(10, 2))]
        columns = {
            name: price if name.lower() == "unit price" else [value] for name, value in rows.items()
        }
        pq.write_table(pa.table(columns), folder / file)

    write("a.parquet", ROW | {"unit_price": 7})
    write("b.parquet", OTHER_CASE)
    write("c.parquet", BAD)
    write("d.parquet", ROW | {"order id": 8})
    landing(table("PARQUET")).step()
    assert landed(lake) == [READ] * 2
    assert refused(lake) == [
        'unreadable file: column "a.b" is STRING in the file, which is not read as BIGINT',
        'unreadable file: column "order_id" (field "Order ID"):'
        ' the file has "Order ID" and "order id"',
    ]
    assert counted(lake) == {"unit_price": 1}


def test_keyed_by_such_a_field(lake, drop, landing):
    columns = "order_id BIGINT FROM 'Order ID', deleted VARCHAR FROM 'x y', PRIMARY KEY (order_id)"
    source = table("JSON", columns, format_="UPSERT", more=" (delete_field = 'deleted')")
    drop("a.json", '{"Order ID":1,"x y":"a"}\n{"Order ID":1,"deleted":"d"}\n{"x y":"b"}\n')
    landing(source).step()
    rows = lake.table(source.name).read().select("order_id", "deleted", "_change_type").collect()
    assert sorted(map(tuple, rows), key=str) == [(1, "a", "UPSERT"), (1, None, "DELETE")]
    assert refused(lake) == ['column "order_id" (field "Order ID"): NULL in PRIMARY KEY']


def of_kafka(spark, source, records):
    kinds = "_value STRING, _path STRING, _row BIGINT, _key BINARY, _tombstone BOOLEAN"
    rows = [
        (value or "{}", "t/0", at, key, value is None) for at, (key, value) in enumerate(records)
    ]
    spark.createDataFrame(rows, kinds).createOrReplaceTempView("records")
    carried = ("_key", "_tombstone") if source.is_changes else ()
    encoded = encoding_of(source, Records("records", KNOWN, carried, lines=False))
    return Decoder(source, encoded, "TIMESTAMP '2026-11-22 00:00:00'")


def test_records_of_kafka(spark):
    decoder = of_kafka(spark, table("JSON", connector="kafka"), [
        (None, json.dumps(each, indent=1)) for each in (ROW, OTHER_CASE, BAD)
    ])  # fmt: skip
    rows = spark.sql(decoder.rows()).orderBy("_row").collect()
    assert [(row._bad, told(row)) for row in rows[:1]] == [(False, READ)]
    assert [row.reason for row in spark.sql(decoder.rejected()).collect()] == [REASON]


@pytest.mark.parametrize("key", ['{"Order ID":1}', '{"order ID":1}', "1"])
def test_keys_of_kafka(spark, key):
    columns = "id BIGINT FROM 'Order ID', v BIGINT FROM 'v v', PRIMARY KEY (id)"
    source = table("JSON", columns, "kafka", "UPSERT")
    decoder = of_kafka(spark, source, [(key.encode(), '{"v v":5}'), (key.encode(), None)])
    rows = spark.sql(decoder.rows()).orderBy("_row").collect()
    assert [(row._bad, row.id, row.v, row._change_type) for row in rows] == [
        (False, 1, 5, "UPSERT"),
        (False, 1, None, "DELETE"),
    ]


def test_events_of_debezium(spark):
    columns = "id BIGINT FROM 'Order ID', v DECIMAL(5, 1) FROM 'v.v', PRIMARY KEY (id)"
    more = " (decimals = 'string')"
    source = table("JSON", columns, "kafka", "DEBEZIUM", more)
    event = {"op": "c", "before": None, "after": {"Order ID": 1, "v.v": "2.5", "id": 3}}
    gone = {"op": "d", "before": {"Order ID": 1, "v.v": None}, "after": None}
    wrong = {"op": "c", "after": {"Order ID": 1, "v.v": "x"}}
    records = [(None, json.dumps(each)) for each in (event, {"payload": gone}, wrong)]
    decoder = of_kafka(spark, source, records)
    rows = spark.sql(decoder.rows()).orderBy("_row").collect()
    assert [(r._bad, r.id, str(r.v), r._change_type, r._unknown) for r in rows[:2]] == [
        (False, 1, "2.5", "UPSERT", '["id"]'),
        (False, 1, "None", "DELETE", None),
    ]
    (bad,) = spark.sql(decoder.rejected()).collect()
    assert bad.reason == """column "v" (field "v.v"): 'x' is not a valid DECIMAL(5, 1)"""


@pytest.mark.parametrize("flat", [False, True])
def test_fields_that_are_called_as_columns_of_a_decoding(lake, drop, landing, monkeypatch, flat):
    monkeypatch.setattr(raw, "_WORTH_A_CHECK", 0 if flat else 10**9)
    names = ("_path", "_row", "_value", "_corrupt", "_metadata", "_bad", "_given_c1", "_found")
    columns = ", ".join(f"c{at} TIMESTAMP FROM '{name}'" for at, name in enumerate(names))
    drop("a.json", json.dumps(dict.fromkeys(names, "2026-01-02T03:04:05")) + "\n")
    landing(table("JSON", columns)).step()
    (row,) = lake.table("t").read().collect()
    assert {str(row[f"c{at}"]) for at in range(len(names))} == {"2026-01-02 03:04:05"}
    assert (row._path, row._row) == ("a.json", 0)
