"""Flink SQL: one line for each thing that is mapped."""

from __future__ import annotations

from sqlglot import exp

from headwater.importing.bodies import Body
from headwater.importing.contract import (
    NO_MEANING,
    Call,
    Connector,
    Encoding,
    Functions,
    LeftOut,
    Note,
    Option,
    Options,
    Refused,
    Result,
    Sink,
    System,
    Table,
    Types,
)
from headwater.importing.flink_queries import EDITS, PASSES, is_final, is_proctime, name_clock
from headwater.importing.functions import formatted, headwater_dialect
from headwater.importing.kafka import SECURITY
from headwater.importing.run import Run
from headwater.importing.statements import Cursor, Statement, column_name, plain_name
from headwater.importing.tables import (
    apply_connector,
    apply_encoding,
    placeholder,
    read_columns,
    read_options,
)

# -- types

TYPES: Types = {
    "BOOLEAN": "BOOLEAN",
    "TINYINT": "INTEGER",
    "SMALLINT": "INTEGER",
    "INT": "INTEGER",
    "INTEGER": "INTEGER",
    "BIGINT": "BIGINT",
    "FLOAT": "REAL",
    "REAL": "REAL",
    "DOUBLE": "DOUBLE",
    "DOUBLE PRECISION": "DOUBLE",
    "DECIMAL": ("DECIMAL(10, 0)", "DECIMAL without digits has 10, as in Flink"),
    "DEC": ("DECIMAL(10, 0)", "DECIMAL without digits has 10, as in Flink"),
    "NUMERIC": ("DECIMAL(10, 0)", "DECIMAL without digits has 10, as in Flink"),
    "STRING": "VARCHAR",
    "VARCHAR": "VARCHAR",
    "CHAR": "VARCHAR",
    "BYTES": "VARBINARY",
    "BINARY": "VARBINARY",
    "VARBINARY": "VARBINARY",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP_LTZ": "TIMESTAMP WITH TIME ZONE",
    "TIME": ("VARCHAR", "TIME is text here"),
    "RAW": ("", "it holds objects of Java"),
    "MULTISET": ("", "there are no multisets"),
    "INTERVAL": ("", "a column cannot hold an interval"),
}

# -- connectors

JSON: Options = {
    "ignore-parse-errors": Option(
        values={"true": "", "false": ""}, note="rows that cannot be parsed go to the quarantine"
    ),
    "fail-on-missing-field": NO_MEANING,
    "timestamp-format.standard": NO_MEANING,
    "encode.decimal-as-plain-number": NO_MEANING,
    "map-null-key.*": NO_MEANING,
}
CSV: Options = {
    "field-delimiter": "delimiter",
    "quote-character": "quote",
    "escape-character": "escape",
    "null-literal": "null_value",
    "ignore-parse-errors": Option(note="rows that cannot be parsed go to the quarantine"),
    "allow-comments": NO_MEANING,
    "disable-quote-character": NO_MEANING,
}
REGISTRY: Options = {
    "url": "registry",
    "schema-registry.url": "registry",
    "basic-auth.user-info": Option("registry_password", secret=True),
    "subject": NO_MEANING,
    "schema-registry.subject": NO_MEANING,
    "*": NO_MEANING,
}
DEBEZIUM_MODES = Note(
    "Debezium's modes for decimals and times are taken to be its defaults",
    "check decimals and times",
    Result.EDIT,
)
ENCODINGS = {
    "json": Encoding("PLAIN", "JSON", JSON),
    "csv": Encoding("PLAIN", "CSV", CSV, fixed={"header": "false"}),
    "avro-confluent": Encoding("PLAIN", "AVRO", REGISTRY),
    "raw": Encoding("PLAIN", "RAW", {"*": NO_MEANING}),
    "parquet": Encoding("PLAIN", "PARQUET", {"*": NO_MEANING}),
    "debezium-json": Encoding(
        "DEBEZIUM",
        "JSON",
        {**JSON, "schema-include": NO_MEANING},
        fixed={"decimals": "precise", "times": "adaptive"},
        note=DEBEZIUM_MODES,
    ),
    "debezium-avro-confluent": Encoding("DEBEZIUM", "AVRO", REGISTRY),
}

KAFKA: Options = {
    "topic": "topic",
    "topic-pattern": "topic_pattern",
    "properties.bootstrap.servers": "bootstrap_servers",
    "properties.isolation.level": "isolation",
    "scan.startup.mode": Option(
        "@start_from",
        {
            "earliest-offset": "",
            "group-offsets": "",
            "latest-offset": "LATEST",
            "timestamp": "TIMESTAMP",
            "specific-offsets": "OFFSETS",
        },
    ),
    "scan.startup.timestamp-millis": Option(
        note="START FROM TIMESTAMP needs the time as text: '2026-01-31 12:00:00+00:00'"
    ),
    "key.fields": NO_MEANING,
    "key.format": NO_MEANING,
    "key.*": NO_MEANING,
    "value.fields-include": NO_MEANING,
    "sink.*": NO_MEANING,
    "scan.*": NO_MEANING,
    "properties.group.id": NO_MEANING,
    **{f"properties.{name}": option for name, option in SECURITY.items()},
}
FILES: Options = {
    "path": "path",
    "source.monitor-interval": NO_MEANING,
    "source.path.regex-pattern": "pattern",
    "sink.*": NO_MEANING,
    "partition.*": NO_MEANING,
    "auto-compaction": NO_MEANING,
    "compaction.*": NO_MEANING,
}
DATAGEN: Options = {
    "rows-per-second": "rows_per_second",
    "number-of-rows": "number_of_rows",
    "fields.*": NO_MEANING,  # read for each column by _generated
}
DEBEZIUM = "run Debezium, and read its topic with connector = 'kafka' and FORMAT DEBEZIUM"
CONNECTORS = {
    "kafka": Connector("kafka", KAFKA),
    "upsert-kafka": Connector("kafka", KAFKA, format="UPSERT"),
    "filesystem": Connector("files", FILES),
    "datagen": Connector("datagen", DATAGEN),
    "blackhole": Connector(sink=False),
    "print": Connector(sink=False),
    "faker": Connector(remedy="use connector = 'datagen'"),
    "nexmark": Connector(remedy="write its events as JSON or Parquet files"),
    "jdbc": Connector(remedy=DEBEZIUM),
    "mysql-cdc": Connector(remedy=DEBEZIUM),
    "postgres-cdc": Connector(remedy=DEBEZIUM),
    "oracle-cdc": Connector(remedy=DEBEZIUM),
    "sqlserver-cdc": Connector(remedy=DEBEZIUM),
    "mongodb-cdc": Connector(remedy=DEBEZIUM),
    "kinesis": Connector(remedy="bring the stream to Kafka or to files"),
    "pulsar": Connector(remedy="bring the stream to Kafka or to files"),
    "elasticsearch-7": Connector(remedy="let Elasticsearch read a topic of CREATE SINK"),
    "iceberg": Connector(remedy="connector = 'iceberg', table = 'namespace.table'"),
}

METADATA = {
    "topic": ("topic", "VARCHAR"),
    "partition": ("partition", "INTEGER"),
    "offset": ("offset", "BIGINT"),
    "timestamp": ("timestamp", "TIMESTAMP WITH TIME ZONE"),
    "headers": ("headers", "ARRAY(ROW(key VARCHAR, value VARBINARY))"),
    "file.path": ("file", "VARCHAR"),
    "file.name": ("file", "VARCHAR"),
}

# -- functions

_MILLIS = (
    "CAST(concat(date_format(from_unixtime(_1 / 1000), '%Y-%m-%d %H:%i:%s'), '.',"
    " lpad(CAST(_1 % 1000 AS VARCHAR), 3, '0'), ' UTC') AS TIMESTAMP WITH TIME ZONE)"
)
_CLOCK = Refused("the clock is no part of the data", "use the event time, or watermark()")
_JAVA = Refused("a class of Java computes it", "write CREATE FUNCTION … RETURN expression")

FUNCTIONS: Functions = {
    "CHAR_LENGTH": "length(_1)",
    "CHARACTER_LENGTH": "length(_1)",
    "CURRENT_WATERMARK": "watermark()",
    "CEILING": "ceil(_1)",
    "DATE_FORMAT": formatted("DATE_FORMAT"),
    "DAYOFMONTH": "day(_1)",
    "DAYOFWEEK": "day_of_week(_1) % 7 + 1",
    "DAYOFYEAR": "day_of_year(_1)",
    "FROM_UNIXTIME": "date_format(from_unixtime(_1), '%Y-%m-%d %H:%i:%s')",
    "IF": "if(_1, _2, _3)",
    "IFNULL": "coalesce(_1, _2)",
    "INSTR": "strpos(_1, _2)",
    "JSON_VALUE": {2: "json_extract_scalar(_1, _2)"},
    "LOCATE": {2: "strpos(_2, _1)"},
    "LISTAGG": {
        1: Call("listagg(_1, ',') WITHIN GROUP (ORDER BY _1)", "LISTAGG is ordered by value"),
        2: Call("listagg(_1, _2) WITHIN GROUP (ORDER BY _1)", "LISTAGG is ordered by value"),
    },
    "LOWER": "lower(_1)",
    "MD5": Refused("there is no MD5"),
    "REGEXP": "regexp_like(_1, _2)",
    "REGEXP_EXTRACT": {
        2: "regexp_extract(_1, _2, 0)",
        3: "regexp_extract(_1, _2, _3)",
    },
    "SPLIT_INDEX": "split_part(_1, _2, _3 + 1)",
    "TIMESTAMPDIFF": Refused("the unit stands before the times", "write date_diff('hour', a, b)"),
    "TO_DATE": {1: "CAST(_1 AS DATE)"},
    "TO_TIMESTAMP": {1: "CAST(_1 AS TIMESTAMP)"},
    "TO_TIMESTAMP_LTZ": _MILLIS,
    "TRUNCATE": {1: "truncate(_1)"},
    "UNIX_TIMESTAMP": {1: "CAST(to_unixtime(CAST(_1 AS TIMESTAMP)) AS BIGINT)"},
    "NOW": _CLOCK,
    "CURRENT_ROW_TIMESTAMP": _CLOCK,
    "UUID": Refused("every call gives another value"),
    "RAND": Refused("every call gives another value"),
}

# -- statements


def _create_table(run: Run, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("CREATE")
    cursor.take_any("OR REPLACE")
    cursor.take_any("TEMPORARY")
    cursor.need("TABLE")
    cursor.take("IF NOT EXISTS")
    written = cursor.name()
    table = Table(plain_name(written), statement.place(), statement.leading)
    if cursor.is_open():

        def expression(part: Cursor) -> str:
            if is_proctime(part.rest):
                name_clock(run, table, part)
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
    run.state.setdefault("foreign", {})[table.name] = dict(table.foreign)  # type: ignore[index]
    _connect(table)
    if cursor.take("AS"):
        _insert(run, statement, table, [], cursor)
        return
    run.statements += 1
    run.add(table)


def _like(run: Run, table: Table, other: str) -> None:
    base = run.tables.get(plain_name(other))
    foreign = run.state.get("foreign", {})
    assert isinstance(foreign, dict)
    if base is None:
        raise LeftOut(f'LIKE names "{other}", which is not defined before', "write the columns")
    table.columns = [*base.columns, *table.columns]
    table.key = table.key or list(base.key)
    table.watermark = table.watermark or base.watermark
    table.foreign = {**foreign.get(base.name, {}), **table.foreign}


def _connect(table: Table) -> None:
    written = table.foreign
    name = written.pop("connector", "")
    name = name or written.pop("connector.type", "")
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
        return
    if name == "datagen":
        _generated(table, written)
    entry = apply_connector(table, name, CONNECTORS)
    if not entry.sink:
        table.notes.clear()
    if entry.to in ("kafka", "files") and encoding:
        apply_encoding(table, encoding, ENCODINGS, own)
    if table.key and table.format == "PLAIN":
        table.key = []
        table.note("PRIMARY KEY is left out: Flink does not enforce it, and rows only come")
    if table.options.get("path"):
        table.options["path"] = table.options["path"].removeprefix("file://")


_KINDS = {"sequence": "sequence", "random": "random"}
_FIELDS = {"start": "start", "end": "end", "min": "min", "max": "max", "length": "length"}


def _generated(table: Table, written: dict[str, str]) -> None:
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
        if column.type.startswith("TIMESTAMP") and not kind:
            table.note(f"column {column.name}: Flink generates the present time; here times follow")


def _create_view(run: Run, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.need("CREATE")
    cursor.take("OR REPLACE")
    cursor.take("TEMPORARY")
    cursor.need("VIEW")
    cursor.take("IF NOT EXISTS")
    name = cursor.name()
    columns = [each.step().text for each in cursor.group().items()] if cursor.is_open() else []
    comment = cursor.string() if cursor.take("COMMENT") else ""
    cursor.need("AS")
    body = run.body(cursor)
    rename(body, columns)
    run.statements += 1
    view = run.view(statement, name, body, final=is_final(body.query))
    view.comment = comment


def rename(body: Body, columns: list[str]) -> None:
    """Give the columns of a query other names, by position."""
    if not columns:
        return
    query = body.query
    while isinstance(query, exp.SetOperation):
        query = query.this.unnest()
    items = query.selects if isinstance(query, exp.Select) else []
    if any(item.is_star for item in items) or len(items) != len(columns):
        return
    for item, name in zip(items, columns, strict=True):
        ours = name.lower()
        if item.alias_or_name != ours:
            plain = column_name(ours).startswith('"')
            item.replace(exp.alias_(item.unalias().copy(), ours, quoted=plain))


def _insert_into(run: Run, statement: Statement) -> None:
    cursor = statement.cursor()
    cursor.take_any("EXECUTE")
    cursor.take_any("STATEMENT SET BEGIN", "STATEMENT SET")
    cursor.take("BEGIN")
    cursor.need("INSERT")
    cursor.take_any("INTO", "OVERWRITE")
    cursor.take("TABLE")
    name = run.name_of(cursor.name())
    if cursor.take("PARTITION"):
        cursor.group()
    columns = [each.step().text for each in cursor.group().items()] if cursor.is_open() else []
    if cursor.word() == "VALUES":
        run.skip("INSERT VALUES")
        return
    table = run.tables.get(name)
    if table is not None:
        run.parts.remove(table)
    targets = run.state.setdefault("targets", {})
    assert isinstance(targets, dict)
    table = targets.get(name) or table or Table(name, statement.place())
    _insert(run, statement, table, columns, cursor)


def _insert(
    run: Run, statement: Statement, table: Table, columns: list[str], cursor: Cursor
) -> None:
    """Make a view of what is written into a table, and a sink if the table is outside."""
    targets = run.state.setdefault("targets", {})
    assert isinstance(targets, dict)
    targets[table.name] = table
    body = run.body(cursor)
    declared = [each.name.strip('"') for each in table.columns if not each.computed]
    rename(body, columns or declared)
    run.statements += 1
    if view := run.views.get(table.name):
        view.query = exp.union(view.query, body.query, distinct=False, copy=False)
        view.notes += [note for note in body.notes if note not in view.notes]
        view.final = view.final and is_final(body.query)
        return
    run.view(statement, table.name, body, final=is_final(body.query))
    if table.options.get("connector") == "kafka":
        sink = Sink(f"{table.name}_out", statement.place(), view=table.name, to=table)
        _to_sink(sink)
        run.add(sink)


def _to_sink(sink: Sink) -> None:
    """Leave out what only readers need."""
    to = sink.to
    to.options.pop("isolation", None)
    to.encode_options = {
        key: value for key, value in to.encode_options.items() if key.startswith("registry")
    }
    if to.encode not in ("JSON", "AVRO"):
        sink.note(f"a sink writes JSON or AVRO, not {to.encode}")
        to.encode = "JSON"
    if to.format == "UPSERT" and to.key:
        to.options["key"] = ", ".join(to.key)


def _begin(run: Run, statement: Statement) -> None:
    if "INSERT" in statement.head.split():
        _insert_into(run, statement)
    else:
        run.skip("BEGIN")


def _function(run: Run, statement: Statement) -> None:
    raise LeftOut(_JAVA.reason, _JAVA.remedy)


def skip(run: Run, statement: Statement) -> None:
    """Pass over a statement that defines nothing."""
    run.skip(statement.head.split(" ")[0])


STATEMENTS = {
    "CREATE TABLE": _create_table,
    "CREATE OR REPLACE TABLE": _create_table,
    "CREATE TEMPORARY TABLE": _create_table,
    "CREATE VIEW": _create_view,
    "CREATE OR REPLACE VIEW": _create_view,
    "CREATE TEMPORARY VIEW": _create_view,
    "CREATE FUNCTION": _function,
    "CREATE TEMPORARY FUNCTION": _function,
    "CREATE TEMPORARY SYSTEM FUNCTION": _function,
    "INSERT INTO": _insert_into,
    "INSERT OVERWRITE": _insert_into,
    "EXECUTE INSERT": _insert_into,
    "EXECUTE STATEMENT SET": _insert_into,
    "BEGIN": _begin,
    **dict.fromkeys(
        (
            *("SET", "RESET", "USE", "END", "ADD", "REMOVE", "SHOW", "DESCRIBE", "DESC", "EXPLAIN"),
            *("DROP", "SELECT", "WITH", "CREATE CATALOG", "CREATE DATABASE", "LOAD", "UNLOAD"),
            *("ALTER", "ANALYZE", "QUIT"),
        ),
        skip,
    ),
}

FLINK = System(
    name="flink",
    title="Flink",
    body="trino",
    dialect=headwater_dialect(FUNCTIONS),
    statements=STATEMENTS,
    signs=(r"'connector'\s*=\s*'", r"WATERMARK\s+FOR\s+`"),
    types=TYPES,
    edits=EDITS,
    passes=PASSES,
)
