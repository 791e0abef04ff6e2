from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from headwater.errors import ConfigError, Span
from headwater.project import load_project
from headwater.testing import slt
from headwater.testing.rows import local_source, write_rows

FILE = """\
# A comment, and blank lines, stand between records.


statement ok
CREATE TABLE t (a BIGINT);

statement error UNKNOWN_COLUMN
CREATE STREAMING VIEW v AS
SELECT b FROM t;

ingest t
a
1

tick

query IT rowsort
SELECT a, 'x' FROM t
----
1 x

verify v w
"""


def test_a_file_is_split_into_records() -> None:
    records = slt.parse(FILE, "f.slt")
    assert [(r.verb, r.arguments, str(r.span)) for r in records] == [
        ("statement", ("ok",), "f.slt:4:1"),
        ("statement", ("error", "UNKNOWN_COLUMN"), "f.slt:7:1"),
        ("ingest", ("t",), "f.slt:11:1"),
        ("tick", (), "f.slt:15:1"),
        ("query", ("IT", "rowsort"), "f.slt:17:1"),
        ("verify", ("v", "w"), "f.slt:22:1"),
    ]
    assert records[1].sql == "CREATE STREAMING VIEW v AS\nSELECT b FROM t;"
    assert records[4].expected == ("1 x",)
    assert records[3].expected is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tock", 'there is no verb "tock"'),
        ("statement maybe\nSELECT", '"statement maybe" must be'),
        ("statement ok", '"statement" needs lines below it'),
        ("tick\nnow", '"tick" takes no lines'),
        ("query II\nSELECT 1, 2", 'needs "----" and a result'),
        ("query XY\nSELECT 1\n----", "has letters other than IRBPT"),
        ("tick\n----", '"tick" takes no result'),
        ("crash", '"crash" does not take 0 arguments'),
    ],
)
def test_what_is_no_test_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        slt.parse("\n" + text, "f.slt")
    assert message in caught.value.message
    assert caught.value.condition == "TEST_SYNTAX"
    assert caught.value.span and str(caught.value.span) == "f.slt:2:1"


def test_expected_results_are_written_back_in_place() -> None:
    text = "query I\nSELECT 1\n----\n2\n3\n\n# kept\nexplain v\n----\n\ntick\n"
    query, explain, _ = slt.parse(text)
    found = slt.rewritten(text, [(query, ["1"]), (explain, ["a", " b"])])
    assert found == "query I\nSELECT 1\n----\n1\n\n# kept\nexplain v\n----\na\n b\n\ntick\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        ("", "(empty)"),
        (True, "true"),
        (1.0, "1"),
        (0.1 + 0.2, "0.3"),
        (Decimal("1.50"), "1.50"),
        (datetime(2024, 1, 2, 3, 4, 5, 600000, tzinfo=UTC), "2024-01-02T03:04:05.600000Z"),
        (datetime(2024, 1, 2), "2024-01-02T00:00:00"),  # noqa: DTZ001 - a TIMESTAMP has no zone
        (date(2024, 1, 2), "2024-01-02"),
        (b"\x00\xff", "00ff"),
        (["a", None], '["a",null]'),
        ("two\nlines", "two lines"),
    ],
)
def test_values_are_shown_on_one_line(value: object, text: str) -> None:
    assert slt.render_value(value) == text


SOURCE = """
CREATE TABLE t (id BIGINT, name VARCHAR, price DOUBLE, tags ARRAY(VARCHAR), ts TIMESTAMP)
WITH (connector = 'files', path = 'x') FORMAT PLAIN ENCODE {encode};
"""


def ingested(tmp_path: Path, encode: str, *lines: str, raw: bool = False) -> str:
    (tmp_path / "headwater.toml").write_text("")
    (tmp_path / "t.sql").write_text(SOURCE.format(encode=encode))
    folder = tmp_path / "input"
    source = local_source(load_project(tmp_path).catalog.sources["t"], folder)
    write_rows(source, folder, 7, lines, raw, Span("f.slt", 3, 1))
    (file,) = folder.iterdir()
    assert file.name == f"000007.{encode.lower()}"
    return file.read_text()


def test_rows_become_json_of_the_columns_types(tmp_path: Path) -> None:
    lines = ["id,name,price,tags", '1,7,1.5,"[""a""]"', "x,NULL,NULL,NULL", "2,(empty),1e3,[]"]
    assert ingested(tmp_path, "JSON", *lines).splitlines() == [
        '{"id": 1, "name": "7", "price": 1.5, "tags": ["a"]}',
        '{"id": "x", "name": null, "price": null, "tags": null}',
        '{"id": 2, "name": "", "price": 1e3, "tags": []}',
    ]


def test_rows_become_csv_where_the_table_reads_csv(tmp_path: Path) -> None:
    found = ingested(tmp_path, "CSV", "id,name", '1,"a,b"', "2,NULL")
    assert found == 'id,name\n1,"a,b"\n2,\n'


def test_raw_lines_are_written_as_they_are(tmp_path: Path) -> None:
    assert ingested(tmp_path, "JSON", "not { json", "", raw=True) == "not { json\n\n"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("id,nme", "1,a"), 'table "t" has no column "nme"'),
        (("id,name", "1"), "a row has 1 values for 2 columns: 1"),
    ],
)
def test_rows_that_do_not_fit_are_refused(
    tmp_path: Path, lines: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        ingested(tmp_path, "JSON", *lines)
    assert caught.value.message == message


def test_one_file_is_one_epoch(tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").write_text("")
    (tmp_path / "t.sql").write_text(SOURCE.format(encode="JSON"))
    source = local_source(load_project(tmp_path).catalog.sources["t"], tmp_path / "in")
    # and each is later than the one before
    assert source.options == {
        "path": str(tmp_path / "in"),
        "ordering": "name",
        "max_files_per_epoch": "1",
    }


def test_events_of_a_topic_are_written_as_json_with_their_values_as_text(tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").write_text("")
    (tmp_path / "t.sql").write_text("""
    CREATE TABLE t (id BIGINT, price DECIMAL(9, 2), ts TIMESTAMP, PRIMARY KEY (id))
    WITH (connector = 'kafka', topic = 't', bootstrap_servers = 'h:1')
    FORMAT DEBEZIUM ENCODE AVRO (registry = 'http://h:2');
    """)
    source = local_source(load_project(tmp_path).catalog.sources["t__changes"], tmp_path / "in")
    assert (source.format, source.encode) == ("debezium", "json")
    assert source.encode_options == {"decimals": "string", "times": "isostring"}


def test_what_events_of_a_topic_say_of_changes_is_read_from_them(tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").write_text("")
    (tmp_path / "t.sql").write_text("""
    CREATE TABLE t (id BIGINT, body VARCHAR, at BIGINT METADATA FROM 'offset', PRIMARY KEY (id))
    WITH (connector = 'kafka', topic = 't', bootstrap_servers = 'h:1') FORMAT DEBEZIUM
    ENCODE JSON (decimals = 'precise', truncate = 'apply', snapshot = 'replace',
                 unavailable_value = '?');
    """)
    source = local_source(load_project(tmp_path).catalog.sources["t__changes"], tmp_path / "in")
    assert source.encode_options == {
        "truncate": "apply",
        "snapshot": "replace",
        "unavailable_value": "?",
        "decimals": "string",
        "times": "isostring",
    }
    assert {column.name: column.metadata for column in source.columns} == {
        "id": None,
        "body": None,
        "at": None,
        "_change_type": "change",
        "_unchanged": "unchanged",
        "_snapshot": "snapshot",
        "_snapshot_end": "snapshot_end",
    }


@pytest.mark.parametrize(
    ("encode", "text"),
    [
        ("CSV", 'id,name\n1,""\n2,""\n3,\n4,\n5,"a,""b"\n'),
        (
            "JSON",
            '{"id": 1, "name": ""}\n{"id": 2, "name": ""}\n{"id": 3, "name": null}\n'
            '{"id": 4, "name": ""}\n{"id": 5, "name": "a,\\"b"}\n',
        ),
    ],
)
def test_an_empty_text_and_no_value_can_both_be_written(
    tmp_path: Path, encode: str, text: str
) -> None:
    lines = ["id,name", "1,(empty)", '2,""', "3,NULL", "4,", '5,"a,""b"']
    assert ingested(tmp_path, encode, *lines) == text
