"""Lakes that earlier formats have written, small, and where they can be unpacked to.

In: the archive of a lake. Out: the same lake in another folder. Iceberg writes absolute paths into
its metadata; ``python -m tests.stored_lakes PROJECT ARCHIVE`` stores them so that a path of the
same length can take their place: Avro without compression, the folder padded by slashes.
"""

from __future__ import annotations

import gzip
import io
import shutil
import sqlite3
import tarfile
import zlib
from pathlib import Path

FOLDER = Path(__file__).parent
PLACE = "/stored/" + "x" * 192
"""Stands for the folder of the project; a folder is padded to this length."""
_SYNC = 16
_GZIP = b"\x1f\x8b"


def unpack(archive: str, folder: Path) -> None:
    """Unpack a lake into a folder.

    Args:
        archive: its name here, without the suffix.
        folder: an empty folder with a path that is short enough.
    """
    with tarfile.open(FOLDER / f"{archive}.tar.gz") as files:
        files.extractall(folder, filter="data")
    _replace(folder, PLACE, _padded(folder))


def store(project: Path, archive: Path) -> None:
    """Store the lake of a project that has run, and its files.

    Args:
        project: its folder, below which everything is.
        archive: the file to write.
    """
    for avro in project.rglob("*.avro"):
        avro.write_bytes(_plain(avro.read_bytes()))
    for checksum in project.rglob("*.crc"):
        checksum.unlink()
    shutil.rmtree(project / ".headwater" / "state" / "_logs", ignore_errors=True)
    _forget_views(project)
    _replace(project, _padded(project), PLACE)
    with tarfile.open(archive, "w:gz") as files:
        for path in sorted(project.iterdir()):
            files.add(path, path.name)


def _forget_views(project: Path) -> None:
    """Their metadata are compressed, and a run defines them anew."""
    for path in project.rglob("catalog.db"):
        with sqlite3.connect(path) as catalog:
            catalog.execute("DELETE FROM iceberg_tables WHERE iceberg_type = 'VIEW'")
        catalog.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        catalog.close()


def _padded(folder: Path) -> str:
    """The path of a folder, as long as :data:`PLACE`: slashes after the first one say nothing."""
    path = str(folder.resolve())
    assert len(path) <= len(PLACE), f"{path} is too long"
    return "/" * (len(PLACE) - len(path)) + path


def _replace(folder: Path, old: str, new: str) -> None:
    assert len(old) == len(new)
    for path in folder.rglob("*"):
        if path.suffix in (".avro", ".json", ".text") and path.is_file():
            held = path.read_bytes()
            if packed := held.startswith(_GZIP):
                held = gzip.decompress(held)
            held = held.replace(old.encode(), new.encode())
            path.write_bytes(gzip.compress(held, mtime=0) if packed else held)
        if path.suffix == ".db":
            with sqlite3.connect(path) as catalog:
                catalog.execute(
                    "UPDATE iceberg_tables SET metadata_location ="
                    " replace(metadata_location, ?, ?), previous_metadata_location ="
                    " replace(previous_metadata_location, ?, ?)",
                    (old, new, old, new),
                )
            catalog.close()


def _plain(avro: bytes) -> bytes:
    """An Avro file without compression."""
    data, out = io.BytesIO(avro), io.BytesIO()
    assert data.read(4) == b"Obj\x01"
    meta: dict[bytes, bytes] = {}
    while count := _read_long(data):
        if count < 0:
            _read_long(data)
        for _ in range(abs(count)):
            key = data.read(_read_long(data))
            meta[key] = data.read(_read_long(data))
    sync, codec = data.read(_SYNC), meta.get(b"avro.codec", b"null")
    meta[b"avro.codec"] = b"null"
    out.write(b"Obj\x01")
    _write_long(out, len(meta))
    for pair in meta.items():
        for each in pair:
            _write_long(out, len(each))
            out.write(each)
    _write_long(out, 0)
    out.write(sync)
    while data.tell() < len(avro):
        rows = _read_long(data)
        block = data.read(_read_long(data))
        block = zlib.decompress(block, -15) if codec == b"deflate" else block
        assert data.read(_SYNC) == sync
        _write_long(out, rows)
        _write_long(out, len(block))
        out.write(block + sync)
    return out.getvalue()


def _read_long(data: io.BytesIO) -> int:
    number, shift = 0, 0
    while True:
        byte = data.read(1)[0]
        number |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return (number >> 1) ^ -(number & 1)


def _write_long(out: io.BytesIO, number: int) -> None:
    number = (number << 1) ^ (number >> 63)
    while number & ~0x7F:
        out.write(bytes([(number & 0x7F) | 0x80]))
        number >>= 7
    out.write(bytes([number]))
