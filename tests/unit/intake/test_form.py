"""A look at a file: its header or its footer, and the reasons that make it unreadable."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.analyze.definitions import Column, Source
from headwater.analyze.typing import types as t
from headwater.connectors.files.folder import FolderPlace
from headwater.connectors.files.form import Form, form_of
from headwater.connectors.files.place import FileFault
from headwater.connectors.ledger import LedgerEntry


def look(folder, name, encode):
    columns = (Column("id", t.BIGINT), Column("s", t.VARCHAR))
    source = Source("t", True, columns, "files", options={"path": "."}, encode=encode)
    entry = LedgerEntry(name, (folder / name).stat().st_size, 0)
    return form_of(source, FolderPlace(source, folder), entry)


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (b"id,s\n1,x\n", Form(("id", "s"), 1)),
        (b"\xef\xbb\xbfID, S \r\n", Form(("id", "s"), 1)),
        (b"\n \r\nid,s", Form(("id", "s"), 3)),
        (b'"id","a\nb",s\r1', Form(("id", "a\nb", "s"), 1)),
        (b"id,s\n1,\xff\n", Form(("id", "s"), 1)),
        (b"\n\n", Form(None, 2)),
        (b"", Form()),
    ],
)
def test_a_header_is_the_first_record_that_is_not_empty(tmp_path, content, form):
    (tmp_path / "a.csv").write_bytes(content)
    assert look(tmp_path, "a.csv", "csv") == form


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.csv", b"id;s\n", 'the header does not name column "id"'),
        ("a.csv", b"id,s,S\n", 'the header names column "s" more than once'),
        ("a.csv", "id,s\n".encode("utf-16"), "unreadable file: the header is not UTF-8"),
        ("a.csv.gz", b"id,s\n", "unreadable file: its compression is damaged or cut off"),
        (
            "a.csv.gz",
            gzip.compress(b"id,s\n", mtime=0)[:-9],
            "unreadable file: its compression is damaged or cut off",
        ),
    ],
)
def test_a_file_without_a_usable_header_is_told_by_its_reason(tmp_path, name, content, reason):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileFault) as fault:
        look(tmp_path, name, "csv")
    assert str(fault.value) == reason


@pytest.mark.parametrize(
    ("table", "options", "reason"),
    [
        ({"id": pa.array(["x"])}, {}, '"id" is STRING in the file, which is not read as BIGINT'),
        ({"s": pa.array([1])}, {}, '"s" is INT64 in the file, which is not read as VARCHAR'),
        (
            {"id": pa.array([1])},
            {"compression": "brotli"},
            '"id" is compressed with BROTLI; write the file with ZSTD or SNAPPY',
        ),
    ],
)
def test_a_column_of_parquet_that_is_not_read_is_named(tmp_path, table, options, reason):
    pq.write_table(pa.table(table), tmp_path / "a.parquet", **options)
    with pytest.raises(FileFault) as fault:
        look(tmp_path, "a.parquet", "parquet")
    assert str(fault.value) == f"unreadable file: column {reason}"


def test_columns_that_nobody_asks_for_may_be_of_any_type(tmp_path):
    table = {"ID": pa.array([1]), "s": pa.nulls(1), "other": pa.array([1], pa.time64("us"))}
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    form = Form(("id", "s", "other"), absent=("s",))
    assert look(tmp_path, "a.parquet", "parquet") == form


@pytest.mark.parametrize("kept", [0, 3, 60, 300])
def test_half_a_file_of_parquet_is_told(tmp_path, kept):
    pq.write_table(pa.table({"id": [1]}), tmp_path / "whole.parquet")
    (tmp_path / "a.parquet").write_bytes((tmp_path / "whole.parquet").read_bytes()[:kept])
    with pytest.raises(FileFault, match="unreadable file: it is not Parquet, or damaged"):
        look(tmp_path, "a.parquet", "parquet")
