"""Values of each format and type: what a text becomes, whichever way it comes in.

One table per format: a record, and the values of its columns as Spark shows them, or the beginning
of the reason why it is none. Each way of decoding must give what the table says.
"""

from __future__ import annotations

import json

import pytest

from headwater.connectors.files.read import coordinates, record_columns
from headwater.connectors.source_stream import quarantine_stream, stream
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
    ('{"R":{"Id":1,"S":1.10,"R2":{"s":"x"}}}', {"r": "{1, 1.10, {x}}"}),
    ('{"r":{"id":1,"ID":2}}', "two keys that differ in case only"),
    ('{"r":{"id":1,"r2":{"s":"x","S":"y"}}}', "two keys that differ in case only"),
    ('{"r":{"id":1},"LIST":[{"ID":1},{"id":2}]}', {"r": "{1, null, null}", "list": "[{1, null}, {2, null}]"}),
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
    lines.selectExpr(*record_columns("_metadata.file_name")).createOrReplaceTempView("lines_of_json")
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
    rows = spark.sql(
        Decoder(source, json_rows(source, Records("flat_json")), moment(0)).rows()
    )
    found = dict.fromkeys(range(len(table)), "")
    for row in rows.where("NOT _bad").selectExpr("_row", *as_text(source)).collect():
        place, *values = row
        named = zip(row.__fields__[1:], values, strict=True)
        found[place] = {column: value for column, value in named if value is not None}
    wanted = [(record, "" if isinstance(value, str) else value) for record, value in table]
    assert judged(wanted, found) == []
