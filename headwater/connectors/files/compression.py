"""Which compressed files are read: by the end of their name, as Spark does.

In: a file's name and its first bytes. Out: the reason why it is not read, or its content unpacked.

A compression is named by how the file begins, too, since Spark takes a packed file of another name
for lines. Hadoop's own LZ4 and Snappy are not what other programs write: Spark 4.1.3 runs out of
memory on files of the one, and finds no rows in files of the other.
"""

from __future__ import annotations

import bz2
import gzip
import io
import re
import zlib
from pathlib import PurePosixPath
from typing import IO, cast

from pyarrow import CompressedInputStream, PythonFile

START_BYTES = 1024
"""How much of the beginning of a file tells what it is."""
_READ = {".gz": "gzip", ".bz2": "bzip2", ".zst": "zstd", ".zstd": "zstd", ".deflate": "deflate"}
_OF_HADOOP = {".lz4": "LZ4", ".snappy": "Snappy"}
"""Endings by which Spark unpacks what only Hadoop packs."""
_BEGINNINGS = (
    (rb"\x1f\x8b\x08", "gzip"),
    (rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", "bzip2"),
    (rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", "zstd"),
    (rb"\xfd7zXZ\x00", "XZ"),
    (rb"\x5d\x00\x00", "LZMA"),
    (rb"LZIP\x01", "lzip"),
    (rb"PK(?:\x03\x04|\x05\x06|\x07\x08)", "ZIP"),
    (rb"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (rb"Rar!\x1a\x07", "RAR"),
    (rb"[\x03\x04]\x22\x4d\x18|\x02\x21\x4c\x18", "LZ4"),
    (rb"\xff\x06\x00\x00sNaPpY", "Snappy"),
    (rb"\x1f[\x9d\xa0]", "compress"),
    (rb"\x89LZO\x00", "LZO"),
)
_ENDINGS = {
    ".br": "Brotli",
    ".xz": "XZ",
    ".lzma": "LZMA",
    ".zip": "ZIP",
    ".7z": "7-Zip",
    ".sz": "Snappy",
    ".z": "compress",
    ".lzo": "LZO",
    ".lz": "lzip",
    ".zlib": "zlib",
}
"""What else a name may say; only if the file does not begin as a text: ``sales.br`` may be one."""


def compression_of(file: str) -> str | None:
    """Return the compression by which a file is read, None if it is read as it is."""
    return _READ.get(_ending(file))


def refused(file: str, start: bytes) -> str | None:
    """Return why a file of lines is not read, None if nothing speaks against it.

    Args:
        file: its name.
        start: its first :data:`START_BYTES` bytes.
    """
    ending = _ending(file)
    begins = next((kind for sign, kind in _BEGINNINGS if re.match(sign, start, re.DOTALL)), None)
    if ending in _READ:  # whether it is what it says, its reader finds
        return None
    if ending in _OF_HADOOP:
        begins = _OF_HADOOP[ending]
    elif begins is None and not _is_text(start):
        begins = _ENDINGS.get(ending)
    if begins is None:
        return None
    if begins in _READ.values():
        wanted = next(each for each, kind in _READ.items() if kind == begins)
        return f"unreadable file: compressed with {begins}, but its name does not end in {wanted}"
    kinds, endings = ", ".join(dict.fromkeys(_READ.values())), ", ".join(_READ)
    return f"unreadable file: compression {begins} is not read, only {kinds} ({endings})"


def unpacked(content: IO[bytes], file: str) -> IO[bytes]:
    """Return the content of a file, decompressed.

    Args:
        content: the open file.
        file: its name.
    """
    plain: object = content
    match compression_of(file):
        case "gzip":
            plain = gzip.GzipFile(fileobj=content)
        case "bzip2":
            plain = bz2.BZ2File(content)
        case "zstd":
            plain = CompressedInputStream(PythonFile(content, "r"), "zstd")
        case "deflate":
            plain = io.BufferedReader(_Deflated(content))
    return cast(IO[bytes], plain)


def _ending(file: str) -> str:
    return PurePosixPath(file.lower()).suffix


def _is_text(start: bytes) -> bool:
    if re.search(rb"[\x00-\x08\x0e-\x1f]", start):
        return False
    try:
        start[:-4].decode()  # the last character may be cut off
    except UnicodeDecodeError as error:
        return error.start > len(start) - 8
    return True


class _Deflated(io.RawIOBase):
    """What zlib packed, without a header of gzip."""

    def __init__(self, content: IO[bytes]) -> None:
        self._content, self._unpack = content, zlib.decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._unpack.eof:
            packed = self._unpack.unconsumed_tail or self._content.read(io.DEFAULT_BUFFER_SIZE)
            found = self._unpack.decompress(packed, len(buffer))
            if not packed and not found:
                raise EOFError
            if found:
                buffer[: len(found)] = found
                return len(found)
        return 0
