"""Statements of ksqlDB.

In: a statement. Out: drafts of tables, views and sinks.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.importing.bodies import Body, Grammar
from headwater.importing.contract import ColumnDraft, ImportResult, LeftOut, TableDraft, ViewDraft
from headwater.importing.functions import MILLISECONDS, headwater_dialect
from headwater.importing.ksqldb.mapping import (
    DELIMITERS,
    ENCODINGS,
    FUNCTIONS,
    KEYS,
    OPTIONS,
    PSEUDO,
    TYPES,
)
from headwater.importing.ksqldb.queries import EDITS, REWRITES
from headwater.importing.ksqldb.times import as_time
from headwater.importing.outputs import setting, sink_of, skip, write_into
from headwater.importing.run import Handler, ImportRun, System
from headwater.importing.statements import Cursor, Statement, column_name, plain_name
from headwater.importing.tables import apply_encoding, apply_options, placeholder, read_options
from headwater.importing.types import read_type

_ZONED = "TIMESTAMP WITH TIME ZONE"
_GRACE = "INTERVAL '24' HOUR"
_BROKERS = "localhost:9092"


def _create(run: ImportRun, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("CREATE")
    cursor.take("OR REPLACE")
    cursor.take("SOURCE")
    stream = cursor.take_any("STREAM", "TABLE") == "STREAM"
    cursor.take("IF NOT EXISTS")
    table = TableDraft(plain_name(cursor.name()), statement.place(), statement.leading)
    if cursor.is_open():
        _columns(run, cursor.group(), table)
    if cursor.take("WITH"):
        table.foreign = read_options(cursor)
    if cursor.take("AS"):
        _as_select(run, statement, table, cursor, stream=stream)
        return
    if not table.columns:
        reason = "the columns are not in the text: the schema registry has them"
        raise LeftOut(reason, "write the columns into the statement")
    topic = table.foreign.get("kafka_topic", table.name).lower()
    if (made_by := run.topics.get(topic)) and made_by != table.name:
        _over_view(run, statement, table, made_by, stream=stream)
        return
    written = dict(table.foreign)
    _connect(run, table, stream=stream)
    if stream:
        _event_time(run, table, written)
        run.scope.streams.add(table.name)
    run.scope.columns[table.name] = [each.name.strip('"') for each in table.columns]
    run.scope.base.add(table.name)
    run.add(table)


def _over_view(
    run: ImportRun, statement: Statement, table: TableDraft, made_by: str, *, stream: bool
) -> None:
    """Read the view whose topic it is, instead of the topic."""
    columns = ", ".join(each.name for each in table.columns)
    text = f"SELECT {columns} FROM {made_by}"
    inner = Statement(statement.file, text, 0, len(text), statement.dialect)
    view = run.view(statement, table.name, run.body(inner.cursor()))
    if made_by not in run.scope.streams:
        view.remark(
            f"the topic holds every change of {made_by}; here it is the rows that it has now"
        )
    _remember(run, view, stream=stream)


def _columns(run: ImportRun, cursor: Cursor, table: TableDraft) -> None:
    notes = list[str]()
    for item in cursor.items():
        column = ColumnDraft(column_name(item.step().text), read_type(item, run.types, notes))
        if item.take("PRIMARY KEY"):
            table.key.append(column.name)
        elif item.take("KEY"):
            table.remark(
                f"column {column.name} is the record's key there, and is read from the value here",
                "write the key into the value, too",
                ImportResult.EDIT,
            )
        elif item.take_any("HEADERS", "HEADER"):
            column.type, column.metadata = "ARRAY(ROW(key VARCHAR, value VARBINARY))", "headers"
        table.columns.append(column)
    for note in notes:
        table.remark(note)


def _connect(run: ImportRun, table: TableDraft, *, stream: bool) -> None:
    written = table.foreign
    both = written.get("format", "json")
    encoding = written.get("value_format", both).lower()
    key = written.get("key_format", written.get("format", "kafka")).lower()
    table.options = {"connector": "kafka"}
    apply_options(table, OPTIONS)
    table.options.setdefault("topic", table.name)
    table.options["bootstrap_servers"] = brokers = run.variables.get("brokers", _BROKERS)
    if brokers == _BROKERS and not run.scope.base and not run.targets:
        reason = "ksqlDB's server knows the brokers; every table here says localhost:9092"
        table.remark(reason, "import with --set brokers=HOST:PORT", ImportResult.EDIT)
    table.format = "PLAIN" if stream else "UPSERT"
    apply_encoding(table, encoding, ENCODINGS, {})
    if table.options["connector"] != "kafka":
        return
    if delimiter := written.get("value_delimiter"):
        table.encode_options["delimiter"] = DELIMITERS.get(delimiter.lower(), delimiter)
    if not stream:
        if not table.key:
            placeholder(table, "the table has no PRIMARY KEY", "declare one")
            return
        _key(table, key)


def _key(table: TableDraft, encoding: str) -> None:
    types = {each.name: each.type for each in table.columns}
    if encoding not in KEYS:
        table.remark(f"keys in {encoding} cannot be read", "write them as JSON", ImportResult.EDIT)
    elif encoding == "kafka" and any(types.get(each) != "VARCHAR" for each in table.key):
        reason = "a number as the key is four or eight bytes in KEY_FORMAT KAFKA"
        table.remark(reason, "write keys as text or JSON", ImportResult.EDIT)
    if table.encode != "AVRO":
        table.encode_options["key_encode"] = KEYS.get(encoding, "json")


def _event_time(run: ImportRun, table: TableDraft, written: dict[str, str]) -> None:
    """Declare the event time: a column, or the time of the record."""
    named = column_name(written.get("timestamp", "").strip("`\"'"))
    kinds = {each.name: each.type for each in table.columns}
    kind = kinds.get(named, "")
    if kind.startswith("TIMESTAMP"):
        table.watermark = (named, "")
        run.scope.times[table.name] = named.strip('"')
        return
    computed = ""
    if kind == "BIGINT":
        computed = MILLISECONDS.replace("_1", named)
    elif kind == "VARCHAR":
        computed = as_time(named, written.get("timestamp_format", ""))
    if kind and not computed:
        table.remark("the event time is that of the record: its pattern has no equal here")
    if table.options.get("connector") != "kafka" and not computed:
        return
    metadata = "" if computed else "timestamp"
    table.columns.append(ColumnDraft("rowtime", _ZONED, computed=computed, metadata=metadata))
    table.watermark = ("rowtime", "")
    run.scope.times[table.name] = "rowtime"


def _as_select(
    run: ImportRun, statement: Statement, table: TableDraft, cursor: Cursor, *, stream: bool
) -> None:
    body = run.body(cursor)
    final = bool(body.marks.get("final"))
    view = run.view(statement, table.name, body, final=final, grace=_grace(body, final=final))
    _remember(run, view, stream=stream)
    run.topics[table.foreign.get("kafka_topic", table.name).lower()] = view.name
    if "kafka_topic" in table.foreign:
        _connect(run, table, stream=True)
        if table.options["connector"] != "kafka":
            why = LeftOut("a sink writes JSON or AVRO", "choose VALUE_FORMAT = 'JSON'")
            run.leave_out(statement, f"sink {table.name}_out", why)
            return
        table.format = "PLAIN" if stream else "UPSERT"
        sink = sink_of(f"{table.name}_out", statement.place(), view.name, table)
        sink.notes += [each for each in table.notes if each.result is ImportResult.EDIT]
        sink.to.encode_options.pop("key_encode", None)
        run.add(sink)


def _grace(body: Body, *, final: bool) -> str:
    window = body.marks.get("window")
    if window is None:
        return ""
    if final and not window[3]:
        body.remark("windows stay open for 24 hours, as in ksqlDB without GRACE PERIOD")
    return window[3] or (_GRACE if final else "")


def _remember(run: ImportRun, view: ViewDraft, *, stream: bool) -> None:
    """Remember what later queries need to know of a view."""
    query = view.query
    names = [each.alias_or_name for each in query.selects]
    source = query.args["from_"].this.name if query.args.get("from_") else ""
    if stream:
        run.scope.streams.add(view.name)
    if any(each.is_star for each in query.selects):
        names = [*run.scope.columns.get(source, []), *(each for each in names if each != "*")]
    run.scope.columns[view.name] = names
    time = next((each for each in ("rowtime", "window_start") if each in names), "")
    time = time or run.scope.times.get(source, "")
    if time in names:
        run.scope.times[view.name] = time


def _insert(run: ImportRun, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("INSERT INTO")
    name = run.scope.name_of(cursor.name())
    if cursor.take("WITH"):
        cursor.group()
    if cursor.is_open() or cursor.word() == "VALUES":
        run.skip("INSERT VALUES")
        return
    table = run.targets.get(name) or run.tables.get(name)
    if table is None and name not in run.views:
        raise LeftOut(f'"{name}" is not defined before', "define the stream first")
    body = run.body(cursor)
    if table is None:
        view = run.views[name]
        view.query = exp.union(view.query, body.query, distinct=False, copy=False)
        view.notes += [note for note in body.notes if note not in view.notes]
        return
    table.columns = [each for each in table.columns if each.name != "rowtime"]
    table.options = {}
    body.remark("rows that others write into the topic are not read")
    write_into(run, statement, table, body, columns=[], final=False)
    _remember(run, run.views[name], stream=True)


def _create_type(run: ImportRun, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("CREATE TYPE")
    cursor.take("IF NOT EXISTS")
    name = cursor.name().upper()
    cursor.need("AS")
    run.types = {**run.types, name: read_type(cursor, run.types, [])}
    run.skip("CREATE TYPE")


def _connector(run: ImportRun, statement: Statement) -> None:
    raise LeftOut("Kafka Connect runs outside of Headwater", "create the connector there")


def _set(run: ImportRun, statement: Statement) -> None:
    name, value = setting(statement)
    run.settings[name] = value
    run.skip("SET")


def _finish(run: ImportRun) -> None:
    """Say where reading begins, and declare the metadata that queries read."""
    begin = run.settings.get("auto.offset.reset", "")
    for number, each in enumerate(run.tables.values()):
        if begin == "latest" and each.options.get("connector") == "kafka":
            each.start_from = "LATEST"
        elif not begin and number == 0:
            each.remark(_LATEST, "import a file that says SET 'auto.offset.reset' = 'latest'")
    for name, columns in run.scope.wanted.items():
        table = run.tables.get(name)
        for column in sorted(columns) if table else ():
            key, kind = PSEUDO[column]
            assert table is not None
            table.columns.append(ColumnDraft(column, kind, metadata=key))


_LATEST = (
    "ksqlDB begins with the newest record unless auto.offset.reset says earliest; here every table"
    " begins with the oldest one"
)


STATEMENTS: dict[str, Handler] = {
    **dict.fromkeys(
        (
            *("CREATE STREAM", "CREATE OR REPLACE STREAM", "CREATE SOURCE STREAM"),
            *("CREATE TABLE", "CREATE OR REPLACE TABLE", "CREATE SOURCE TABLE"),
        ),
        _create,
    ),
    "CREATE TYPE": _create_type,
    "INSERT INTO": _insert,
    "SET": _set,
    "CREATE SOURCE CONNECTOR": _connector,
    "CREATE SINK CONNECTOR": _connector,
    **dict.fromkeys(
        (
            *("SELECT", "UNSET", "SHOW", "LIST", "DESCRIBE", "PRINT", "EXPLAIN", "DROP"),
            *("TERMINATE", "PAUSE", "RESUME", "DEFINE", "UNDEFINE", "RUN", "ASSERT", "EXIT"),
            "ALTER",
        ),
        skip,
    ),
}

KSQLDB = System(
    name="ksqldb",
    title="ksqlDB",
    grammar=Grammar(headwater_dialect(FUNCTIONS), edits=EDITS, rewrites=REWRITES),
    types=TYPES,
    statements=STATEMENTS,
    signs=(r"\bkafka_topic\s*=", r"CREATE\s+(OR\s+REPLACE\s+)?STREAM\b", r"EMIT\s+CHANGES"),
    defines=r"^\s*DEFINE\s+(\w+)\s*=\s*'([^']*)'",
    finish=_finish,
)
