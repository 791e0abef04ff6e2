"""Spark's own JSON reader is used for flat lines only, and finds there what ``from_json`` finds."""

from __future__ import annotations

from collections import Counter

import pytest
from test_bad_rows import GOOD, JSON_COLUMNS, JSON_LINES

from headwater.connectors.files import read as raw
from headwater.connectors.files.read import coordinates, record_columns
from headwater.formats.columns import Decoder, Records
from headwater.formats.flat_json import are_flat, flat_reader
from headwater.formats.json import json_lines, json_rows

SCALARS = ";".join(c for c in JSON_COLUMNS.split(";") if "array" not in c)


@pytest.fixture
def source(files_source):
    return files_source(SCALARS, options={"max_record_bytes": "8000"}, delay=0)


def test_flat_lines_are_decoded_alike_by_both(tmp_path, spark, source):
    flat = [line for line, _ in JSON_LINES if line and is_flat(tmp_path, spark, source, line)]
    assert {JSON_LINES[0][0], b'{"id":1.9}', b'{"id":1', b"{}"} & set(flat) == {
        JSON_LINES[0][0],
        b'{"id":1.9}',
        b"{}",
    }
    file = tmp_path / "flat.json"
    file.write_bytes(b"\n".join(flat))
    frames = {
        json_lines: spark.read.option("lineSep", "\n").text(str(file)),
        json_rows: flat_reader(spark.read, source).json(str(file)),
    }
    places = record_columns("_metadata.file_name"), ["*", *coordinates("_metadata.file_name")]
    found = []
    for (decoding, frame), expressions in zip(frames.items(), places, strict=True):
        frame.selectExpr(*expressions).createOrReplaceTempView("records")
        rows = Decoder(source, decoding(source, Records("records")), "current_timestamp()").rows()
        good = spark.sql(rows).where("NOT _bad").drop("_value", "_values", "_unknown").collect()
        found.append(Counter(map(str, good)))
        assert spark.sql(rows).count() == len(flat)
    assert found[0] == found[1]
    assert found[0].total() == sum(fate == GOOD for line, fate in JSON_LINES if line in flat)


def is_flat(tmp_path, spark, source, line):
    file = tmp_path / "line.json"
    file.write_bytes(line)
    return are_flat(spark, source, [str(file)])


@pytest.mark.parametrize("worth", [0, 10**9])
def test_landing_gives_the_same_rows_flat_or_not(worth, monkeypatch, lake, drop, landing, source):
    monkeypatch.setattr(raw, "_WORTH_A_CHECK", worth)
    good = [line for line, fate in JSON_LINES if fate == GOOD]
    drop("a.json", b"\n".join([good[0], b'{"id":1.9}', good[0]]))
    landing(source).step()
    drop("b.json", b"\n".join([good[0], good[0] + b" x", good[0]]))
    landing(source).step()
    rows = lake.table("t").read().select("_path", "_row").collect()
    bad = lake.table("t__quarantine").read().select("_path", "_row").collect()
    places = [("a.json", 0), ("a.json", 2), ("b.json", 0), ("b.json", 2)]
    assert sorted(map(tuple, rows)) == places
    assert sorted(map(tuple, bad)) == [("a.json", 1), ("b.json", 1)]


@pytest.mark.parametrize("worth", [0, 10**9])
def test_numbers_that_are_not_finite_are_taken_where_the_table_says_so(
    worth, monkeypatch, lake, drop, landing, files_source
):
    monkeypatch.setattr(raw, "_WORTH_A_CHECK", worth)
    lines = [b'{"id":1,"d":"NaN"}', b'{"id":2,"d":"-Infinity"}', b'{"id":3,"d":"1"}']
    drop("a.json", b"\n".join([*lines, b'{"id":4,"many":["Infinity",null]}']))
    columns = "id bigint; d double; many array(double)"
    landing(files_source(columns, encode_options={"non_finite": "accept"})).step()
    rows = lake.table("t").read().select("id", "d", "many").orderBy("id").collect()
    infinite = float("inf")
    assert str(rows[0].d) == "nan"
    assert [tuple(row) for row in rows[1:]] == [
        (2, -infinite, None),
        (4, None, [infinite, None]),
    ]
    assert [row._row for row in lake.table("t__quarantine").read().collect()] == [2]
