"""The parts of an import → the text of the project's files.

In: tables, views, sinks, functions and gaps, in order. Out: SQL with a comment wherever the meaning
differs, and which line each part begins at.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping

from sqlglot import exp

from headwater.dialect import to_sql
from headwater.dialect.syntax import CreateStreamingView, LateRowsClause
from headwater.importing.contract import (
    ColumnDraft,
    Draft,
    FunctionDraft,
    LeftOut,
    SinkDraft,
    TableDraft,
    ViewDraft,
)
from headwater.importing.run import Gap

WIDTH = 97
FILES: Mapping[str, tuple[type[Draft], ...]] = {
    "sources.sql": (TableDraft,),
    "views.sql": (ViewDraft, FunctionDraft, Gap),
    "sinks.sql": (SinkDraft,),
}
"""By file, the parts that stand in it."""


def render(parts: Iterable[Draft], title: str) -> dict[str, tuple[str, dict[int, Draft]]]:
    """Return by file its text, and by line the part that begins there.

    Args:
        parts: everything that was read.
        title: the system's name, for the first line of a file.
    """
    kept = list(parts)
    found = {}
    for file, kinds in FILES.items():
        own = [each for each in kept if isinstance(each, kinds)]
        if own:
            found[file] = _file(own, title)
    return found


def _file(parts: Iterable[Draft], title: str) -> tuple[str, dict[int, Draft]]:
    text = f"-- Imported from {title} by headwater import.\n"
    lines: dict[int, Draft] = {}
    for part in parts:
        text += "\n"
        lines[text.count("\n") + 1] = part
        text += "\n".join([*_comments(part), *_statement(part)]) + "\n"
    return text, lines


def _comments(part: Draft) -> Iterator[str]:
    yield from part.leading.splitlines()
    yield f"-- {part.place}"
    if isinstance(part, Gap):
        yield from _comment(part.result.value, f"{part.name}: {part.reason}", part.remedy)
    for note in part.notes:
        yield from _comment(note.result.value, note.reason, note.remedy)


def _comment(result: str, reason: str, remedy: str) -> list[str]:
    text = f"{result}: {reason}" + (f"; {remedy}" if remedy else "")
    text = " ".join(text.split())
    return textwrap.wrap(text, WIDTH, initial_indent="-- ", subsequent_indent="--   ")


def _statement(part: Draft) -> list[str]:
    match part:
        case TableDraft():
            return [f"{table_sql(part)};"]
        case ViewDraft():
            return [f"{view_sql(part)};"]
        case SinkDraft():
            to = part.to
            head = [f"CREATE SINK {part.name} FROM {part.view}"]
            return [*head, "\n".join(_options(to)) + ";"]
        case FunctionDraft():
            return [f"{part.sql};"]
    return []


def text_of(value: str) -> str:
    """Return a text in quotes."""
    return "'" + value.replace("'", "''") + "'"


def table_sql(table: TableDraft) -> str:
    """Return ``CREATE TABLE``."""
    items = [_column(column, table) for column in table.columns]
    if table.watermark:
        column, delay = table.watermark
        idle = f" IDLE TIMEOUT {table.idle}" if table.idle else ""
        late = f" - {delay}" if delay else ""
        items.append(f"WATERMARK FOR {column} AS {column}{late}{idle}")
    if table.key:
        items.append(f"PRIMARY KEY ({', '.join(table.key)})")
    body = ",\n".join(f"  {item}" for item in items)
    lines = [f"CREATE TABLE {table.name} (\n{body}\n)"]
    if table.comment:
        lines.append(f"COMMENT {text_of(table.comment)}")
    lines += _options(table)
    if table.start_from:
        lines.append(f"START FROM {table.start_from}")
    return "\n".join(lines)


_TIMESTAMP = re.compile(r"TIMESTAMP(?:\((\d+)\))?")


def type_of(column: ColumnDraft, table: TableDraft) -> str:
    """Return the type of a column; only Debezium's events need the digits of a time."""
    if (table.format, table.encode) != ("DEBEZIUM", "JSON"):
        return _TIMESTAMP.sub("TIMESTAMP", column.type)
    return _TIMESTAMP.sub(
        lambda found: f"TIMESTAMP({3 if found[1] and int(found[1]) <= 3 else 6})", column.type
    )


def _column(column: ColumnDraft, table: TableDraft) -> str:
    if column.computed:
        text = f"{column.name} AS {column.computed}"
    else:
        text = f"{column.name} {type_of(column, table)}" + (" NOT NULL" if column.not_null else "")
    if column.metadata:
        text += f" METADATA FROM {text_of(column.metadata)}"
    return text + (f" COMMENT {text_of(column.comment)}" if column.comment else "")


def _options(table: TableDraft) -> Iterator[str]:
    yield f"WITH ({_listed(table.options)})"
    if table.format:
        encoded = f" ENCODE {table.encode}" if table.encode else ""
        options = f" ({_listed(table.encode_options)})" if table.encode_options else ""
        yield f"FORMAT {table.format}{encoded}{options}"


def _listed(options: Mapping[str, str]) -> str:
    text = ", ".join(f"{name} = {text_of(value)}" for name, value in options.items())
    if len(text) <= WIDTH - len("WITH ()"):
        return text
    return "\n  " + ",\n  ".join(f"{n} = {text_of(v)}" for n, v in options.items()) + "\n"


def view_sql(view: ViewDraft) -> str:
    """Return ``CREATE STREAMING VIEW``.

    Raises:
        LeftOut: the tree holds what Headwater's SQL has no words for.
    """
    from headwater.errors import SqlError

    statement = CreateStreamingView(
        this=exp.to_identifier(view.name),
        expression=view.query,
        comment=view.comment or None,
        emit="on window close" if view.final else None,
        late=LateRowsClause(mode="accept", allowed=exp.var(view.grace)) if view.grace else None,
    )
    try:
        return to_sql(statement)
    except SqlError as error:
        raise LeftOut(f"the query cannot be written here: {error.message}", error.hint) from error
