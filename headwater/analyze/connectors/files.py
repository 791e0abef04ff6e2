"""Options of a table over files, and the checks of a place in an object store.

In: a bound source and its statement. Out: errors for what cannot be read.
"""

from __future__ import annotations

import re

from headwater.analyze.connectors.contract import (
    LIMITS,
    MAX_RECORD_BYTES,
    RECORD_POSITION,
    ConnectorOptions,
    Option,
    Options,
)
from headwater.analyze.definitions import Source
from headwater.analyze.diagnostics import Diagnostics
from headwater.config.secrets import written_secrets
from headwater.config.sections import STORE_OPTIONS
from headwater.dialect import syntax

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


def is_in_store(options: Options) -> bool:
    """Return whether a table is read from files in an object store."""
    return options.get("path", "").startswith("s3://")


def check_files(statement: syntax.CreateSource, source: Source, report: Diagnostics) -> None:
    """Refuse what cannot be read from an object store."""
    options, path = source.options, source.options.get("path", "")
    if options.get("ordering") == "name" and options.get("order") == "modified":
        hint = "remove order, or remove ordering"
        report.add("INVALID_OPTION", "ordering = 'name' needs order = 'name'", statement, hint)
    if "ordering" in options and not source.kept:
        hint = "write CREATE TABLE: its rows carry the watermark that they met"
        report.add("INVALID_OPTION", "ordering is for tables only", statement, hint)
    given = [name for name in STORE_OPTIONS if name in options]
    if not is_in_store(options):
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


FILES = ConnectorOptions(
    options={
        "path": Option(
            "text",
            "folder to read, absolute or relative to the project; or s3://bucket/folder in "
            "an object store",
            required=True,
        ),
        "pattern": Option("text", "shell pattern of the file names to read", default="*"),
        "recursive": Option(
            "boolean", "whether to read the folders below as well", default="false"
        ),
        "order": Option(
            "choice",
            "order in which files are read: by name or by modification time",
            default="name",
            choices=("name", "modified"),
        ),
        "ordering": Option(
            "choice",
            "whether files follow one another in time: with name, each file is later than those "
            "whose names sort before it; with none, files found together arrive together",
            default="none",
            choices=("none", "name"),
        ),
        "max_files_per_epoch": Option(
            "integer",
            "maximum number of files in one epoch; default: max_files_per_epoch of the project",
            minimum=1,
        ),
        "max_bytes_per_epoch": Option(
            "integer",
            "maximum number of bytes in one epoch; default: max_bytes_per_epoch of the project",
            minimum=1,
        ),
        "max_record_bytes": MAX_RECORD_BYTES,
        "endpoint": Option("text", "address of the object store; default: AWS"),
        "region": Option("text", "region of the object store; default: us-east-1"),
        "access_key": Option(
            "text", "access key ID for the object store; default: what the AWS tools find"
        ),
        "secret_key": Option("secret", "secret access key for the object store, as '${env:NAME}'"),
        **LIMITS,
    },
    encodings=("json", "csv", "parquet"),
    metadata={"file": "VARCHAR", "row": "BIGINT"},
    position=RECORD_POSITION,
    check=check_files,
    reader="headwater.connectors.files.source:Files",
    jars=lambda options: ("objects",) if is_in_store(options) else (),
    input_kept="files",
)
