"""What a table over files in an object store must say: a place, and how the store is reached.

In: a bound source and its statement. Out: errors for what cannot be read.
"""

from __future__ import annotations

import re

from headwater.analyze.definitions import Source
from headwater.analyze.diagnostics import Diagnostics
from headwater.config.secrets import written_secrets
from headwater.dialect import syntax

STORE_OPTIONS = ("endpoint", "region", "access_key", "secret_key")
"""How a store is reached; a table that gives none of them is read as the warehouse is."""
_PLACE = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?P<folder>(/[^/]+)*)/?")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_ADDRESS = re.compile(r"https?://([^/@:\s?#]+|\[[0-9a-f:]+\])(:\d{1,5})?/?")


def split_place(path: str) -> tuple[str, str] | None:
    """Return bucket and folder that an address means; None if it is none.

    Args:
        path: for example ``s3://bucket/folder/below``.

    Returns:
        The folder without slashes around it, empty for the whole bucket.
    """
    found = _PLACE.fullmatch(path)
    folder = found["folder"].strip("/") if found else ""
    if not found or {".", ".."}.intersection(folder.split("/")):
        return None
    return found["bucket"], folder


def check_files(statement: syntax.CreateSource, source: Source, report: Diagnostics) -> None:
    """Refuse what cannot be read from an object store.

    Args:
        statement: as parsed.
        source: as bound so far.
        report: where errors go.
    """
    if source.connector != "files":
        return
    options, path = source.options, source.options.get("path", "")
    given = [name for name in STORE_OPTIONS if name in options]
    if not source.in_store:
        if _SCHEME.match(path):
            written_secrets(path)  # errors show the line it stands in
            hint = "write a folder, or 's3://bucket/folder'"
            report.add("INVALID_OPTION", f'files are not read from "{path}"', statement, hint)
        elif given:
            hint = "leave it out, or write path = 's3://bucket/folder'"
            message = f'option "{given[0]}" is for files in an object store'
            report.add("INVALID_OPTION", message, statement, hint)
        return
    if not source.kept:
        hint = "write CREATE TABLE: its rows are landed, and views can be verified"
        report.not_yet("a SOURCE over files in an object store", statement, hint)
    if split_place(path) is None:
        hint = "write it like 's3://bucket/folder'; no part of it is empty, '.' or '..'"
        report.add("INVALID_OPTION", "path is not a place in an object store", statement, hint)
    endpoint = options.get("endpoint")
    if endpoint is not None and not _ADDRESS.fullmatch(endpoint):
        written_secrets(endpoint)  # errors show the line it stands in
        hint = "write it like 'https://host:9000'; without it the store is that of AWS"
        report.add(
            "INVALID_OPTION", "endpoint is not the address of an object store", statement, hint
        )
    if ("access_key" in options) != ("secret_key" in options):
        present, absent = ("access_key", "secret_key")
        if absent in options:
            present, absent = absent, present
        value = "${env:NAME}" if absent == "secret_key" else "…"
        report.add(
            "MISSING_OPTION", f"{present} needs {absent}", statement, f"add {absent} = '{value}'"
        )
