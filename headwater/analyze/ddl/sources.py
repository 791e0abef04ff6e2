"""``CREATE SOURCE`` and ``CREATE TABLE`` → :class:`~headwater.analyze.definitions.Source`.

In: the statement. Out: a source whose columns are typed and whose options are valid, and errors
    for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from sqlglot import exp

from headwater.analyze.connectors.contract import ConnectorOptions, Option
from headwater.analyze.connectors.debezium import (
    fraction_digits,
    given_option,
    left_out,
    without_digits,
)
from headwater.analyze.connectors.encodings import ENCODINGS, FORMATS, record_format
from headwater.analyze.connectors.options import bind_options
from headwater.analyze.connectors.registry import CONNECTORS
from headwater.analyze.connectors.start_from import bind_start
from headwater.analyze.ddl.named_fields import by_field, check_fields
from headwater.analyze.ddl.watermarks import bind_watermark
from headwater.analyze.definitions import (
    CHANGE_COLUMN,
    DELETED,
    SNAPSHOT_COLUMN,
    SNAPSHOT_END_COLUMN,
    TRUNCATED,
    UNCHANGED_COLUMN,
    UPSERTED,
    Column,
    Field,
    OnError,
    OnSchemaChange,
    RecordFormat,
    Source,
)
from headwater.analyze.diagnostics import Diagnostics, check_name
from headwater.analyze.inference.infer import infer
from headwater.analyze.inference.nullable import nullable
from headwater.analyze.names.scope import Relation, as_fields, resolve
from headwater.analyze.rules.allowed_syntax import drop_comments, only_allowed
from headwater.analyze.typing import types as t
from headwater.dialect import syntax
from headwater.errors.nearest import did_you_mean

_READ_AS_TEXT = ("json", "csv")
"""Encodings in which a TIME and a UUID are texts."""


def bind_source(statement: syntax.CreateSource, report: Diagnostics) -> Source:
    """Bind one source or landed table.

    Args:
        report: where errors go; with errors in it the result must not be used.
    """
    columns = _columns(statement, report)
    connector_name, connector = _connector(statement, report)
    encode = str(statement.args.get("encode") or "").lower()
    format_ = record_format(statement)
    keyed, unchanged = FORMATS[format_].keyed, left_out(statement)
    replaces = given_option(statement, "snapshot") == "replace"
    system = (
        *((_CHANGE,) if keyed else ()),
        *((_UNCHANGED,) if unchanged else ()),
        *(_SNAPSHOT if replaces else ()),
    )
    before = len(report.errors)
    options = _options(statement, connector_name, connector, columns, report)
    whole = len(report.errors) == before
    source = Source(
        name=statement.this.name,
        kept=bool(statement.args["kept"]),
        columns=(*columns, *system),
        connector=connector_name,
        primary_key=_primary_key(statement, columns, report),
        watermark=bind_watermark(statement, columns, report),
        options=options,
        external=connector.in_place(options) if connector and connector.in_place else "",
        format=format_,
        encode=encode,
        encode_options=_encoding(statement, connector_name, connector, encode, report),
        position=_position(connector) if keyed else (),
        left_out=unchanged,
        on_error=OnError(str(statement.args.get("on_error") or "quarantine").lower()),
        on_schema_change=OnSchemaChange(
            str(statement.args.get("on_schema_change") or "ignore").lower()
        ),
        start=bind_start(statement, connector, report),
        comment=statement.text("comment"),
        span=report.place(None),
    )
    if connector and whole:
        _check_connector(statement, source, connector, report)
    _refuse_unsupported(statement, source, report)
    return source


def _check_connector(
    statement: syntax.CreateSource, source: Source, connector: ConnectorOptions, report: Diagnostics
) -> None:
    if "key_encode" in source.encode_options and not connector.keyed_records:
        hint = "leave it out: only Kafka records have a separate key"
        report.add("INVALID_OPTION", "key_encode needs connector kafka", statement, hint)
    if connector.check:
        connector.check(statement, source, report)


_CHANGE = Column(
    CHANGE_COLUMN,
    t.VARCHAR,
    nullable=False,
    comment=f"{UPSERTED}, {DELETED} or {TRUNCATED}",
    metadata="change",
)
_UNCHANGED = Column(
    UNCHANGED_COLUMN,
    t.VARCHAR,
    nullable=False,
    comment="columns whose value the change left out",
    metadata="unchanged",
)
_SNAPSHOT = (
    Column(
        SNAPSHOT_COLUMN,
        t.BIGINT,
        comment="position in PostgreSQL's log of the snapshot that the row is of",
        metadata="snapshot",
    ),
    Column(
        SNAPSHOT_END_COLUMN,
        t.BIGINT,
        comment="the same, in the last row of the snapshot",
        metadata="snapshot_end",
    ),
)


def _position(connector: ConnectorOptions | None) -> tuple[Field, ...]:
    columns = connector.position.items() if connector else ()
    return tuple(Field(name, exp.DataType.build(kind, dialect="trino")) for name, kind in columns)


def _columns(statement: syntax.CreateSource, report: Diagnostics) -> tuple[Column, ...]:
    nodes: Sequence[syntax.SourceColumn] = statement.args.get("columns") or []
    if not nodes:
        hint = "name the columns and their types: (id BIGINT, ts TIMESTAMP, …)"
        report.add("NO_COLUMNS", f'"{statement.this.name}" has no columns', statement, hint)
    sized = _is_debezium(statement)
    plain = [
        _plain_column(node, report, sized=sized)
        for node in nodes
        if node.args.get("computed") is None
    ]
    relation = Relation(statement.this.name, as_fields(plain), statement)
    by_name: dict[str, Column] = {}
    stored = iter(plain)
    for node in nodes:
        computed = node.args.get("computed")
        column = next(stored) if computed is None else _computed_column(node, relation, report)
        check_name(report, column.name, node.this, "column", otherwise=by_field(node, report))
        if column.name in by_name:
            message = f'column "{column.name}" is defined twice'
            report.add("DUPLICATE_COLUMN", message, node.this, "rename one of them")
        by_name.setdefault(column.name, column)
    check_fields(nodes, by_name, statement, report)
    return tuple(by_name.values())


def _plain_column(node: syntax.SourceColumn, report: Diagnostics, *, sized: bool) -> Column:
    """A column as declared; ``sized``: that of a TIMESTAMP says how its values are written."""
    kind, digits = t.UNKNOWN, fraction_digits(node) if sized else None
    try:
        kind = t.declared(without_digits(node) if sized else node.args["kind"])
    except t.TypeRefused as refused:
        report.add("UNSUPPORTED_TYPE", str(refused), node.args["kind"], refused.hint)
    _check_carried(node, kind, report)
    metadata = node.args.get("metadata")
    key = None if metadata is None else str(getattr(metadata, "name", metadata))
    return Column(
        node.this.name,
        kind,
        not node.args.get("not_null"),
        node.text("comment"),
        metadata=key,
        digits=digits,
        read_from=node.text("field"),
    )


def _check_carried(node: syntax.SourceColumn, kind: exp.DataType, report: Diagnostics) -> None:
    """Refuse a TIME or a UUID where no text is read as one."""
    held = [each.this for each in kind.find_all(exp.DataType) if each.this in t.CARRIERS]
    source = cast(exp.Expression, node.parent)
    read = str(source.args.get("encode") or "").lower() in _READ_AS_TEXT
    if held and not (read and kind.this in held and not _is_debezium(source)):
        message = f"type {t.sql_type(kind)} is not read here"
        hint = f"declare it as VARCHAR, and write CAST(x AS {held[0].value}) in the view"
        report.add("UNSUPPORTED_TYPE", message, node.args["kind"], hint)


def _is_debezium(source: exp.Expression) -> bool:
    return record_format(source) is RecordFormat.DEBEZIUM


def _computed_column(node: syntax.SourceColumn, relation: Relation, report: Diagnostics) -> Column:
    root = exp.Paren(this=node.args["computed"].copy())
    drop_comments(root)
    for column in list(root.find_all(exp.Column)):
        resolve(column, [relation], report)
    kind = infer(root, report)
    if not t.is_unknown(kind):
        only_allowed(root, report)
    if aggregate := root.find(exp.AggFunc):
        hint = "aggregate in a view"
        report.add("MISPLACED_AGGREGATE", "a computed column cannot aggregate", aggregate, hint)
    if kind.this in (t.Type.NULL, t.Type.INTERVAL):
        report.add("UNSUPPORTED_TYPE", "this column would have no type", node, "cast it")
    comment = node.text("comment")
    return Column(node.this.name, kind, nullable(root.this, False), comment, computed=root.this)


def _connector(
    statement: syntax.CreateSource, report: Diagnostics
) -> tuple[str, ConnectorOptions | None]:
    for option in statement.args.get("options") or []:
        if option.this != "connector":
            continue
        name = option.expression.name.lower()
        if name not in CONNECTORS:
            hint = did_you_mean(name, CONNECTORS, "connectors")
            report.add("UNKNOWN_CONNECTOR", f'connector "{name}" does not exist', option, hint)
            return name, None
        if not CONNECTORS[name].built:
            report.not_yet(f'connector "{name}"', option, "use files or datagen")
            return name, None
        return name, CONNECTORS[name]
    hint = "add WITH (connector = 'files', path = '…')"
    message = f'"{statement.this.name}" does not say where its rows come from'
    report.add("MISSING_OPTION", message, statement, hint)
    return "", None


def _options(
    statement: syntax.CreateSource,
    name: str,
    connector: ConnectorOptions | None,
    columns: Sequence[Column],
    report: Diagnostics,
) -> dict[str, str]:
    if connector is None:
        return {}
    allowed: dict[str, Option] = dict(connector.options)
    for column in columns if connector.fields else ():
        if column.computed is None and column.metadata is None:
            for key, option in connector.fields.items():
                allowed[f"fields.{column.name}.{key}"] = option
    _check_metadata(statement, name, connector, report)
    nodes = [o for o in statement.args.get("options") or [] if o.this != "connector"]
    of_records = [*ENCODINGS.loaded.values(), *(form.options for form in FORMATS.values())]
    elsewhere = {
        option: f"it is an option of ENCODE: ENCODE … ({option} = …)"
        for options in of_records
        for option in options
    }
    return bind_options(nodes, allowed, f"connector {name}", statement, report, elsewhere)


def _check_metadata(
    statement: syntax.CreateSource, name: str, connector: ConnectorOptions, report: Diagnostics
) -> None:
    known = {**connector.metadata, **FORMATS[record_format(statement)].metadata}
    for node in statement.args.get("columns") or []:
        metadata = node.args.get("metadata")
        if metadata is None:
            continue
        key = str(getattr(metadata, "name", metadata))
        if key not in known:
            hint = did_you_mean(key, known, "metadata keys")
            message = f'connector {name} has no metadata "{key}"'
            report.add("UNKNOWN_METADATA", message, node, hint)
            continue
        kind = known[key]
        if not t.is_unknown(declared := _declared(node)) and t.sql_type(declared) != kind:
            message = f'metadata "{key}" is {kind}, not {t.sql_type(declared)}'
            report.add("TYPE_CLASH", message, node.args["kind"], f"write {kind}")


def _declared(node: syntax.SourceColumn) -> exp.DataType:
    try:
        return t.declared(cast(exp.DataType, node.args["kind"]))
    except t.TypeRefused:
        return t.UNKNOWN


def _encoding(
    statement: syntax.CreateSource,
    name: str,
    connector: ConnectorOptions | None,
    encode: str,
    report: Diagnostics,
) -> Mapping[str, str]:
    if connector is None:
        return {}
    if not connector.encodings:
        if encode:
            hint = "remove FORMAT … ENCODE …"
            report.add(
                "INVALID_ENCODING", f"connector {name} takes no FORMAT … ENCODE …", statement, hint
            )
        return {}
    if not encode:
        message = f"connector {name} needs to know how its rows are encoded"
        report.add("INVALID_ENCODING", message, statement, "add FORMAT PLAIN ENCODE JSON")
        return {}
    if encode not in connector.encodings:
        hint = f"encodings are: {', '.join(connector.encodings)}"
        report.not_yet(f"ENCODE {encode.upper()} with connector {name}", statement, hint)
        return {}
    form = FORMATS[record_format(statement)]
    if form.keyed and encode not in form.encodings:
        message = f"FORMAT {statement.args['format'].upper()} is not read from {encode.upper()}"
        both = (each for each in form.encodings if each in connector.encodings)
        hint = f"its encodings are: {', '.join(both)}"
        report.add("INVALID_ENCODING", message, statement, hint)
        return {}
    return bind_options(
        statement.args.get("encode_options"),
        {**ENCODINGS[encode], **form.options},
        f"encoding {encode}",
        statement,
        report,
        {
            option: f"it is an option of the connector: WITH ({option} = …)"
            for option in connector.options
        },
    )


def _primary_key(
    statement: syntax.CreateSource, columns: Sequence[Column], report: Diagnostics
) -> tuple[str, ...]:
    names = {column.name for column in columns}
    nodes = statement.args.get("primary_key") or []
    for node in nodes:
        if node.name not in names:
            hint = did_you_mean(node.name, names, "columns")
            message = f'column "{node.name}" of PRIMARY KEY does not exist'
            report.add("UNKNOWN_COLUMN", message, node, hint)
    return tuple(node.name for node in nodes)


def _refuse_unsupported(
    statement: syntax.CreateSource, source: Source, report: Diagnostics
) -> None:
    if source.primary_key and source.format is RecordFormat.PLAIN and not source.external:
        hint = "write FORMAT UPSERT, or leave PRIMARY KEY out: FORMAT PLAIN keeps every row"
        message = "a PRIMARY KEY with FORMAT PLAIN"
        report.not_yet(message, statement.args["primary_key"][0], hint)
    if statement.args.get("on_schema_change") and not source.landed:
        what = "an external table" if source.kept else "a SOURCE"
        report.not_yet(f"ON SCHEMA CHANGE of {what}", statement, "remove it")
