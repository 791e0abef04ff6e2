"""``CREATE SINK`` → :class:`~headwater.analyze.definitions.Sink`; and what sinks there are.

In: the statement and the catalog it reads. Out: a sink whose options are valid and whose topic or
table can equal its view, and errors for the rest.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from headwater.algebra.properties.keys import Key
from headwater.analyze.connectors.encodings import ENCODINGS
from headwater.analyze.connectors.kafka import check_registry
from headwater.analyze.connectors.options import bind_options, option_node, with_named
from headwater.analyze.connectors.registry import SINKS
from headwater.analyze.definitions import Catalog, ChangelogMode, Field, RecordFormat, Sink
from headwater.analyze.diagnostics import Diagnostics, check_name
from headwater.analyze.rules.changelog import changelog_mode
from headwater.analyze.typing import types as t
from headwater.dialect import syntax
from headwater.errors.nearest import did_you_mean

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DUPLICATES = {
    "topic": "DUPLICATE_TOPIC", "table": "DUPLICATE_TABLE", "path": "DUPLICATE_PATH",
    "": "INVALID_OPTION",
}  # fmt: skip
SINK_FORMATS: Mapping[RecordFormat, bool] = {
    RecordFormat.PLAIN: False, RecordFormat.UPSERT: True, RecordFormat.DEBEZIUM: True,
}  # fmt: skip
"""What the records of a sink mean (``FORMAT …``), and whether they change rows by their key."""


def bind_sink(statement: syntax.CreateSink, catalog: Catalog, report: Diagnostics) -> Sink | None:
    """Bind one sink.

    Returns:
        The sink, or None if it has errors.
    """
    check_name(report, statement.this.name, statement.this, "sink")
    connector, options = _connector(statement, report)
    chosen = _format(statement, connector, report)
    encode, encode_options = _encoding(statement, connector, report)
    name = statement.args["view"].name
    fields = _fields(statement, catalog, report)
    if report.errors:
        return None
    view = catalog.views.get(name)
    appends = view is None or changelog_mode(view, catalog) is ChangelogMode.APPEND
    known = view.proven_key if view is not None else None
    key = _key(statement, options, {each.name: each for each in fields}, report)
    format_ = chosen or (RecordFormat.PLAIN if appends else RecordFormat.UPSERT)
    if SINK_FORMATS[format_]:
        key = _checked_key(statement, format_, key, known, report)
    elif not appends:
        others = " or ".join(f"FORMAT {each.upper()}" for each in SINKS[connector].formats[1:])
        hint = f"write {others}; or EMIT ON WINDOW CLOSE in the view"
        message = f'"{name}" corrects its rows, which FORMAT PLAIN cannot express'
        report.add("NOT_APPEND_ONLY", message, statement.args["view"], hint)
    elif key and not SINKS[connector].encodings:
        hint = "leave key out: FORMAT PLAIN only adds rows"
        report.add(
            "INVALID_OPTION",
            "FORMAT PLAIN of a table takes no key",
            option_node(statement, "key"),
            hint,
        )
    _check_types(statement, fields, key, connector, report)
    if encode == "avro":
        _check_names(statement, fields, report)
    sink = Sink(
        name=statement.this.name,
        view=name,
        fields=fields,
        connector=connector,
        options=options,
        format=format_,
        key=key,
        encode=encode,
        encode_options=encode_options,
        appends=appends,
        comment=(view or catalog.sources[name]).comment,
        span=report.place(None),
    )
    sink = replace(sink, fingerprint=fingerprint_of(sink))
    if check := SINKS[connector].check_sink:
        check(statement, sink, report)
    _check_alone(statement, sink, catalog, report)
    return None if report.errors else sink


def fingerprint_of(sink: Sink) -> str:
    """Return the hash of what a sink delivers, where to, and how."""
    where = {option: sink.options.get(option) for option in SINKS[sink.connector].place}
    ways = [sink.encode] * (sink.encode == "avro")  # what was there before keeps its own
    # 0.1 in a key was written as 0.10000000149011612 once: another key
    keys = [field.type.this for field in sink.fields if field.name in (sink.key or ())]
    ways += ["real"] * (t.Type.FLOAT in keys)
    identity = json.dumps([sink.view, sink.connector, where, sink.format, sink.key, *ways])
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


def _connector(statement: syntax.CreateSink, report: Diagnostics) -> tuple[str, dict[str, str]]:
    nodes = statement.args.get("options") or []
    node = next((each for each in nodes if each.this == "connector"), None)
    if node is None:
        message = f'"{statement.this.name}" does not say where its records go'
        report.add("MISSING_OPTION", message, statement, "add WITH (connector = 'kafka', …)")
        return "", {}
    name = node.expression.name.lower()
    if name not in SINKS:
        hint = did_you_mean(name, SINKS, "connectors")
        report.add("UNKNOWN_CONNECTOR", f'a sink has no connector "{name}"', node, hint)
        return name, {}
    others = [each for each in nodes if each is not node]
    owner = f"a sink with connector {name}"
    allowed = with_named(SINKS[name].options, SINKS[name].named, others)
    options = bind_options(others, allowed, owner, statement, report)
    if check := SINKS[name].check:
        check(statement, options, report)
    return name, options


def _format(
    statement: syntax.CreateSink, connector: str, report: Diagnostics
) -> RecordFormat | None:
    """The format that is written; None if the view decides."""
    name = str(statement.args.get("format") or "").lower()
    if not name and connector in SINKS and SINKS[connector].implied:
        return None
    if connector not in SINKS or name in SINKS[connector].formats:
        return RecordFormat(name or RecordFormat.PLAIN)
    what = f"FORMAT {name.upper()} is not for tables" if name else "FORMAT is missing"
    message = f'"{statement.this.name}" does not say how its rows are written: {what}'
    upsert = "FORMAT UPSERT ENCODE JSON" if SINKS[connector].encodings else "FORMAT UPSERT"
    hint = f"write {upsert}, or FORMAT PLAIN for rows that are only added"
    report.add("INVALID_ENCODING", message, statement, hint)
    return RecordFormat.PLAIN


def _encoding(
    statement: syntax.CreateSink, connector: str, report: Diagnostics
) -> tuple[str, dict[str, str]]:
    """What records are encoded in, and its options."""
    name = str(statement.args.get("encode") or "").lower()
    encodings = SINKS[connector].encodings if connector in SINKS else (name,)
    if not name and connector in SINKS and SINKS[connector].implied:
        return encodings[0], {}
    if not encodings and not name:
        return "", {}
    if not encodings:
        hint = f"leave ENCODE {name.upper()} out: a table has columns"
        message = f"a sink with connector {connector} takes no ENCODE"
        report.add("INVALID_ENCODING", message, statement, hint)
        return "", {}
    if not name:
        message = f'"{statement.this.name}" does not say how its records are encoded'
        hint = "add ENCODE JSON, or ENCODE AVRO (registry = '…')"
        report.add("INVALID_ENCODING", message, statement, hint)
    elif name not in encodings:
        hint = f"encodings are: {', '.join(encodings)}"
        report.not_yet(f"a sink with ENCODE {name.upper()}", statement, hint)
    allowed = ENCODINGS["avro"] if name == "avro" else {}
    owner = f"a sink with ENCODE {name.upper() or '…'}"
    options = bind_options(statement.args.get("encode_options"), allowed, owner, statement, report)
    if name == "avro":
        check_registry(statement, options, report)
    return name, options


def _fields(
    statement: syntax.CreateSink, catalog: Catalog, report: Diagnostics
) -> tuple[Field, ...]:
    """The columns of what the sink reads."""
    node = statement.args["view"]
    view, source = catalog.views.get(node.name), catalog.sources.get(node.name)
    if source is not None and source.external:
        hint = "write a view that groups its rows by their key, and deliver that"
        report.not_yet("a sink of an external table", node, hint)
    if source is not None and not source.kept:
        hint = "write CREATE TABLE, which lands the rows"
        report.add("NOT_KEPT", f'source "{node.name}" has no table in the lake', node, hint)
    if view is None and source is None:
        hint = did_you_mean(node.name, [*catalog.sources, *catalog.views], "tables and views")
        report.add("UNKNOWN_TABLE", f'table or view "{node.name}" does not exist', node, hint)
        return ()
    return view.fields if view is not None else source.fields if source is not None else ()


def _key(
    statement: syntax.CreateSink,
    options: Mapping[str, str],
    fields: Mapping[str, Field],
    report: Diagnostics,
) -> Key | None:
    """The key that the option names."""
    if "key" not in options:
        return None
    key = tuple(dict.fromkeys(part.strip().lower() for part in options["key"].split(",")))
    for name in key:
        if name not in fields:
            hint = did_you_mean(name, fields, "columns")
            message = f'column "{name}" of the key does not exist'
            report.add("UNKNOWN_COLUMN", message, option_node(statement, "key"), hint)
            return None
    return key


def _checked_key(
    statement: syntax.CreateSink,
    format_: RecordFormat,
    chosen: Key | None,
    known: Key | None,
    report: Diagnostics,
) -> Key | None:
    """The key that says which row a record changes; refused unless no two rows can share it."""
    words, view = f"FORMAT {format_.upper()}", statement.args["view"]
    if known is None:
        hint = "group the view by its key (any_value() keeps other columns), or sink a keyed table"
        message = f'{words} needs a key, and nothing proves one for the rows of "{view.name}"'
        report.add("MISSING_KEY", message, view, hint)
    elif chosen is not None and not set(known) <= set(chosen):
        missing = ", ".join(name for name in known if name not in chosen)
        hint = f"leave key out, or write key = '{','.join(known)}'"
        message = f"this key does not identify a row: {missing} differs too"
        report.add("INVALID_PRIMARY_KEY", message, option_node(statement, "key"), hint)
    return known if chosen is None else chosen


def _check_types(
    statement: syntax.CreateSink,
    fields: tuple[Field, ...],
    key: Key | None,
    connector: str,
    report: Diagnostics,
) -> None:
    records = SINKS[connector].encodings
    for field in fields:
        if field.name in (key or ()) and t.family(field.type) in ("array", "map", "struct"):
            hint = "choose columns of plain types"
            what = "record" if records else "row"
            message = f'"{field.name}" is {t.sql_type(field.type)}, which is no key of a {what}'
            report.add("UNSUPPORTED_TYPE", message, statement, hint)
        for kind in field.type.find_all(exp.DataType) if records else ():
            if kind.this is t.Type.MAP and t.elements(kind)[0].this is not t.Type.VARCHAR:
                hint = "leave the column out of the view"
                message = f'"{field.name}" has a map by {t.sql_type(t.elements(kind)[0])},'
                message += " and records name by text only"
                report.add("UNSUPPORTED_TYPE", message, statement, hint)


def _check_names(
    statement: syntax.CreateSink, fields: tuple[Field, ...], report: Diagnostics
) -> None:
    """Refuse fields of rows that Avro has no name for; columns have such names anyhow."""
    for column in fields:
        for kind in column.type.find_all(exp.DataType):
            parts = kind.expressions if kind.this is t.Type.STRUCT else []
            for part in parts:
                if not _NAME.fullmatch(part.name):
                    message = f'"{column.name}" has a field "{part.name}", no valid name in Avro'
                    hint = "use letters, digits and '_', or write ENCODE JSON"
                    report.add("UNSUPPORTED_TYPE", message, statement, hint)


def _check_alone(
    statement: syntax.CreateSink, sink: Sink, catalog: Catalog, report: Diagnostics
) -> None:
    """Refuse two sinks in one topic or table, unless both only add."""
    for other in catalog.sinks.values() if SINKS[sink.connector].held_by else ():
        if _held(other) == _held(sink) and {sink.format, other.format} != {RecordFormat.PLAIN}:
            name = SINKS[sink.connector].place[0]
            hint = f"give each a {name} of its own"
            message = f'sink "{other.name}" writes to {name} "{sink.options[name]}" too'
            condition = _DUPLICATES[name if name in _DUPLICATES else ""]
            report.add(condition, message, option_node(statement, name), hint)


def _held(sink: Sink) -> tuple[str, ...]:
    options = SINKS[sink.connector].options
    by = SINKS[sink.connector].held_by
    return sink.connector, *(sink.options.get(name, options[name].default) for name in by)
