"""Statements of RisingWave.

In: a statement. Out: drafts of tables, views, sinks and functions.
"""

from __future__ import annotations

from sqlglot.dialects.risingwave import RisingWave

from headwater.importing.bodies import Body, Grammar
from headwater.importing.clock import (
    filter_by_watermark,
    join_present_rows,
    leave_out_clock_columns,
    refuse_clock,
)
from headwater.importing.contract import (
    ColumnDraft,
    FunctionDraft,
    ImportResult,
    LeftOut,
    TableDraft,
)
from headwater.importing.functions import dialect_of
from headwater.importing.outputs import rename, sink_of, skip, write_into
from headwater.importing.postgres import TYPES, first_of_each, size_numerics
from headwater.importing.risingwave.mapping import CONNECTORS, ENCODINGS, FUNCTIONS, INCLUDED
from headwater.importing.rows import take_rows
from headwater.importing.run import Handler, ImportRun, System
from headwater.importing.statements import Cursor, Statement, column_name, plain_name
from headwater.importing.tables import (
    apply_connector,
    apply_encoding,
    placeholder,
    read_columns,
    read_options,
)
from headwater.importing.types import read_type

_EMIT = "EMIT ON WINDOW CLOSE"


def _create_source(run: ImportRun, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("CREATE")
    cursor.take_any("SOURCE", "TABLE")
    cursor.take("IF NOT EXISTS")
    table = TableDraft(plain_name(cursor.name()), statement.place(), statement.leading)
    if cursor.is_open():

        def expression(part: Cursor) -> str:
            if part.rest.lower().startswith("proctime"):
                table.remark("a column of proctime() is left out: the clock is no part of the data")
                return ""
            return run.expression(part)

        read_columns(cursor.group(), table, TYPES, expression, {})
    if cursor.take("FROM"):
        source = cursor.name()
        _columns_known(table)
        placeholder(table, f"{table.name} is read from the source {source}")
    encoding, encoding_options = "", dict[str, str]()
    while cursor:
        if cursor.take("INCLUDE"):
            _include(table, cursor)
        elif cursor.take("WITH"):
            table.foreign = read_options(cursor)
        elif cursor.take("FORMAT"):
            encoding = f"{cursor.step().text} {_encode(cursor)}".lower()
            encoding_options = read_options(cursor) if cursor.is_open() else {}
        elif cursor.take("ROW FORMAT"):
            encoding = _row_format(cursor)
            encoding_options = {}
            cursor.until("WITH")
        elif cursor.take("AS"):
            body = run.body(cursor)
            write_into(run, statement, table, body, columns=[], final=False)
            return
        elif cursor.take("TABLE"):
            cursor.step()
        elif not cursor.take_any("APPEND ONLY", "NOT NULL"):
            cursor.until("WITH", "FORMAT", "AS", "INCLUDE")
    _connect(table, encoding, encoding_options)
    _columns_known(table)
    run.add(table)


def _columns_known(table: TableDraft) -> None:
    if not table.columns:
        reason = "the columns are not in the text: the registry or the database has them"
        raise LeftOut(reason, "write the columns into the statement")


def _encode(cursor: Cursor) -> str:
    cursor.take("ENCODE")
    return cursor.step().text


def _row_format(cursor: Cursor) -> str:
    """Read RisingWave's older words: ``ROW FORMAT JSON``, ``DEBEZIUM_JSON``, ``UPSERT_AVRO``."""
    first, _, second = cursor.step().text.lower().partition("_")
    return f"{first} {second}" if second else f"plain {first}"


def _include(table: TableDraft, cursor: Cursor) -> None:
    word = cursor.step().text.upper()
    if word not in INCLUDED:
        cursor.give_up(f"INCLUDE {word} is not known here", "remove it")
    if cursor.word() not in ("AS", "INCLUDE", "WITH", "FORMAT"):
        cursor.until("AS", "INCLUDE", "WITH", "FORMAT")
    name = cursor.name() if cursor.take("AS") else f"_rw_kafka_{word.lower()}"
    key, kind = INCLUDED[word]
    if word == "KEY" and table.key:
        return
    table.columns.append(ColumnDraft(column_name(name.lstrip("_")), kind, metadata=key))


def _connect(table: TableDraft, encoding: str, encoding_options: dict[str, str]) -> None:
    name = table.foreign.pop("connector", "")
    if not name:
        if not table.options:
            placeholder(table, "rows were written by INSERT")
        return
    if name == "datagen":
        table.options |= {
            key.lower(): value for key, value in table.foreign.items() if _is_field(key)
        }
    entry = apply_connector(table, name, CONNECTORS)
    if entry.to in ("kafka", "files") and encoding:
        apply_encoding(table, encoding, ENCODINGS, encoding_options)
    if bucket := table.options.pop("bucket", ""):
        table.options["path"] = f"s3://{bucket}"
    if table.key and table.format == "PLAIN":
        table.format, table.encode_options = "UPSERT", table.encode_options
        note = "a row replaces the older one of its key; here the key is that of the record"
        table.remark(note, "write the key into the record's key, too", ImportResult.EDIT)


def _is_field(key: str) -> bool:
    known = ("kind", "start", "end", "min", "max", "length")
    return key.startswith("fields.") and key.rpartition(".")[2] in known


def _create_view(run: ImportRun, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("CREATE")
    cursor.take("OR REPLACE")
    cursor.take("MATERIALIZED")
    cursor.need("VIEW")
    cursor.take("IF NOT EXISTS")
    name = cursor.name()
    columns = cursor.names()
    if cursor.take("WITH"):
        cursor.group()
    cursor.need("AS")
    final, body = _emitted(run, cursor)
    rename(body, columns)
    run.view(statement, name, body, final=final)


def _emitted(run: ImportRun, cursor: Cursor) -> tuple[bool, Body]:
    """Read a query and the EMIT behind it."""
    query = cursor.until("EMIT")
    return bool(cursor.take(_EMIT)), run.body(query)


def _create_sink(run: ImportRun, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("CREATE SINK")
    cursor.take("IF NOT EXISTS")
    name = plain_name(cursor.name())
    to = TableDraft(name, statement.place(), statement.leading)
    if cursor.take("INTO"):
        _into_table(run, statement, cursor)
        return
    if cursor.take("AS"):
        part = cursor.until("WITH (", "EMIT", "FORMAT")
        body = run.body(part)
        final = bool(cursor.take(_EMIT))
        view = f"{name}_rows"
    else:
        cursor.need("FROM")
        view, body, final = run.scope.name_of(cursor.name()), None, False
    encoding, encoding_options = "", dict[str, str]()
    while cursor:
        if cursor.take("WITH"):
            to.foreign = read_options(cursor)
        elif cursor.take("FORMAT"):
            encoding = f"{cursor.step().text} {_encode(cursor)}".lower()
            encoding_options = read_options(cursor) if cursor.is_open() else {}
        else:
            cursor.until("WITH", "FORMAT")
    connector = to.foreign.pop("connector", "")
    kind = to.foreign.get("type", "append-only")
    entry = apply_connector(to, connector, CONNECTORS)
    if entry.to == "kafka":
        default = {"append-only": "plain json", "debezium": "debezium json"}
        encoding = encoding or default.get(kind, "upsert json")
        apply_encoding(to, encoding, ENCODINGS, encoding_options)
    if body is not None:
        run.view(statement, view, body, final=final)
    if entry.to != "kafka":
        if entry.sink:
            raise LeftOut(f"a sink cannot deliver to {connector}", entry.remedy)
        return
    sink = sink_of(name, statement.place(), view, to)
    sink.notes += [each for each in to.notes if each.result is ImportResult.EDIT]
    run.add(sink)


def _into_table(run: ImportRun, statement: Statement, cursor: Cursor) -> None:
    """Make a view of a table that a sink writes into; of two sinks the later row of a key wins."""
    name = run.scope.name_of(cursor.name())
    table = run.targets.get(name) or run.tables.get(name)
    if table is None or name in run.views:
        reason = f'"{name}" is not defined before, or another sink writes into it'
        raise LeftOut(reason, "define the table as one view of all its rows")
    columns = cursor.names()
    if cursor.take("AS"):
        body = run.body(cursor.until("WITH (", "EMIT"))
    else:
        cursor.need("FROM")
        text = f"SELECT * FROM {run.scope.name_of(cursor.name())}"
        body = run.body(Statement(statement.file, text, 0, len(text), "postgres").cursor())
    table.options, table.outside = {}, ""
    write_into(run, statement, table, body, columns=columns, final=False)


def create_function(run: ImportRun, statement: Statement) -> None:
    """Turn a function in SQL; see ``CREATE FUNCTION`` of PostgreSQL."""
    cursor = statement.cursor()
    cursor.need("CREATE")
    cursor.take("OR REPLACE")
    cursor.need("FUNCTION")
    cursor.take("IF NOT EXISTS")
    name = plain_name(cursor.name())
    parameters, notes = [], list[str]()
    for each in cursor.group().items():
        parameter = column_name(each.step().text)
        parameters.append(f"{parameter} {read_type(each, TYPES, notes)}")
    cursor.need("RETURNS")
    returns = read_type(cursor, TYPES, notes)
    language = "sql"
    text = ""
    while cursor:
        if cursor.take("LANGUAGE"):
            language = cursor.step().text.lower()
        elif cursor.take("RETURN"):
            text = cursor.rest
            break
        elif cursor.take("AS"):
            text = cursor.step().text
        else:
            cursor.step()
    if language != "sql" or not text:
        reason = f"the function is written in {language}"
        raise LeftOut(reason, "write CREATE FUNCTION … RETURN expression")
    text = text.strip().rstrip(";")
    text = text[len("select") :] if text.lower().startswith("select") else text
    inner = Statement(statement.file, text, 0, len(text), statement.dialect)
    body = run.expression(inner.cursor())
    sql = f"CREATE FUNCTION {name}({', '.join(parameters)}) RETURNS {returns}\nRETURN {body}"
    run.add(FunctionDraft(name, statement.place(), statement.leading, sql=sql))


def _needed_elsewhere(run: ImportRun, statement: Statement) -> None:
    raise LeftOut("connections and secrets belong to each table here", "write its options")


def insert_rows(run: ImportRun, statement: Statement) -> None:
    """Put the rows of ``INSERT INTO t VALUES`` into a file that the table reads."""
    cursor = statement.cursor()
    cursor.need("INSERT INTO")
    name = run.scope.name_of(cursor.name())
    columns = cursor.names()
    take_rows(run, name, columns, cursor)
    run.skip("INSERT")


STATEMENTS: dict[str, Handler] = {
    "CREATE SOURCE": _create_source,
    "CREATE TABLE": _create_source,
    "CREATE MATERIALIZED VIEW": _create_view,
    "CREATE VIEW": _create_view,
    "CREATE OR REPLACE VIEW": _create_view,
    "CREATE SINK": _create_sink,
    "CREATE FUNCTION": create_function,
    "CREATE OR REPLACE FUNCTION": create_function,
    "INSERT": insert_rows,
    "CREATE SECRET": _needed_elsewhere,
    "CREATE CONNECTION": _needed_elsewhere,
    **dict.fromkeys(
        (
            *("SET", "SHOW", "DESCRIBE", "EXPLAIN", "SELECT", "WITH", "DROP", "ALTER", "FLUSH"),
            *("CREATE INDEX", "CREATE SCHEMA", "CREATE DATABASE", "CREATE USER", "GRANT", "BEGIN"),
            *("DELETE", "UPDATE", "COMMIT", "WAIT", "COMMENT", "USE", "REFRESH"),
        ),
        skip,
    ),
}

REWRITES = (
    leave_out_clock_columns,
    join_present_rows,
    refuse_clock,
    filter_by_watermark,
    first_of_each,
)
RISINGWAVE = System(
    name="risingwave",
    title="RisingWave",
    grammar=Grammar(
        dialect_of(RisingWave, FUNCTIONS), "postgres", first=size_numerics, rewrites=REWRITES
    ),
    types=TYPES,
    statements=STATEMENTS,
    signs=(r"(?<!')\bconnector\s*=\s*'", r"EMIT\s+ON\s+WINDOW\s+CLOSE"),
)
