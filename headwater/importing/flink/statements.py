"""Statements of Flink.

In: a statement. Out: drafts of tables, views and sinks.
"""

from __future__ import annotations

import re
from dataclasses import replace

from headwater.importing.bodies import Grammar
from headwater.importing.contract import ColumnDraft, ConnectorMapping, LeftOut, TableDraft
from headwater.importing.flink.mapping import (
    CONNECTORS,
    ENCODINGS,
    FUNCTIONS,
    JAVA,
    KEYS,
    METADATA,
    SETTINGS,
    TYPES,
)
from headwater.importing.flink.queries import REWRITES, is_clock, is_final
from headwater.importing.functions import headwater_dialect
from headwater.importing.outputs import rename, setting, skip, write_into
from headwater.importing.rows import take_rows
from headwater.importing.run import Handler, ImportRun, System
from headwater.importing.starts import duration
from headwater.importing.statements import Cursor, Statement, plain_name
from headwater.importing.tables import (
    apply_connector,
    apply_encoding,
    placeholder,
    read_columns,
    read_options,
)


def _create_table(run: ImportRun, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("CREATE")
    cursor.take_any("OR REPLACE")
    cursor.take_any("TEMPORARY")
    cursor.need("TABLE")
    cursor.take("IF NOT EXISTS")
    written = cursor.name()
    table = TableDraft(plain_name(written), statement.place(), statement.leading)
    if cursor.is_open():

        def expression(part: Cursor) -> str:
            if is_clock(part.rest):
                table.remark("a column of the clock is left out: the clock is no part of the data")
                return ""
            return run.expression(part)

        read_columns(cursor.group(), table, TYPES, expression, METADATA)
    if cursor.take("COMMENT"):
        table.comment = cursor.string()
    if cursor.take_any("PARTITIONED BY", "DISTRIBUTED BY", "DISTRIBUTED INTO"):
        cursor.until("WITH", "LIKE", "AS")
    if cursor.take("WITH"):
        table.foreign = read_options(cursor)
    if cursor.take("LIKE"):
        _like(run, table, cursor.name())
        if cursor.is_open():
            cursor.group()
    run.foreign[table.name] = dict(table.foreign)
    _clock_time(table)
    if not _connect(table).sink:
        run.targets[table.name] = table
        if table.name in run.views:  # what was written before into one of this name is a view
            return
    if cursor.take("AS"):
        body = run.body(cursor)
        write_into(run, statement, table, body, columns=[], final=is_final(body.query))
    else:
        run.add(table)


_PRESENT = "column {}: Flink generates the present time; here times follow one another"


def _clock_time(table: TableDraft) -> None:
    """Generate the event time that was the clock; without a generator there is none."""
    names = {each.name for each in table.columns}
    if table.watermark is None or table.watermark[0] in names:
        return
    name = table.watermark[0]
    if table.foreign.get("connector") == "datagen":
        table.columns.append(ColumnDraft(name, "TIMESTAMP"))
        table.options[f"fields.{name}.kind"] = "time"
        table.notes.clear()
        table.remark(_PRESENT.format(name))
    else:
        table.watermark = None


def _like(run: ImportRun, table: TableDraft, other: str) -> None:
    base = run.tables.get(plain_name(other))
    if base is None:
        raise LeftOut(f'LIKE names "{other}", which is not defined before', "write the columns")
    table.columns = [*base.columns, *table.columns]
    table.key = table.key or list(base.key)
    table.watermark = table.watermark or base.watermark
    table.foreign = {**run.foreign.get(base.name, {}), **table.foreign}


def _present(key: str) -> str:
    """Return the present name of an option: ``connector.path`` was ``path`` in Flink 1.10."""
    if key.endswith(".type") and key.split(".")[0] in ("connector", "format"):
        return key.removesuffix(".type")
    return key.removeprefix("connector.")


def _connect(table: TableDraft) -> ConnectorMapping:
    table.foreign = written = {_present(key): value for key, value in table.foreign.items()}
    name = written.pop("connector", "")
    encoding = written.pop("format", "") or written.pop("value.format", "")
    prefixes = (f"{encoding}.", f"value.{encoding}.")
    own = {
        key.removeprefix(prefix): written.pop(key)
        for prefix in prefixes
        for key in list(written)
        if encoding and key.startswith(prefix)
    }
    if not name:
        placeholder(table, "the table does not say where its rows come from")
        return ConnectorMapping()
    if name == "datagen":
        _generated(table, written)
    entry = apply_connector(table, name, CONNECTORS)
    if entry.to != "kafka":
        table.outside = name
    if not entry.sink:
        table.outside = ""
        table.notes.clear()
        table.options.clear()
    if entry.to in ("kafka", "files") and encoding:
        apply_encoding(table, encoding, ENCODINGS, own)
    if table.format == "UPSERT" and table.options.get("connector") == "kafka":
        table.encode_options["key_encode"] = KEYS.get(written.get("key.format", ""), "json")
    if table.key and table.format == "PLAIN":
        table.key = []
        table.remark("PRIMARY KEY is left out: Flink does not enforce it, and rows only come")
    if table.options.get("path"):
        table.options["path"] = table.options["path"].removeprefix("file://")
    return entry


_KINDS = {"sequence": "sequence", "random": "random"}
_FIELDS = {"start": "start", "end": "end", "min": "min", "max": "max", "length": "length"}


def _generated(table: TableDraft, written: dict[str, str]) -> None:
    """Turn the options of generated columns; times come in order."""
    for column in table.columns:
        prefix = f"fields.{column.name}."
        kind = written.get(f"{prefix}kind", "")
        if kind:
            table.options[f"{prefix}kind"] = _KINDS.get(kind, kind)
        for name, ours in _FIELDS.items():
            value = written.get(prefix + name)
            if value is not None:
                table.options[prefix + ours] = value
        given = kind or f"{prefix}kind" in table.options
        if column.type.startswith("TIMESTAMP") and not given:
            table.remark(_PRESENT.format(column.name))


def _create_view(run: ImportRun, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("CREATE")
    cursor.take("OR REPLACE")
    cursor.take("TEMPORARY")
    cursor.need("VIEW")
    cursor.take("IF NOT EXISTS")
    name = cursor.name()
    columns = cursor.names()
    comment = cursor.string() if cursor.take("COMMENT") else ""
    cursor.need("AS")
    body = run.body(cursor)
    rename(body, columns)
    view = run.view(statement, name, body, final=is_final(body.query))
    view.comment = comment


def _insert_into(run: ImportRun, statement: Statement) -> None:
    begin = re.compile(r"\bINSERT\b", re.IGNORECASE).search(statement.text, statement.start)
    if begin:  # EXECUTE STATEMENT SET BEGIN INSERT …
        statement = replace(statement, start=begin.start())
    cursor = statement.cursor()
    cursor.need("INSERT")
    cursor.take_any("INTO", "OVERWRITE")
    cursor.take("TABLE")
    name = run.scope.name_of(cursor.name())
    if cursor.take("PARTITION"):
        cursor.group()
    columns = cursor.names()
    if cursor.word() == "VALUES":
        _rows(run, name, columns, cursor)
        return
    table = run.targets.get(name) or run.tables.get(name) or TableDraft(name, statement.place())
    run.targets[name] = table
    if not table.options and name in run.views:  # a table that nothing reads holds nothing
        number = sum(each == name or each.startswith(f"{name}_") for each in run.views)
        table = replace(table, name=f"{name}_{number + 1}")
    body = run.body(cursor)
    write_into(run, statement, table, body, columns=columns, final=is_final(body.query))


def _rows(run: ImportRun, name: str, columns: list[str], cursor: Cursor) -> None:
    take_rows(run, name, columns, cursor)
    run.skip("INSERT VALUES")


def _begin(run: ImportRun, statement: Statement) -> None:
    if "INSERT" in statement.head.split():
        _insert_into(run, statement)
    else:
        run.skip("BEGIN")


def _function(run: ImportRun, statement: Statement) -> None:
    raise LeftOut(JAVA.reason, JAVA.remedy)


def _set(run: ImportRun, statement: Statement) -> None:
    """Read ``SET 'name' = 'value'``; some settings change what queries mean."""
    name, value = setting(statement)
    run.skip("SET")
    if name not in SETTINGS:
        return
    run.settings[name] = value
    if SETTINGS[name]:
        run.differs(statement, f"setting {name}", SETTINGS[name])


def _finish(run: ImportRun) -> None:
    idle = duration(run.settings.get("table.exec.source.idle-timeout", ""))
    for table in run.tables.values():
        table.idle = table.idle or idle
        written = run.foreign.get(table.name, {})
        mode = written.get("scan.startup.mode", "group-offsets")
        if written.get("connector") == "kafka" and mode == "group-offsets":
            table.remark(_GROUP)


_GROUP = "Flink begins where its group left off; here the table begins with the oldest record"


STATEMENTS: dict[str, Handler] = {
    "CREATE TABLE": _create_table,
    "CREATE OR REPLACE TABLE": _create_table,
    "CREATE TEMPORARY TABLE": _create_table,
    "CREATE VIEW": _create_view,
    "CREATE OR REPLACE VIEW": _create_view,
    "CREATE TEMPORARY VIEW": _create_view,
    "CREATE FUNCTION": _function,
    "CREATE TEMPORARY FUNCTION": _function,
    "CREATE TEMPORARY SYSTEM FUNCTION": _function,
    "SET": _set,
    "INSERT INTO": _insert_into,
    "INSERT OVERWRITE": _insert_into,
    "EXECUTE INSERT": _insert_into,
    "EXECUTE STATEMENT SET": _insert_into,
    "BEGIN": _begin,
    **dict.fromkeys(
        (
            *("RESET", "USE", "END", "ADD", "REMOVE", "SHOW", "DESCRIBE", "DESC", "EXPLAIN"),
            *("DROP", "SELECT", "WITH", "CREATE CATALOG", "CREATE DATABASE", "LOAD", "UNLOAD"),
            *("ALTER", "ANALYZE", "QUIT"),
        ),
        skip,
    ),
}

FLINK = System(
    name="flink",
    title="Flink",
    grammar=Grammar(headwater_dialect(FUNCTIONS), rewrites=REWRITES),
    types=TYPES,
    statements=STATEMENTS,
    finish=_finish,
    signs=(r"'connector(\.type)?'\s*=\s*'", r"WATERMARK\s+FOR\s+`"),
)
