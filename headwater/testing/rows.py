"""The rows of an ``ingest``, as a file that the table's connector reads.

In: a header line and comma-separated values, and the source they are for. Out: a new file in the
folder the test reads, in the source's own encoding.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlglot import exp

from headwater.analyze.connectors.encodings import SOURCE_TIME
from headwater.analyze.connectors.registry import CONNECTORS
from headwater.analyze.definitions import RecordFormat, Source
from headwater.analyze.typing.types import VARCHAR
from headwater.errors import ConfigError, Span
from headwater.errors.nearest import did_you_mean

NULL, EMPTY = "NULL", "(empty)"
_QUOTED_EMPTY = re.compile(r'(?:(?<=,)|^)""(?=,|$)')
_LOCAL = "files"
"""The connector that reads the files of a test."""
_TEXT_ENCODINGS = ("json", "csv")
_AS_TEXT = {"decimals": "string", "times": "isostring"}
"""How a test writes what Debezium may write in several ways."""
_OF_CHANGES = ("truncate", "snapshot", "unavailable_value")
"""Options that say what a change does, however its values are written."""
_OF_FORMAT = ("change", "unchanged", "snapshot", "snapshot_end", SOURCE_TIME)
"""Metadata that is read of a change itself, not of the record around it."""
_BARE = exp.DataType.NUMERIC_TYPES | {exp.DataType.Type.BOOLEAN}


def local_source(source: Source, folder: Path) -> Source:
    """Return a source that reads the files of a test instead of what it is defined to read.

    A ``files`` source keeps its encoding; any other is read as JSON. One file is one epoch, and
    each is later than the one before.

    Args:
        source: the source as defined.
        folder: where the test puts its files.
    """
    keeps = source.connector == _LOCAL and source.encode in _TEXT_ENCODINGS
    kept = {*_OF_FORMAT, *CONNECTORS[_LOCAL].metadata}
    # what only the connector itself says of a record is a field of the file
    columns = tuple(c if c.metadata in kept else replace(c, metadata=None) for c in source.columns)
    limits = {key: text for key, text in source.options.items() if key == "max_future"}
    said = {key: text for key, text in source.encode_options.items() if key in _OF_CHANGES}
    return replace(
        source,
        columns=columns,
        connector=_LOCAL,
        external="",
        options={"path": str(folder), "ordering": "name", "max_files_per_epoch": "1", **limits},
        format=source.format if source.is_changes else RecordFormat.PLAIN,
        encode=source.encode if keeps else "json",
        encode_options=source.encode_options if keeps else {**said, **_AS_TEXT},
    )


def write_rows(
    source: Source, folder: Path, number: int, lines: Sequence[str], raw: bool, span: Span
) -> None:
    """Write the rows of one ``ingest`` as one file, which appears whole or not at all.

    Args:
        source: as :func:`local_source` made it.
        folder: where to.
        number: number of the file within the test; files are read in this order.
        lines: the lines below the verb.
        raw: whether the lines are the file's content as they are.
        span: where the verb stands.

    Raises:
        ConfigError: ``TEST_SYNTAX`` if the lines do not fit the source.
    """
    text = "\n".join(lines) + "\n"
    if not raw:
        text = _encoded(source, lines, span)
    folder.mkdir(parents=True, exist_ok=True)
    # Dot files are not read by the connector, a rename is atomic.
    partial = folder / f".{number:06}"
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, folder / f"{number:06}.{source.encode}")


def _encoded(source: Source, lines: Sequence[str], span: Span) -> str:
    given, *rows = csv.reader(_QUOTED_EMPTY.sub(EMPTY, line) for line in lines)
    types = {column.name: column.type for column in source.columns}
    if flag := source.encode_options.get("delete_field"):
        types.setdefault(flag, VARCHAR)
    fields = {column.key.lower(): column.name for column in source.columns}
    header = [name if name in types else fields.get(name, name) for name in map(_folded, given)]
    for name, written in zip(header, given, strict=True):
        if name not in types:
            message = f'table "{source.name}" has no column "{written}"'
            hint = did_you_mean(name, types, "columns")
            raise ConfigError("TEST_SYNTAX", message, hint=hint, span=span)
        if header.count(name) > 1:
            message = f'column "{name}" stands twice in the header'
            raise ConfigError("TEST_SYNTAX", message, hint="remove one of them", span=span)
    for row in rows:
        if len(row) != len(header):
            message = f"a row has {len(row)} values for {len(header)} columns: {','.join(row)}"
            raise ConfigError("TEST_SYNTAX", message, span=span)
    if source.encode == "csv":
        return _csv_text(source, header, rows)
    keys = _keys(source)
    return "".join(_json_line(header, row, types, keys) + "\n" for row in rows)


def _folded(name: str) -> str:
    """A name as SQL has it; the case of letters does not matter."""
    return name.strip().lower()


def _keys(source: Source) -> dict[str, str]:
    """By column, the field of a record that it is read from."""
    return {column.name: column.key for column in source.columns}


def _csv_text(source: Source, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    options = source.encode_options
    delimiter, null = options.get("delimiter", ","), options.get("null_value", "")
    keys = _keys(source)
    lines = [[_quoted(keys.get(name, name), delimiter) for name in header]]
    if options.get("header", "true") != "true":
        lines = []
    for row in rows:
        # nothing between two delimiters is NULL, "" is the empty text
        lines.append([null if each == NULL else _quoted(each, delimiter) for each in row])
    return "".join(delimiter.join(cells) + "\n" for cells in lines)


def _quoted(value: str, delimiter: str) -> str:
    if value == EMPTY:
        return '""'
    needed = any(each in value for each in (delimiter, '"', "\n", "\r"))
    return '"' + value.replace('"', '""') + '"' if needed else value


def _json_line(
    header: Sequence[str],
    row: Sequence[str],
    types: dict[str, exp.DataType],
    keys: dict[str, str],
) -> str:
    fields = (
        f"{json.dumps(keys.get(name, name))}: {_json_value(text, types[name])}"
        for name, text in zip(header, row, strict=True)
    )
    return "{" + ", ".join(fields) + "}"


def _json_value(text: str, kind: exp.DataType) -> str:
    """Return a value as JSON text: bare where the type and JSON allow it, else as a string."""
    if text == NULL:
        return "null"
    if text == EMPTY:
        return '""'
    if kind.this in _BARE or kind.this in exp.DataType.NESTED_TYPES:
        try:
            json.loads(text)
        except ValueError:
            return json.dumps(text)
        return text
    return json.dumps(text)
