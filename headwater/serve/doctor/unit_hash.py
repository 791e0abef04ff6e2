"""Spark's ``xxhash64`` without Spark: the names of units from the columns of a table.

In: columns of numbers and texts, as Arrow arrays. Out: 64-bit hashes, as Spark 4.1.3 gives them.
Spark hashes a row from left to right: the hash of one column is the seed of the next one, and NULL
leaves it as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(prime)
    for prime in (
        *(0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9),
        *(0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5),
    )
)
_SEED = np.uint64(42)
_BLOCK = 32


def first_hash(rows: int) -> Hashes:
    """Return the hash of rows without columns."""
    return np.full(rows, _SEED)


def hash_ints(values: npt.NDArray[np.int32], seed: Hashes) -> Hashes:
    """Return hashes of 32-bit integers, dates and booleans."""
    words = values.view(np.uint32).astype(np.uint64)
    return _mixed(_with_4_bytes(seed + _P5 + np.uint64(4), words))


def hash_longs(values: npt.NDArray[np.int64], seed: Hashes) -> Hashes:
    """Return hashes of 64-bit integers, times in microseconds and short decimals."""
    return _mixed(_with_8_bytes(seed + _P5 + np.uint64(8), values.view(np.uint64)))


def hash_doubles(values: npt.NDArray[np.floating], seed: Hashes) -> Hashes:
    """Return hashes of floating point numbers, of 32 or 64 bits; 0 has no sign, NaN one form."""
    one = np.where(np.isnan(values), np.nan, np.where(values == 0, 0.0, values))
    if values.dtype == np.float32:
        return hash_ints(one.astype(np.float32).view(np.int32), seed)
    return hash_longs(one.view(np.int64), seed)


def hash_bytes(values: Sequence[bytes], seed: Hashes) -> Hashes:
    """Return hashes of texts and binary values."""
    found, lengths = seed.copy(), np.fromiter(map(len, values), np.int64, len(values))
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        text = np.frombuffer(b"".join(values[int(row)] for row in rows), np.uint8)
        found[rows] = _of_length(text.reshape(len(rows), length), seed[rows])
    return found


def _of_length(text: npt.NDArray[np.uint8], seed: Hashes) -> Hashes:
    at, length = 0, text.shape[1]
    found = seed + _P5
    if length >= _BLOCK:
        lanes = [seed + _P1 + _P2, seed + _P2, seed.copy(), seed - _P1]
        while at + _BLOCK <= length:
            for number in range(4):
                lanes[number] = _rounded(lanes[number], _words(text, at + 8 * number, 8))
            at += _BLOCK
        found = np.zeros_like(seed)
        for lane, by in zip(lanes, (1, 7, 12, 18), strict=True):
            found += _turned(lane, by)
        for lane in lanes:
            found = (found ^ _rounded(np.zeros_like(lane), lane)) * _P1 + _P4
    found = found + np.uint64(length)
    while at + 8 <= length:
        found, at = _with_8_bytes(found, _words(text, at, 8)), at + 8
    if at + 4 <= length:
        found, at = _with_4_bytes(found, _words(text, at, 4)), at + 4
    for place in range(at, length):
        found = _turned(found ^ text[:, place].astype(np.uint64) * _P5, 11) * _P1
    return _mixed(found)


def _words(text: npt.NDArray[np.uint8], at: int, size: int) -> Hashes:
    own = np.ascontiguousarray(text[:, at : at + size])
    return own.view(f"<u{size}").reshape(-1).astype(np.uint64)


def _turned(value: Hashes, by: int) -> Hashes:
    return (value << np.uint64(by)) | (value >> np.uint64(64 - by))


def _rounded(lane: Hashes, word: Hashes) -> Hashes:
    return _turned(lane + word * _P2, 31) * _P1


def _with_8_bytes(found: Hashes, words: Hashes) -> Hashes:
    return _turned(found ^ _rounded(np.zeros_like(found), words), 27) * _P1 + _P4


def _with_4_bytes(found: Hashes, words: Hashes) -> Hashes:
    return _turned(found ^ (words * _P1), 23) * _P2 + _P3


def _mixed(found: Hashes) -> Hashes:
    found = (found ^ (found >> np.uint64(33))) * _P2
    found = (found ^ (found >> np.uint64(29))) * _P3
    return found ^ (found >> np.uint64(32))
