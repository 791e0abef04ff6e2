"""``CREATE TABLE``, ``SOURCE`` and ``STREAM`` of another system → a table of the project.

In: a cursor behind the name, the tables of the system. Out: columns, key, watermark, and options of
Headwater's connectors. What is left of the statement is for the system.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sqlglot.tokenizer_core import TokenType

from headwater.importing.contract import (
    ColumnDraft,
    ConnectorMapping,
    EncodingMapping,
    ImportResult,
    LeftOut,
    OptionMapping,
    Options,
    TableDraft,
    Types,
)
from headwater.importing.statements import Cursor, column_name
from headwater.importing.types import read_type

_JAAS_USER = re.compile(r"""username\s*=\s*["']([^"']+)""")
_UNIT = re.compile(r"INTERVAL\s+'?\s*(\d+(?:\.\d+)?)\s*'?\s*'?\s*([A-Za-z]+)\s*'?", re.IGNORECASE)

Expression = Callable[[Cursor], str]


def read_columns(
    cursor: Cursor,
    table: TableDraft,
    types: Types,
    expression: Expression,
    metadata: Mapping[str, tuple[str, str]],
) -> None:
    """Read a list of columns in brackets.

    Args:
        cursor: behind the opening bracket, over the list.
        table: gets the columns, the key and the watermark.
        types: the system's types.
        expression: turns the expression of a computed column.
        metadata: by the system's key of a metadata column, Headwater's key and type.
    """
    for item in cursor.items():
        start = item.at
        if item.take("CONSTRAINT"):
            item.name()
        if item.take("PRIMARY KEY"):
            table.key = [column_name(each.name()) for each in item.group().items()]
        elif item.take("WATERMARK FOR"):
            _watermark(item, table)
        elif item.take_any("UNIQUE (", "CHECK", "FOREIGN KEY", "PERIOD FOR", "LIKE"):
            item.at = start
            table.remark(f"{item.word().capitalize()} is left out: {item.rest}")
        elif item.peek() and item.rest != "*":
            _column(item, table, types, expression, metadata)


def _column(
    item: Cursor,
    table: TableDraft,
    types: Types,
    expression: Expression,
    metadata: Mapping[str, tuple[str, str]],
) -> None:
    column = ColumnDraft(column_name(item.step().text))
    notes: list[str] = []
    if item.take("AS"):
        comment = item.until("COMMENT")
        column.computed = expression(comment)
        if not column.computed:
            table.clocks.append(column.name)  # the system has noted that it is left out
            return
    else:
        column.type = read_type(item, types, notes)
    table.columns.append(column)
    while item:
        if item.take("NOT NULL"):
            column.not_null = True
        elif item.take("PRIMARY KEY"):
            table.key = [column.name]
            item.take("NOT ENFORCED")
        elif item.take("METADATA"):
            key = item.string() if item.take("FROM") else column.name.strip('"')
            item.take("VIRTUAL")
            _metadata(column, key, metadata, notes)
        elif item.take("COMMENT"):
            column.comment = item.string()
        elif item.take("DEFAULT"):
            text = item.until("NOT NULL", "COMMENT", "PRIMARY KEY").rest
            notes.append(f"the default {text} is left out: a missing value is NULL")
        elif item.take("AS") or item.take("GENERATED ALWAYS AS"):
            column.computed, column.type = expression(item.until("STORED", "COMMENT")), ""
            item.take("STORED")
            if not column.computed:
                table.columns.remove(column)
                table.clocks.append(column.name)
        elif not item.take_any("NULL", "KEY", "UNIQUE", "HEADERS"):
            item.give_up("this part of a column is not known")
    for note in notes:
        table.remark(f"column {column.name}: {note}")


def _metadata(
    column: ColumnDraft, key: str, metadata: Mapping[str, tuple[str, str]], notes: list[str]
) -> None:
    if key not in metadata:
        raise LeftOut(f'metadata "{key}" of column {column.name} is not known here', "remove it")
    column.metadata, kind = metadata[key]
    if kind != re.sub(r"\(\d+\)", "", column.type):
        notes.append(f"metadata {column.metadata} is {kind} here, it was {column.type}")
        column.type = kind


def _watermark(item: Cursor, table: TableDraft) -> None:
    """Read ``column AS column - INTERVAL …``."""
    column = column_name(item.step().text)
    item.need("AS")
    text = item.rest
    body = re.sub(r'[`"]', "", text).lower()
    if body == column.strip('"'):
        table.watermark = (column, "")
    elif found := _UNIT.search(text):
        table.watermark = (column, interval(found[1], found[2]))
        if "-" not in text[: found.start()]:
            table.remark(f"the watermark was {text}", "check the delay")
    else:
        table.remark(f"the watermark {text} is left out", "write one: ts - INTERVAL '5' SECOND")


def interval(amount: str, unit: str) -> str:
    """Return an interval as Headwater writes it."""
    return f"INTERVAL '{amount}' {unit.upper().removesuffix('S')}"


# -- WITH


def read_options(cursor: Cursor) -> dict[str, str]:
    """Read ``( name = value, … )``; names in lower case, values as text."""
    found: dict[str, str] = {}
    for item in cursor.group().items():
        tokens = item.tokens
        equal = next((at for at, each in enumerate(tokens) if each.text in ("=", "=>")), None)
        if not equal:
            continue
        first = tokens[0]
        quoted = first.token_type in (TokenType.STRING, TokenType.IDENTIFIER)
        name = first.text if quoted else item.text[first.start : tokens[equal - 1].end + 1]
        value = tokens[equal + 1 :]
        text = "".join(
            each.text
            if each.token_type is TokenType.STRING
            else item.text[each.start : each.end + 1]
            for each in value
        )
        found[name.lower()] = text
    return found


def apply_connector(
    table: TableDraft, name: str, connectors: Mapping[str, ConnectorMapping]
) -> ConnectorMapping:
    """Turn the options of a connector; without an equal here the table reads files.

    Args:
        table: its ``foreign`` options are turned.
        name: the connector, as written.
        connectors: the system's connectors.

    Returns:
        The connector's entry.
    """
    entry = connectors.get(name.lower())
    if entry is None or not entry.to:
        remedy = entry.remedy if entry else ""
        placeholder(table, f"connector {name} does not exist here", remedy)
        return entry or ConnectorMapping()
    table.options = {"connector": entry.to, **table.options}
    table.format = table.format or entry.format
    apply_options(table, entry.options)
    return entry


def placeholder(table: TableDraft, reason: str, remedy: str = "") -> None:
    """Let a table read a folder of JSON files until somebody says where its rows come from."""
    table.options = {"connector": "files", "path": f"data/{table.name}"}
    table.format, table.encode = "UPSERT" if table.key else "PLAIN", "JSON"
    table.encode_options, table.start_from = {}, ""
    table.columns = [each for each in table.columns if not each.metadata]
    table.remark(
        f"{reason}; the table reads JSON files in data/{table.name}",
        remedy or "choose a connector",
        ImportResult.EDIT,
    )


def apply_options(table: TableDraft, options: Options) -> None:
    """Turn every option that was written; one that is in no table becomes a note."""
    for name, value in table.foreign.items():
        entry = _entry(name, options)
        if entry is None:
            table.remark(f"option {name} is left out: there is none of this name here")
            continue
        turned = entry.values.get(value.lower(), value) if entry.values else value
        if entry.note:
            table.remark(entry.note)
        if entry.read:
            entry.read(table, value)
        elif entry.secret:
            _secret(table, entry.to, value)
        elif entry.to.startswith("@"):
            setattr(table, entry.to[1:], turned or getattr(table, entry.to[1:]))
        elif entry.to and turned:
            table.options[entry.to] = turned


def _entry(name: str, options: Options) -> OptionMapping | None:
    found = options.get(name)
    if found is None:
        wild = (key for key in options if key.endswith("*") and name.startswith(key[:-1]))
        found = options.get(next(wild, ""))
    return OptionMapping(found) if isinstance(found, str) else found


def _secret(table: TableDraft, to: str, value: str) -> None:
    """Write a reference in the place of a secret, and the user's name that may be beside it."""
    if user := _JAAS_USER.search(value):
        table.options["sasl_username"] = user[1]
    if to == "registry_password" and ":" in value:
        table.options["registry_username"] = value.partition(":")[0]
    variable = "_".join([table.options.get("connector", ""), to]).strip("_").upper()
    table.options[to] = f"${{env:{variable}}}"
    table.remark(f"a secret is not copied: {to}", f"set the variable {variable}", ImportResult.EDIT)


def apply_encoding(
    table: TableDraft,
    name: str,
    encodings: Mapping[str, EncodingMapping],
    options: Mapping[str, str],
) -> None:
    """Turn the format of the records.

    Args:
        table: gets FORMAT, ENCODE and their options.
        name: the format, as written.
        encodings: the system's formats.
        options: options of the format, as written, without a prefix.
    """
    entry = encodings.get(name.lower())
    if entry is None:
        placeholder(table, f"format {name} does not exist here", "choose an encoding")
        return
    if entry.note:
        table.remark(entry.note.reason, entry.note.remedy, entry.note.result)
    table.format = entry.format if entry.format != "PLAIN" or not table.format else table.format
    table.encode = entry.encode
    holder = TableDraft(table.name, table.place, foreign=dict(options))
    apply_options(holder, entry.options)
    table.encode_options |= {**entry.fixed, **holder.options}
    table.notes += holder.notes
