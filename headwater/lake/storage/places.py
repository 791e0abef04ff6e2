"""How the addresses of files are spelled, and which of them lies in which folder.

In: addresses as Spark, Iceberg, Trino and a person write them. Out: whether two are one place. A
folder has many spellings: links, ``..``, ``file:/`` and ``file:///``.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable
from pathlib import Path

_LOCAL = re.compile(r"(?:file:)?(/.*)", re.DOTALL)
_REMOTE = re.compile(r"([A-Za-z][\w+.-]*)://(.*)", re.DOTALL)
_ONE_STORE = {"s3a": "s3", "s3n": "s3"}


def local_path(address: str) -> Path | None:
    """Return the path of an address of this machine, None if it is in an object store."""
    found = _LOCAL.fullmatch(address)
    return Path("/" + found[1].lstrip("/")) if found else None


def plain_address(address: str) -> str:
    """Return an address without what differs between its spellings; links are not followed."""
    path = local_path(address)
    if path is not None:
        return os.path.normpath(path)
    found = _REMOTE.fullmatch(address)
    if not found:
        return address
    scheme = found[1].lower()
    return f"{_ONE_STORE.get(scheme, scheme)}://{posixpath.normpath(found[2])}"


def true_address(address: str) -> str:
    """Return the one address of a place, whatever link or spelling leads there."""
    path = local_path(address)
    return os.path.realpath(path) if path is not None else plain_address(address)


def is_same(address: str, other: str) -> bool:
    """Return whether two addresses lead to one place."""
    return true_address(address) == true_address(other)


def is_inside(address: str, folder: str) -> bool:
    """Return whether an address leads to a folder, or below it."""
    return _below(true_address(address), true_address(folder)) is not None


def inside(addresses: Iterable[str], folder: str) -> list[str]:
    """Return the addresses that lead below a folder; each of their folders is looked at once."""
    base, known = true_address(folder), dict[str, bool]()
    found = []
    for address in addresses:
        parent, _, name = address.rpartition("/")
        if parent not in known:
            known[parent] = _below(true_address(parent), base) is not None
        if known[parent] and name not in ("", ".", ".."):
            found.append(address)
    return found


def moved(address: str, before: Iterable[str], now: str) -> str | None:
    """Return an address as it is spelled after a folder has moved.

    Args:
        before: how the folder was spelled.
        now: its address now.

    Returns:
        The address, its scheme spelled as it was; None if it was in none of these folders.
    """
    plain = plain_address(address)
    for folder in before:
        rest = _below(plain, plain_address(folder))
        if rest is None:
            continue
        path = local_path(now)
        if path is None:
            return f"{now.rstrip('/')}{rest}"
        scheme = re.match("(?:file:(?://(?=/))?)?", address) if local_path(address) else None
        return f"{scheme[0] if scheme else 'file://'}{path}{rest}"
    return None


def _below(address: str, folder: str) -> str | None:
    """What follows a folder in an address, with its slash; None if it leads elsewhere."""
    folder = folder.rstrip("/")
    if address == folder:
        return ""
    return address[len(folder) :] if address.startswith(f"{folder}/") else None
