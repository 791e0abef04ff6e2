"""Which compressed files are read, which are refused by name, and what is unpacked."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib

import pyarrow as pa
import pytest

from headwater.connectors.files.compression import START_BYTES, compression_of, refused, unpacked

PLAIN = b'{"id": 1, "s": "\xc3\xa9"}\n' * 500


def packed(codec: str) -> bytes:
    return bytes(pa.compress(PLAIN, codec=codec, asbytes=True))


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.json", PLAIN)
    return file.getvalue()


READ = {
    ".gz": ("gzip", gzip.compress(PLAIN)),
    ".bz2": ("bzip2", bz2.compress(PLAIN)),
    ".zst": ("zstd", packed("zstd")),
    ".zstd": ("zstd", packed("zstd")),
    ".deflate": ("deflate", zlib.compress(PLAIN)),
}
REFUSED = {
    ".xz": ("XZ", lzma.compress(PLAIN)),
    ".lzma": ("LZMA", lzma.compress(PLAIN, lzma.FORMAT_ALONE)),
    ".zip": ("ZIP", zipped()),
    ".7z": ("7-Zip", b"7z\xbc\xaf\x27\x1c\0\4"),
    ".rar": ("RAR", b"Rar!\x1a\x07\0"),
    ".Z": ("compress", b"\x1f\x9d\x90\x7b"),
    ".lz": ("lzip", b"LZIP\1\x0c"),
    ".br": ("Brotli", packed("brotli")),
    ".lz4": ("LZ4", packed("lz4")),
    ".snappy": ("Snappy", packed("snappy")),
    ".sz": ("Snappy", b"\xff\6\0\0sNaPpY\1\0"),
}
WITHOUT_BEGINNING = (".br", ".snappy")


@pytest.mark.parametrize("ending", READ)
def test_what_is_read_is_read_whatever_the_case_of_its_name(ending):
    kind, content = READ[ending]
    for name in (f"a{ending}", f"a.json{ending.upper()}"):
        assert compression_of(name) == kind
        assert refused(name, content[:START_BYTES]) is None
        assert unpacked(io.BytesIO(content), name).read() == PLAIN
        with pytest.raises((OSError, EOFError, zlib.error)):
            unpacked(io.BytesIO(content[:-9]), name).read()
    if kind != "deflate":
        why = refused("a.json", content[:START_BYTES])
        assert why.startswith(f"unreadable file: compressed with {kind}, but its name does not end")


@pytest.mark.parametrize("ending", ["", ".json", ".csv", ".gz.txt", ".", ".br", ".zip", ".z"])
def test_a_text_is_a_text_whatever_its_name(ending):
    for content in (PLAIN, b"id;s\n1;x\n", b"\xef\xbb\xbfid\n", b"", "é".encode() * START_BYTES):
        for cut in range(4):
            assert refused(f"sales{ending}", content[: START_BYTES - cut]) is None
    assert unpacked(io.BytesIO(PLAIN), f"sales{ending}").read() == PLAIN


@pytest.mark.parametrize("ending", REFUSED)
def test_another_compression_is_named(ending):
    kind, content = REFUSED[ending]
    names = [f"a{ending}"] if ending in WITHOUT_BEGINNING else [f"a{ending}", "a.json", "a"]
    for name in names:
        assert refused(name, content[:START_BYTES]) == (
            f"unreadable file: compression {kind} is not read, only"
            " gzip, bzip2, zstd, deflate (.gz, .bz2, .zst, .zstd, .deflate)"
        )


@pytest.mark.parametrize("zeros", [1, 7, 512, 10_000])
def test_zeros_behind_a_member_of_gzip_are_passed_over(zeros):
    content = io.BytesIO(gzip.compress(PLAIN) + bytes(zeros))
    assert unpacked(content, "a.gz").read() == PLAIN


def test_several_members_are_one_file():
    for name, (kind, content) in READ.items():
        if kind != "deflate":
            assert unpacked(io.BytesIO(content * 2), f"a{name}").read() == PLAIN * 2
