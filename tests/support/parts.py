"""A part of many tests: each is in one of them, whatever else there is."""

from __future__ import annotations

from zlib import crc32


def in_part(name: str, part: str | None) -> bool:
    """Return whether a test is in a part.

    Args:
        name: of the test; those that share something have one name.
        part: ``2/3``, the second of three; None for all.
    """
    if part is None:
        return True
    number, parts = map(int, part.split("/"))
    return crc32(name.encode()) % parts == number - 1
