"""Statements of Materialize.

In: a statement. Out: drafts of tables, views and sinks.
"""

from __future__ import annotations

from sqlglot.dialects.materialize import Materialize
from sqlglot.tokenizer_core import TokenType

from headwater.importing.bodies import Grammar
from headwater.importing.clock import filter_by_watermark
from headwater.importing.contract import ColumnDraft, ImportResult, LeftOut, TableDraft
from headwater.importing.functions import dialect_of
from headwater.importing.materialize.mapping import (
    CONNECTION,
    FORMATS,
    FUNCTIONS,
    GENERATORS,
    INCLUDED,
    OUTSIDE,
    REGISTRY,
    TOPIC,
)
from headwater.importing.outputs import rename, sink_of, skip
from headwater.importing.postgres import TYPES, first_of_each, size_numerics
from headwater.importing.risingwave.statements import insert_rows
from headwater.importing.run import Handler, ImportRun, System
from headwater.importing.statements import Cursor, Statement, column_name, plain_name
from headwater.importing.tables import apply_options, placeholder, read_columns

_CLAUSES = ("FORMAT", "KEY FORMAT", "VALUE FORMAT", "INCLUDE", "ENVELOPE", "EXPOSE", "WITH", "FOR")


def _pairs(cursor: Cursor) -> dict[str, str]:
    """Read ``( NAME [=] value, … )``; names in lower case with ``_``, values as text."""
    found = {}
    for item in cursor.group().items():
        words = []
        while item and item.peek() and not _is_value(item):
            words.append(item.step().text.lower())
        if item.word() == "=":
            item.step()
        values = [each.text for each in item.tokens[item.at :]]
        found["_".join(words)] = "".join(each for each in values if each not in ("(", ")"))
    return found


_VALUES = (TokenType.STRING, TokenType.NUMBER, TokenType.DASH, TokenType.EQ, TokenType.L_PAREN)


def _is_value(item: Cursor) -> bool:
    token = item.peek()
    assert token is not None
    return token.token_type in _VALUES


def _create_connection(run: ImportRun, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("CREATE CONNECTION")
    cursor.take("IF NOT EXISTS")
    name = plain_name(cursor.name())
    cursor.need("TO")
    cursor.until("(")
    run.foreign[name] = _pairs(cursor)
    run.skip("CREATE CONNECTION")


def _connection(run: ImportRun, cursor: Cursor) -> dict[str, str]:
    """Read ``CONNECTION name`` and return what it was created with."""
    cursor.need("CONNECTION")
    name = plain_name(cursor.name())
    return run.foreign.get(name, {})


def _create_source(run: ImportRun, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("CREATE SOURCE")
    cursor.take("IF NOT EXISTS")
    table = TableDraft(plain_name(cursor.name()), statement.place(), statement.leading)
    names = _names(cursor)
    if cursor.take("IN CLUSTER"):
        cursor.name()
    cursor.need("FROM")
    if cursor.take("LOAD GENERATOR"):
        _generate(run, statement, table, cursor.step().text.upper())
        return
    if other := cursor.take_any(*OUTSIDE):
        title, remedy = OUTSIDE[other]
        raise LeftOut(f"the source reads from {title}", remedy)
    cursor.need("KAFKA")
    _kafka(run, table, cursor)
    if not cursor:  # the formats follow in CREATE TABLE … FROM SOURCE
        run.foreign[table.name] = dict(table.options)
        run.skip("CREATE SOURCE")
        return
    _records(run, table, cursor, names)
    run.add(table)


def _names(cursor: Cursor) -> list[str]:
    if not cursor.is_open():
        return []
    items = cursor.group().items()
    return [column_name(each.step().text) for each in items if each.word() != "PRIMARY KEY"]


def _kafka(run: ImportRun, table: TableDraft, cursor: Cursor) -> None:
    table.options = {"connector": "kafka"}
    for foreign, options in (
        (_connection(run, cursor), CONNECTION),
        (_pairs(cursor) if cursor.is_open() else {}, TOPIC),
    ):
        table.foreign = foreign
        apply_options(table, options)
    if "bootstrap_servers" not in table.options:
        table.options["bootstrap_servers"] = "localhost:9092"
        table.remark(
            "the connection is not in the file", "write bootstrap_servers", ImportResult.EDIT
        )


def _records(run: ImportRun, table: TableDraft, cursor: Cursor, names: list[str]) -> None:
    """Read FORMAT, INCLUDE and ENVELOPE."""
    table.format, encoding = "PLAIN", ""
    while cursor:
        if cursor.take("KEY FORMAT"):
            cursor.until("VALUE FORMAT")
        elif cursor.take_any("FORMAT", "VALUE FORMAT"):
            encoding = cursor.step().text.upper()
            _format(table, encoding, cursor, names)
        elif cursor.take("INCLUDE"):
            _include(table, cursor.until(*(each for each in _CLAUSES if each != "INCLUDE")))
        elif cursor.take("ENVELOPE"):
            envelope = cursor.step().text.upper()
            if envelope != "NONE":
                reason = f"the columns of a source with ENVELOPE {envelope} are not in the text"
                remedy = (
                    "write CREATE TABLE with columns, PRIMARY KEY and FORMAT UPSERT or DEBEZIUM"
                )
                raise LeftOut(reason, remedy)
        elif not cursor.take_any("EXPOSE", "WITH", "FOR"):
            cursor.step()


def _format(table: TableDraft, encoding: str, cursor: Cursor, names: list[str]) -> None:
    if encoding == "CSV":
        cursor.need("WITH")
        if cursor.take("HEADER"):
            given = _names(cursor) or names
            table.encode_options = {"header": "false"}  # the records of a topic have none
        else:
            number = cursor.step().text
            if not number.isdigit():
                cursor.give_up("the number of columns is expected")
            count = int(number)
            cursor.take("COLUMNS")
            given = names or [f"column{each}" for each in range(1, count + 1)]
            table.encode_options = {"header": "false"}
        table.columns = [ColumnDraft(each, "VARCHAR") for each in given]
        table.encode = "CSV"
        return
    if encoding not in FORMATS:
        reason = f"the columns of FORMAT {encoding} are in the schema registry, not in the text"
        raise LeftOut(reason, "write CREATE TABLE with the columns and ENCODE AVRO")
    name, kind, table.encode = FORMATS[encoding]
    table.columns = [ColumnDraft(names[0] if names else name, kind)]


def _include(table: TableDraft, cursor: Cursor) -> None:
    for item in cursor.items():
        word = item.step().text.upper()
        if word not in INCLUDED:
            item.give_up(f"INCLUDE {word} is not known here", "remove it")
        name, kind, key = INCLUDED[word]
        name = item.step().text if item.take("AS") else name
        table.columns.append(ColumnDraft(column_name(name), kind, metadata=key))


def _generate(run: ImportRun, statement: Statement, table: TableDraft, generator: str) -> None:
    tables = GENERATORS.get(generator)
    if tables is None:
        raise LeftOut(f"the load generator {generator} has no equal here", "write its tables")
    for name, columns in tables.items():
        made = TableDraft(name or table.name, statement.place(), statement.leading)
        made.columns = [ColumnDraft(column, kind) for column, kind in columns.items()]
        if generator == "COUNTER":
            made.options = {
                "connector": "datagen",
                "rows_per_second": "1",
                "fields.counter.kind": "sequence",
                "fields.counter.start": "1",
            }
        else:
            placeholder(made, f"the load generator {generator} does not exist here")
        run.add(made)


def _create_table(run: ImportRun, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("CREATE")
    cursor.take_any("TEMPORARY", "TEMP")
    cursor.need("TABLE")
    cursor.take("IF NOT EXISTS")
    table = TableDraft(plain_name(cursor.name()), statement.place(), statement.leading)
    names = list[str]()
    if cursor.is_open():
        group = cursor.group()
        if cursor.take("FROM SOURCE"):
            names = [column_name(each.step().text) for each in group.items()]
            cursor.at -= 2
        else:
            read_columns(group, table, TYPES, run.expression, {})
    if cursor.take("FROM SOURCE"):
        source = plain_name(cursor.name())
        if source not in run.foreign:
            remedy = "write CREATE TABLE with the columns"
            raise LeftOut(f'the columns are those of the source "{source}"', remedy)
        table.options = dict(run.foreign[source])
        if cursor.is_open():
            cursor.group()
        _records(run, table, cursor, names)
    else:
        placeholder(table, "rows were written by INSERT")
    run.add(table)


def _create_view(run: ImportRun, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("CREATE")
    cursor.take("OR REPLACE")
    cursor.take_any("TEMPORARY", "TEMP", "MATERIALIZED")
    cursor.need("VIEW")
    cursor.take("IF NOT EXISTS")
    name = cursor.name()
    columns = cursor.names()
    cursor.until("AS")
    cursor.need("AS")
    body = run.body(cursor)
    rename(body, columns)
    run.view(statement, name, body)


def _create_sink(run: ImportRun, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("CREATE SINK")
    cursor.take("IF NOT EXISTS")
    name = plain_name(cursor.name())
    to = TableDraft(name, statement.place(), statement.leading)
    if cursor.take("IN CLUSTER"):
        cursor.name()
    cursor.need("FROM")
    view = run.scope.name_of(cursor.name())
    cursor.need("INTO")
    if not cursor.take("KAFKA"):
        raise LeftOut(f"a sink cannot deliver into {cursor.word().title()}", "deliver to Kafka")
    _kafka(run, to, cursor)
    to.format = "UPSERT"
    while cursor:
        if cursor.take("KEY FORMAT"):
            cursor.until("VALUE FORMAT")
        elif cursor.take("KEY"):
            to.key = [column_name(each.step().text) for each in cursor.group().items()]
            cursor.take("NOT ENFORCED")
        elif cursor.take_any("FORMAT", "VALUE FORMAT"):
            to.encode = cursor.step().text.upper()
            if cursor.take("USING CONFLUENT SCHEMA REGISTRY"):
                holder = TableDraft(name, "", foreign=_connection(run, cursor))
                apply_options(holder, REGISTRY)
                to.encode_options = holder.options
        elif cursor.take("ENVELOPE"):
            to.format = cursor.step().text.upper()
        else:
            cursor.step()
    sink = sink_of(name, statement.place(), view, to)
    sink.notes += [each for each in to.notes if each.result is ImportResult.EDIT]
    run.add(sink)


STATEMENTS: dict[str, Handler] = {
    "CREATE CONNECTION": _create_connection,
    "CREATE SOURCE": _create_source,
    "CREATE TABLE": _create_table,
    "CREATE TEMP TABLE": _create_table,
    **dict.fromkeys(
        (
            *("CREATE VIEW", "CREATE OR REPLACE VIEW", "CREATE TEMPORARY VIEW"),
            *("CREATE MATERIALIZED VIEW", "CREATE OR REPLACE MATERIALIZED VIEW"),
        ),
        _create_view,
    ),
    "CREATE SINK": _create_sink,
    "INSERT": insert_rows,
    **dict.fromkeys(
        (
            *("SET", "SHOW", "SELECT", "WITH", "SUBSCRIBE", "EXPLAIN", "DROP", "ALTER", "GRANT"),
            *("CREATE SECRET", "CREATE INDEX", "CREATE DEFAULT INDEX", "CREATE CLUSTER"),
            *("CREATE SCHEMA", "CREATE DATABASE", "CREATE ROLE", "UPDATE", "DELETE"),
            *("BEGIN", "COMMIT", "DECLARE", "FETCH", "COMMENT", "COPY", "TABLE", "CREATE TYPE"),
        ),
        skip,
    ),
}

MATERIALIZE = System(
    name="materialize",
    title="Materialize",
    grammar=Grammar(
        dialect_of(Materialize, FUNCTIONS),
        "postgres",
        first=size_numerics,
        rewrites=(filter_by_watermark, first_of_each),
    ),
    types=TYPES,
    statements=STATEMENTS,
    signs=(r"FROM\s+KAFKA\s+CONNECTION", r"\bmz_now\s*\(", r"LOAD\s+GENERATOR"),
)
