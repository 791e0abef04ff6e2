"""Files of any name and kind land: each row once, and what cannot be read is named."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import re
import string
import unicodedata
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.connectors.contract import Limits

SIGNS = [f"a{c}b" for c in string.punctuation + string.whitespace if c != "/"]
WORDS = (
    *("a?", "[ab]", "{a,b}", "x*", "**", "p%20", "%", "%zz", "k=v", "co:lon", "1:2", "http:x"),
    *(" blank", "blank ", "-r", "~", "back\\", "new\nline", "é", "日本", "😀", "\u2028", "\ufdd0"),
    *(unicodedata.normalize("NFD", "é"), "a", "b", "ab", "x1", "p ", "#1", "q?a=1&b", "$(x)", "+"),
)
NAMES = sorted({*SIGNS, *WORDS})
ALL = Limits(files=1000)


def parquet(number: int) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"id": [number]}), sink)
    return sink.getvalue()


FORMATS = {
    "csv": ("csv", lambda number: f"id\n{number}\n".encode()),
    "csv.gz": ("csv", lambda number: gzip.compress(f"id\n{number}\n".encode())),
    "json": ("json", lambda number: f'{{"id":{number}}}\n'.encode()),
    "json.gz": ("json", lambda number: gzip.compress(f'{{"id":{number}}}\n'.encode())),
    "json.bz2": ("json", lambda number: bz2.compress(f'{{"id":{number}}}\n'.encode())),
    "parquet": ("parquet", parquet),
}


@pytest.mark.parametrize("ending", FORMATS)
def test_each_row_lands_once_whatever_the_names_are(lake, drop, landing, files_source, ending):
    encode, content = FORMATS[ending]
    names = [f"{name}.{ending}" for name in (NAMES if ending == "csv" else WORDS)]
    # names of folders count, too
    names += [f"{name}.{ending}" for name in ("[1] {b}%20/k=1/a?", "[1] {b}%20/k=1/ab", "1/k=2/a?")]
    for number, name in enumerate(names):
        drop(name, content(number))
    land = landing(files_source("id bigint", encode=encode, options={"recursive": "true"}))
    half = len(names) // 2
    assert land.step(Limits(files=half)).units == half
    land.step()
    assert land.step() is None
    rows = lake.table("t").read().select("id", "_path").collect()
    found = Counter((row.id, row._path) for row in rows)
    assert found == Counter(enumerate(names))


def test_names_are_literal_in_a_folder_of_an_odd_name(lake, drop, landing, files_source):
    folder = "k=1, [a-z] {x,y}%20é's:?#\\"
    for number, name in enumerate(NAMES):
        drop(f"{folder}/{name}", f'{{"id":{number}}}\n')
    landing(files_source("id bigint", options={"path": f"in/{folder}"})).step(ALL)
    rows = lake.table("t").read().select("id", "_path").collect()
    assert Counter((row.id, row._path) for row in rows) == Counter(enumerate(NAMES))


def quarantined(lake):
    """By file, why it is in the quarantine as a whole."""
    rows = lake.table("t__quarantine").read().where("_row IS NULL").collect()
    assert len({row._path for row in rows}) == len(rows)
    return {row._path: row.reason for row in rows}


def test_what_is_no_file_is_quarantined_by_its_name_and_the_others_land(
    lake, drop, landing, files_source, project, caplog
):
    folder = project.directory / "in"
    drop("good.json", '{"id":1}\n')
    drop("empty.json", "")
    os.symlink(folder / "nowhere", folder / "link.json")
    os.symlink("loop.json", folder / "loop.json")
    os.symlink(folder, folder / "self")
    os.mkfifo(folder / "pipe.json")
    (folder / "x.json").mkdir()
    (folder / os.fsdecode(b"b\xff.json")).write_text('{"id":2}\n')
    land = landing(files_source("id bigint", options={"recursive": "true"}))
    result = land.step()
    assert (result.units, result.rows_out, result.quarantined) == (7, 1, 5)
    odd = {"./b\\xff.json", "link.json", "loop.json", "self", "pipe.json"}
    assert quarantined(lake).keys() == odd
    told = [record.getMessage() for record in caplog.records if "quarantined" in record.msg]
    assert len(told) == len(odd) and all(any(file in one for one in told) for file in odd)
    assert land.step() is None
    again = landing(files_source("id bigint", options={"recursive": "true"}))
    assert again.step() is None and again.connector.changed == 0
    (folder / "nowhere").write_text('{"id":3}\n')
    (entry,) = again.connector.stat_files(["link.json"])
    again.read_again([entry])
    assert quarantined(lake).keys() == odd - {"link.json"}
    again.step()  # what the link leads to is a file of the folder itself
    assert sorted(row.id for row in lake.table("t").read().collect()) == [1, 3, 3]


def test_a_compression_that_is_not_read_is_named(lake, drop, landing, files_source):
    plain = b'{"id":1}\n{"id":2}\n'
    codec = {kind: bytes(pa.compress(plain, codec=kind, asbytes=True)) for kind in ("zstd", "lz4")}
    files = {
        "a.json": (plain, None),
        "b.json.GZ": (gzip.compress(plain), None),
        "c.zst": (codec["zstd"], None),
        "d.bz2": (bz2.compress(plain), None),
        "pad.gz": (gzip.compress(plain) + bytes(512), None),
        "pad1.gz": (gzip.compress(plain) + bytes(1), None),
        "two.gz": (gzip.compress(plain[:9]) + gzip.compress(plain[9:]), None),
        "sales.br": (plain, None),
        "e.lz4": (codec["lz4"], "compression LZ4 is not read"),
        "f.snappy": (bytes(pa.compress(plain, codec="snappy", asbytes=True)), "compression Snappy"),
        "g.xz": (b"\xfd7zXZ\0\0\4", "compression XZ"),
        "h.zip": (b"PK\3\4\x14\0\0\0", "compression ZIP"),
        "i.br": (bytes(pa.compress(plain, codec="brotli", asbytes=True)), "compression Brotli"),
        "j.json": (gzip.compress(plain), "does not end in .gz"),
        "cut.gz": (gzip.compress(plain)[:-9], "its compression is damaged or cut off"),
        "cut.zst": (codec["zstd"][:-3], "its compression is damaged or cut off"),
        "cut.bz2": (bz2.compress(plain)[:-20], "its compression is damaged or cut off"),
        "none.gz": (plain, "its compression is damaged or cut off"),
        "more.gz": (gzip.compress(plain) + b"\0\0garbage", "its compression is damaged or cut off"),
    }
    for name, (content, _) in files.items():
        drop(name, content)
    landing(files_source("id bigint")).step()
    sound = [name for name, (_, fault) in files.items() if not fault]
    rows = lake.table("t").read().select("_path", "_row", "id").collect()
    found = Counter(tuple(row) for row in rows)
    assert found == Counter((name, row, row + 1) for name in sound for row in range(2))
    reasons = quarantined(lake)
    assert reasons.keys() == files.keys() - set(sound)
    assert [n for n, reason in reasons.items() if not re.search(files[n][1], reason)] == []


def test_padded_files_of_csv_are_cut_as_others_are(lake, drop, landing, files_source):
    content = b'id,s\n1,"a\nb"\r\n\n2,x\n3\n'
    for name in ("a.csv.gz", "b.csv.gz"):
        drop(name, gzip.compress(content) + bytes(9 if name[0] == "a" else 0))
    landing(files_source("id bigint; s varchar", encode="csv")).step()
    rows = lake.table("t").read().select("_path", "_row", "id", "s").collect()
    wanted = [(1, 1, "a\nb"), (3, 2, "x")]
    assert sorted(map(tuple, rows)) == [
        (name, *row) for name in ("a.csv.gz", "b.csv.gz") for row in wanted
    ]
    bad = lake.table("t__quarantine").read().select("_path", "_row").collect()
    assert sorted(map(tuple, bad)) == [("a.csv.gz", 4), ("b.csv.gz", 4)]
