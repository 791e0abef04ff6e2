"""What becomes of every kind of bad row: landed, quarantined with a reason, or skipped."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.analyze.definitions import OnError
from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.errors import TerminalError

JSON_COLUMNS = (
    "id integer !; n bigint; m decimal(10,2); d double; s varchar; b boolean;"
    "ts timestamp with time zone; local timestamp; day date;"
    "list array(integer); times array(timestamp); bin varbinary"
)

GOOD, SKIPPED = "good", "skipped"

_TIMED = b'{"id":1,"ts":"2013-01-01T05:00:00Z"'
JSON_LINES = [
    (b'{"id":1,"n":5,"m":1.23,"d":1.5,"s":"x","b":true,"ts":"2013-01-01T05:00:00Z"}', GOOD),
    (
        b'{"id":1,"ts":"2013-01-01T05:00:00+05:00","local":"2013-01-01 05:00:00"}',
        GOOD,
    ),
    (
        b'{"id":1,"ts":"2013-01-01T05:00:00Z","list":[1,2],"times":["2013-01-01T05:00:00"],"bin":"AAEC","other":{"x":1}}',
        GOOD,
    ),
    (b"", SKIPPED),
    (b"  \t ", SKIPPED),
    (b"not json", "not valid JSON"),
    (b"bad", "not valid JSON"),
    (b"null", "not one JSON object"),
    (b"5", "not one JSON object"),
    (b'"text"', "not one JSON object"),
    (b"[1,2]", "not one JSON object"),
    (b'[{"id":1}]', "not one JSON object"),
    (b'{"id":1', "not valid JSON"),
    (b'{"id":1} garbage', "not valid JSON"),
    (b'{"id":1}{"id":2}', "not valid JSON"),
    (b'{"id":1}}', "not valid JSON"),
    (b'{"id":1},{"id":2}', "not one JSON object"),
    (b"{'id':1}", "not valid JSON"),
    (b'{"id":01}', "not valid JSON"),
    (b'{"id":1,"deep":' + b"[" * 3000 + b"]" * 3000 + b"}", "nested in more than 998 levels"),
    (b'{"id":1,"deep":' + b"[" * 998 + b"]" * 998 + b"}", "nested in more than 998 levels"),
    (b'{"id":1,"deep":' + b'{"a":' * 999 + b"1" + b"}" * 1000, "nested in more than 998 levels"),
    (b"[" * 5000 + b"]" * 2000, "nested in more than 998 levels"),
    (_TIMED + b',"deep":' + b"[" * 997 + b"]" * 997 + b"}", GOOD),
    (_TIMED + b',"wide":[' + b"[]," * 1500 + b'{}],"s":"' + b"[" * 1500 + b'"}', GOOD),
    (b'{"id":1,"wide":[' + b"[]," * 2000 + b"{}]", "not valid JSON"),
    (b'{"id":1,"s":"' + b'\\"[' * 1500, "not valid JSON"),
    (b'{"id":1,"s":"\xffA"}', "invalid UTF-8"),
    (b'{"id":1,"s":"\\ud800"}', "lone surrogate"),
    (b'{"id":1,"s":"\\ude00"}', "lone surrogate"),
    (b'{"id":1,"ts":"2013-01-01T05:00:00Z","s":"\\ud83d\\ude00"}', GOOD),
    (b'{"id":1,"ts":"2013-01-01T05:00:00Z","s":"\\\\ud800"}', GOOD),
    (b"{}", 'column "id": NULL'),
    (b'{"id":null}', 'column "id": NULL'),
    (b'{"id":1}', 'column "ts": NULL in event-time column'),
    (b'{"id":1,"ts":"1969-12-31T23:59:59Z"}', 'column "ts": event time before 1970'),
    (b'{"id":1.9}', "column \"id\": '1.9' is not a valid INTEGER"),
    (b'{"id":1.0}', "column \"id\": '1.0' is not a valid INTEGER"),
    (b'{"id":"1"}', "column \"id\": '1' is not a valid INTEGER"),
    (b'{"id":99999999999}', "column \"id\": '99999999999' is not a valid INTEGER"),
    (b'{"id":1,"n":9223372036854775808}', 'column "n":'),
    (b'{"id":1,"m":123456789012}', "column \"m\": '123456789012' is not a valid DECIMAL(10, 2)"),
    (b'{"id":1,"ts":"2013-01-01T05:00:00Z","m":1.239}', GOOD),
    (b'{"id":1,"d":1e400}', 'column "d":'),
    (b'{"id":1,"d":"NaN"}', 'column "d":'),
    (b'{"id":1,"d":NaN}', "not valid JSON"),
    (b'{"id":1,"b":"true"}', 'column "b":'),
    (b'{"id":1,"list":[1,"x"]}', 'column "list": \'[1,"x"]\' is not a valid ARRAY(INTEGER)'),
    (b'{"id":1,"bin":"%%%"}', 'column "bin":'),
    (b'{"id":1,"ts":"2013-01-01T05:00:00Z","id":2}', GOOD),
    (b'{"id":1,"ts":"0001-01-01T00:00:00Z"}', 'column "ts": 0001-01-01'),
    (b'{"id":1,"ts":"9999-12-31T00:00:00Z"}', 'column "ts": 9999-12-31'),
    (b'{"id":1,"ts":"10000-01-01T00:00:00Z"}', 'column "ts":'),
    (b'{"id":1,"ts":253402300800}', 'column "ts":'),
    (b'{"id":1,"ts":"12:30:00"}', 'column "ts":'),
    (b'{"id":1,"ts":"2013"}', 'column "ts":'),
    (b'{"id":1,"ts":"2013-06-30T23:59:60Z"}', 'column "ts":'),
    (b'{"id":1,"day":"2013-02-30"}', 'column "day":'),
    (b'{"id":1,"day":"2013-01-01T00:00"}', 'column "day":'),
    (b'{"id":1,"times":["0001-01-01T00:00:00"]}', 'column "times": a time is not between'),
    (b'{"id":1,"times":["10:00"]}', 'column "times":'),
    (b'{"id":1,"ts":"2100-01-01T00:00:00Z"}', "future-dated"),
    (b'{"id":1,"ts":"2013-01-01T05:00:00Z","s":"' + b"y" * 2000 + b'"}', GOOD),
    (b'{"id":1,"s":"' + b"y" * 9000 + b'"}', "record of 9015 bytes, more than 8000"),
    # numbers at the edges
    (b'{"id":-0,"ts":"2013-01-01T05:00:00Z","d":-0.0,"m":-0.0}', GOOD),
    (b'{"id":1,"ts":"2013-01-01T05:00:00Z","d":1e-400}', GOOD),
    (b'{"id":1,"d":-1e400}', 'column "d":'),
    (b'{"id":1,"d":Infinity}', "not valid JSON"),
    (b'{"id":1,"d":"-Infinity"}', 'column "d":'),
    (b'{"id":1,"m":1e400}', 'column "m":'),
    (b'{"id":1,"m":1e40}', "column \"m\": '1.0E40' is not a valid DECIMAL(10, 2)"),
    (b'{"id":1,"m":1e10000000}', "a number with an exponent of more than three digits"),
    (b'{"id":1,"m":1.5E-0999999999}', "a number with an exponent of more than three digits"),
    (b'{"id":1,"ts":"2013-01-01T05:00:00Z","s":"1e99999\\"2e99999","m":1e0007}', GOOD),
    (b'{"id":1,"m" :\t-2.5e+01000}', "a number with an exponent of more than three digits"),
    (b'{"id":1,"\\u006d":1e9000000}', "a number with an exponent of more than three digits"),
    (b'{"id":1,"ts":"2013-01-01T05:00:00Z","s":"\\"m\\":1e9000","m":1e3}', GOOD),
    (b'{"id":1,"ts":"2013-01-01T05:00:00Z","other":1e9000,"m":1e3}', GOOD),
    (b'{"id":1e400}', 'column "id":'),
    (b'{"id":1,"n":' + b"9" * 900 + b"}", 'column "n":'),
    (b'{"id":1,"n":' + b"9" * 1100 + b"}", "not valid JSON"),
    (b'{"id":1,"n":0x1F}', "not valid JSON"),
    (b'{"id":1,"n":+1}', "not valid JSON"),
    (b'{"id":1,"n":1_000}', "not valid JSON"),
    # text: white space, NUL, broken and overlong UTF-8, byte order marks, line ends
    (b'{"id":1,"ts":"2013-01-01T05:00:00Z","s":"kept  "}\r', GOOD),
    (b"\r", SKIPPED),
    (b'\t{"id":1,"ts":"2013-01-01T05:00:00Z","s":"nul\\u0000"}  ', GOOD),
    (b'{"id":1,"s":"nul\x00"}', "not valid JSON"),
    (b'{"id":1}\x00', "not valid JSON"),
    (b'{"id":1,"s":"\xc0\x80"}', "invalid UTF-8"),
    (b'{"id":1,"s":"\xed\xa0\x80"}', "invalid UTF-8"),
    (b'{"id":1,"s":"\xf4\x90\x80\x80"}', "invalid UTF-8"),
    (b'\xef\xbb\xbf{"id":1}', "not valid JSON"),
    ('{"id":1}'.encode("utf-16-le"), "not valid JSON"),
    # names: twice, in another case, empty
    (b'{"id":"x","ts":"2013-01-01T05:00:00Z","id":3}', "not valid JSON"),
    (b'{"id":3,"id":"x"}', "not valid JSON"),
    (b'{"ID":1}', 'column "ts": NULL'),
    (b'{"":1,"id":1,"ts":"2013-01-01T05:00:00Z"}', GOOD),
    # times at the edges
    (b'{"id":1,"day":"0000-00-00"}', 'column "day":'),
    (b'{"id":1,"day":"1899-12-31"}', 'column "day": 1899-12-31'),
    (b'{"id":1,"ts":"2013-01-01T05:00:00Z","day":"2200-01-01"}', GOOD),
    (b'{"id":1,"ts":"2013-01-01T24:00:00Z"}', 'column "ts":'),
    (b'{"id":1,"ts":"2013-01-01T05:00:00+25:00"}', 'column "ts":'),
    (b'{"id":1,"ts":"2013-01-01T05:00:00.123456789Z"}', GOOD),
    (b'{"id":1,"ts":"-2013-01-01T05:00:00Z"}', 'column "ts":'),
    (b'{"id":1,"local":"99999-01-01T00:00:00"}', 'column "local":'),
    (b'{"id":1,"s":"half', "not valid JSON"),
]

CSV_COLUMNS = (
    "id integer !; m decimal(10,2); d double; s varchar; b boolean; ts timestamp; day date"
)

CSV_LINES = [
    (b"1,1.5,2.5,hello,true,2013-01-01 00:00:00,2013-01-01", GOOD),
    (b"1,,,,,,", GOOD),
    (b'1,,,"a ""q"", b",,,', GOOD),
    (b"1,,,a\\,,,\r", GOOD),
    (b"", SKIPPED),
    (b"1,2", "not 7 values"),
    (b"1,,,,,,,,", "not 7 values"),
    (b'1,,,"half', "unbalanced quotes"),
    (b"1,,,\xff,,,", "invalid UTF-8"),
    (b",,,,,,", 'column "id": NULL'),
    (b"x,,,,,,", "column \"id\": 'x' is not a valid INTEGER"),
    (b"1.9,,,,,,", 'column "id":'),
    (b"99999999999,,,,,,", 'column "id":'),
    (b"1,123456789012.5,,,,,", 'column "m":'),
    (b"1,,1e400,,,,", 'column "d":'),
    (b"1,,NaN,,,,", 'column "d":'),
    (b"1,,,,maybe,,", 'column "b":'),
    (b"1,,,,,10:00,", 'column "ts":'),
    (b"1,,,,,0001-01-01,", 'column "ts": 0001-01-01'),
    (b"1,,,,,,2013-02-30", 'column "day":'),
    (b"-0,-0.0,-0.0,,,,", GOOD),
    (b" 1 , 1.5 , 2.5 ,kept  , true ,,", GOOD),
    (b"1,1e400,,,,,", 'column "m":'),
    (b"1,1e999999999,,,,,", 'column "m":'),
    (b"1,,Infinity,,,,", 'column "d":'),
    (b"1,,1d,,,,", 'column "d":'),
    (b"1_000,,,,,,", 'column "id":'),
    (b"0x1F,,,,,,", 'column "id":'),
    (b"1,,,nul\x00,,,", GOOD),
    (b"1,,,\xed\xa0\x80,,,", "invalid UTF-8"),
    (b"\xef\xbb\xbf1,,,,,,", 'column "id":'),
    (b"\r", SKIPPED),
    (b"1,,,,,,0000-00-00", 'column "day":'),
    (b"1,,,,,2013-01-01 24:00:00,", 'column "ts":'),
]


def fates(lake, lines):
    """Per line: good, skipped, or the reason; and the raw bytes that were kept."""
    good = {row._row for row in lake.table("t").read().collect()}
    bad = {
        row._row: (row.reason, bytes(row.raw))
        for row in lake.table("t__quarantine").read().collect()
    }
    found = []
    for number, (line, _) in enumerate(lines):
        assert not (number in good and number in bad)
        if number in bad and len(line) < 8000:
            assert bad[number][1] == line.rstrip(b"\r") or bad[number][1] == line
        found.append(GOOD if number in good else bad[number][0] if number in bad else SKIPPED)
    return found


def differences(lines, found):
    return [
        (line[:60], wanted, fate)
        for (line, wanted), fate in zip(lines, found, strict=True)
        if not fate.startswith(wanted)
    ]


def test_every_kind_of_bad_json_line_is_quarantined_with_its_reason(
    lake, drop, landing, files_source
):
    drop("a.json", b"\n".join(line for line, _ in JSON_LINES))
    source = files_source(JSON_COLUMNS, delay=0, options={"max_record_bytes": "8000"})
    result = landing(source).step()
    found = fates(lake, JSON_LINES)
    assert differences(JSON_LINES, found) == []
    assert result.rows_out == found.count(GOOD)
    assert result.quarantined == len(found) - found.count(GOOD) - found.count(SKIPPED)
    # nothing that landed is a stand-in for something that could not be read
    assert lake.table("t").read().where("id IS NULL").count() == 0
    last = lake.table("t").read().where("s IS NOT NULL AND s LIKE '%ud800'").first()
    assert last.s == "\\ud800"


def test_every_kind_of_bad_csv_line_is_quarantined_with_its_reason(
    lake, drop, landing, files_source
):
    drop("a.csv", b"\n".join(line for line, _ in CSV_LINES))
    landing(files_source(CSV_COLUMNS, encode="csv", encode_options={"header": "false"})).step()
    assert differences(CSV_LINES, fates(lake, CSV_LINES)) == []


def test_empty_csv_value_is_null_and_quoted_empty_is_empty_text(lake, drop, landing, files_source):
    drop("a.csv", 'id,s\n1,\n2,""\n3,x\n')
    landing(files_source("id integer; s varchar", encode="csv")).step()
    rows = {row.id: row.s for row in lake.table("t").read().collect()}
    assert rows == {1: None, 2: "", 3: "x"}


def test_csv_columns_are_found_by_each_files_own_header(lake, drop, landing, files_source):
    drop("a.csv", "id,s\n1,one\n")
    drop("b.csv", "\ufeffextra, S ,ID\nz,two,2\n")
    drop("c.csv", "id,other\n3,three\n")
    drop("d.csv.gz", gzip.compress(b"s,id\nfour,4\n"))
    drop("e.csv", "")
    landing(files_source("id integer; s varchar", encode="csv")).step()
    assert {row.id: row.s for row in lake.table("t").read().collect()} == {
        1: "one",
        2: "two",
        4: "four",
    }
    bad = lake.table("t__quarantine").read().collect()
    assert [(row._path, row._row, row.reason) for row in bad] == [
        ("c.csv", None, 'the header does not name column "s"')
    ]


def test_unreadable_file_is_one_quarantine_row_and_the_other_files_land(
    lake, drop, landing, files_source
):
    drop("a.json", '{"id":1}\n')
    drop("cut.json.gz", gzip.compress(b'{"id":2}\n' * 1000)[:-12])
    drop("no.json.gz", b"this is no gzip\n")
    drop("ok.json.gz", gzip.compress(b'{"id":3}\nbad\n'))
    drop("empty.json", "")
    drop("empty.json.gz", b"")
    land = landing(files_source("id integer"))
    result = land.step()
    assert sorted(row.id for row in lake.table("t").read().collect()) == [1, 3]
    bad = {
        (row._path, row._row): row.reason for row in lake.table("t__quarantine").read().collect()
    }
    assert set(bad) == {("cut.json.gz", None), ("no.json.gz", None), ("ok.json.gz", 1)}
    assert bad["no.json.gz", None].startswith("unreadable file: ")
    assert (result.units, result.quarantined) == (6, 3)
    assert land.step() is None


def test_a_record_is_as_long_as_it_may_be_and_no_longer(lake, drop, landing, files_source):
    limit = 20_000_000
    for name, head, tail in (("a.json", b'{"id":1,"s":"', b'"}'), ("a.csv", b"1,", b"")):
        longest = head + b"y" * (limit - len(head) - len(tail)) + tail
        last = head.replace(b"1", b"2") + tail
        drop(name, b"\n".join([longest, longest[:-3] + b"y" + longest[-3:], last]))
        encode = name[2:]
        header = {"header": "false"} if encode == "csv" else {}
        source = files_source(
            "id integer; s varchar",
            encode,
            encode=encode,
            encode_options=header,
            options={"pattern": f"*.{encode}"},
        )
        assert landing(source).step().quarantined == 1
        rows = lake.table(encode).read().selectExpr("id", "length(s) AS n").collect()
        length = limit - len(head) - len(tail)
        assert {(row.id, row.n) for row in rows} == {
            (1, length),
            (2, 0 if encode == "json" else None),
        }
        (bad,) = lake.table(f"{encode}__quarantine").read().collect()
        assert (bad._row, len(bad.raw)) == (1, 65_536)
        assert bad.reason == "record of 20000001 bytes, more than 20000000"


def test_a_byte_order_mark_begins_a_file_and_is_none_of_its_text(lake, drop, landing, files_source):
    drop("a.json", b'\xef\xbb\xbf{"id":1}\r\n{"id":2}')
    drop("b.json", b"\xef\xbb\xbf")
    drop("c.json", b"\r\n\n  \n")
    landing(files_source("id integer")).step()
    assert sorted(row.id for row in lake.table("t").read().collect()) == [1, 2]
    assert not lake.exists("t__quarantine") or lake.table("t__quarantine").read().count() == 0


def test_of_a_name_that_is_there_twice_the_last_value_counts(
    lake, drop, landing, files_source, monkeypatch
):
    from headwater.connectors.files import read as raw

    drop("a.json", '{"id":1,"s":"x","id":2,"s":"y"}\n{"id":3,"s":"z","s":null}\n')
    for name, worth in (("read", 0), ("parsed", 10**9)):
        monkeypatch.setattr(raw, "_WORTH_A_CHECK", worth)
        landing(files_source("id integer; s varchar", name)).step()
        rows = lake.table(name).read().collect()
        assert sorted((row.id, row.s) for row in rows) == [(2, "y"), (3, None)]


def test_what_parquet_holds_and_the_lake_does_not_is_quarantined(
    lake, project, landing, files_source
):
    folder = project.directory / "in"
    day = 1_356_998_400_000_000
    columns = {
        "id": pa.array([1, 2], pa.int64()),
        "s": pa.array([b"good", b"bad \xff"], pa.binary()).view(pa.string()),
        "d": pa.array([-0.0, float("nan")]),
        "ts": pa.array([day, day], pa.timestamp("us")),
    }
    pq.write_table(pa.table(columns), folder / "a.parquet")
    nanos = pa.array([day * 1000], pa.timestamp("ns"))
    pq.write_table(pa.table({"id": [3], "ts": nanos}), folder / "b.parquet")
    pq.write_table(pa.table({"id": pa.array([4], pa.uint64())}), folder / "c.parquet")
    landing(files_source("id bigint; s varchar; d double; ts timestamp", encode="parquet")).step()
    rows = lake.table("t").read().collect()
    assert [(row.id, row.s) for row in rows] == [(1, "good")]
    bad = {row._path: row.reason for row in lake.table("t__quarantine").read().collect()}
    assert bad.pop("c.parquet").startswith("unreadable file: ")
    assert bad == {
        "a.parquet": 'column "s": invalid UTF-8',
        "b.parquet": 'unreadable file: column "ts" is TIMESTAMP of nanoseconds without time zone'
        " in the file, which is not read as TIMESTAMP",
    }


def test_parquet_is_read_by_name_and_lossy_or_damaged_files_are_quarantined(
    lake, project, landing, files_source
):
    folder = project.directory / "in"
    pq.write_table(
        pa.table({"s": ["x", "y"], "id": pa.array([1, 2], pa.int32())}), folder / "a.parquet"
    )
    pq.write_table(pa.table({"id": pa.array([3], pa.int64())}), folder / "b.parquet")
    pq.write_table(pa.table({"id": ["four"], "s": ["x"]}), folder / "c.parquet")
    (folder / "d.parquet").write_bytes(b"PAR1 damaged PAR1")
    (folder / "e.parquet").write_bytes((folder / "a.parquet").read_bytes()[:60])
    pq.write_table(
        pa.table({"id": pa.array([None], pa.int64()), "s": ["null"]}), folder / "f.parquet"
    )
    landing(files_source("id bigint !; s varchar", encode="parquet")).step()
    rows = sorted((r.id, r.s, r._path, r._row) for r in lake.table("t").read().collect())
    assert rows == [(1, "x", "a.parquet", 0), (2, "y", "a.parquet", 1), (3, None, "b.parquet", 0)]
    bad = {row._path: row.reason for row in lake.table("t__quarantine").read().collect()}
    assert set(bad) == {"c.parquet", "d.parquet", "e.parquet", "f.parquet"}
    assert bad["c.parquet"] == (
        'unreadable file: column "id" is STRING in the file, which is not read as BIGINT'
    )
    assert bad["f.parquet"] == 'column "id": NULL in NOT NULL column'


def test_on_error_fail_names_the_first_bad_row_and_commits_nothing(
    lake, drop, landing, files_source
):
    drop("a.json", '{"id":1}\n')
    drop("b.json", '{"id":2}\n{"id":"x"}\nbad\n')
    land = landing(files_source("id integer", on_error=OnError.FAIL))
    with pytest.raises(TerminalError) as failure:
        land.step()
    assert failure.value.condition == "BAD_ROW"
    assert "2 of 4 rows" in failure.value.message
    assert "path b.json, row 1" in failure.value.message
    assert "'x' is not a valid INTEGER" in failure.value.message
    assert lake.table("t").read().count() == 0
    drop("b.json", '{"id":2}\n')
    assert landing(files_source("id integer", on_error=OnError.FAIL)).step().rows_out == 2


def test_on_error_drop_counts_what_it_drops(lake, drop, landing, files_source):
    drop("a.json", '{"id":1}\nbad\nbad\n')
    result = landing(files_source("id integer", on_error=OnError.DROP)).step()
    assert (result.rows_in, result.rows_out, result.quarantined, result.dropped) == (3, 1, 0, 2)
    quarantine = lake.table("t__quarantine")
    assert quarantine.read().count() == 0
    assert quarantine.marker().counts == {"quarantined": 0, "dropped": 2}


def test_computed_columns_that_fail_are_bad_rows(lake, drop, landing):
    source = bound("""
        id INTEGER, twice AS id * 2, half AS id / 2, at AS CAST(day AS TIMESTAMP),
        file VARCHAR METADATA FROM 'file', line BIGINT METADATA FROM 'row', day VARCHAR,
        given AS COALESCE(CAST(n AS INTEGER), 0), asked AS CASE WHEN id > 1 THEN 10 / z END,
        n VARCHAR, z INTEGER
    """)
    drop(
        "a.json",
        """{"id":1,"day":"2013-01-01","n":" 7 ","z":0}
{"id":2000000000}
{"id":2,"day":"soon"}
{"day":null}
{"id":3,"n":"x"}
{"id":3,"z":0}
{"id":3,"z":4}
""",
    )
    landing(source).step()
    table = lake.table("t").read()
    assert table.columns[:6] == ["id", "twice", "half", "at", "file", "line"]
    columns = ("line", "twice", "half", "given", "asked", "file")
    rows = sorted(tuple(row[name] for name in columns) for row in table.collect())
    assert rows == [
        (0, 2, 0, 7, None, "a.json"),
        (3, None, None, 0, None, "a.json"),
        (6, 6, 1, 0, 2, "a.json"),
    ]
    assert [str(row["at"]) for row in table.where("line = 0").collect()] == ["2013-01-01 00:00:00"]
    bad = {row._row: row.reason for row in lake.table("t__quarantine").read().collect()}
    places = {1: "twice", 2: "at", 4: "given", 5: "asked"}
    assert bad == {row: f'column "{name}": cannot be computed' for row, name in places.items()}


def bound(columns):
    text = f"""CREATE TABLE t ({columns})
        WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;"""
    return bind({"t.sql": parse(text, file="t.sql")}).sources["t"]
