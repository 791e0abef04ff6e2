"""Fields that a definition does not name: counted by name, whatever the encoding and the policy."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.analyze.project import bind_all
from headwater.connectors.files import read as raw
from headwater.dialect import parse
from headwater.errors import TerminalError
from headwater.formats import json as decode_json
from headwater.formats.columns import KNOWN, Decoder, Records
from headwater.formats.json import json_lines
from headwater.formats.unknown_fields import UNKNOWN, expected
from headwater.lake.protocol.unknown_field_counts import fields_in
from headwater.plan.sql.spark_text import moment
from tests.spark.crash import Crash, before_publishing

LINES = [
    '{"id":1,"s":"x"}',
    '{"id":2,"s":null,"extra":5}',
    '{"id":3,"extra": null}',
    '{"id":4,"s":"\\": \\"extra\\":1"}',
    '{ "id" : 5, "Ü \\" b" : [1, {"id":2}] }',
    '{"id":6,"id":7,"extra":"x"}',
    '{"id":8}',
    '{"id":9,"apart"\t:1}',
    '{"id":"bad","late":1}',
]
FIELDS = {"extra": 2, 'Ü " b': 1, "late": 1, "apart": 1}


def counted(lake, table="t"):
    return fields_in(lake.table(f"{table}__quarantine").marker().counts)


@pytest.mark.parametrize("flat", [False, True])
def test_unknown_fields_of_json_are_counted_by_name(
    lake, drop, landing, files_source, monkeypatch, flat
):
    monkeypatch.setattr(raw, "_WORTH_A_CHECK", 0 if flat else 10**9)
    lines = [line for line in LINES if not (flat and "[" in line)]
    land = landing(files_source("id integer; s varchar"))
    drop("a.json", "\n".join(lines) + "\n")
    result = land.step()
    assert (result.rows_out, result.quarantined) == (len(lines) - 1, 1)
    wanted = {field: n for field, n in FIELDS.items() if not (flat and "Ü" in field)}
    assert counted(lake) == wanted
    assert set(land.connector.expected) == wanted.keys() - {'Ü " b'}
    drop(
        "b.json", "\n".join([*lines, '{"id":10,"_new":1,"Extra":2,"late":[1,"x"],"id":11}']) + "\n"
    )
    land.step()
    twice = {field: 2 * n for field, n in wanted.items()}
    assert counted(lake) == twice | {"late": 3, "_new": 1, "Extra": 1}


@pytest.mark.parametrize("flat", [False, True])
def test_expected_fields_are_counted_without_listing_those_of_a_record(
    lake, drop, landing, files_source, monkeypatch, flat
):
    monkeypatch.setattr(raw, "_WORTH_A_CHECK", 0 if flat else 10**9)
    land = landing(files_source("id integer; s varchar"))
    drop("a.json", '{"id":1,"b":1,"a":"x"}\n')
    land.step()
    listing = "CAST(raise_error('the fields of a record are listed') AS STRING)"
    monkeypatch.setattr(decode_json, "unknown_in_json", lambda *_: listing)
    drop("b.json", '{"id":1,"b":1,"a":"x"}\n{"id":1,"b":null}\n{"id":1,"b":1}\n{"id":1}\n')
    land.step()
    assert counted(lake) == {"a": 2, "b": 3}


HARD = [
    f'{{"id":1,"e":{value}}}'
    for value in (
        *("9" * 1100, "1." + "9" * 1100, "1e10000000", "-1e-99999999", "NaN", "+1", "01", "tru"),
        *('"x\ty"', '"\\ud83d\\ude00"', '"\\ud83d"', '{"a":1,"a":2}', "[1,", "[1e400]", "null"),
        *('"%s"' % ("x" * 100_000), "[" * 990 + "]" * 990, "[" * 1010 + "]" * 1010, '"unended'),
        *('1,"E":2', '1,"id":"x"', '{"e":1}', '"e\\":1"', '1} {"id":2', '1},{"id":2'),
    )
]


@pytest.mark.parametrize("columns", ["id integer; s varchar", "id integer; l array(integer)"])
def test_what_is_expected_changes_nothing_of_what_is_found(spark, files_source, columns):
    source, view = files_source(columns), "_hard_records"
    rows = [(line, "t/0", row) for row, line in enumerate([*LINES, *HARD])]
    spark.createDataFrame(rows, "_value STRING, _path STRING, _row BIGINT").createOrReplaceTempView(
        view
    )

    def found(*names):
        encoded = json_lines(source, Records(view, KNOWN, expected=names))
        decoder = Decoder(source, encoded, moment(0))
        every = spark.sql(decoder.rows()).select("id", "_row", "_bad", UNKNOWN).orderBy("_row")
        unknown = spark.sql(decoder.unknown()).orderBy("_row")
        none = {None, "[]"}
        return (
            [(row.id, row._row, row._bad, {row._unknown} - none) for row in every.collect()],
            [tuple(row) for row in unknown.collect()],
            [tuple(row) for row in spark.sql(decoder.rejected()).drop("_arrived_at").collect()],
        )

    assert found("e", "extra", "late", "apart") == found()


def test_nested_columns_let_expected_fields_be_counted_by_name(lake, drop, landing, files_source):
    land = landing(files_source("id integer; list array(integer)"))
    for file in ("a.json", "b.json"):
        drop(file, '{"id":1,"list":[1],"extra":{"id":1}}\n{"id":1,"extra":null}\n')
        land.step()
    assert counted(lake) == {"extra": 2}


@pytest.mark.parametrize(
    ("before", "found", "wanted"),
    [
        (("a",), ["b", "a"], ("a", "b")),
        ((), ["ID", "B", "b", 'quo"te', "_row", "n" * 65, "tab\t", "ü"], ("B", "ü")),
        ((), [f"f{n}" for n in range(99)], tuple(f"f{n}" for n in range(50))),
    ],
)
def test_what_is_expected_is_no_name_that_could_be_taken_for_another(before, found, wanted):
    assert expected(before, found, ["id"]) == wanted


def test_a_name_and_its_colon_may_be_on_two_lines_of_a_record(spark, files_source):
    source = files_source("id integer; s varchar")
    rows = [('{"id":1,"extra"\n:1}', "t/0", 0), ('{"id":1}', "t/0", 1)]
    view, columns = "_records_on_lines", "_value STRING, _path STRING, _row BIGINT"
    spark.createDataFrame(rows, columns).createOrReplaceTempView(view)
    encoded = json_lines(source, Records(view, KNOWN, lines=False))
    found = spark.sql(Decoder(source, encoded, moment(0)).rows()).select("_row", "_bad", UNKNOWN)
    assert sorted(map(tuple, found.collect())) == [(0, False, '["extra"]'), (1, False, None)]


def test_records_without_unknown_fields_need_no_quarantine(
    lake, drop, landing, files_source, monkeypatch
):
    monkeypatch.setattr(raw, "_WORTH_A_CHECK", 0)
    drop("a.json", '{"id":1,"s":"x"}\n{"id":2,"s":null}\n{"s": null}\n{}\n')
    landing(files_source("id integer; s varchar")).step()
    assert not lake.exists("t__quarantine")


def test_the_header_of_csv_names_fields_that_the_definition_does_not(
    lake, drop, landing, files_source
):
    drop("a.csv", "id,extra,s\n1,x,y\n2,,z\n")
    drop("b.csv", "id,s\n3,y\n")
    landing(files_source("id integer; s varchar", encode="csv")).step()
    assert counted(lake) == {"extra": 2}


def test_the_columns_of_parquet_are_counted_where_the_definition_lacks_them(
    lake, landing, files_source, project
):
    rows = pa.table({"ID": [1, 2], "extra": ["x", None]})
    pq.write_table(rows, project.directory / "in" / "a.parquet")
    pq.write_table(rows.select(["ID"]), project.directory / "in" / "b.parquet")
    landing(files_source("id bigint", encode="parquet")).step()
    assert counted(lake) == {"extra": 2}
    assert lake.table("t").read().count() == 4


@pytest.mark.parametrize("flat", [False, True])
def test_fail_names_the_fields_and_lands_nothing(
    lake, drop, landing, files_source, monkeypatch, flat
):
    monkeypatch.setattr(raw, "_WORTH_A_CHECK", 0 if flat else 10**9)
    columns = "id integer; s varchar"
    drop("a.json", '{"id":1}\n{"id":2,"late":1,"extra":2}\n{"id":3,"extra":3}\n')
    with pytest.raises(TerminalError) as refused:
        landing(files_source(columns, on_schema_change="fail")).step()
    assert refused.value.condition == "UNKNOWN_FIELD"
    assert refused.value.message == (
        'table "t" does not declare "extra" (2 records), "late" (1 record) of epoch 0,'
        " the first record with one of them: path a.json, row 1"
    )
    assert lake.table("t").marker() is None
    assert not lake.exists("t__quarantine")
    assert landing(files_source(columns, on_schema_change="ignore")).step().rows_out == 3
    assert counted(lake) == {"extra": 2, "late": 1}


def test_an_epoch_that_is_replayed_counts_its_fields_once(
    lake, drop, landing, files_source, monkeypatch
):
    source = files_source("id integer")
    drop("a.json", '{"id":1,"extra":2}\n')
    before_publishing(monkeypatch)()
    with pytest.raises(Crash):
        landing(source).step()
    landing(source).step()
    assert counted(lake) == {"extra": 1}


def test_what_is_kept_of_hostile_names_is_bounded(lake, drop, landing, files_source):
    fields = ",".join(f'"{"n" * 200}{number}":1' for number in range(300))
    drop("a.json", f'{{"id":1,{fields}}}\n')
    landing(files_source("id integer")).step()
    assert counted(lake) == {"n" * 64 + "…": 100}


KEYED = """
CREATE TABLE t (id BIGINT, s VARCHAR, PRIMARY KEY (id)) WITH (connector = 'files', path = 'in')
FORMAT {format};
"""
CHANGES = {
    "UPSERT ENCODE JSON (delete_field = 'op')": [
        '{"op":"u","id":1,"extra":1}',
        '{"op":"d","id":2}',
        '{"op":"u","id":3,"s":"x"}',
    ],
    "DEBEZIUM ENCODE JSON": [
        '{"op":"c","before":null,"after":{"id":1,"extra":1},"source":{"lsn":1},"ts_ms":1}',
        '{"schema":null,"payload":{"op":"c","after":{"id":2,"extra":null},"ts_ms":1}}',
        '{"op":"d","before":{"id":3,"extra":1},"after":null,"ts_ms":1}',
    ],
}


@pytest.mark.parametrize("form", CHANGES)
def test_of_a_change_the_fields_of_its_row_count(lake, drop, landing, form):
    catalog, errors = bind_all({"t.sql": parse(KEYED.format(format=form), file="t.sql")})
    assert not errors
    drop("a.json", "\n".join(CHANGES[form]) + "\n")
    result = landing(catalog.sources["t__changes"]).step()
    assert (result.rows_out, result.quarantined) == (3, 0)
    assert fields_in(lake.table("t__quarantine").marker().counts) == {"extra": 1}


def test_wide_tables_are_planned(lake, drop, landing, files_source):
    kinds = ("bigint", "varchar", "double", "decimal(9, 2)", "timestamp", "date", "array(double)")
    columns = "; ".join(f"c{number} {kinds[number % 7]}" for number in range(28))
    drop("a.json", '{"c0":1,"c6":[0.5]}\n{"c0":2,"extra":1}\n')
    assert landing(files_source(columns)).step().rows_out == 2
    assert counted(lake) == {"extra": 1}
